"""The bill of a stream: what it costs to label everyone, no one, or only where a label pays for itself.

One `BillRow` is one way to go about the stream, a `Sweep` is the bill of one rule at several label costs, and
a `Bill` holds both with all that its page shows. All money is in the unit of the label cost; `saved` is
always counted against labelling everyone.
"""

from collections.abc import Mapping, Sequence
from math import sqrt

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from breakeven.errors import expect
from breakeven.values.exhibit import Section

EVERYONE, NO_ONE = "label everyone", "label no one *"
ABOUT_NO_ONE = "* Predicts the median of all labels for everyone; that median is known only afterwards."
ABOUT_NO_ONE_UNEVEN = (
    "* Answers the same quantile of all labels for everyone; that quantile is known only afterwards."
)
COST_FACTORS = (1.0, 0.5, 0.25, 2.0, 4.0, 8.0, 16.0)  # of the label cost, in the order in which they are run
TRIAL_CONFIDENCE = 0.95  # of the interval of a mean over trials


class BillRow(Struct, frozen=True, kw_only=True):
    """One way to go about a stream and what it costs; a row of means if there were several trials.

    `total` is the spend plus the cost of all errors. Over trials, `low` and `high` are the ends of the 95%
    interval of the mean total. A name that ends in * marks a way that is known only afterwards.

    >>> row = BillRow(name="Value", labels=12, spend=60.0, mean_error=0.2, total=75.0, saved=25.0)
    >>> row.share_saved, row.hindsight
    (0.25, False)
    """

    name: str
    labels: float
    spend: float
    mean_error: float
    total: float
    saved: float
    low: float | None = None
    high: float | None = None

    @property
    def share_saved(self) -> float:
        """What is saved, as a part of the total of labelling everyone."""
        everyone = self.total + self.saved
        return self.saved / everyone if everyone else 0.0

    @property
    def hindsight(self) -> bool:
        """Whether this way is known only afterwards, so that nobody could have chosen it."""
        return self.name.endswith("*")


class Sweep(Struct, frozen=True, kw_only=True):
    """The bill of one rule at several costs of a label, the lowest first; all lists are of equal length.

    >>> lists = {"labels": [9, 2], "spend": [9.0, 8.0], "mean_error": [0.1, 0.3], "total": [10.0, 11.0]}
    >>> Sweep(label_costs=[1.0, 4.0], saved=[2.0, 37.0], **lists).at(3.0)
    1
    """

    label_costs: list[float]
    labels: list[float]
    spend: list[float]
    mean_error: list[float]
    total: list[float]
    saved: list[float]

    def at(self, label_cost: float) -> int:
        """The place in the lists of the label cost nearest to this one."""
        return min(range(len(self.label_costs)), key=lambda place: abs(self.label_costs[place] - label_cost))


class Bill(Struct, frozen=True, kw_only=True):
    """The rows, what the page shows about them, and the configuration that leads to the `chosen` row.

    The first row is labelling everyone; `trials` are the same rows as means over shuffled orders. `facts` say
    in a few words what the bill is about, `sections` hold charts and sentences, and `notes` say how to read
    the bill. A note that begins with * explains the rows whose name ends in *.

    >>> everyone = BillRow(name="label everyone", labels=9, spend=18.0, mean_error=0.0, total=18.0, saved=0.0)
    >>> bill = Bill(title="patients.csv", rows=[everyone], chosen="label everyone")
    >>> bill.chosen_row.labels, bill.label_cost
    (9, 2.0)
    """

    title: str
    rows: list[BillRow]
    chosen: str
    facts: list[str] = []
    trials: list[BillRow] = []
    costs_differ: bool = False
    sections: list[Section] = []
    sweep: Sweep | None = None
    configuration: str = ""
    notes: list[str] = []

    @property
    def everyone(self) -> BillRow:
        """Labelling everyone."""
        return self.rows[0]

    @property
    def chosen_row(self) -> BillRow:
        """The row this bill is about."""
        return next(row for row in self.rows if row.name == self.chosen)

    @property
    def label_cost(self) -> float:
        """What a label costs; the mean where some cost more than others."""
        return self.everyone.spend / self.everyone.labels if self.everyone.labels else 0.0


def factors(label_costs: ArrayLike) -> list[float]:
    """The factors of `COST_FACTORS` by which every one of these costs can be multiplied and computed with.

    >>> factors([1.0, 2.0]) == list(COST_FACTORS), factors(1e100)
    (True, [1.0, 0.5, 0.25])
    """
    low, high = float(np.min(label_costs)), float(np.max(label_costs))
    return [one for one in COST_FACTORS if one * low >= expect.SMALLEST and one * high <= expect.LARGEST]


def sweep_of(bills: Mapping[float, BillRow | None]) -> Sweep | None:
    """The bills by label cost as a sweep; None marks a cost left out, and two bills are the fewest.

    >>> row = BillRow(name="", labels=1, spend=2.0, mean_error=0.5, total=3.0, saved=1.0)
    >>> sweep_of({4.0: row, 2.0: row, 1.0: None}).label_costs
    [2.0, 4.0]
    """
    found = {label_cost: row for label_cost, row in sorted(bills.items()) if row is not None}
    if len(found) < 2:
        return None
    rows = found.values()
    return Sweep(
        label_costs=list(found),
        labels=[row.labels for row in rows],
        spend=[row.spend for row in rows],
        mean_error=[row.mean_error for row in rows],
        total=[row.total for row in rows],
        saved=[row.saved for row in rows],
    )


def mean_row(name: str, rows: Sequence[BillRow]) -> BillRow:
    """The mean of the rows of several trials, with the 95% interval of its total if there are two or more.

    >>> one = BillRow(name="", labels=1, spend=2.0, mean_error=0.5, total=3.0, saved=1.0)
    >>> two = BillRow(name="", labels=2, spend=4.0, mean_error=0.5, total=5.0, saved=3.0)
    >>> row = mean_row("both", [one, two])
    >>> row.labels, row.total, round(row.low, 1), round(row.high, 1)
    (1.5, 4.0, -8.7, 16.7)
    """
    total, half = _mean([row.total for row in rows]), _half_width([row.total for row in rows])
    return BillRow(
        name=name,
        labels=_mean([row.labels for row in rows]),
        spend=_mean([row.spend for row in rows]),
        mean_error=_mean([row.mean_error for row in rows]),
        total=total,
        saved=_mean([row.saved for row in rows]),
        low=None if half is None else total - half,
        high=None if half is None else total + half,
    )


def _mean(values: list[float]) -> float:
    return float(np.mean(values))


def _half_width(totals: list[float]) -> float | None:
    """Half the width of the interval that holds the mean of these totals, by Student's t."""
    if len(totals) < 2:
        return None
    from scipy.special import stdtrit  # slow to import, rarely needed

    errors = float(stdtrit(len(totals) - 1, (1.0 + TRIAL_CONFIDENCE) / 2.0))
    return errors * float(np.std(totals, ddof=1)) / sqrt(len(totals))
