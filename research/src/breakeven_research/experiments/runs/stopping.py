"""The best that can be done about a rare label without inputs: when to stop labelling everyone.

Notation: of n labels bought, k were exceptions (a yes, or not zero); the share of exceptions is unknown, with
a Beta(½, ½) prior, so the next is one with probability q = (k + ½)/(n + 1). An exception that is missed costs
M, a label B, and T arrive. After stopping, every arrival costs g(q) = M·min(q, 1 − q). With
V_n(k) = min((T − n)·g(q), B + q·V_{n+1}(k+1) + (1 − q)·V_{n+1}(k)) and V_T = 0 it pays to stop wherever the
first is at most the second. Labels help later arrivals only, so whoever stops never begins again.

That rule knows M before it has seen an exception, as whoever has yes/no labels does. Where labels are mostly
zero nobody does: the same rule with M unknown takes it to be log-uniform, from B/T, of which T exceptions
cost one label, to T·B, of which one costs as much as labelling everyone, 1,000·B at most; the first exception
tells it.
"""

import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs.averaged.common_label import MOST_SIZE
from breakeven.errors import expect
from breakeven_research.experiments.runs.rivals import decided
from breakeven_research.experiments.runs.trials import Curve

Array = NDArray[np.float64]
Stops = list[NDArray[np.bool_]]
SIZES = 13  # that stand for all


def expected_shares(labels: int) -> Array:
    """The chance of a next exception after so many labels, for every number of exceptions among them.

    >>> expected_shares(1).tolist()
    [0.25, 0.75]
    """
    return (np.arange(labels + 1) + 0.5) / (labels + 1)


def optimal_stopping(rounds: int, cost: float, size: float = 1.0) -> tuple[Stops, float]:
    """For n = 0, 1, … whether to stop after k exceptions in n labels; and the expected loss of doing so.

    >>> stops, loss = optimal_stopping(rounds=1, cost=0.3)
    >>> stops[0].tolist(), loss
    ([False], 0.3)
    """
    rounds, cost = expect.whole("rounds", rounds, least=1), expect.positive("cost", cost)
    later, stops = np.zeros(rounds + 1), []
    for n in range(rounds - 1, -1, -1):
        q = expected_shares(n)
        stop = (rounds - n) * size * np.minimum(q, 1.0 - q)
        go_on = cost + q * later[1:] + (1.0 - q) * later[:-1]
        stops.append(stop <= go_on)
        later = np.minimum(stop, go_on)
    return stops[::-1], float(later[0])


def stopping_run(labels: Array, cost: float, size: float = 1.0) -> Curve:
    """What the rule would have cost on a stream whose common label is 0; it knows how large exceptions are.

    After stopping it answers 0 or, where exceptions are more likely, their size.
    """
    return _run(labels, cost, size, looks=None)


def unsized_run(labels: Array, cost: float, size: float = 1.0) -> Curve:
    """The same for the rule that knows how large exceptions are only from the first one on."""
    return _run(labels, cost, size, looks=optimal_looking(len(labels)))


def optimal_looking(rounds: int) -> int:
    """After how many equal labels to stop where nobody knows how large exceptions are, at any price.

    >>> optimal_looking(20)
    4
    """
    most = min(float(expect.whole("rounds", rounds, least=2)), MOST_SIZE)
    sizes, weights = np.geomspace(1.0 / most, most, SIZES), np.full(SIZES, 1.0)
    weights[[0, -1]] = 0.5
    weights /= weights.sum()
    found = sum(weight * _after_one(rounds, size) for weight, size in zip(weights, sizes, strict=True))
    later, looks = 0.0, rounds
    for n in range(rounds - 1, -1, -1):
        q = 0.5 / (n + 1)
        stop, go_on = (rounds - n) * q * float(weights @ sizes), 1.0 + q * found[n + 1] + (1.0 - q) * later
        looks = n if stop <= go_on else looks
        later = min(stop, go_on)
    return looks


def _after_one(rounds: int, size: float) -> Array:
    """The least cost that is left after n labels of which one was an exception of this size, for every n."""
    later, found = np.zeros(rounds + 1), np.zeros(rounds + 1)
    for n in range(rounds - 1, 0, -1):
        q = expected_shares(n)
        stop = (rounds - n) * size * np.minimum(q, 1.0 - q)
        later = np.minimum(stop, 1.0 + q * later[1:] + (1.0 - q) * later[:-1])
        found[n] = later[1]
    return found


def _run(labels: Array, cost: float, size: float, looks: int | None) -> Curve:
    """Follow the rule; `looks` says after how many equal labels it stops, where it does not know the size."""
    stops, _ = optimal_stopping(len(labels), cost, size)
    n = k = 0
    while n < len(labels) and not (stops[n][k] if k or looks is None else n >= looks):
        k += bool(labels[n] != 0.0)
        n += 1
    answer = 0.0 if n == 0 or (k + 0.5) / (n + 1) <= 0.5 else size
    return decided(np.arange(len(labels)) < n, np.full(len(labels), answer), labels)
