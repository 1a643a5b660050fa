"""The best that can be done without inputs by someone who knows no more of the labels than a learner does.

Both rules label everyone until it no longer pays, as that of `stopping` does, at a price of 1 a label, while
T arrive. What they are not told is how large anything is. It may be anything that matters, from 1/T prices,
of which T cost one label, to T prices, of which one costs as much as labelling everyone, 1,000 at most; all
orders of magnitude are as likely.

Exceptions of unknown size: n labels, k of them exceptions, so the next is one with q = (k + ½)/(n + 1). Sizes
are log-normal, the standard deviation s of their logarithms is known, their mean M is not: after k of them
log M is normal around l with the variance s²/k, and the next moves l by s²/(k(k + 1)) of variance. With
W_n(k, l) = min((T − n)·E M·min(q, 1 − q), 1 + q·E W_{n+1}(k+1, l') + (1 − q)·W_{n+1}(k, l)) it pays to stop
where the first is at most the second.

Numbers of unknown mean and scale: after n normal labels whose squares around their mean sum to Q, answering
that mean costs √(2/π)·√(1 + 1/n)·E σ an arrival, and the next label makes Q into Q + σ²z², z standard normal.
"""

from functools import lru_cache
from math import ceil, log, pi, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs.averaged.common_label import MOST_SIZE
from breakeven.errors import expect
from breakeven_research.experiments.runs.rivals import decided
from breakeven_research.experiments.runs.stopping import expected_shares
from breakeven_research.experiments.runs.trials import Curve

Array = NDArray[np.float64]

SPREAD_OF_SIZES = 0.5  # that of the logarithms of exceptions in the streams of the table
COARSEST = 0.2  # step of the logarithms of sizes
BEYOND = 5  # steps further than the sizes that are likely: those seen may lie there
MOST_PLANNED_BLIND = 60  # labels, after which the scale is taken to be known
SCALES_TRIED, SQUARES_STEP = 161, 0.1  # of scales on a grid, and of the logarithms of sums of squares


def _most(rounds: int) -> float:
    """The largest size that is looked for, in prices."""
    return min(float(expect.whole("rounds", rounds, least=2)), MOST_SIZE)


# -- exceptions whose size nobody knows ----------------------------------------------------------------------


class SizelessPlan(NamedTuple):
    """When to stop: after so many equal labels, or below these places of the grid of l, by n and k − 1.

    `loss` is what it costs on average, in prices.
    """

    looks: int
    places: Array
    stops: list[NDArray[np.int16]]
    loss: float

    def ends(self, labels: int, exceptions: int, size: float) -> bool:
        """Whether to stop after this many labels and exceptions, whose logarithms say this mean size."""
        if not exceptions:
            return labels >= self.looks
        place = round((log(size) - float(self.places[0])) / float(self.places[1] - self.places[0]))
        return bool(min(max(place, 0), len(self.places) - 1) < self.stops[labels][exceptions - 1])


@lru_cache(maxsize=2)
def sizeless_plan(rounds: int, spread: float = SPREAD_OF_SIZES) -> SizelessPlan:
    """The best plan where nobody knows how large exceptions are.

    >>> sizeless_plan(20).looks
    4
    """
    edge = log(_most(rounds))
    half = ceil(edge / COARSEST)
    steps = np.arange(-half - BEYOND, half + BEYOND + 1)
    places: Array = steps * np.float64(edge / half)
    likely = np.where(np.abs(steps) < half, 1.0, 0.0) + np.where(np.abs(steps) == half, 0.5, 0.0)
    likely /= likely.sum()
    usual, none, looks = float(likely @ np.exp(places)), 0.0, rounds
    after = np.zeros((rounds, len(places)))  # the least cost to come, by k − 1
    stops: list[NDArray[np.int16]] = []
    for n in range(rounds - 1, -1, -1):
        q = 0.5 / (n + 1)
        stop = (rounds - n) * q * usual
        go_on = 1.0 + q * float(likely @ after[0]) + (1.0 - q) * none
        looks, none = n if stop <= go_on else looks, min(stop, go_on)
        after, ends = _one_before(after, places, spread, rounds, n)
        stops.append(ends)
    return SizelessPlan(looks, places, stops[::-1], none)


def _one_before(
    after: Array, places: Array, spread: float, rounds: int, n: int
) -> tuple[Array, NDArray[np.int16]]:
    """The least cost to come after n labels, from that after n + 1, and below which places it is to stop."""
    if n == 0:
        return after, np.zeros(0, dtype=np.int16)
    k = np.arange(1.0, n + 1.0)[:, None]
    q = expected_shares(n)[1:, None]
    means = np.exp(places + spread**2 / (2.0 * k))
    stop = (rounds - n) * means * np.minimum(q, 1.0 - q)
    found = after[1 : n + 1] if n + 1 < rounds else after[:n]
    moves = spread**2 / (k * (k + 1.0)) / (places[1] - places[0]) ** 2
    go_on = 1.0 + q * _moved(found, moves) + (1.0 - q) * after[:n]
    return np.minimum(stop, go_on), (stop <= go_on).sum(axis=1).astype(np.int16)


def _moved(costs: Array, variance: Array) -> Array:
    """The mean of costs, in rows, where a place moves at random with this variance in steps: bit by bit."""
    moved, left = costs.copy(), variance
    for _ in range(ceil(float(left.max()))):
        rows = int(np.count_nonzero(left > 0.0))  # the first: the variance falls with k
        bent = moved[:rows, 2:] - 2.0 * moved[:rows, 1:-1] + moved[:rows, :-2]
        moved[:rows, 1:-1] += 0.5 * np.minimum(left[:rows], 1.0) * bent
        left = left - 1.0
    return moved


def sizeless_run(labels: Array, cost: float) -> Curve:
    """What it would have cost on a stream whose common label is 0.

    After stopping it answers 0 or, where exceptions are more likely, their mean.
    """
    plan, cost = sizeless_plan(len(labels)), expect.positive("cost", cost)
    n, sizes = 0, list[float]()
    while n < len(labels) and not plan.ends(n, len(sizes), _mean_size(sizes) / cost):
        sizes += [float(labels[n])] if labels[n] != 0.0 else []
        n += 1
    answer = 0.0 if n == 0 or (len(sizes) + 0.5) / (n + 1) <= 0.5 else _mean_size(sizes)
    return decided(np.arange(len(labels)) < n, np.full(len(labels), answer), labels)


def _mean_size(sizes: list[float]) -> float:
    """The mean that the logarithms of these sizes say."""
    return float(np.exp(np.log(np.abs(sizes)).mean() + SPREAD_OF_SIZES**2 / 2.0)) if sizes else 1.0


# -- numbers whose mean and scale nobody knows ---------------------------------------------------------------


class ScalelessPlan(NamedTuple):
    """Whether to stop, by the number of labels, at each place of the grid of log Q."""

    rounds: int
    places: Array
    stops: dict[int, NDArray[np.bool_]]

    def ends(self, labels: Array) -> bool:
        """Whether to stop after these labels, in prices."""
        n, squares = len(labels), max(float(((labels - labels.mean()) ** 2).sum()), 1e-300)
        if n not in self.stops:
            scale = np.array([sqrt(squares / (n - 1))])
            stop = (self.rounds - n) * _error(n) * scale
            return bool(stop <= _scale_known(scale, self.rounds, n))
        place = round((log(squares) - self.places[0]) / SQUARES_STEP)
        return bool(self.stops[n][min(max(place, 0), len(self.places) - 1)])


@lru_cache(maxsize=4)
def scaleless_plan(rounds: int) -> ScalelessPlan:
    """The best plan for normal labels of unknown mean and scale: two at least, for one says nothing of scale.

    >>> plan = scaleless_plan(600)
    >>> hundredth = np.array([-0.01, 0.01])  # of a price: two labels are too few, and three are enough
    >>> plan.ends(hundredth), plan.ends(np.append(hundredth, 0.0))
    (False, True)
    """
    edge = log(_most(rounds))
    scales = np.exp(np.linspace(-edge, edge, SCALES_TRIED))
    places = np.arange(-2.0 * edge - 12.0, 2.0 * edge + 8.0, SQUARES_STEP)
    last = min(MOST_PLANNED_BLIND, rounds - 1)
    z, weights = np.polynomial.hermite_e.hermegauss(21)
    weights = weights / weights.sum()
    costs = _chances(places, scales, last) @ _scale_known(scales, rounds, last)
    stops: dict[int, NDArray[np.bool_]] = {}
    for n in range(last - 1, 1, -1):
        chances = _chances(places, scales, n)
        stop = (rounds - n) * _error(n) * (chances @ scales)
        go_on = np.ones(len(places))
        for one, weight in zip(z, weights, strict=True):
            then = np.log(np.exp(places)[:, None] + (scales * one) ** 2)
            go_on += weight * (chances * np.interp(then, places, costs)).sum(axis=1)
        stops[n], costs = stop <= go_on, np.minimum(stop, go_on)
    return ScalelessPlan(rounds, places, stops)


def _error(labels: int | Array) -> Array:
    """The error to expect by the mean of so many labels, in scales."""
    error: Array = sqrt(2.0 / pi) * np.sqrt(1.0 + 1.0 / np.asarray(labels, dtype=np.float64))
    return error


def _chances(places: Array, scales: Array, labels: int) -> Array:
    """Of each scale, in columns, where so many labels have this sum of squares, in rows."""
    logs = -(labels - 1.0) * np.log(scales) - np.exp(places)[:, None] / (2.0 * scales**2)
    chances: Array = np.exp(logs - logs.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    return chances


def _scale_known(scales: Array, rounds: int, labels: int) -> Array:
    """The least cost to come after so many labels where the scale is known: a number of labels more."""
    numbers = np.unique(np.geomspace(labels, rounds, 60).round())
    costs = (numbers - labels) + (rounds - numbers) * _error(numbers) * scales[:, None]
    least: Array = costs.min(axis=1)
    return least


def scaleless_run(labels: Array, cost: float) -> Curve:
    """What it would have cost on a stream of numbers: the first few are bought, their mean is the answer."""
    cost = expect.positive("cost", cost)
    plan, n = scaleless_plan(len(labels)), 2
    while n < len(labels) and not plan.ends(labels[:n] / cost):
        n += 1
    return decided(np.arange(len(labels)) < n, np.full(len(labels), labels[:n].mean()), labels)
