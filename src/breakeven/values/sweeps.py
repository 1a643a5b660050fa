"""Other prices of a label: which ones to look at, and the bills there as a sweep."""

from collections.abc import Mapping

from breakeven.errors import expect
from breakeven.values.bill import BillRow, Sweep

FACTORS = (1.0, 0.5, 0.25, 2.0, 4.0, 8.0, 16.0)  # of the price, in the order in which they are run


def factors(low: float, high: float) -> list[float]:
    """Those at which prices from `low` to `high` are ones that can be computed with.

    >>> factors(1.0, 2.0) == list(FACTORS), factors(1e100, 1e100)
    (True, [1.0, 0.5, 0.25])
    """
    return [one for one in FACTORS if one * low >= expect.SMALLEST and one * high <= expect.LARGEST]


def sweep_of(bills: Mapping[float, BillRow]) -> Sweep:
    """The bills in the order of their prices.

    >>> row = BillRow(name="", labels=1, spend=2.0, mean_error=0.5, total=3.0, saved=1.0)
    >>> sweep_of({4.0: row, 2.0: row}).prices
    [2.0, 4.0]
    """
    rows = [bills[price] for price in sorted(bills)]
    return Sweep(
        prices=sorted(bills),
        labels=[row.labels for row in rows],
        spend=[row.spend for row in rows],
        mean_error=[row.mean_error for row in rows],
        total=[row.total for row in rows],
        saved=[row.saved for row in rows],
    )
