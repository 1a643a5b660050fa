"""The bill of a stream: what our rule costs beside the simple ways to go about the same cases.

One `BillRow` is one way to go about the stream, a `Sweep` is the bill at several costs of a label, with the
break-even costs that follow from it, and a `Bill` holds all that its page shows. All money is in the unit of
the label cost. What is saved is always counted against the cheapest simple way.
"""

from collections.abc import Sequence
from math import exp, log, sqrt

import numpy as np
from msgspec import Struct

from breakeven.errors import expect
from breakeven.values.exhibit import Section

EVERYONE, NO_ONE, AT_RANDOM = "label everyone", "label no one *", "at random, same money"
ABOUT_NO_ONE = (
    "* Answers the median of all labels for everyone: the best single answer. It is known only afterwards "
    "and given to this way for free."
)
ABOUT_NO_ONE_UNEVEN = (
    "* Answers the same number for everyone: the quantile of all labels at which errors cost least. It is "
    "known only afterwards and given to this way for free."
)
ABOUT_NO_ONE_YES_NO = (
    "* Answers yes for everyone, or no for everyone, whichever costs less. Which that is, is known only "
    "afterwards and given to this way for free."
)
COST_STEP = 4.0  # between two costs of a sweep, before it looks closer at the break-even costs
TRIAL_CONFIDENCE = 0.95  # of the interval of a mean over trials
ROUNDING = 1e-9  # of a total: bills that differ by less are equal


class BillRow(Struct, frozen=True, kw_only=True):
    """One way to go about a stream and what it costs; a row of means if there were several trials.

    `total` is the spend plus the cost of all errors. `mean_error` is over all cases, where a labelled one
    counts as right, and `unasked_error` over those that were not labelled; None where all were. A `simple`
    way needs no model of when a label pays. Over trials, `low` and `high` are the ends of the 95% interval of
    the mean total. A name that ends in * marks a way that is known only afterwards.

    >>> row = BillRow(name="label no one *", labels=0, spend=0.0, mean_error=0.2, total=75.0, simple=True)
    >>> row.hindsight, row.plain_name
    (True, 'label no one')
    """

    name: str
    labels: float
    spend: float
    mean_error: float
    total: float
    unasked_error: float | None = None
    simple: bool = False
    low: float | None = None
    high: float | None = None

    @property
    def hindsight(self) -> bool:
        """Whether this way is known only afterwards, so that nobody could have chosen it."""
        return self.name.endswith("*")

    @property
    def plain_name(self) -> str:
        """The name without the mark of what is known only afterwards."""
        return self.name.removesuffix("*").rstrip()


class Comparison(Struct, frozen=True, kw_only=True):
    """Our rule beside the cheapest simple way: what it saves, also as a part of what that way costs.

    Where the simple way is cheaper, both are below zero.

    >>> Comparison(than="label no one", total=80.0, saved=20.0).share
    0.25
    """

    than: str
    total: float
    saved: float

    @property
    def share(self) -> float:
        """What is saved, as a part of what the simple way costs."""
        return self.saved / self.total if self.total else 0.0


def compared(own: BillRow, rows: Sequence[BillRow]) -> Comparison | None:
    """Our rule beside the cheapest of the simple ways among these rows; None where there is none.

    >>> own = BillRow(name="breakeven", labels=1, spend=1.0, mean_error=0.0, total=6.0)
    >>> no_one = BillRow(name="label no one *", labels=0, spend=0.0, mean_error=0.0, total=5.0, simple=True)
    >>> compared(own, [own, no_one])
    Comparison(than='label no one', total=5.0, saved=-1.0)
    """
    simple = [row for row in rows if row.simple]
    if not simple:
        return None
    best = min(simple, key=lambda row: row.total)
    saved = best.total - own.total
    close = ROUNDING * max(abs(best.total), abs(own.total))
    return Comparison(than=best.plain_name, total=best.total, saved=saved if abs(saved) > close else 0.0)


# -- other costs of a label ----------------------------------------------------------------------------------


class CostPoint(Struct, frozen=True, kw_only=True):
    """What every way costs at one cost of a label; `at_random` is None where that was not run."""

    label_cost: float
    own: BillRow
    everyone: float
    no_one: float
    at_random: float | None = None


class Crossing(Struct, frozen=True, kw_only=True):
    """A cost of a label at which one way overtakes another, and the two costs that it lies between.

    `low` is 0 where it lies below all costs that were run, `high` is None where it lies above them.
    """

    cost: float | None
    low: float
    high: float | None


class BreakEven(Struct, frozen=True, kw_only=True):
    """The two break-even costs of a label on these cases.

    Up to `worth_asking` our bill is below that of labelling no one, and up to `buy_all` no way is cheaper
    than buying every label.
    """

    worth_asking: Crossing
    buy_all: Crossing


class Sweep(Struct, frozen=True, kw_only=True):
    """The bill at several costs of a label, the lowest first; all lists are of equal length.

    `labels` to `total` are those of our rule, the others the totals of the simple ways. It was run on `cases`
    of `of_cases`.

    >>> lists = {"labels": [9, 2], "spend": [9.0, 8.0], "mean_error": [0.1, 0.3], "total": [10.0, 11.0]}
    >>> simple = {"everyone": [10.0, 40.0], "no_one": [12.0, 12.0], "at_random": [10.0, None]}
    >>> Sweep(label_costs=[1.0, 4.0], cases=10, of_cases=10, **lists, **simple).at(3.0)
    1
    """

    label_costs: list[float]
    labels: list[float]
    spend: list[float]
    mean_error: list[float]
    total: list[float]
    everyone: list[float]
    no_one: list[float]
    at_random: list[float | None]
    cases: int
    of_cases: int
    break_even: BreakEven | None = None

    def at(self, label_cost: float) -> int:
        """The place in the lists of the label cost nearest to this one."""
        return min(range(len(self.label_costs)), key=lambda place: abs(self.label_costs[place] - label_cost))

    def cheapest(self, place: int) -> tuple[str, float]:
        """The cheapest simple way at one of the costs, and its total."""
        totals = {
            EVERYONE: self.everyone[place],
            NO_ONE: self.no_one[place],
            AT_RANDOM: self.at_random[place],
        }
        there = {name: total for name, total in totals.items() if total is not None}
        name = min(there, key=lambda one: there[one])
        return name.removesuffix("*").rstrip(), there[name]

    @property
    def ever_cheapest(self) -> bool:
        """Whether our rule costs less than every simple way at any of the costs."""
        pairs = ((self.cheapest(place)[1], total) for place, total in enumerate(self.total))
        return any(total < least - ROUNDING * abs(least) for least, total in pairs)


def sweep_of(points: Sequence[CostPoint], cases: int, of_cases: int) -> Sweep | None:
    """The bills at several costs as a sweep; two are the fewest.

    >>> row = BillRow(name="", labels=1, spend=2.0, mean_error=0.5, total=3.0)
    >>> some = [CostPoint(label_cost=cost, own=row, everyone=9 * cost, no_one=5.0) for cost in (4.0, 2.0)]
    >>> sweep_of(some, 9, 9).label_costs
    [2.0, 4.0]
    """
    points = sorted(points, key=lambda one: one.label_cost)
    if len(points) < 2:
        return None
    return Sweep(
        label_costs=[one.label_cost for one in points],
        labels=[one.own.labels for one in points],
        spend=[one.own.spend for one in points],
        mean_error=[one.own.mean_error for one in points],
        total=[one.own.total for one in points],
        everyone=[one.everyone for one in points],
        no_one=[one.no_one for one in points],
        at_random=[one.at_random for one in points],
        cases=cases,
        of_cases=of_cases,
        break_even=break_even(points),
    )


def break_even(points: Sequence[CostPoint]) -> BreakEven:
    """Where our bill meets that of no one, and where buying all stops being the cheapest."""
    points = sorted(points, key=lambda one: one.label_cost)
    costs = [one.label_cost for one in points]
    over_no_one = [one.own.total - one.no_one for one in points]
    over_others = [one.everyone - _cheapest_other(one) for one in points]
    return BreakEven(
        worth_asking=crossing(costs, over_no_one), buy_all=crossing(costs, over_others, ties=True)
    )


def _cheapest_other(point: CostPoint) -> float:
    """The least total of all ways but buying every label; a way that buys them all is no other."""
    others = [point.own.total, point.no_one, *([] if point.at_random is None else [point.at_random])]
    close = ROUNDING * abs(point.everyone)
    return min((one for one in others if abs(one - point.everyone) > close), default=point.everyone)


def crossing(costs: Sequence[float], over: Sequence[float], *, ties: bool = False) -> Crossing:
    """Where a difference of bills last goes from below zero to above; with `ties` zero counts as below.

    Between two costs that were run it is interpolated, evenly in the logarithm of the cost.

    >>> found = crossing([1.0, 4.0, 16.0], [-3.0, -1.0, 1.0])
    >>> round(found.cost, 6), found.low, found.high
    (8.0, 4.0, 16.0)
    >>> crossing([1.0, 4.0], [1.0, 2.0])
    Crossing(cost=None, low=0.0, high=1.0)
    """
    below = [place for place, one in enumerate(over) if one < 0.0 or (ties and one == 0.0)]
    if not below:
        return Crossing(cost=None, low=0.0, high=costs[0])
    last = below[-1]
    if last == len(costs) - 1:
        return Crossing(cost=None, low=costs[-1], high=None)
    low, high = costs[last], costs[last + 1]
    part = 0.5 if over[last] == 0.0 else over[last] / (over[last] - over[last + 1])
    return Crossing(cost=exp(log(low) + part * (log(high) - log(low))), low=low, high=high)


def can_cost(label_costs: np.ndarray, factor: float) -> bool:
    """Whether every one of these costs can be multiplied by this factor and computed with.

    >>> can_cost(np.array([1.0, 2.0]), 4.0), can_cost(np.array([1e100]), 16.0)
    (True, False)
    """
    low, high = factor * float(np.min(label_costs)), factor * float(np.max(label_costs))
    return low >= expect.SMALLEST and high <= expect.LARGEST


# -- the whole bill ------------------------------------------------------------------------------------------


class Bill(Struct, frozen=True, kw_only=True):
    """The rows, what the page shows about them, and the configuration that leads to the `chosen` row.

    `warnings` come before everything else, then the `headline` and the `lead` below it. `facts` say in a few
    words what the bill is about, `break_even` has the sentences on the break-even costs and `rests_on` what
    they rest on. `trials` are the same rows as means over shuffled orders. `sections` hold charts and
    sentences, and `notes` say how to read the bill. A note that begins with * explains the rows whose name
    ends in *. Money is in `currency` and errors in `unit`, where these are given.

    >>> everyone = BillRow(name="label everyone", labels=9, spend=18.0, mean_error=0.0, total=18.0)
    >>> bill = Bill(title="patients.csv", headline="", rows=[everyone], chosen="label everyone")
    >>> bill.chosen_row.labels, bill.label_cost
    (9, 2.0)
    """

    title: str
    headline: str
    rows: list[BillRow]
    chosen: str
    warnings: list[str] = []
    lead: str = ""
    facts: list[str] = []
    break_even: list[str] = []
    rests_on: str = ""
    trials: list[BillRow] = []
    costs_differ: bool = False
    sections: list[Section] = []
    sweep: Sweep | None = None
    configuration: str = ""
    notes: list[str] = []
    currency: str = ""
    unit: str = ""

    @property
    def everyone(self) -> BillRow:
        """Labelling everyone, which is the first row."""
        return self.rows[0]

    @property
    def chosen_row(self) -> BillRow:
        """The row this bill is about."""
        return next(row for row in self.rows if row.name == self.chosen)

    @property
    def label_cost(self) -> float:
        """What a label costs; the mean where some cost more than others."""
        return self.everyone.spend / self.everyone.labels if self.everyone.labels else 0.0


def mean_row(name: str, rows: Sequence[BillRow]) -> BillRow:
    """The mean of the rows of several trials, with the 95% interval of its total if there are two or more.

    No total is below zero, so the interval is not either.

    >>> one = BillRow(name="", labels=1, spend=2.0, mean_error=0.5, total=3.0)
    >>> two = BillRow(name="", labels=2, spend=4.0, mean_error=0.5, total=5.0)
    >>> row = mean_row("both", [one, two])
    >>> row.labels, row.total, row.low, round(row.high, 1)
    (1.5, 4.0, 0.0, 16.7)
    """
    total, half = _mean([row.total for row in rows]), _half_width([row.total for row in rows])
    unasked = [row.unasked_error for row in rows if row.unasked_error is not None]
    return BillRow(
        name=name,
        labels=_mean([row.labels for row in rows]),
        spend=_mean([row.spend for row in rows]),
        mean_error=_mean([row.mean_error for row in rows]),
        total=total,
        unasked_error=_mean(unasked) if unasked else None,
        simple=rows[0].simple,
        low=None if half is None else max(0.0, total - half),
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
