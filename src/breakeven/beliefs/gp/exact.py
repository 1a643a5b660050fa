"""The exact solver: one factor, with awaited labels beside it.

Notation: X the n told points, K = k(X, X), L Lᵀ = K + σ²I, z = L⁻¹(y − m), v = L⁻¹k(X, x). One triangular
solve gives the variance k(x, x) − v·v, the mean m + v·z, and the row to append to L if x is labelled.
P are the p points whose labels are awaited: V = L⁻¹k(X, P), kept as rows, and R Rᵀ = C = k(P, P) + σ²I − VᵀV.
They narrow the variance by u·u with u = R⁻¹(k(P, x) − Vᵀv), and leave the mean alone. A label that is told
moves from P to the end of L; one that is withdrawn while awaited simply leaves. A label's noise variance is
the process's own σ², stored as 0, or that of whoever gives it.
"""

from math import inf, log, pi, sqrt
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs.belief import Key
from breakeven.beliefs.gp.blas import THREADED, limited, one_thread
from breakeven.beliefs.gp.factor import ROWS_PER_BLOCK, Factor, GrowingTable, Triangle, dot, floats
from breakeven.beliefs.gp.kernels import Parameters
from breakeven.beliefs.gp.reservoir import Reservoir
from breakeven.beliefs.gp.solver import (
    COLUMNS_PER_SOLVE,
    NOTHING_AWAITED,
    Block,
    KeyList,
    LabelledPoints,
    Solved,
    ToldTable,
    read_keys,
    read_reservoir,
    read_told,
)
from breakeven.errors.expect import Array


class AwaitedPoints:
    """The points whose labels were asked for and have not come."""

    def __init__(self, dim: int, told: int) -> None:
        self.keys = KeyList()
        self.noise: list[float] = []
        self.points = GrowingTable(dim)
        self.V = GrowingTable(told)
        self.R = Triangle()

    def append(self, fresh: "Fresh", pivot: float) -> None:
        """One more label; `pivot` is the std of its value, given all other labels asked for."""
        self.keys.append(fresh.key)
        self.noise.append(fresh.noise)
        self.points.append(fresh.x)
        self.V.append(fresh.solved.v)
        self.R.append(fresh.solved.u, pivot)

    def remove(self, j: int) -> None:
        """Forget all of point j but its row of R."""
        self.keys.remove(j)
        del self.noise[j]
        for table in (self.points, self.V):
            table.remove(j)


class Fresh(msgspec.Struct, gc=False):
    """A label just asked for, which may well be told at once; `reach`: its covariance with the reservoir."""

    key: Key
    x: Array
    solved: Solved
    noise: float
    reach: Array


class ExactSolver(LabelledPoints):
    """The posterior given labels told, with others awaited.

    >>> from breakeven.beliefs.gp import SquaredExponential
    >>> solver = ExactSolver(1, Parameters(SquaredExponential(), noise_std=0.1))
    >>> x = np.array([0.0])
    >>> solver.ask(1, x, solver.solve(x))
    >>> round(solver.solve(x).variance, 3), round(solver.solve(x).narrowed, 3)  # awaited labels narrow
    (1.0, 0.01)
    >>> mean, variance = solver.tell(1, 2.0)
    >>> round(mean, 3), round(variance, 3)
    (1.98, 0.01)
    """

    kind = "exact"
    stretch = 1.0
    labels_for_a_fit: int | None = None

    def __init__(self, dim: int, parameters: Parameters) -> None:
        super().__init__(dim)
        self._L = Factor()
        self._small = min(
            ROWS_PER_BLOCK, THREADED // dim
        )  # labels with which a solve is too small for threads
        self._awaited = AwaitedPoints(dim, 0)
        self._fresh: Fresh | None = None  # awaited too, if nothing else is
        self.reservoir: Reservoir | None = None
        self._take(parameters)

    @property
    def rank(self) -> int:
        """Every label told is one point."""
        return self._L.size

    @property
    def awaited(self) -> int:
        """How many labels are awaited."""
        return len(self._awaited.keys.all) + (self._fresh is not None)

    def awaited_labels(self) -> list[tuple[Key, Array, float]]:
        """Key, point and noise of the labels awaited, oldest first."""
        self._settle()
        awaited = self._awaited
        return list(zip(awaited.keys.all, awaited.points.all.copy(), awaited.noise, strict=True))

    # -- asking ----------------------------------------------------------------------------------

    def solve(self, x: Array, *, awaited: bool = True) -> Solved:
        """Mean and variance at x, and the variance narrowed by what is awaited."""
        if self._L.size > self._small:
            with one_thread():
                return self._solve(x, awaited)
        return self._solve(x, awaited)

    def _solve(self, x: Array, awaited: bool) -> Solved:
        v = self._L.solve(self._kernel.column(self._told.X, x, self._weights))
        mean = self._mean + dot(v, self._told.last)
        variance = max(self._amplitude - dot(v, v), 0.0)
        if not (awaited and (self._fresh is not None or self._awaited.keys.all) and self._settle()):
            return Solved(mean, variance, variance, v, NOTHING_AWAITED)
        with limited(self._awaited.points.size * max(len(v), self.dim)):
            w = self._kernel.column(self._awaited.points.all.T, x, self._weights) - self._awaited.V.all @ v
            u = self._awaited.R.solve(w)
        return Solved(mean, variance, max(variance - dot(u, u), 0.0), v, u)

    def solve_many(self, X: Array) -> tuple[Array, Array]:
        """Means and variances at many points, given the labels told."""
        means, variances = np.empty(len(X)), np.empty(len(X))
        with one_thread():
            for low in range(0, len(X), COLUMNS_PER_SOLVE):
                part = slice(low, low + COLUMNS_PER_SOLVE)
                V = self._L.solve_many(self._kernel.matrix(self._told.X, X[part].T, self._weights))
                means[part] = self._mean + self._told.last @ V
                variances[part] = np.maximum(self._amplitude - np.einsum("ij,ij->j", V, V), 0.0)
        return means, variances

    def block(self, X: Array) -> Block:
        """A block of arrivals, by one triangular solve."""
        columns = np.ascontiguousarray(X.T)
        with one_thread():
            V = self._L.solve_many(self._kernel.matrix(self._told.X, columns, self._weights))
            covariance = self._kernel.matrix(columns, columns, self._weights) - V.T @ V
            means, variances = self._mean + self._told.last @ V, np.maximum(covariance.diagonal(), 0.0)
            if self._settle():
                awaited = self._awaited
                W = self._kernel.matrix(awaited.points.all.T, columns, self._weights) - awaited.V.all @ V
                U = awaited.R.solve(W)
                covariance = covariance - U.T @ U
        return Block(means, variances, covariance, self.parameters.noise_variance)

    def log_likelihood(self) -> float:
        """The log marginal likelihood of the labels told."""
        z = self._told.last
        return -0.5 * (dot(z, z) + self._L.log_determinant() + len(z) * log(2.0 * pi))

    # -- events ----------------------------------------------------------------------------------

    def ask(self, key: Key, x: Array, solved: Solved, noise: float = 0.0) -> None:
        """A label is awaited at x, where `solved` was just computed; its noise, if not the process's own."""
        alone = not self._settle()
        fresh = Fresh(key, x, solved, noise, self._ask(x, solved, noise))
        if alone:
            self._fresh = fresh
            return
        if self.reservoir:
            self.reservoir.wait(fresh.reach)
        self._awaited.append(fresh, self._pivot(fresh))

    def _pivot(self, fresh: Fresh) -> float:
        return sqrt(fresh.solved.narrowed + self.noise_of(fresh.noise))

    def _settle(self) -> int:
        """Put the fresh label among those awaited; how many there are.

        Questions come here too, and must not leave half a change: everything is computed first, then stored.
        """
        if self._fresh:
            awaited = AwaitedPoints(self.dim, self._L.size)
            awaited.append(self._fresh, self._pivot(self._fresh))
            if self.reservoir:
                W = GrowingTable(self.reservoir.size, self._fresh.reach[None])
                self._awaited, self._fresh, self.reservoir.awaited = awaited, None, W
            else:
                self._awaited, self._fresh = awaited, None
        return len(self._awaited.keys.all)

    def tell(self, key: Key, y: float) -> tuple[float, float]:
        """An awaited label came: its point moves to the end of L; mean and variance there, after it."""
        fresh = self._fresh
        if fresh and fresh.key == key:
            solved, self._fresh = fresh.solved, None
            pivot = sqrt(solved.narrowed + self.noise_of(fresh.noise))
            if self.reservoir:
                self.reservoir.learn(fresh.reach / pivot)
            return self._append(key, fresh.x, fresh.noise, y, solved.mean, solved.v, pivot)
        self._settle()
        awaited = self._awaited
        j = awaited.keys.place(key)
        x, v, noise = awaited.points.all[j].copy(), awaited.V.all[j].copy(), awaited.noise[j]
        with limited(self.awaited * max(self.awaited, self._L.size)):
            pivot, lean = awaited.R.pop_first(j)
            awaited.remove(j)
            awaited.V.widen(lean)
            if self.reservoir:
                self.reservoir.tell(j, pivot, lean)
            mean = self._mean + dot(v, self._told.last)
        return self._append(key, x, noise, y, mean, v, pivot)

    def _append(
        self, key: Key, x: Array, noise: float, y: float, mean: float, v: Array, pivot: float
    ) -> tuple[float, float]:
        """Enter a label into L and z; `mean`, v and pivot are those of its point before it."""
        noise_variance = self.noise_of(noise)
        z, gain = (y - mean) / pivot, max(pivot - noise_variance / pivot, 0.0)
        self._L.append(v, pivot)
        self._told.add(x, noise, y, z)
        self.keys.append(key)
        return mean + gain * z, gain * noise_variance / pivot

    def correct(self, key: Key, y: float) -> None:
        """A told label changes its value: only means move."""
        self._settle()
        self.y[self.keys.place(key)] = y
        self._told.last[:] = self._solve_labels(self._L, self._told)

    def withdraw_awaited(self, key: Key) -> tuple[Array, float]:
        """An awaited label will not come; its point and noise."""
        self._settle()
        awaited = self._awaited
        j = awaited.keys.place(key)
        x, noise = awaited.points.all[j].copy(), awaited.noise[j]
        with one_thread():
            awaited.R.drop(j)
        awaited.remove(j)
        self._survey()
        return x, noise

    def withdraw_told(self, key: Key) -> tuple[Array, float]:
        """A told label goes: its row leaves L; its point and noise."""
        self._settle()
        i = self.keys.place(key)
        x, noise = self._told.X[:, i].copy(), float(self.noise[i])
        with one_thread():
            L = self._L.without(i)
            self._begin(L, ToldTable.of(self.dim, np.delete(self._told.all, i, axis=1)))
        self.keys.remove(i)
        return x, noise

    def release(self, key: Key) -> None:
        """Forget a label's key."""
        self._settle()
        self.keys.release(key)
        self._awaited.keys.release(key)

    def detach(self) -> None:
        """Forget all keys and all labels awaited."""
        self.keys = KeyList([None] * self.labels)
        self._fresh, self._awaited = None, AwaitedPoints(self.dim, self.labels)
        self._survey()

    def drop(self, which: NDArray[np.bool_]) -> None:
        """Some of the told labels go, and everything is computed anew."""
        self._settle()
        keys = [key for key, goes in zip(self.keys.all, which.tolist(), strict=True) if not goes]
        self._refactor(ToldTable.of(self.dim, self._told.all[:, ~which]))
        self.keys = KeyList(keys)

    def adopt(self, parameters: Parameters) -> None:
        """Other parameters: everything is computed anew."""
        self._settle()
        self._take(parameters)
        self._refactor(self._told)

    def _refactor(self, told: ToldTable) -> None:
        """Compute L anew, for these labels, and all that rests on it."""
        X, noise = told.X, np.array([self.noise_of(one) for one in told.all[-3].tolist()])

        def rows(low: int, high: int) -> Array:
            return self._kernel.matrix(X[:, low:high], X[:, :high], self._weights)

        L = Factor()
        with one_thread():
            L.extend(rows, X.shape[1], noise)
            self._begin(L, told)

    def _begin(self, L: Factor, told: ToldTable) -> None:
        """Go on with this factor of these labels: solve the labels, and all points awaited, anew."""
        z, awaited = self._solve_labels(L, told), self._await_again(L, told)
        told.last[:] = z
        self._L, self._told, self._awaited = L, told, awaited
        self._survey()

    def _solve_labels(self, L: Factor, told: ToldTable) -> Array:
        with one_thread():
            return L.solve(told.y - self._mean)

    def _await_again(self, L: Factor, told: ToldTable) -> AwaitedPoints:
        old, new = self._awaited, AwaitedPoints(self.dim, L.size)
        if len(old.keys):
            columns = np.ascontiguousarray(old.points.all.T)
            noise = np.array([self.noise_of(one) for one in old.noise])
            V = L.solve_many(self._kernel.matrix(told.X, columns, self._weights))
            C = self._kernel.matrix(columns, columns, self._weights) - V.T @ V
            C.reshape(-1)[:: len(C) + 1] += noise
            new.R.factor(C, noise)
            new.keys, new.noise = old.keys, old.noise
            new.points, new.V = old.points, GrowingTable(L.size, V.T)
        return new

    # -- arrivals to come ------------------------------------------------------------------------

    def watch(self, reservoir: Reservoir | None) -> None:
        """Keep a reservoir from now on; what it holds already is surveyed."""
        self._settle()
        self.reservoir = reservoir
        self._survey()

    def meet(self, x: Array, solved: Solved) -> None:
        """An arrival, at which `solved` was just computed, may stand for those to come."""
        if self.reservoir and self.reservoir.admits():
            w = NOTHING_AWAITED
            if self._settle():
                awaited = self._awaited
                with limited(awaited.points.size * self._L.size):
                    w = self._kernel.column(awaited.points.all.T, x, self._weights) - awaited.V.all @ solved.v
            self.reservoir.add(x, solved.v, w, solved.narrowed)

    def age(self, left: float, now: float) -> None:
        """A round passed: what labels say about the reservoir fades, and the factor `left` remains."""
        assert self.reservoir
        self._settle()  # its covariances are to fade, too
        self.reservoir.fade(left, self._amplitude, now)

    def reach(self, x: Array, solved: Solved) -> Array:
        """The covariance of f at x with f at each point of the reservoir, given all labels asked for."""
        assert self.reservoir
        with limited(self._reached(solved)):
            return self._narrowed(self._covariance(x, solved.v), solved.u)

    def _reached(self, solved: Solved) -> int:
        """Entries of the largest matrix between the reservoir and labels."""
        assert self.reservoir
        return self.reservoir.size * max(self._L.size, len(solved.u), self.dim)

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
            return NOTHING_AWAITED
        with limited(self._reached(solved)):
            covariance = self._covariance(x, solved.v)
            reach = self._narrowed(covariance, solved.u)
        self.reservoir.ask(reach, solved.narrowed + self.noise_of(noise))
        return covariance

    def _survey(self) -> None:
        """See everything in the reservoir anew."""
        if not self.reservoir:
            return
        columns, awaited = np.ascontiguousarray(self.reservoir.points.T), self._awaited
        with one_thread():
            V = self._L.solve_many(self._kernel.matrix(self._told.X, columns, self._weights))
            W = self._kernel.matrix(awaited.points.all.T, columns, self._weights)
            W -= awaited.V.all @ V if len(awaited.keys) else 0.0
            U = awaited.R.solve(W)
        variances = self._amplitude - np.einsum("ij,ij->j", V, V) - np.einsum("ij,ij->j", U, U)
        self.reservoir.know(V.T, W, np.maximum(variances, 0.0))

    # -- keeping ---------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """Nothing is approximated."""
        return {}

    def state(self) -> dict[str, Any]:
        """Everything, as plain data; floats as their bytes."""
        self._settle()
        awaited = self._awaited
        return {
            "keys": list(self.keys.all),
            "told": self._told.all.tobytes(),
            "L": self._L.to_bytes(),
            "awaited": list(awaited.keys.all),
            "awaited_points": awaited.points.all.tobytes(),
            "awaited_noise": list(awaited.noise),
            "V": awaited.V.all.tobytes(),
            "R": awaited.R.rows().tobytes(),
            "reservoir": self.reservoir.state() if self.reservoir else None,
        }

    def load(self, state: dict[str, Any], parameters: Parameters) -> None:
        """Take up a state that `state` gave."""
        keys = read_keys(state["keys"])
        told, L = read_told(self.dim, state["told"], len(keys)), Factor.of(len(keys), state["L"])
        awaited = self._read_awaited(state, len(keys))
        reservoir = read_reservoir(self.dim, state["reservoir"], len(keys), len(awaited.keys))
        if parameters != self.parameters:
            self._take(parameters)
        self.parameters, self._mean = parameters, parameters.mean  # a mean of −0 equals one of 0
        self.keys, self._told, self._L = keys, told, L
        self._awaited, self._fresh, self.reservoir = awaited, None, reservoir

    def _read_awaited(self, state: dict[str, Any], n: int) -> AwaitedPoints:
        keys, noise = read_keys(state["awaited"]), state["awaited_noise"]
        p, points, V, R = len(keys.all), state["awaited_points"], state["V"], state["R"]
        if not p and noise == [] and points == V == R == b"":
            as_before = self._awaited.V.width == n and not self.awaited
            return self._awaited if as_before else AwaitedPoints(self.dim, n)
        awaited = AwaitedPoints(self.dim, n)
        if len(noise) != p or not all(type(one) is float and 0.0 <= one < inf for one in noise):
            raise ValueError("expected one noise for every label awaited")
        awaited.keys, awaited.noise = keys, noise[:]
        awaited.points = GrowingTable(self.dim, floats(points, p, self.dim))
        awaited.V = GrowingTable(n, floats(V, p, n))
        awaited.R.load(floats(R, p, p))
        return awaited
