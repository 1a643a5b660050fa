"""A posterior on a dictionary of points: an arrival's cost grows with the dictionary, not with the labels.

Notation: D the m points of the dictionary, L Lᵀ = k(D, D), φ = L⁻¹k(D, x) the features of x, with residual
r = k(x, x) − |φ|². A point whose label is asked for joins D if r exceeds ν times the amplitude; else it is
absorbed: its label counts as one of w·φ, w being the dictionary's weights, with mean μ and covariance S.
The variance is r + φᵀSφ. While labels are awaited S is kept twice, given those told and given all asked
for; so a label late in coming changes no decision, and costs nothing to wait for.
"""

from math import log, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs.gp.block import Block
from breakeven.beliefs.gp.factor import Factor
from breakeven.beliefs.gp.parameters import Parameters
from breakeven.beliefs.gp.posterior import COLUMNS, NONE, Solved
from breakeven.beliefs.gp.projection import Certificate, ProjectedBlock, Weights
from breakeven.beliefs.gp.reservoir import Reservoir
from breakeven.beliefs.gp.rows import Rows
from breakeven.beliefs.gp.threads import threads_for
from breakeven.beliefs.gp.vectors import dot
from breakeven.errors import expect

Array = NDArray[np.float64]

LEAST_TOLERANCE = 1e-10  # below it residuals are rounding
JITTER = 1e-13  # of the amplitude, added to the diagonal of k(D, D): above rounding, so φ stays a projection
ROUNDING = 1e-15  # of the amplitude: what a residual may hide


class Dictionary:
    """A posterior like the exact one, with a certificate of how far its std may be off.

    `tolerance` is ν, from 1e-10 to 1: the share of the prior variance that may be lost of a label's point.

    >>> from breakeven.beliefs.gp import SquaredExponential
    >>> dictionary = Dictionary(1, Parameters(SquaredExponential(), noise_std=0.1), tolerance=1e-8)
    >>> for i in range(500):
    ...     x = np.array([7 * i % 25 / 10.0])
    ...     dictionary.ask(str(i), x, dictionary.solve(x))
    ...     _ = dictionary.tell(str(i), 2.0)
    >>> dictionary.rank, round(dictionary.solve(np.array([1.23])).mean, 3)
    (10, 2.001)
    >>> dictionary.certificate.kappa < 0.01
    True
    """

    def __init__(self, dim: int, parameters: Parameters, tolerance: float = 1e-8) -> None:
        self.dim = dim
        self.tolerance = expect.number("tolerance", tolerance, LEAST_TOLERANCE, 1.0)
        self.reservoir: Reservoir | None = None
        self._clear(parameters)

    def _clear(self, parameters: Parameters) -> None:
        """Know nothing."""
        self.parameters = parameters
        self._kernel = parameters.covariance
        self._inverse_squares = self._kernel.weights(self.dim)
        self._mean, self._amplitude = parameters.mean, parameters.kernel.amplitude
        self._noise_variance, self._least_noise = parameters.noise_variance, parameters.least_noise
        self._limit = self.tolerance * parameters.kernel.amplitude
        self._D, self._L = Rows(0, np.empty((self.dim, 0))), Factor()
        self.ids: list[str | None] = []  # None for a label nobody asked for
        self._labels = Rows(0, np.empty((self.dim + 3, 0)))  # columns: point, noise, y, features used
        self._waiting: list[str | None] = []
        self._awaited = Rows(self.dim + 3)  # rows: point, noise, features used, what they lose
        self._told = self._asked = Weights()
        self._fresh: tuple[Array, float] | None = None  # the only one awaited, not yet in `_asked`
        self._mu = np.empty(0)
        self._lost = 0.0
        self._misfit = self._log_determinant = 0.0

    @property
    def rank(self) -> int:
        """How many points the dictionary has."""
        return self._L.size

    @property
    def y(self) -> Array:
        """The labels told."""
        labels: Array = self._labels.all[-2]
        return labels

    @property
    def X(self) -> Array:
        """The points labelled, a row each."""
        return self._labels.all[:-3].T

    @property
    def noise(self) -> Array:
        """The noise variance of each label, 0 for the process's own."""
        noise: Array = self._labels.all[-3]
        return noise

    def noise_of(self, noise: float) -> float:
        """The variance that a stored one stands for."""
        return max(noise, self._least_noise) if noise else self._noise_variance

    @property
    def awaited(self) -> int:
        """How many labels are awaited."""
        return len(self._waiting)

    def waiting(self) -> list[tuple[str | None, Array, float]]:
        """The labels awaited, their points and noise, oldest first."""
        rows = self._awaited.all
        return list(zip(self._waiting, rows[:, :-3], rows[:, -3].tolist(), strict=True))

    @property
    def certificate(self) -> Certificate:
        """How far stds may be off, those that count awaited labels and those that do not."""
        return Certificate(sqrt(max(self._lost, 0.0)))

    # -- asking ----------------------------------------------------------------------------------

    def _features(self, x: Array) -> Array:
        return self._L.solve(self._kernel.column(self._D.all, x, self._inverse_squares))

    def _many_features(self, columns: Array) -> Array:
        return self._L.solve_many(self._kernel.matrix(self._D.all, columns, self._inverse_squares))

    def solve(self, x: Array, *, awaited: bool = True) -> Solved:
        """Mean and variance at x, and the variance narrowed by what is awaited; v is φ."""
        phi = self._features(x)
        mean = self._mean + dot(phi, self._mu)
        residual = self._residual(phi)
        variance = narrowed = _variance(residual, self._told.turned(phi))
        if awaited and self._waiting:
            narrowed = _variance(residual, self._counted().turned(phi))
        return Solved(mean, variance, narrowed, phi, NONE)

    def _residual(self, phi: Array) -> float:
        """What the features leave out; where rounding takes it below 0, that cancels in a variance."""
        return self._amplitude - dot(phi, phi)

    def solve_many(self, X: Array) -> tuple[Array, Array]:
        """Means and variances at many points, given the labels told."""
        means, variances = np.empty(len(X)), np.empty(len(X))
        with threads_for(self.rank):
            for low in range(0, len(X), COLUMNS):
                part = slice(low, low + COLUMNS)
                means[part], variances[part] = self._given_told(self._many_features(X[part].T))
        return means, variances

    def _given_told(self, phi: Array) -> tuple[Array, Array]:
        """Means and variances from columns of features."""
        variances = self._amplitude - _squares(phi) + _squares(self._told.turned(phi))
        return self.parameters.mean + self._mu @ phi, np.maximum(variances, 0.0)

    def block(self, X: Array) -> Block:
        """A block of arrivals, by one triangular solve."""
        columns = np.ascontiguousarray(X.T)
        with threads_for(self.rank):
            phi = self._many_features(columns)
            turned = self._counted().turned(phi)
            outside = self._kernel.matrix(columns, columns, self._inverse_squares) - phi.T @ phi
            means, variances = self._given_told(phi)
        noise_variance = self.parameters.noise_variance
        return ProjectedBlock(means, variances, turned.T @ turned, outside, noise_variance, self._limit)

    def log_likelihood(self) -> float:
        """The log marginal likelihood of the labels told, with the features they count with."""
        return -0.5 * (self._misfit + self._log_determinant + len(self.ids) * log(2.0 * pi))

    # -- events ----------------------------------------------------------------------------------

    def ask(self, id: str | None, x: Array, solved: Solved, noise: float = 0.0) -> None:
        """A label is awaited at x, where `solved` was just computed; its noise, if not the process's own."""
        self._counted()
        if self.reservoir:
            self.reservoir.ask(self.reach(x, solved), solved.narrowed + self.noise_of(noise))
        phi, lost = self._enter(x, solved.v, noise)
        self._waiting.append(id)
        self._awaited.append(np.array([*x.tolist(), noise, len(phi), lost]))
        if len(self._waiting) == 1:
            self._fresh = phi, noise  # it may well be told at once
        else:
            self._ask(phi, noise)

    def _counted(self) -> Weights:
        """The weights given all labels asked for."""
        if self._fresh is not None:
            self._ask(*self._fresh)
            self._fresh = None
        return self._asked

    def _enter(self, x: Array, phi: Array, noise: float) -> tuple[Array, float]:
        """Let x join or absorb it: the features its label counts with, and what they lose, by its noise."""
        residual = self._residual(phi)
        if residual > self._limit:
            phi = self._join(x, phi, residual)
            residual = self._residual(phi)
        lost = max(residual, ROUNDING * self._amplitude) / self.noise_of(noise)
        self._lost += lost
        return phi, lost

    def _join(self, x: Array, phi: Array, residual: float) -> Array:
        """Take x into the dictionary: its features from now on."""
        pivot = sqrt(residual + JITTER * self._amplitude)
        if self.reservoir:
            self.reservoir.learn(self._outside(x, phi) / pivot)
        self._L.append(phi, pivot)
        self._D.widen(x)
        self._mu = np.append(self._mu, 0.0)
        self._told.grow()
        if self._asked is not self._told:
            self._asked.grow()
        return self._features(x)

    def _ask(self, phi: Array, noise: float) -> None:
        """Count a label with these features as asked for."""
        if self._asked is self._told:
            self._asked = self._told.copy()
        self._asked.absorb(self._asked.turned(phi), self.noise_of(noise))

    def tell(self, id: str | None, y: float) -> tuple[float, float]:
        """An awaited label came; mean and variance there, after it."""
        x, noise, used, _ = self._leave(id)
        phi = self._features(x) if self._fresh is None else self._fresh[0]
        self._fresh = None
        self._learn(id, x, noise, y, _cut(phi, used), used)
        if not self._waiting:
            self._asked = self._told
        mean = self._mean + dot(phi, self._mu)
        return mean, _variance(self._residual(phi), self._told.turned(phi))

    def _leave(self, id: str | None) -> tuple[Array, float, int, float]:
        """Wait no longer for a label: its point, noise, features used and what they lose."""
        j = self._waiting.index(id)
        row = self._awaited.all[j].copy()
        del self._waiting[j]
        self._awaited.remove(j)
        return row[:-3], float(row[-3]), int(row[-2]), float(row[-1])

    def _learn(self, id: str | None, x: Array, noise: float, y: float, phi: Array, used: int) -> None:
        """Condition the weights on a label, by one step of a Kalman filter."""
        covariance, variance = self._told.absorb(self._told.turned(phi), self.noise_of(noise))
        miss = float(y - self._mean - dot(phi, self._mu))
        self._mu += covariance * (miss / variance)
        self._misfit += miss * miss / variance
        self._log_determinant += log(variance)
        self._labels.widen(np.array([*x.tolist(), noise, y, used]))
        self.ids.append(id)

    def correct(self, id: str, y: float) -> None:
        """A told label changes its value: only means move."""
        i = self.ids.index(id)
        *_, noise, old, used = self._labels.all[:, i].tolist()
        phi = _cut(self._features(self.X[i]), int(used))
        turned = self._told.turned(phi)
        noise_variance, change = self.noise_of(noise), float(y - old)
        miss = old - self._mean - dot(phi, self._mu)
        unexplained = 1.0 - dot(turned, turned) / noise_variance
        self._misfit += change * (2.0 * miss + change * unexplained) / noise_variance
        self._mu += self._told.covariance(turned) * (change / noise_variance)
        self.y[i] = y

    def withdraw_awaited(self, id: str | None) -> None:
        """An awaited label will not come; a point that joined stays, as a direction without a label."""
        self._lost -= self._leave(id)[-1]
        self._asked, self._fresh = self._told, None
        for row in self._awaited.all:
            self._ask(_cut(self._features(row[:-3]), int(row[-2])), float(row[-3]))
        self._survey()

    def withdraw_told(self, id: str) -> None:
        """A told label goes: everything is computed anew without it."""
        i = self.ids.index(id)
        self._rebuild(np.delete(self._labels.all, i, axis=1), self.ids[:i] + self.ids[i + 1 :])

    def drop(self, which: NDArray[np.bool_]) -> None:
        """Some of the told labels go, and everything is computed anew."""
        kept = [id for id, goes in zip(self.ids, which.tolist(), strict=True) if not goes]
        self._rebuild(self._labels.all[:, ~which], kept)

    def adopt(self, parameters: Parameters) -> None:
        """Other parameters: everything is computed anew."""
        self._rebuild(self._labels.all, self.ids, parameters)

    def _rebuild(self, labels: Array, ids: list[str | None], parameters: Parameters | None = None) -> None:
        waiting = self.waiting()
        reservoir, self.reservoir = self.reservoir, None  # it is surveyed afterwards, as a whole
        self._clear(parameters or self.parameters)
        for id, column in zip(ids, labels.T, strict=True):
            x, noise, y = column[:-3], float(column[-3]), float(column[-2])
            phi, _ = self._enter(x, self._features(x), noise)
            self._learn(id, x, noise, y, phi, used=len(phi))
        for id, x, noise in waiting:
            self.ask(id, x, self.solve(x), noise)
        self.watch(reservoir)

    # -- arrivals to come ------------------------------------------------------------------------

    def watch(self, reservoir: Reservoir | None) -> None:
        """Keep a reservoir from now on; what it holds already is surveyed."""
        self.reservoir = reservoir
        self._survey()

    def meet(self, x: Array, solved: Solved) -> None:
        """An arrival, at which `solved` was just computed, may stand for those to come."""
        if self.reservoir and self.reservoir.admits():
            self.reservoir.add(x, solved.v, NONE, solved.narrowed)

    def reach(self, x: Array, solved: Solved) -> Array:
        """The covariance of f at x with f at each point of the reservoir, given all labels asked for."""
        assert self.reservoir
        weights = self._counted()
        inside = self.reservoir.V @ weights.covariance(weights.turned(solved.v))
        return self._outside(x, solved.v) + inside

    def _outside(self, x: Array, phi: Array) -> Array:
        """That covariance, of what the dictionary leaves out."""
        assert self.reservoir
        column = self._kernel.column(self.reservoir.points.T, x, self._inverse_squares)
        return column - self.reservoir.V @ phi

    def _survey(self) -> None:
        """See everything in the reservoir anew."""
        if not self.reservoir:
            return
        with threads_for(self.rank):
            phi = self._many_features(np.ascontiguousarray(self.reservoir.points.T))
            variances = self._amplitude - _squares(phi) + _squares(self._counted().turned(phi))
        self.reservoir.know(phi.T, np.empty((0, self.reservoir.size)), np.maximum(variances, 0.0))

    # -- keeping ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything, as plain data; floats as their bytes."""
        return {
            "parameters": self.parameters.plain(),
            "ids": list(self.ids),
            "labels": self._labels.all.tobytes(),
            "awaited": list(self._waiting),
            "awaited_points": self._awaited.all.tobytes(),
            "D": self._D.all.tobytes(),
            "L": self._L.to_bytes(),
            "told": self._told.T.tobytes(),
            "asked": self._counted().T.tobytes() if self._waiting else b"",
            "mu": self._mu.tobytes(),
            "sums": [self._lost, self._misfit, self._log_determinant],
            "reservoir": self.reservoir.state() if self.reservoir else None,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` gave."""
        self._clear(Parameters.of(state["parameters"]))
        self.ids, self._waiting = list(state["ids"]), list(state["awaited"])
        self._mu = np.frombuffer(state["mu"]).copy()
        rank = len(self._mu)
        self._labels = _table(state["labels"], self.dim + 3, len(self.ids))
        self._awaited = _table(state["awaited_points"], len(self._waiting), self.dim + 3)
        self._D = _table(state["D"], self.dim, rank)
        self._L.load(rank, state["L"])
        self._told = self._asked = Weights(_matrix(state["told"], rank))
        if self._waiting:
            self._asked = Weights(_matrix(state["asked"], rank))
        self._lost, self._misfit, self._log_determinant = state["sums"]
        kept = state["reservoir"]
        self.reservoir = None if kept is None else Reservoir.of(self.dim, kept)


def _variance(residual: float, turned: Array) -> float:
    return max(residual + dot(turned, turned), 0.0)


def _squares(columns: Array) -> Array:
    squares: Array = np.einsum("ij,ij->j", columns, columns)
    return squares


def _cut(phi: Array, used: int) -> Array:
    """Features as they were when the dictionary was smaller."""
    cut = phi.copy()
    cut[used:] = 0.0
    return cut


def _matrix(data: bytes, rank: int) -> Array:
    return np.frombuffer(data).reshape(rank, rank)


def _table(data: bytes, height: int, width: int) -> Rows:
    return Rows(width, np.frombuffer(data).reshape(height, width))
