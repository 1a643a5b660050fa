"""One row for several trials: means, and how sure the mean total is."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from breakeven.values.bill import BillRow

LEVEL = 0.95


def mean_row(name: str, rows: Sequence[BillRow]) -> BillRow:
    """The mean of some rows; its total lies in [low, high] at 95% confidence, where there are two or more.

    >>> one = BillRow(name="", labels=1, spend=2.0, mean_error=0.5, total=3.0, saved=1.0)
    >>> two = BillRow(name="", labels=2, spend=4.0, mean_error=0.5, total=5.0, saved=3.0)
    >>> row = mean_row("both", [one, two])
    >>> row.labels, row.total, round(row.low, 1), round(row.high, 1)
    (1.5, 4.0, -8.7, 16.7)
    """

    def mean(field: str) -> float:
        return float(np.mean([getattr(row, field) for row in rows]))

    total, half = mean("total"), _half_width([row.total for row in rows])
    return BillRow(
        name=name,
        labels=mean("labels"),
        spend=mean("spend"),
        mean_error=mean("mean_error"),
        total=total,
        saved=mean("saved"),
        low=None if half is None else total - half,
        high=None if half is None else total + half,
    )


def _half_width(totals: list[float]) -> float | None:
    """Of the interval that holds their mean, by Student's t."""
    if len(totals) < 2:
        return None
    from scipy.special import stdtrit  # slow to import, rarely needed

    errors = float(stdtrit(len(totals) - 1, (1.0 + LEVEL) / 2.0))
    return errors * float(np.std(totals, ddof=1)) / sqrt(len(totals))
