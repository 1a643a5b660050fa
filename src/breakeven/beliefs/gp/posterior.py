"""The exact posterior of a Gaussian process: one factor, with awaited labels beside it.

Notation: X the n told points, K = k(X, X), L Lᵀ = K + σ²I, z = L⁻¹(y − m), v = L⁻¹k(X, x). One triangular
solve gives the variance k(x, x) − v·v, the mean m + v·z, and the row to append to L if x is labelled.
P are the p points whose labels are awaited: V = L⁻¹k(X, P), kept as rows, and R Rᵀ = C = k(P, P) + σ²I − VᵀV.
They narrow the variance by u·u with u = R⁻¹(k(P, x) − Vᵀv), and leave the mean alone. A label that is told
moves from P to the end of L; one that is withdrawn while awaited simply leaves. A label's noise variance is
the process's own σ², stored as 0, or that of whoever gives it.
"""

from math import log, pi, sqrt
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs.gp.block import Block
from breakeven.beliefs.gp.factor import Factor
from breakeven.beliefs.gp.parameters import Parameters
from breakeven.beliefs.gp.reservoir import Reservoir
from breakeven.beliefs.gp.rows import Rows
from breakeven.beliefs.gp.threads import threads_for
from breakeven.beliefs.gp.triangle import Triangle
from breakeven.beliefs.gp.vectors import dot

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


class Told(Rows):
    """The labels told, a column each: point, noise, y and z. X and z are at hand: each arrival needs them."""

    def _look(self) -> None:
        super()._look()
        self.X, self.z = self.all[:-3], self.all[-1]

    def add(self, x: Array, noise: float, y: float, z: float) -> None:
        """One more label."""
        self._grow_wider()
        self.X[:, -1] = x
        self.all[-3:, -1] = noise, y, z


class Awaited:
    """The points whose labels were asked for and have not come."""

    def __init__(self, dim: int) -> None:
        self.ids: list[str | None] = []
        self.noise: list[float] = []
        self.points = Rows(dim)
        self.V = Rows(0)
        self.R = Triangle()

    def remove(self, j: int) -> None:
        """Forget all of point j but its row of R."""
        del self.ids[j], self.noise[j]
        for table in (self.points, self.V):
            table.remove(j)


class Fresh(msgspec.Struct, gc=False):
    """A label just asked for, which may well be told at once; `reach`: its covariance with the reservoir."""

    id: str | None
    x: Array
    solved: Solved
    noise: float
    reach: Array


class Posterior:
    """The posterior given labels told, with others awaited."""

    def __init__(self, dim: int, parameters: Parameters) -> None:
        self.dim = dim
        self.ids: list[str | None] = []  # None for a label nobody asked for
        self._told = Told(0, np.empty((dim + 3, 0)))
        self._L = Factor()
        self._awaited = Awaited(dim)
        self._fresh: Fresh | None = None  # awaited too, if nothing else is
        self.reservoir: Reservoir | None = None
        self._take(parameters)

    def _take(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self._kernel = parameters.covariance
        self._weights = self._kernel.weights(self.dim)
        self._mean, self._amplitude = parameters.mean, parameters.kernel.amplitude
        self._noise_variance, self._least_noise = parameters.noise_variance, parameters.least_noise

    @property
    def y(self) -> Array:
        """The labels told."""
        labels: Array = self._told.all[-2]
        return labels

    @property
    def X(self) -> Array:
        """The points labelled, a row each."""
        return self._told.X.T

    @property
    def noise(self) -> Array:
        """The noise variance of each label, 0 for the process's own."""
        noise: Array = self._told.all[-3]
        return noise

    def noise_of(self, noise: float) -> float:
        """The variance that a stored one stands for."""
        return max(noise, self._least_noise) if noise else self._noise_variance

    @property
    def awaited(self) -> int:
        """How many labels are awaited."""
        return len(self._awaited.ids) + (self._fresh is not None)

    def waiting(self) -> list[tuple[str | None, Array, float]]:
        """The labels awaited, their points and noise, oldest first."""
        self._waiting()
        waiting = self._awaited
        return list(zip(waiting.ids, waiting.points.all, waiting.noise, strict=True))

    # -- asking ----------------------------------------------------------------------------------

    def solve(self, x: Array, *, awaited: bool = True) -> Solved:
        """Mean and variance at x, and the variance narrowed by what is awaited."""
        v = self._L.solve(self._kernel.column(self._told.X, x, self._weights))
        mean = self._mean + dot(v, self._told.z)
        variance = max(self._amplitude - dot(v, v), 0.0)
        if not (awaited and self._waiting()):
            return Solved(mean, variance, variance, v, NONE)
        w = self._kernel.column(self._awaited.points.all.T, x, self._weights) - self._awaited.V.all @ v
        u = self._awaited.R.solve(w)
        return Solved(mean, variance, max(variance - dot(u, u), 0.0), v, u)

    def solve_many(self, X: Array) -> tuple[Array, Array]:
        """Means and variances at many points, given the labels told."""
        means, variances = np.empty(len(X)), np.empty(len(X))
        with threads_for(len(self.ids)):
            for low in range(0, len(X), COLUMNS):
                part = slice(low, low + COLUMNS)
                V = self._L.solve_many(self._kernel.matrix(self._told.X, X[part].T, self._weights))
                means[part] = self._mean + self._told.z @ V
                variances[part] = np.maximum(self._amplitude - np.einsum("ij,ij->j", V, V), 0.0)
        return means, variances

    def block(self, X: Array) -> Block:
        """A block of arrivals, by one triangular solve."""
        columns = np.ascontiguousarray(X.T)
        with threads_for(len(self.ids)):
            V = self._L.solve_many(self._kernel.matrix(self._told.X, columns, self._weights))
            covariance = self._kernel.matrix(columns, columns, self._weights) - V.T @ V
            means, variances = self._mean + self._told.z @ V, np.maximum(covariance.diagonal(), 0.0)
            if self._waiting():
                waiting = self._awaited
                W = self._kernel.matrix(waiting.points.all.T, columns, self._weights) - waiting.V.all @ V
                U = waiting.R.solve(W)
                covariance = covariance - U.T @ U
        return Block(means, variances, covariance, self.parameters.noise_variance)

    def log_likelihood(self) -> float:
        """The log marginal likelihood of the labels told."""
        z = self._told.z
        return -0.5 * (float(z @ z) + self._L.log_determinant() + len(z) * log(2.0 * pi))

    # -- events ----------------------------------------------------------------------------------

    def ask(self, id: str | None, x: Array, solved: Solved, noise: float = 0.0) -> None:
        """A label is awaited at x, where `solved` was just computed; its noise, if not the process's own."""
        alone = not self._waiting()
        self._fresh = Fresh(id, x, solved, noise, self._ask(x, solved, noise))
        if not alone:
            self._waiting()

    def _waiting(self) -> int:
        """How many labels are awaited, all of them in `_awaited`."""
        if self._fresh:
            fresh, self._fresh = self._fresh, None
            self._await(fresh)
        return len(self._awaited.ids)

    def _await(self, fresh: Fresh) -> None:
        waiting, solved = self._awaited, fresh.solved
        waiting.ids.append(fresh.id)
        waiting.noise.append(fresh.noise)
        waiting.points.append(fresh.x)
        if len(waiting.ids) == 1:
            waiting.V = Rows(len(self.ids))
        waiting.V.append(solved.v)
        waiting.R.append(solved.u, sqrt(solved.narrowed + self.noise_of(fresh.noise)))
        if self.reservoir:
            self.reservoir.wait(fresh.reach)

    def tell(self, id: str | None, y: float) -> tuple[float, float]:
        """An awaited label came: its point moves to the end of L; mean and variance there, after it."""
        fresh = self._fresh
        if fresh and fresh.id == id:
            self._fresh, solved = None, fresh.solved
            pivot = sqrt(solved.narrowed + self.noise_of(fresh.noise))
            if self.reservoir:
                self.reservoir.learn(fresh.reach / pivot)
            return self._append(id, fresh.x, fresh.noise, y, solved.mean, solved.v, pivot)
        self._waiting()
        waiting = self._awaited
        j = waiting.ids.index(id)
        x, v, noise = waiting.points.all[j].copy(), waiting.V.all[j].copy(), waiting.noise[j]
        pivot, lean = waiting.R.pop_first(j)
        waiting.remove(j)
        waiting.V.widen(lean)
        if self.reservoir:
            self.reservoir.tell(j, pivot, lean)
        return self._append(id, x, noise, y, self._mean + dot(v, self._told.z), v, pivot)

    def _append(
        self, id: str | None, x: Array, noise: float, y: float, mean: float, v: Array, pivot: float
    ) -> tuple[float, float]:
        """Enter a label into L and z; `mean`, v and pivot are those of its point before it."""
        noise_variance = self.noise_of(noise)
        z, gain = (y - mean) / pivot, max(pivot - noise_variance / pivot, 0.0)
        self._L.append(v, pivot)
        self._told.add(x, noise, y, z)
        self.ids.append(id)
        return mean + gain * z, gain * noise_variance / pivot

    def correct(self, id: str, y: float) -> None:
        """A told label changes its value: only means move."""
        self._waiting()
        self.y[self.ids.index(id)] = y
        self._solve_labels()

    def withdraw_awaited(self, id: str | None) -> None:
        """An awaited label will not come."""
        self._waiting()
        j = self._awaited.ids.index(id)
        self._awaited.R.drop(j)
        self._awaited.remove(j)
        self._survey()

    def withdraw_told(self, id: str) -> None:
        """A told label goes: L is computed anew from its row on."""
        self._waiting()
        i = self.ids.index(id)
        del self.ids[i]
        self._told = Told(len(self.ids), np.delete(self._told.all, i, axis=1))
        self._L.truncate(i)
        self._refactor()

    def drop(self, which: NDArray[np.bool_]) -> None:
        """Some of the told labels go, and everything is computed anew."""
        self._waiting()
        self.ids = [id for id, goes in zip(self.ids, which.tolist(), strict=True) if not goes]
        self._told = Told(len(self.ids), self._told.all[:, ~which])
        self._L = Factor()
        self._refactor()

    def adopt(self, parameters: Parameters) -> None:
        """Other parameters: everything is computed anew."""
        self._waiting()
        self._take(parameters)
        self._L = Factor()
        self._refactor()

    def _refactor(self) -> None:
        X = self._told.X

        def rows(low: int, high: int) -> Array:
            return self._kernel.matrix(X[:, low:high], X[:, :high], self._weights)

        with threads_for(len(self.ids)):
            self._L.extend(rows, len(self.ids), np.array([self.noise_of(one) for one in self.noise.tolist()]))
        self._solve_labels()
        self._await_again()
        self._survey()

    def _solve_labels(self) -> None:
        self._told.z[:] = self._L.solve(self.y - self._mean)

    def _await_again(self) -> None:
        old, self._awaited = self._awaited, Awaited(self.dim)
        reservoir, self.reservoir = self.reservoir, None  # it is surveyed afterwards, as a whole
        for id, x, noise in zip(old.ids, old.points.all, old.noise, strict=True):
            self.ask(id, x, self.solve(x), noise)
        self._waiting()
        self.reservoir = reservoir

    # -- arrivals to come ------------------------------------------------------------------------

    def watch(self, reservoir: Reservoir | None) -> None:
        """Keep a reservoir from now on; what it holds already is surveyed."""
        self._waiting()
        self.reservoir = reservoir
        self._survey()

    def meet(self, x: Array, solved: Solved) -> None:
        """An arrival, at which `solved` was just computed, may stand for those to come."""
        if self.reservoir and self.reservoir.admits():
            w = NONE
            if self._waiting():
                waiting = self._awaited
                w = self._kernel.column(waiting.points.all.T, x, self._weights) - waiting.V.all @ solved.v
            self.reservoir.add(x, solved.v, w, solved.narrowed)

    def reach(self, x: Array, solved: Solved) -> Array:
        """The covariance of f at x with f at each point of the reservoir, given all labels asked for."""
        return self._narrowed(self._covariance(x, solved.v), solved.u)

    def _covariance(self, x: Array, v: Array) -> Array:
        """The same, given the labels told."""
        assert self.reservoir
        return self._kernel.column(self.reservoir.points.T, x, self._weights) - self.reservoir.V @ v

    def _narrowed(self, covariance: Array, u: Array) -> Array:
        """A covariance given the labels told, given also those awaited."""
        assert self.reservoir
        if not len(u):
            return covariance
        W = np.ascontiguousarray(self.reservoir.W)  # BLAS takes other ways with gaps, to other last digits
        return covariance - self._awaited.R.solve_back(u) @ W

    def _ask(self, x: Array, solved: Solved, noise: float) -> Array:
        """Count a label as asked for; its covariance with the reservoir, given the labels told."""
        if not self.reservoir:
            return NONE
        covariance = self._covariance(x, solved.v)
        self.reservoir.ask(self._narrowed(covariance, solved.u), solved.narrowed + self.noise_of(noise))
        return covariance

    def _survey(self) -> None:
        """See everything in the reservoir anew."""
        if not self.reservoir:
            return
        columns, waiting = np.ascontiguousarray(self.reservoir.points.T), self._awaited
        with threads_for(len(self.ids)):
            V = self._L.solve_many(self._kernel.matrix(self._told.X, columns, self._weights))
            W = self._kernel.matrix(waiting.points.all.T, columns, self._weights)
            W -= waiting.V.all @ V if len(waiting.ids) else 0.0
            U = waiting.R.solve(W)
        variances = self._amplitude - np.einsum("ij,ij->j", V, V) - np.einsum("ij,ij->j", U, U)
        self.reservoir.know(V.T, W, np.maximum(variances, 0.0))

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
            "awaited_noise": list(waiting.noise),
            "V": waiting.V.all.tobytes(),
            "R": waiting.R.rows().tobytes(),
            "reservoir": self.reservoir.state() if self.reservoir else None,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` gave."""
        n, p = len(state["ids"]), len(state["awaited"])
        self.ids = list(state["ids"])
        self._told = Told(n, _table(state["told"], self.dim + 3, n))
        self._L.load(n, state["L"])
        self._take(Parameters.of(state["parameters"]))
        self._fresh = None
        waiting = self._awaited = Awaited(self.dim)
        waiting.ids, waiting.noise = list(state["awaited"]), list(state["awaited_noise"])
        waiting.points = Rows(self.dim, _table(state["awaited_points"], p, self.dim))
        waiting.V = Rows(n, _table(state["V"], p, n))
        waiting.R.load(_table(state["R"], p, p))
        kept = state["reservoir"]
        self.reservoir = None if kept is None else Reservoir.of(self.dim, kept)


def _table(data: bytes, height: int, width: int) -> Array:
    return np.frombuffer(data).reshape(height, width)
