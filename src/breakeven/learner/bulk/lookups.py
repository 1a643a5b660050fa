"""Numbers that the rounds share: thresholds by clock, and confidence spreads by labels.

Logarithms and powers may differ in their last bit between compilers. So the compiled ones are used only after
they have given the bits that `theory` gives; where they do not, `theory` fills the tables.
"""

from functools import cache
from math import inf
from types import ModuleType

import numpy as np

from breakeven import theory
from breakeven.beliefs import TypeMeans
from breakeven.errors.expect import Array
from breakeven.learner.bulk.arrays import Counts

LARGEST_TABLE = 2**20
SMALLEST_TABLE = 2**12
WINDOW = 2**15
COMPARED_BITS = 2**13  # numbers on which the compiled functions must agree with theory


class Thresholds:
    """`theory.threshold` for types: a table by clock up to `LARGEST_TABLE`, computed beyond."""

    def __init__(self, loops: ModuleType, price: float, unit: float, scale: float) -> None:
        self._loops, self._price, self._unit, self._scale = loops, price, unit, scale
        self.table = np.array([np.nan])  # no clock shows 0

    def extend(self) -> bool:
        """Double the table; False if it is the largest already."""
        old, size = len(self.table), min(max(2 * len(self.table), SMALLEST_TABLE), LARGEST_TABLE + 1)
        self.table = np.append(self.table, self.at(np.arange(old, size)))
        return size > old

    def at(self, clocks: Counts, prices: Array | None = None) -> Array:
        """The thresholds at these clocks, for prices of their own where there are any."""
        compute = self._loops.thresholds if agrees(self._loops) else theory_thresholds
        prices = np.full(len(clocks), self._price) if prices is None else prices
        return np.asarray(compute(clocks, prices, self._unit, self._scale))


class Spreads:
    """`theory.confidence_spread` by labels of all types, for a window of counts from `first` on.

    Where types count their own labels there is no `first`: the table is by these, and grows.
    """

    def __init__(self, loops: ModuleType, belief: TypeMeans) -> None:
        self._loops, self._belief = loops, belief
        self.first: int | None = None
        self.values = np.array([inf])  # without labels
        self.provide(belief.asked)

    def provide(self, labels: int) -> None:
        """Move the window to this many labels asked for, as more will follow; or double the table."""
        if self._belief.counted == "type":
            known = len(self.values)
            self.values = np.append(self.values, self._from(known, max(known, WINDOW)))
        else:
            self.first = max(labels, 1)
            self.values = self._from(self.first, WINDOW)

    def _from(self, first: int, count: int) -> Array:
        return spreads_from(self._loops, self._belief, first, count)


def spreads_from(loops: ModuleType, belief: TypeMeans, first: int, count: int) -> Array:
    """`theory.confidence_spread` of this belief for `count` numbers of labels, from `first` on."""
    compute = loops.spreads if agrees(loops) else theory_spreads
    return np.asarray(compute(first, count, belief.noise_std, belief.delta))


def theory_thresholds(clocks: Counts, prices: Array, unit: float, scale: float) -> Array:
    """What `loops.thresholds` computes, one by one."""
    exponent, cases = theory.DISCRETE_EXPONENT, zip(clocks.tolist(), prices.tolist(), strict=True)
    return np.array([theory.threshold(price, clock, exponent, unit, scale) for clock, price in cases])


def theory_spreads(first: int, count: int, noise_std: float, delta: float) -> Array:
    """What `loops.spreads` computes, one by one."""
    return np.array(
        [theory.confidence_spread(noise_std, labels, delta) for labels in range(first, first + count)]
    )


@cache
def agrees(loops: ModuleType) -> bool:
    """Whether the compiled thresholds and spreads are those of theory, to the bit."""
    clocks = np.arange(1, COMPARED_BITS)
    terms, spread = (clocks, np.full(len(clocks), np.pi), 1.3, 0.7), (1, COMPARED_BITS, 0.3, 0.05)
    return np.array_equal(loops.thresholds(*terms), theory_thresholds(*terms)) and (
        np.array_equal(loops.spreads(*spread), theory_spreads(*spread))
    )
