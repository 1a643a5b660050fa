"""The exact posterior of a Gaussian process: one factor, with awaited labels beside it.

Notation: X the n told points, K = k(X, X), L Lᵀ = K + σ²I, z = L⁻¹(y − m), v = L⁻¹k(X, x). One triangular
solve gives the variance k(x, x) − v·v, the mean m + v·z, and the row to append to L if x is labelled.
P are the p points whose labels are awaited: V = L⁻¹k(X, P), kept as rows, and R Rᵀ = C = k(P, P) + σ²I − VᵀV.
They narrow the variance by u·u with u = R⁻¹(k(P, x) − Vᵀv), and leave the mean alone. A label that is told
moves from P to the end of L; one that is withdrawn while awaited simply leaves.
"""

from math import log, pi, sqrt
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs.gp.block import Block
from breakeven.beliefs.gp.factor import Factor
from breakeven.beliefs.gp.parameters import Parameters
from breakeven.beliefs.gp.rows import Rows
from breakeven.beliefs.gp.threads import threads_for
from breakeven.beliefs.gp.triangle import Triangle

Array = NDArray[np.float64]

NONE = np.empty(0)
COLUMNS = 256  # predictions per triangular solve


class Solved(msgspec.Struct, gc=False):
    """What one triangular solve says of a point."""

    mean: float
    variance: float  # given the labels told
    narrowed: float  # given also those awaited
    v: Array
    u: Array


class Awaited:
    """The points whose labels were asked for and have not come."""

    def __init__(self, dim: int) -> None:
        self.ids: list[str | None] = []
        self.points = Rows(dim)
        self.V = Rows(0)
        self.R = Triangle()

    def remove(self, j: int) -> None:
        """Forget all of point j but its row of R."""
        del self.ids[j]
        for table in (self.points, self.V):
            table.remove(j)


class Posterior:
    """The posterior given labels told, with others awaited."""

    def __init__(self, dim: int, parameters: Parameters) -> None:
        self.dim = dim
        self.ids: list[str | None] = []  # None for a label nobody asked for
        self._told = _columns(np.empty((dim + 2, 0)))  # a column a label: its point, y and z
        self._L = Factor()
        self._awaited = Awaited(dim)
        self._fresh: tuple[str | None, Array, Solved] | None = None  # awaited too, if nothing else is
        self._take(parameters)

    def _take(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self._kernel = parameters.kernel
        self._weights = parameters.kernel.weights(self.dim)

    @property
    def _X(self) -> Array:
        return self._told.all[:-2]

    @property
    def _z(self) -> Array:
        z: Array = self._told.all[-1]
        return z

    @property
    def y(self) -> Array:
        """The labels told."""
        labels: Array = self._told.all[-2]
        return labels

    @property
    def X(self) -> Array:
        """The points labelled, a row each."""
        return self._X.T

    @property
    def awaited(self) -> int:
        """How many labels are awaited."""
        return len(self._awaited.ids) + (self._fresh is not None)

    def waiting(self) -> list[tuple[str | None, Array]]:
        """The labels awaited and their points, oldest first."""
        self._waiting()
        return list(zip(self._awaited.ids, self._awaited.points.all, strict=True))

    # -- asking ----------------------------------------------------------------------------------

    def solve(self, x: Array, *, awaited: bool = True) -> Solved:
        """Mean and variance at x, and the variance narrowed by what is awaited."""
        v = self._L.solve(self._kernel.column(self._X, x, self._weights))
        mean = self.parameters.mean + float(v.dot(self._z))
        variance = max(self._kernel.amplitude - float(v.dot(v)), 0.0)
        if not (awaited and self._waiting()):
            return Solved(mean, variance, variance, v, NONE)
        w = self._kernel.column(self._awaited.points.all.T, x, self._weights) - self._awaited.V.all @ v
        u = self._awaited.R.solve(w)
        return Solved(mean, variance, max(variance - float(u.dot(u)), 0.0), v, u)

    def solve_many(self, X: Array) -> tuple[Array, Array]:
        """Means and variances at many points, given the labels told."""
        means, variances = np.empty(len(X)), np.empty(len(X))
        with threads_for(len(self.ids)):
            for low in range(0, len(X), COLUMNS):
                part = slice(low, low + COLUMNS)
                V = self._L.solve_many(self._kernel.matrix(self._X, X[part].T, self._weights))
                means[part] = self.parameters.mean + self._z @ V
                variances[part] = np.maximum(self._kernel.amplitude - np.einsum("ij,ij->j", V, V), 0.0)
        return means, variances

    def block(self, X: Array) -> Block:
        """A block of arrivals, by one triangular solve."""
        columns = X.T
        with threads_for(len(self.ids)):
            V = self._L.solve_many(self._kernel.matrix(self._X, columns, self._weights))
            covariance = self._kernel.matrix(columns, columns, self._weights) - V.T @ V
            means, variances = self.parameters.mean + self._z @ V, np.maximum(covariance.diagonal(), 0.0)
            if self._waiting():
                waiting = self._awaited
                W = self._kernel.matrix(waiting.points.all.T, columns, self._weights) - waiting.V.all @ V
                U = waiting.R.solve(W)
                covariance = covariance - U.T @ U
        return Block(means, variances, covariance, self.parameters.noise_variance)

    def log_likelihood(self) -> float:
        """The log marginal likelihood of the labels told."""
        z = self._z
        return -0.5 * (float(z @ z) + self._L.log_determinant() + len(z) * log(2.0 * pi))

    # -- events ----------------------------------------------------------------------------------

    def expect(self, id: str | None, x: Array, solved: Solved) -> None:
        """A label is awaited at x, where `solved` was just computed."""
        if self._waiting():
            self._await(id, x, solved)
        else:
            self._fresh = (id, x, solved)  # it may well be told at once

    def _waiting(self) -> int:
        """How many labels are awaited, all of them in `_awaited`."""
        if self._fresh:
            fresh, self._fresh = self._fresh, None
            self._await(*fresh)
        return len(self._awaited.ids)

    def _await(self, id: str | None, x: Array, solved: Solved) -> None:
        waiting = self._awaited
        waiting.ids.append(id)
        waiting.points.append(x)
        if len(waiting.ids) == 1:
            waiting.V = Rows(len(self.ids))
        waiting.V.append(solved.v)
        waiting.R.append(solved.u, sqrt(solved.narrowed + self.parameters.noise_variance))

    def tell(self, id: str | None, y: float) -> tuple[float, float]:
        """An awaited label came: its point moves to the end of L; mean and variance there, after it."""
        if self._fresh and self._fresh[0] == id:
            (_, x, solved), self._fresh = self._fresh, None
            v, pivot = solved.v, sqrt(solved.narrowed + self.parameters.noise_variance)
            return self._append(id, x, v, pivot, y)
        self._waiting()
        waiting = self._awaited
        j = waiting.ids.index(id)
        x, v = waiting.points.all[j].copy(), waiting.V.all[j].copy()
        pivot, lean = waiting.R.pop_first(j)
        waiting.remove(j)
        waiting.V.widen(lean)
        return self._append(id, x, v, pivot, y)

    def _append(self, id: str | None, x: Array, v: Array, pivot: float, y: float) -> tuple[float, float]:
        mean = self.parameters.mean + float(v.dot(self._z))
        noise_variance = self.parameters.noise_variance
        z, gain = (y - mean) / pivot, max(pivot - noise_variance / pivot, 0.0)
        self._L.append(v, pivot)
        self._told.widen(np.array([*x.tolist(), y, z]))
        self.ids.append(id)
        return mean + gain * z, gain * noise_variance / pivot

    def correct(self, id: str, y: float) -> None:
        """A told label changes its value: only means move."""
        self.y[self.ids.index(id)] = y
        self._solve_labels()

    def withdraw_awaited(self, id: str) -> None:
        """An awaited label will not come."""
        self._waiting()
        j = self._awaited.ids.index(id)
        self._awaited.R.drop(j)
        self._awaited.remove(j)

    def withdraw_told(self, id: str) -> None:
        """A told label goes: L is computed anew from its row on."""
        self._waiting()
        i = self.ids.index(id)
        del self.ids[i]
        self._told = _columns(np.delete(self._told.all, i, axis=1))
        self._L.truncate(i)
        self._refactor()

    def adopt(self, parameters: Parameters) -> None:
        """Other parameters: everything is computed anew."""
        self._waiting()
        self._take(parameters)
        self._L = Factor()
        self._refactor()

    def _refactor(self) -> None:
        X = self._X

        def rows(low: int, high: int) -> Array:
            return self._kernel.matrix(X[:, low:high], X[:, :high], self._weights)

        with threads_for(len(self.ids)):
            self._L.extend(rows, len(self.ids), self.parameters.noise_variance)
        self._solve_labels()
        self._await_again()

    def _solve_labels(self) -> None:
        self._z[:] = self._L.solve(self.y - self.parameters.mean)

    def _await_again(self) -> None:
        old, self._awaited = self._awaited, Awaited(self.dim)
        for id, x in zip(old.ids, old.points.all, strict=True):
            self.expect(id, x, self.solve(x))

    # -- keeping ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything, as plain data; floats as their bytes."""
        self._waiting()
        waiting = self._awaited
        return {
            "parameters": self.parameters.plain(),
            "ids": list(self.ids),
            "told": self._told.all.tobytes(),
            "L": self._L.to_bytes(),
            "awaited": list(waiting.ids),
            "awaited_points": waiting.points.all.tobytes(),
            "V": waiting.V.all.tobytes(),
            "R": waiting.R.rows().tobytes(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` gave."""
        n, p = len(state["ids"]), len(state["awaited"])
        self.ids = list(state["ids"])
        self._told = _columns(_table(state["told"], self.dim + 2, n))
        self._L.load(n, state["L"])
        self._take(Parameters.of(state["parameters"]))
        self._fresh = None
        waiting = self._awaited = Awaited(self.dim)
        waiting.ids = list(state["awaited"])
        waiting.points = Rows(self.dim, _table(state["awaited_points"], p, self.dim))
        waiting.V = Rows(n, _table(state["V"], p, n))
        waiting.R.load(_table(state["R"], p, p))


def _columns(table: Array) -> Rows:
    """A table that grows by widening."""
    return Rows(table.shape[1], table)


def _table(data: bytes, height: int, width: int) -> Array:
    return np.frombuffer(data).reshape(height, width)
