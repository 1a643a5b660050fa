"""What errors cost where an answer that is too low costs more, or less, than one that is too high.

A unit of error costs the mean of the two, and the *level* τ is the share of an answer too low in both: with
it the answer of least expected cost is the label's τ-quantile. Errors of an answer p at a label y then count
2τ·(y − p) below the label and 2(1 − τ)·(p − y) above it, which is |y − p| at τ = ½.
"""

from functools import cache
from math import pi, sqrt
from typing import Any

import numpy as np
from msgspec import Struct

from breakeven.errors import expect
from breakeven.errors.expect import Array

EVEN = 0.5
"""The level at which both ways to be wrong cost the same: the answer is the median."""
FURTHEST_APART = 1e6  # times one of the two costs may be the other

NAMES = (("under_cost", "over_cost"), ("miss_cost", "false_alarm_cost"))


class ErrorCosts(Struct, frozen=True):
    """What a unit of error costs, and the level.

    >>> costs = ErrorCosts.checked(under_cost=6.0, over_cost=2.0)
    >>> costs, costs.under, costs.over
    (ErrorCosts(unit=4.0, level=0.75), 6.0, 2.0)
    >>> ErrorCosts.checked(error_cost=2.0)
    ErrorCosts(unit=2.0, level=0.5)
    >>> ErrorCosts.checked(error_cost=2.0, under_cost=9.0, over_cost=1.0)
    Traceback (most recent call last):
    breakeven.errors.InvalidInput: error_cost: expected none beside under_cost and over_cost, whose mean it \
is, got 2.0
    """

    unit: float = 1.0
    level: float = EVEN

    @property
    def under(self) -> float:
        """What an answer costs that is too low by 1; of a yes/no label, a miss."""
        return 2.0 * self.level * self.unit

    @property
    def over(self) -> float:
        """What an answer costs that is too high by 1; of a yes/no label, a false alarm."""
        return 2.0 * (1.0 - self.level) * self.unit

    @property
    def even(self) -> bool:
        """Whether both cost the same."""
        return self.level == EVEN

    @staticmethod
    def checked(
        error_cost: Any = None,
        under_cost: Any = None,
        over_cost: Any = None,
        miss_cost: Any = None,
        false_alarm_cost: Any = None,
    ) -> "ErrorCosts":
        """One cost for all errors, or two: of answers too low and too high, or of misses and false alarms."""
        pairs = zip(NAMES, ((under_cost, over_cost), (miss_cost, false_alarm_cost)), strict=True)
        given = [(names, pair) for names, pair in pairs if pair != (None, None)]
        if not given:
            return ErrorCosts(1.0 if error_cost is None else expect.positive("error_cost", error_cost))
        names, pair = given[0]
        if len(given) > 1:
            expect.refuse("miss_cost", "none beside under_cost and over_cost: they are the same", miss_cost)
        for name, other, cost in ((*names, pair[0]), (*names[::-1], pair[1])):
            if cost is None:
                expect.refuse(name, f"a cost beside {other}: give both, or error_cost alone", None)
        under, over = (expect.positive(name, cost) for name, cost in zip(names, pair, strict=True))
        if error_cost is not None:
            expect.refuse(
                "error_cost", f"none beside {names[0]} and {names[1]}, whose mean it is", error_cost
            )
        if max(under, over) > FURTHEST_APART * min(under, over):
            came = f"{under:g} and {over:g}"
            expect.refuse(" and ".join(names), "costs at most a million times apart", came, described=True)
        return ErrorCosts((under + over) / 2.0, under / (under + over))


def checked_level(level: Any) -> float:
    """A level that can be answered at."""
    least = 0.5 / FURTHEST_APART
    return expect.number("level", level, least, 1.0 - least)


def counted(off: Array, level: float) -> Array:
    """How much errors count, by how far the labels lie above the answers.

    >>> counted(np.array([1.0, -1.0]), 0.9).round(3).tolist(), counted(np.array([1.0, -3.0]), 0.5).tolist()
    ([1.8, 0.2], [1.0, 3.0])
    """
    if level == EVEN:
        return np.abs(off)
    return np.where(off > 0.0, 2.0 * level * off, -2.0 * (1.0 - level) * off)


@cache
def standard_quantile(level: float) -> float:
    """The quantile of a standard normal number at this level; exactly 0 at the median.

    >>> round(standard_quantile(0.975), 4), standard_quantile(0.5)
    (1.96, 0.0)
    """
    if level == EVEN:
        return 0.0
    from statistics import NormalDist  # slow to import, rarely needed

    return NormalDist().inv_cdf(level)


@cache
def expected_error(level: float) -> float:
    """The expected error of a standard normal number that is answered by its quantile: 2·φ(z).

    >>> round(expected_error(0.5), 4), round(expected_error(0.9), 4)
    (0.7979, 0.351)
    """
    if level == EVEN:
        return sqrt(2.0 / pi)
    from statistics import NormalDist

    return 2.0 * NormalDist().pdf(standard_quantile(level))
