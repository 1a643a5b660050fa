"""Every store passes every check."""

import pytest

from breakeven.testing import STORE_CHECKS


@pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
def test_a_store_passes(store, check):
    check(store)
