"""The average of many Student t distributions: its quantiles, its answer, and how far off that is expected.

Each component stands for itself by a few of its quantiles, which lie closer in the tails. Together, sorted
and weighted, they are the mixture: sums over them are expectations, and its quantiles lie between them.
"""

from functools import lru_cache
from math import inf

import numpy as np
from numpy.typing import NDArray

from breakeven.errors.expect import Array
from breakeven.values import counted
from breakeven.values.decision import QUANTILE_LEVELS

Places = NDArray[np.int64]


def _cells(*edges: float) -> tuple[Array, Array]:
    """Levels in the middles of cells between these and their mirror images, and how wide the cells are."""
    both = np.array([*edges, *(1.0 - one for one in reversed(edges) if one < 0.5)])
    return (both[:-1] + both[1:]) / 2.0, np.diff(both)


NODE_LEVELS, NODE_WEIGHTS = _cells(0.0, 0.015, 0.05, 0.11, 0.2, 0.33, 0.5)
FEW_NODES = _cells(0.0, 0.015, 0.07, 0.22, 0.5), _cells(0.0, 0.03, 0.11, 0.24, 0.4)
"""Levels and weights for one component among many: two choices that lie between each other."""
_CARRIED = np.array(QUANTILE_LEVELS)


@lru_cache(maxsize=256)
def nodes(degrees: float, few: int | None = None) -> Array:
    """Quantiles of a Student t with these degrees of freedom at the node levels; of a normal at ∞ degrees."""
    from scipy.special import ndtri, stdtrit  # slow to import

    levels = NODE_LEVELS if few is None else FEW_NODES[few][0]
    found: Array = ndtri(levels) if degrees == inf else stdtrit(degrees, levels)
    return found


@lru_cache(maxsize=256)
def unit_error(degrees: float, level: float) -> float:
    """The expected error of answering the `level` quantile of a Student t of scale 1."""
    return expected_error(nodes(degrees), NODE_WEIGHTS, node_between(degrees, level), level)


@lru_cache(maxsize=256)
def node_between(degrees: float, level: float) -> float:
    """The `level` quantile of a Student t of scale 1, as its nodes tell it."""
    return float(np.interp(level, NODE_LEVELS, nodes(degrees)))


def below(t: Array, degrees: Array) -> Array:
    """The probability that a Student t with these degrees of freedom is below t."""
    from scipy.special import ndtr, stdtr

    share: Array = ndtr(t) if degrees[0] == inf else stdtr(degrees, t)
    return share


def expected_error(values: Array, weights: Array, answer: float, level: float) -> float:
    """The expected error of an answer, as errors count at this level."""
    return float(weights @ counted(values - answer, level))


class Mixture:
    """Weighted values as one distribution.

    >>> Mixture(np.array([1.0, 0.0]), np.array([0.5, 0.5])).quantile(0.5)
    0.5
    """

    __slots__ = ("levels", "values", "weights")

    def __init__(self, values: Array, weights: Array, levels: Array | None = None) -> None:
        if levels is None:
            values, weights, levels = (each[0] for each in _sorted(values[None], weights[None]))
        self.values, self.weights, self.levels = values, weights, levels

    @staticmethod
    def rows(values: Array, weights: Array) -> "list[Mixture]":
        """One for each row of values, whose weights are those of the same row."""
        return [Mixture(*each) for each in zip(*_sorted(values, weights), strict=True)]

    def quantile(self, level: float) -> float:
        """One quantile."""
        return float(np.interp(level, self.levels, self.values))

    def quantiles(self) -> tuple[float, ...]:
        """Those that a prediction carries; the sixth is the median."""
        return tuple(np.interp(_CARRIED, self.levels, self.values).tolist())

    def error(self, answer: float, level: float) -> float:
        """The expected error of an answer."""
        return expected_error(self.values, self.weights, answer, level)


def _sorted(values: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Rows of values in order, their weights, and the share of the weight below the middle of each.

    Values that differ only in the last digits come in any order: a value's place is written over these in a
    copy, which is sorted. That is quicker than to sort places by their values.
    """
    places, digits, others = _marks(*values.shape)
    marked = np.bitwise_and(values.view(np.int64), others)
    marked |= places
    marked.view(np.float64).sort(axis=1)
    marked &= digits
    weights = weights.take(marked)
    levels = weights.cumsum(axis=1)
    levels -= 0.5 * weights
    return values.take(marked), weights, levels


@lru_cache(maxsize=256)
def _marks(rows: int, columns: int) -> tuple[Places, Places, Places]:
    """The place of each of so many values, the binary digits that it takes, and all others."""
    places = np.arange(rows * columns).reshape(rows, columns)
    digits = np.array((1 << places.size.bit_length()) - 1)
    return places, digits, ~digits
