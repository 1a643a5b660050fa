"""Ids that came: none is forgotten, whether asked for alone or among many, and few are taken for known."""

import pytest

from breakeven.service.seen_ids import FIRST_IDS, LATEST_KEPT, SeenIds


@pytest.mark.parametrize("came", [0, 10, 2 * LATEST_KEPT, 3 * FIRST_IDS], ids=lambda came: f"{came} ids")
def test_many_at_once_are_looked_for_as_one_by_one(came):
    ids = SeenIds()
    ids.add_all(f"case {i}" for i in range(came))
    ids.complete = True
    asked = [f"case {i}" for i in range(0, 2 * came + 300, max(came // 500, 1))]
    found = ids.among(asked)
    assert found == [id for id in asked if id in ids]
    known = {f"case {i}" for i in range(came)}
    assert known.intersection(asked) <= set(found)
    assert len(set(found) - known) <= 0.05 * len(asked)


def test_as_long_as_not_all_are_known_every_one_may_have_come():
    ids = SeenIds()
    ids.add("a")
    assert ids.among(["b", "a"]) == ["b", "a"]
    assert "b" in ids
    found = SeenIds()
    found.add_all(["c"])
    ids.add_found(found)
    assert ids.among(["a", "b", "c"]) == ["a", "c"]
