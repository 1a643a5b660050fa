"""Past arrivals that stand for those to come, with what an engine knows of each.

Notation: R the r arrivals kept; V their features in the engine's own terms, a row each; W the covariance of
each awaited label's point with them, a row each, given the labels told. Variances count all labels asked for.
Every arrival has a mark, a multiple of the golden ratio modulo 1: marks fill [0, 1) evenly and follow no
period of the stream. Kept is whatever has a mark below a share, which is halved when there are too many.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs.gp.rows import Rows

Array = NDArray[np.float64]

TURN, FULL = 0x9E3779B97F4A7C15, 1 << 64  # the golden ratio's, and one, as integers


class Reservoir:
    """An even sample of at most so many arrivals.

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
        self._share = FULL
        self._marks: list[int] = []
        self._points, self._V, self._W = Rows(dim), Rows(0), Rows(0)
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
        return self._W.all

    # -- arrivals --------------------------------------------------------------------------------

    def admits(self) -> bool:
        """Count an arrival; whether it is to be added."""
        mark = self.seen * TURN % FULL
        self.seen += 1
        return mark < self._share

    def add(self, x: Array, v: Array, w: Array, variance: float) -> None:
        """Keep the arrival that was just admitted, and drop half if there are too many now."""
        self._marks.append((self.seen - 1) * TURN % FULL)
        self._points.append(x)
        self._V.append(v)
        self._W.widen(w)
        self.variances = np.append(self.variances, variance)
        while self.size > self.most:
            self._halve()

    def _halve(self) -> None:
        self._share //= 2
        kept = [i for i, mark in enumerate(self._marks) if mark < self._share]
        self._marks = [self._marks[i] for i in kept]
        self._points = Rows(self.dim, self.points[kept])
        self._V = Rows(self.V.shape[1], self.V[kept])
        self._W = Rows(len(kept), self.W[:, kept])
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
        self._W.append(covariance)

    def tell(self, j: int, pivot: float, lean: Array) -> None:
        """Awaited label j came; `lean` is what the other awaited ones lean on it, in their order."""
        column = self.W[j] / pivot
        self._W.remove(j)
        self.W[:] -= np.multiply.outer(lean, column)
        self.learn(column)

    def learn(self, column: Array) -> None:
        """One more feature."""
        self._V.widen(column)

    def know(self, V: Array, W: Array, variances: Array) -> None:
        """Take up what an engine knows of the points kept."""
        self._V, self._W, self.variances = Rows(V.shape[1], V), Rows(self.size, W), variances.copy()

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
            "W": [self._W.size, self.W.tobytes()],
            "variances": self.variances.tobytes(),
        }

    @classmethod
    def of(cls, dim: int, state: dict[str, Any]) -> "Reservoir":
        """A reservoir from what `state` gave."""
        reservoir = cls(dim, state["most"])
        reservoir.seen, reservoir._share = state["seen"], 1 << (state["share"] - 1)
        reservoir._marks = list(state["marks"])
        size, (features, V), (awaited, W) = reservoir.size, state["V"], state["W"]
        reservoir._points = Rows(dim, np.frombuffer(state["points"]).reshape(size, dim))
        reservoir.know(
            np.frombuffer(V).reshape(size, features),
            np.frombuffer(W).reshape(awaited, size),
            np.frombuffer(state["variances"]),
        )
        return reservoir
