"""Past arrivals that stand for those to come, and what a label would take off the error there.

Notation: V are the features of the arrivals kept, in a solver's own terms, a row each; W the covariance of
each awaited label's point with them, a row each, given the labels told. Variances count all labels asked for.
Every arrival has a mark, a multiple of the golden ratio modulo 1: marks fill [0, 1) evenly and follow no
period of the stream. Kept is whatever has a mark below a share, which is halved when there are too many.
s is a std given all labels asked for, c the covariance of f at a point with f at an arrival to come. A label
with noise variance σ² takes c²/(s² + σ²) off that arrival's variance; the expected error is √(2/π)·s.
docs/value.md derives it.
"""

from math import sqrt
from typing import Any

import numpy as np

from breakeven import theory
from breakeven.beliefs.gp.factor import GrowingTable, floats
from breakeven.errors.expect import Array
from breakeven.values import Saving

GOLDEN_TURN, FULL_TURN = (
    0x9E3779B97F4A7C15,
    1 << 64,
)  # the golden ratio's part of a turn, and one, as integers


class Reservoir:
    """An even sample of the arrivals, `most` at most; `awaited` holds W.

    >>> reservoir = Reservoir(dim=1, most=4)
    >>> for i in range(10):
    ...     if reservoir.admits():
    ...         reservoir.add(np.array([float(i)]), v=np.empty(0), w=np.empty(0), variance=1.0)
    >>> reservoir.points.tolist()
    [[0.0], [2.0], [5.0]]
    """

    def __init__(self, dim: int, most: int) -> None:
        self.most = most
        self.dim = dim
        self.seen = 0
        self._share = FULL_TURN
        self._marks: list[int] = []
        self._points, self._V, self.awaited = GrowingTable(dim), GrowingTable(0), GrowingTable(0)
        self.variances = np.empty(0)

    @property
    def size(self) -> int:
        """How many are kept."""
        return len(self._marks)

    @property
    def points(self) -> Array:
        """The arrivals kept, a row each."""
        return self._points.all

    @property
    def V(self) -> Array:
        """Their features."""
        return self._V.all

    @property
    def W(self) -> Array:
        """Their covariances with the awaited labels' points."""
        return self.awaited.all

    # -- arrivals --------------------------------------------------------------------------------

    def admits(self) -> bool:
        """Count an arrival; whether it is to be added."""
        mark = self.seen * GOLDEN_TURN % FULL_TURN
        self.seen += 1
        return mark < self._share

    def skip(self) -> None:
        """Count an arrival whose content is gone."""
        self.seen += 1

    def add(self, x: Array, v: Array, w: Array, variance: float) -> None:
        """Keep the arrival that was just admitted, and drop half if there are too many now."""
        self._marks.append((self.seen - 1) * GOLDEN_TURN % FULL_TURN)
        self._points.append(x)
        self._V.append(v)
        self.awaited.widen(w)
        self.variances = np.append(self.variances, variance)
        while self.size > self.most:
            self._halve()

    def _halve(self) -> None:
        self._share //= 2
        kept = [i for i, mark in enumerate(self._marks) if mark < self._share]
        self._marks = [self._marks[i] for i in kept]
        self._points = GrowingTable(self.dim, self.points[kept])
        self._V = GrowingTable(self.V.shape[1], self.V[kept])
        self.awaited = GrowingTable(len(kept), self.W[:, kept])
        self.variances = self.variances[kept]

    def fade(self, left: float, amplitude: float, now: float) -> None:
        """Time went on: what is known of arrivals at this time is the less by this factor."""
        self.points[:, -1] = now
        self.V[:] *= left
        self.W[:] *= left
        self.variances = amplitude - left * left * (amplitude - self.variances)

    # -- labels ----------------------------------------------------------------------------------

    def ask(self, reach: Array, variance: float) -> None:
        """A label is asked for whose point has this covariance with those kept, and itself this variance."""
        self.variances = np.maximum(self.variances - reach * reach / variance, 0.0)

    def wait(self, covariance: Array) -> None:
        """A label is awaited; `covariance` is given the labels told."""
        self.awaited.append(covariance)

    def tell(self, j: int, pivot: float, lean: Array) -> None:
        """Awaited label j came; `lean` is what the other awaited ones lean on it, in their order."""
        column = self.W[j] / pivot
        self.awaited.remove(j)
        self.W[:] -= np.multiply.outer(lean, column)
        self.learn(column)

    def learn(self, column: Array) -> None:
        """One more feature."""
        self._V.widen(column)

    def know(self, V: Array, W: Array, variances: Array) -> None:
        """Take up what a solver knows of the points kept."""
        self._V, self.awaited, self.variances = (
            GrowingTable(V.shape[1], V),
            GrowingTable(self.size, W),
            variances.copy(),
        )

    # -- keeping ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything, as plain data; floats as their bytes."""
        return {
            "most": self.most,
            "seen": self.seen,
            "share": self._share.bit_length(),
            "marks": list(self._marks),
            "points": self.points.tobytes(),
            "V": [self._V.width, self.V.tobytes()],
            "W": [self.awaited.size, self.W.tobytes()],
            "variances": self.variances.tobytes(),
        }

    @classmethod
    def of(cls, dim: int, state: dict[str, Any]) -> "Reservoir":
        """The reservoir that `state` wrote; raises where its parts do not fit together."""
        reservoir = cls(dim, state["most"])
        marks, (features, V), (awaited, W) = state["marks"], state["V"], state["W"]
        if type(marks) is not list or not 0 < state["share"] <= FULL_TURN.bit_length():
            raise ValueError("expected marks, and a share of all")
        reservoir.seen, reservoir._share = state["seen"], 1 << (state["share"] - 1)
        reservoir._marks = list(marks)
        size = reservoir.size
        reservoir._points = GrowingTable(dim, floats(state["points"], size, dim))
        reservoir.know(floats(V, size, features), floats(W, awaited, size), floats(state["variances"], size))
        return reservoir


def saving(
    variance: float, reach: Array, variances: Array, noise_variance: float, lesson: float, half_life: float
) -> Saving:
    """The saving of a label at a point of this variance, that reaches so far to arrivals of these variances.

    The point itself stands for arrivals to come, too. `lesson` is the share of their errors that goes by what
    the label teaches.
    """
    spread = variance + noise_variance
    here = theory.EXPECTED_ERROR * float(_drop(variance, variance * variance / spread))
    there = theory.EXPECTED_ERROR * float(np.sum(_drop(variances, reach * reach / spread)))
    errors = theory.EXPECTED_ERROR * (float(np.sqrt(variances).sum()) + sqrt(variance))
    count = len(variances) + 1
    outright = theory.EXPECTED_ERROR * sqrt(spread)
    return Saving(here, (there + here) / count, lesson * errors / count, half_life, outright)


def lesson_share(parameters: int, labels: int) -> float:
    """What one more label takes off the share of an error that comes of estimating so many parameters.

    >>> lesson_share(parameters=4, labels=4)
    0.1
    """
    return parameters / (2.0 * labels * (labels + 1))


def _drop(variance: Array | float, gone: Array | float) -> Array:
    """How much a std falls when so much of its variance goes."""
    before = np.sqrt(variance)
    after = np.sqrt(np.maximum(variance - np.asarray(gone), 0.0))
    both = before + after
    drop: Array = np.divide(np.minimum(gone, variance), both, out=np.zeros_like(both), where=both > 0.0)
    return drop
