"""Other prices of a label: which ones to look at, and the bills there as a sweep."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from breakeven.errors import expect
from breakeven.values.bill import BillRow, Sweep

FACTORS = (1.0, 0.5, 0.25, 2.0, 4.0, 8.0, 16.0)  # of the price, in the order in which they are run


def factors(prices: ArrayLike) -> list[float]:
    """Those at which all prices are ones that can be computed with.

    >>> factors([1.0, 2.0]) == list(FACTORS), factors(1e100)
    (True, [1.0, 0.5, 0.25])
    """
    low, high = float(np.min(prices)), float(np.max(prices))
    return [one for one in FACTORS if one * low >= expect.SMALLEST and one * high <= expect.LARGEST]


def sweep_of(bills: Mapping[float, BillRow | None]) -> Sweep | None:
    """The bills in the order of their prices, if there are two at least; None is a price left out.

    >>> row = BillRow(name="", labels=1, spend=2.0, mean_error=0.5, total=3.0, saved=1.0)
    >>> sweep_of({4.0: row, 2.0: row, 1.0: None}).prices
    [2.0, 4.0]
    """
    found = {price: row for price, row in sorted(bills.items()) if row is not None}
    if len(found) < 2:
        return None
    rows = found.values()
    return Sweep(
        prices=list(found),
        labels=[row.labels for row in rows],
        spend=[row.spend for row in rows],
        mean_error=[row.mean_error for row in rows],
        total=[row.total for row in rows],
        saved=[row.saved for row in rows],
    )
