"""One table with everything that it can be compared with, run once for all who look at it."""

import pytest

from tests.tables.samples import bill_of, smooth


@pytest.fixture(scope="session")
def outcome():
    return bill_of(smooth(100), cost=0.5, compare=True, sweep=True, trials=2)
