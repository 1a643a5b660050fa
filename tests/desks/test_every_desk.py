"""Every desk passes every check."""

import pytest

from breakeven.testing import DESK_CHECKS, check_desk
from tests.desks.benches import BENCHES


@pytest.mark.parametrize("check", DESK_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", BENCHES)
def test_a_desk_passes(name, check, tmp_path):
    bench = BENCHES[name](tmp_path)
    check(bench)
    getattr(bench, "close", lambda: None)()


def test_all_checks_at_once_name_what_was_run(tmp_path):
    folders = iter(range(100))

    def make():
        folder = tmp_path / str(next(folders))
        folder.mkdir()
        return BENCHES["csv"](folder)

    assert check_desk(make) == [check.__name__ for check in DESK_CHECKS]


def test_a_desk_that_forgets_what_it_asked_is_found(tmp_path):
    bench = BENCHES["csv"](tmp_path)
    bench.tasks = lambda: ["case 0", "case 0", "case 1", "case 2"]
    with pytest.raises(AssertionError, match="a_request_that_is_asked_twice_is_one_task"):
        check_desk(lambda: bench)
