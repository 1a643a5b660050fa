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
from breakeven.beliefs.gp.rows import Rows
from breakeven.beliefs.gp.threads import threads_for
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
    ...     dictionary.expect(str(i), x, dictionary.solve(x))
    ...     _ = dictionary.tell(str(i), 2.0)
    >>> dictionary.rank, round(dictionary.solve(np.array([1.23])).mean, 3)
    (10, 2.001)
    >>> dictionary.certificate.kappa < 0.01
    True
    """

    def __init__(self, dim: int, parameters: Parameters, tolerance: float = 1e-8) -> None:
        self.dim = dim
        self.tolerance = expect.number("tolerance", tolerance, LEAST_TOLERANCE, 1.0)
        self._clear(parameters)

    def _clear(self, parameters: Parameters) -> None:
        """Know nothing."""
        self.parameters = parameters
        self._kernel = parameters.kernel
        self._inverse_squares = parameters.kernel.weights(self.dim)
        self._limit = self.tolerance * parameters.kernel.amplitude
        self._D, self._L = Rows(0, np.empty((self.dim, 0))), Factor()
        self.ids: list[str | None] = []  # None for a label nobody asked for
        self._labels = Rows(0, np.empty((self.dim + 2, 0)))  # a column a label: its point, y, features used
        self._waiting: list[str | None] = []
        self._awaited = Rows(self.dim + 2)  # a row a label: its point, features used, what they lose
        self._told = self._asked = Weights()
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
        return self._labels.all[:-2].T

    @property
    def awaited(self) -> int:
        """How many labels are awaited."""
        return len(self._waiting)

    def waiting(self) -> list[tuple[str | None, Array]]:
        """The labels awaited and their points, oldest first."""
        return list(zip(self._waiting, self._awaited.all[:, :-2], strict=True))

    @property
    def certificate(self) -> Certificate:
        """How far stds may be off, those that count awaited labels and those that do not."""
        return Certificate(sqrt(max(self._lost, 0.0) / self.parameters.noise_variance))

    # -- asking ----------------------------------------------------------------------------------

    def _features(self, x: Array) -> Array:
        return self._L.solve(self._kernel.column(self._D.all, x, self._inverse_squares))

    def _many_features(self, columns: Array) -> Array:
        return self._L.solve_many(self._kernel.matrix(self._D.all, columns, self._inverse_squares))

    def solve(self, x: Array, *, awaited: bool = True) -> Solved:
        """Mean and variance at x, and the variance narrowed by what is awaited; v is φ."""
        phi = self._features(x)
        mean = self.parameters.mean + float(phi.dot(self._mu))
        residual = self._residual(phi)
        variance = narrowed = _variance(residual, self._told.turned(phi))
        if awaited and self._waiting:
            narrowed = _variance(residual, self._asked.turned(phi))
        return Solved(mean, variance, narrowed, phi, NONE)

    def _residual(self, phi: Array) -> float:
        """What the features leave out; where rounding takes it below 0, that cancels in a variance."""
        return self._kernel.amplitude - float(phi.dot(phi))

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
        variances = self._kernel.amplitude - _squares(phi) + _squares(self._told.turned(phi))
        return self.parameters.mean + self._mu @ phi, np.maximum(variances, 0.0)

    def block(self, X: Array) -> Block:
        """A block of arrivals, by one triangular solve."""
        columns = X.T
        with threads_for(self.rank):
            phi = self._many_features(columns)
            turned = self._asked.turned(phi)
            outside = self._kernel.matrix(columns, columns, self._inverse_squares) - phi.T @ phi
            means, variances = self._given_told(phi)
        noise_variance = self.parameters.noise_variance
        return ProjectedBlock(means, variances, turned.T @ turned, outside, noise_variance, self._limit)

    def log_likelihood(self) -> float:
        """The log marginal likelihood of the labels told, with the features they count with."""
        return -0.5 * (self._misfit + self._log_determinant + len(self.ids) * log(2.0 * pi))

    # -- events ----------------------------------------------------------------------------------

    def expect(self, id: str | None, x: Array, solved: Solved) -> None:
        """A label is awaited at x, where `solved` was just computed."""
        phi, lost = self._enter(x, solved.v)
        self._waiting.append(id)
        self._awaited.append(np.array([*x.tolist(), len(phi), lost]))
        self._ask(phi)

    def _enter(self, x: Array, phi: Array) -> tuple[Array, float]:
        """Let x join or absorb it: the features its label counts with, and what they lose."""
        residual = self._residual(phi)
        if residual > self._limit:
            phi = self._join(x, phi, residual)
            residual = self._residual(phi)
        lost = max(residual, ROUNDING * self._kernel.amplitude)
        self._lost += lost
        return phi, lost

    def _join(self, x: Array, phi: Array, residual: float) -> Array:
        """Take x into the dictionary: its features from now on."""
        self._L.append(phi, sqrt(residual + JITTER * self._kernel.amplitude))
        self._D.widen(x)
        self._mu = np.append(self._mu, 0.0)
        self._told.grow()
        if self._asked is not self._told:
            self._asked.grow()
        return self._features(x)

    def _ask(self, phi: Array) -> None:
        """Count a label with these features as asked for."""
        if self._asked is self._told:
            self._asked = self._told.copy()
        self._asked.absorb(self._asked.turned(phi), self.parameters.noise_variance)

    def tell(self, id: str | None, y: float) -> tuple[float, float]:
        """An awaited label came; mean and variance there, after it."""
        x, used, _ = self._leave(id)
        phi = self._features(x)
        self._learn(id, x, y, _cut(phi, used), used)
        if not self._waiting:
            self._asked = self._told
        mean = self.parameters.mean + float(phi.dot(self._mu))
        return mean, _variance(self._residual(phi), self._told.turned(phi))

    def _leave(self, id: str | None) -> tuple[Array, int, float]:
        """Wait no longer for a label: its point, features used and what they lose."""
        j = self._waiting.index(id)
        row = self._awaited.all[j].copy()
        del self._waiting[j]
        self._awaited.remove(j)
        return row[:-2], int(row[-2]), float(row[-1])

    def _learn(self, id: str | None, x: Array, y: float, phi: Array, used: int) -> None:
        """Condition the weights on a label, by one step of a Kalman filter."""
        covariance, variance = self._told.absorb(self._told.turned(phi), self.parameters.noise_variance)
        miss = float(y - self.parameters.mean - phi.dot(self._mu))
        self._mu += covariance * (miss / variance)
        self._misfit += miss * miss / variance
        self._log_determinant += log(variance)
        self._labels.widen(np.array([*x.tolist(), y, used]))
        self.ids.append(id)

    def correct(self, id: str, y: float) -> None:
        """A told label changes its value: only means move."""
        i = self.ids.index(id)
        *_, old, used = self._labels.all[:, i].tolist()
        phi = _cut(self._features(self.X[i]), int(used))
        turned = self._told.turned(phi)
        noise_variance, change = self.parameters.noise_variance, float(y - old)
        miss = old - self.parameters.mean - float(phi.dot(self._mu))
        unexplained = 1.0 - float(turned.dot(turned)) / noise_variance
        self._misfit += change * (2.0 * miss + change * unexplained) / noise_variance
        self._mu += self._told.covariance(turned) * (change / noise_variance)
        self.y[i] = y

    def withdraw_awaited(self, id: str) -> None:
        """An awaited label will not come; a point that joined stays, as a direction without a label."""
        self._lost -= self._leave(id)[-1]
        self._asked = self._told
        for row in self._awaited.all:
            self._ask(_cut(self._features(row[:-2]), int(row[-2])))

    def withdraw_told(self, id: str) -> None:
        """A told label goes: everything is computed anew without it."""
        i = self.ids.index(id)
        self._rebuild(np.delete(self._labels.all, i, axis=1), self.ids[:i] + self.ids[i + 1 :])

    def adopt(self, parameters: Parameters) -> None:
        """Other parameters: everything is computed anew."""
        self._rebuild(self._labels.all, self.ids, parameters)

    def _rebuild(self, labels: Array, ids: list[str | None], parameters: Parameters | None = None) -> None:
        waiting, points = self._waiting, self._awaited.all[:, :-2]
        self._clear(parameters or self.parameters)
        for id, column in zip(ids, labels.T, strict=True):
            x, y = column[:-2], float(column[-2])
            phi, _ = self._enter(x, self._features(x))
            self._learn(id, x, y, phi, used=len(phi))
        for id, x in zip(waiting, points, strict=True):
            self.expect(id, x, self.solve(x))

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
            "asked": self._asked.T.tobytes() if self._waiting else b"",
            "mu": self._mu.tobytes(),
            "sums": [self._lost, self._misfit, self._log_determinant],
        }

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` gave."""
        self._clear(Parameters.of(state["parameters"]))
        self.ids, self._waiting = list(state["ids"]), list(state["awaited"])
        self._mu = np.frombuffer(state["mu"]).copy()
        rank = len(self._mu)
        self._labels = _table(state["labels"], self.dim + 2, len(self.ids))
        self._awaited = _table(state["awaited_points"], len(self._waiting), self.dim + 2)
        self._D = _table(state["D"], self.dim, rank)
        self._L.load(rank, state["L"])
        self._told = self._asked = Weights(_table(state["told"], rank, rank).all)
        if self._waiting:
            self._asked = Weights(_table(state["asked"], rank, rank).all)
        self._lost, self._misfit, self._log_determinant = state["sums"]


def _variance(residual: float, turned: Array) -> float:
    return max(residual + float(turned.dot(turned)), 0.0)


def _squares(columns: Array) -> Array:
    squares: Array = np.einsum("ij,ij->j", columns, columns)
    return squares


def _cut(phi: Array, used: int) -> Array:
    """Features as they were when the dictionary was smaller."""
    cut = phi.copy()
    cut[used:] = 0.0
    return cut


def _table(data: bytes, height: int, width: int) -> Rows:
    return Rows(width, np.frombuffer(data).reshape(height, width))
