"""The best that can be done about a rare label without inputs: when to stop labelling everyone.

Notation: of n labels bought, k were exceptions (a yes, or not zero); the share of exceptions is unknown, with
a Beta(½, ½) prior, so the next is one with probability q = (k + ½)/(n + 1). An exception that is missed costs
M, a label B, and T arrive. After stopping, every arrival costs g(q) = M·min(q, 1 − q). With
V_n(k) = min((T − n)·g(q), B + q·V_{n+1}(k+1) + (1 − q)·V_{n+1}(k)) and V_T = 0 it pays to stop wherever the
first is at most the second. Labels help later arrivals only, so whoever stops never begins again.
"""

import numpy as np
from numpy.typing import NDArray

from breakeven.errors import expect
from breakeven_research.experiments.runs.rivals import decided
from breakeven_research.experiments.runs.trials import Curve

Array = NDArray[np.float64]
Stops = list[NDArray[np.bool_]]


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
    stops, _ = optimal_stopping(len(labels), cost, size)
    n = k = 0
    while n < len(labels) and not stops[n][k]:
        k += bool(labels[n] != 0.0)
        n += 1
    answer = 0.0 if n == 0 or (k + 0.5) / (n + 1) <= 0.5 else size
    return decided(np.arange(len(labels)) < n, np.full(len(labels), answer), labels)
