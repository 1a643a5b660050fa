"""The dictionary: a solver whose cost of an arrival grows with a few kept points, not with the labels.

Notation: D the m points of the dictionary, L Lᵀ = k(D, D), φ = L⁻¹k(D, x) the features of x, with residual
r = k(x, x) − |φ|². A point whose label is asked for joins D if r exceeds ν times the amplitude; else it is
absorbed: its label counts as one of w·φ, w being the dictionary's weights, N(0, I) before any label, with
mean μ and covariance S = T Tᵀ given labels. A label changes T in place (Potter's update), so S stays a
covariance whatever rounding does. The variance is r + φᵀSφ. While labels are awaited S is kept twice, given
those told and given all asked for; so a label late in coming changes no decision. κ = √(Σ r/σ²) over all
labels, r being what was lost of each; docs/dictionary.md derives what that means for the std.
"""

from math import hypot, log, pi, sqrt
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs.belief import Key
from breakeven.beliefs.gp import blas
from breakeven.beliefs.gp.blas import limited, one_thread
from breakeven.beliefs.gp.factor import Factor, GrowingTable, dot, floats
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
from breakeven.errors import expect
from breakeven.errors.expect import Array

LEAST_TOLERANCE = 1e-10  # below it residuals are rounding
JITTER = 1e-13  # of the amplitude, added to the diagonal of k(D, D): above rounding, so φ stays a projection
RESIDUAL_ROUNDING = 1e-15  # of the amplitude: what a residual may hide
MOST_FITTED = 1_000  # labels that a fit looks at


class Certificate(msgspec.Struct, frozen=True):
    """How far a std from projected features can be from that of the exact process with the same labels.

    >>> certificate = Certificate(kappa=0.1)
    >>> [round(one, 3) for one in certificate.band(2.0)]
    [1.902, 2.102]
    >>> certificate.ambiguous(2.0, threshold=2.2)
    False
    """

    kappa: float

    @property
    def stretch(self) -> float:
        """s = κ/2 + √(1 + κ²/4): the exact std lies within this factor, both ways."""
        return 0.5 * self.kappa + hypot(1.0, 0.5 * self.kappa)

    def band(self, std: float) -> tuple[float, float]:
        """The least and the largest exact std behind this one."""
        return std / self.stretch, std * self.stretch

    def ambiguous(self, std: float, threshold: float) -> bool:
        """Whether the exact std may lie on the other side of the threshold."""
        low, high = self.band(std)
        return low <= threshold <= high


class FeatureWeights:
    """What labels say of the weights.

    >>> weights = FeatureWeights()
    >>> weights.grow()
    >>> weights.absorb(weights.turned(np.ones(1)), noise_variance=1.0)
    (array([1.]), 2.0)
    >>> weights.turned(np.ones(1)).round(4)  # its square is the variance: half of it is gone
    array([0.7071])
    """

    def __init__(self, T: Array | None = None) -> None:
        self.T = np.empty((0, 0)) if T is None else np.array(T)  # without gaps, for BLAS to write into

    def copy(self) -> "FeatureWeights":
        """The same, on its own."""
        return FeatureWeights(self.T)

    def grow(self) -> None:
        """One more weight, independent of the others."""
        old, size = self.T, len(self.T)
        self.T = np.zeros((size + 1, size + 1))
        self.T[:size, :size] = old
        self.T[size, size] = 1.0

    def turned(self, phi: Array) -> Array:
        """Tᵀφ: its square is the variance of w·φ. Columns of features give columns."""
        turned: Array = self.T.T.dot(phi)
        return turned

    def covariance(self, turned: Array) -> Array:
        """Sφ, the covariance of w with w·φ, from Tᵀφ."""
        covariance: Array = self.T.dot(turned)
        return covariance

    def absorb(self, turned: Array, noise_variance: float) -> tuple[Array, float]:
        """A label of w·φ, given Tᵀφ; its covariance Sφ with the weights, and its variance, both before it."""
        covariance, variance = self.covariance(turned), dot(turned, turned) + noise_variance
        share = 1.0 / (variance + sqrt(noise_variance * variance))
        if len(turned):
            self.T = blas.dger(
                -share, turned, covariance, a=self.T.T, overwrite_a=1
            ).T  # T -= share · Sφ (Tᵀφ)ᵀ
        return covariance, variance


class ProjectedBlock(Block):
    """A block of arrivals in which a label asked for counts as a dictionary would count it.

    Two covariances add up: of w·φ, and of what lies outside the dictionary.
    """

    def __init__(
        self,
        means: Array,
        variances: Array,
        inside: Array,
        outside: Array,
        noise_variance: float,
        limit: float,
    ) -> None:
        self._outside, self._limit = outside, limit
        super().__init__(means, variances, inside, noise_variance)

    def _narrowed(self) -> Array:
        """The variances, given also what is awaited."""
        return np.maximum(self._covariance.diagonal() + self._outside.diagonal(), 0.0)

    def ask(self, j: int, noise: float = 0.0) -> Array:
        """A label of point j is awaited from now on; the point joins or is absorbed."""
        if self._outside[j, j] > self._limit:
            rest = self._outside[j:, j:]
            direction = rest[0] / sqrt(rest[0, 0])
            moved = np.multiply.outer(direction, direction)
            rest -= moved
            self._covariance[j:, j:] += moved
        return super().ask(j, noise)


class DictionarySolver(LabelledPoints):
    """A posterior like the exact one, with a certificate of how far its std may be off.

    `tolerance` is ν, from 1e-10 to 1: the share of the prior variance that may be lost of a label's point.

    >>> from breakeven.beliefs.gp import SquaredExponential
    >>> dictionary = DictionarySolver(1, Parameters(SquaredExponential(), noise_std=0.1), tolerance=1e-8)
    >>> for i in range(500):
    ...     x = np.array([7 * i % 25 / 10.0])
    ...     dictionary.ask(i, x, dictionary.solve(x))
    ...     _ = dictionary.tell(i, 2.0)
    >>> dictionary.rank, round(dictionary.solve(np.array([1.23])).mean, 3)
    (10, 2.001)
    >>> dictionary.certificate.kappa < 0.01
    True
    """

    kind = "dictionary"
    labels_for_a_fit: int | None = MOST_FITTED

    def __init__(self, dim: int, parameters: Parameters, tolerance: float = 1e-8) -> None:
        super().__init__(dim)
        self.tolerance = expect.number("tolerance", tolerance, LEAST_TOLERANCE, 1.0)
        self.reservoir: Reservoir | None = None
        self._clear(parameters)

    def _clear(self, parameters: Parameters) -> None:
        """Know nothing."""
        self._take(parameters)
        self._limit = self.tolerance * parameters.kernel.amplitude
        self._D, self._L = GrowingTable(0, np.empty((self.dim, 0))), Factor()
        self.keys, self._told = KeyList(), ToldTable.of(self.dim)  # `last`: features used
        self._awaited_keys = KeyList()
        self._awaited = GrowingTable(self.dim + 3)  # rows: point, noise, features used, what they lose
        self._given_told = self._given_asked = FeatureWeights()
        self._fresh: tuple[Array, float] | None = None  # the only one awaited, not yet in `_given_asked`
        self._mu = np.empty(0)
        self._lost = 0.0
        self._misfit = self._log_determinant = 0.0

    @property
    def rank(self) -> int:
        """How many points the dictionary has."""
        return self._L.size

    @property
    def stretch(self) -> float:
        """The exact std lies within this factor, both ways."""
        return self.certificate.stretch

    @property
    def awaited(self) -> int:
        """How many labels are awaited."""
        return len(self._awaited_keys)

    def awaited_labels(self) -> list[tuple[Key, Array, float]]:
        """Key, point and noise of the labels awaited, oldest first."""
        rows = self._awaited.all.copy()
        return list(zip(self._awaited_keys.all, rows[:, :-3], rows[:, -3].tolist(), strict=True))

    @property
    def certificate(self) -> Certificate:
        """How far stds may be off, those that count awaited labels and those that do not."""
        return Certificate(sqrt(max(self._lost, 0.0)))

    # -- asking ----------------------------------------------------------------------------------

    def _features(self, x: Array) -> Array:
        return self._L.solve(self._kernel.column(self._D.all, x, self._weights))

    def _many_features(self, columns: Array) -> Array:
        return self._L.solve_many(self._kernel.matrix(self._D.all, columns, self._weights))

    def solve(self, x: Array, *, awaited: bool = True) -> Solved:
        """Mean and variance at x, and the variance narrowed by what is awaited; v is φ."""
        with limited(self._entries):
            phi = self._features(x)
            mean = self._mean + dot(phi, self._mu)
            residual = self._residual(phi)
            variance = narrowed = _variance(residual, self._given_told.turned(phi))
            if awaited and self._awaited_keys.all:
                narrowed = _variance(residual, self._counted().turned(phi))
        return Solved(mean, variance, narrowed, phi, NOTHING_AWAITED)

    @property
    def _entries(self) -> int:
        """Of the largest matrix that an arrival meets."""
        return self._L.size * max(self._L.size, self.dim)

    def _residual(self, phi: Array) -> float:
        """What the features leave out; where rounding takes it below 0, that cancels in a variance."""
        return self._amplitude - dot(phi, phi)

    def solve_many(self, X: Array) -> tuple[Array, Array]:
        """Means and variances at many points, given the labels told."""
        means, variances = np.empty(len(X)), np.empty(len(X))
        with one_thread():
            for low in range(0, len(X), COLUMNS_PER_SOLVE):
                part = slice(low, low + COLUMNS_PER_SOLVE)
                means[part], variances[part] = self._told_at(self._many_features(X[part].T))
        return means, variances

    def _told_at(self, phi: Array) -> tuple[Array, Array]:
        """Means and variances from columns of features."""
        variances = self._amplitude - _squares(phi) + _squares(self._given_told.turned(phi))
        return self.parameters.mean + self._mu @ phi, np.maximum(variances, 0.0)

    def block(self, X: Array) -> Block:
        """A block of arrivals, by one triangular solve."""
        columns = np.ascontiguousarray(X.T)
        with one_thread():
            phi = self._many_features(columns)
            turned = self._counted().turned(phi)
            outside = self._kernel.matrix(columns, columns, self._weights) - phi.T @ phi
            means, variances = self._told_at(phi)
            inside = turned.T @ turned
        noise_variance = self.parameters.noise_variance
        return ProjectedBlock(means, variances, inside, outside, noise_variance, self._limit)

    def log_likelihood(self) -> float:
        """The log marginal likelihood of the labels told, with the features they count with."""
        return -0.5 * (self._misfit + self._log_determinant + self.labels * log(2.0 * pi))

    # -- events ----------------------------------------------------------------------------------

    def ask(self, key: Key, x: Array, solved: Solved, noise: float = 0.0) -> None:
        """A label is awaited at x, where `solved` was just computed; its noise, if not the process's own."""
        with limited(self._entries):
            self._counted()
            if self.reservoir:
                self.reservoir.ask(self.reach(x, solved), solved.narrowed + self.noise_of(noise))
            phi, lost = self._enter(x, solved.v, noise)
            self._awaited_keys.append(key)
            self._awaited.append(np.array([*x.tolist(), noise, len(phi), lost]))
            if len(self._awaited_keys) == 1:
                self._fresh = phi, noise  # it may well be told at once
            else:
                self._ask(phi, noise)

    def _counted(self) -> FeatureWeights:
        """The weights given all labels asked for."""
        if self._fresh is not None:
            phi, noise = self._fresh
            weights = self._given_told.copy()
            weights.absorb(weights.turned(phi), self.noise_of(noise))
            self._given_asked, self._fresh = weights, None
        return self._given_asked

    def _enter(self, x: Array, phi: Array, noise: float) -> tuple[Array, float]:
        """Let x join or absorb it: the features its label counts with, and what they lose, by its noise."""
        residual = self._residual(phi)
        if residual > self._limit:
            phi = self._join(x, phi, residual)
            residual = self._residual(phi)
        lost = max(residual, RESIDUAL_ROUNDING * self._amplitude) / self.noise_of(noise)
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
        self._given_told.grow()
        if self._given_asked is not self._given_told:
            self._given_asked.grow()
        return self._features(x)

    def _ask(self, phi: Array, noise: float) -> None:
        """Count a label with these features as asked for."""
        if self._given_asked is self._given_told:
            self._given_asked = self._given_told.copy()
        self._given_asked.absorb(self._given_asked.turned(phi), self.noise_of(noise))

    def tell(self, key: Key, y: float) -> tuple[float, float]:
        """An awaited label came; mean and variance there, after it."""
        with limited(self._entries):
            x, noise, used, _ = self._leave(key)
            phi = self._features(x) if self._fresh is None else self._fresh[0]
            self._fresh = None
            self._learn(key, x, noise, y, _cut(phi, used), used)
            if not len(self._awaited_keys):
                self._given_asked = self._given_told
            mean = self._mean + dot(phi, self._mu)
            return mean, _variance(self._residual(phi), self._given_told.turned(phi))

    def _leave(self, key: Key) -> tuple[Array, float, int, float]:
        """Wait no longer for a label: its point, noise, features used and what they lose."""
        j = self._awaited_keys.place(key)
        row = self._awaited.all[j].copy()
        self._awaited_keys.remove(j)
        self._awaited.remove(j)
        return row[:-3], float(row[-3]), int(row[-2]), float(row[-1])

    def _learn(self, key: Key, x: Array, noise: float, y: float, phi: Array, used: int) -> None:
        """Condition the weights on a label, by one step of a Kalman filter."""
        covariance, variance = self._given_told.absorb(self._given_told.turned(phi), self.noise_of(noise))
        miss = float(y - self._mean - dot(phi, self._mu))
        self._mu += covariance * (miss / variance)
        self._misfit += miss * miss / variance
        self._log_determinant += log(variance)
        self._told.add(x, noise, y, used)
        self.keys.append(key)

    def correct(self, key: Key, y: float) -> None:
        """A told label changes its value: only means move."""
        i = self.keys.place(key)
        *_, noise, old, used = self._told.all[:, i].tolist()
        with limited(self._entries):
            phi = _cut(self._features(self.X[i]), int(used))
            turned = self._given_told.turned(phi)
            moved = self._given_told.covariance(turned)
        noise_variance, change = self.noise_of(noise), float(y - old)
        miss = old - self._mean - dot(phi, self._mu)
        unexplained = 1.0 - dot(turned, turned) / noise_variance
        self._misfit += change * (2.0 * miss + change * unexplained) / noise_variance
        self._mu += moved * (change / noise_variance)
        self.y[i] = y

    def withdraw_awaited(self, key: Key) -> tuple[Array, float]:
        """An awaited label will not come; a point that joined stays, as a direction without a label."""
        x, noise, _, lost = self._leave(key)
        self._lost -= lost
        self._given_asked, self._fresh = self._given_told, None
        with one_thread():
            for row in self._awaited.all:
                self._ask(_cut(self._features(row[:-3]), int(row[-2])), float(row[-3]))
        self._survey()
        return x, noise

    def withdraw_told(self, key: Key) -> tuple[Array, float]:
        """A told label goes: everything is computed anew without it; its point and noise."""
        i = self.keys.place(key)
        x, noise = self._told.X[:, i].copy(), float(self.noise[i])
        told = self.told_labels()
        self._rebuild(told[:i] + told[i + 1 :], self.parameters)
        return x, noise

    def release(self, key: Key) -> None:
        """Forget a label's key."""
        self.keys.release(key)
        self._awaited_keys.release(key)

    def detach(self) -> None:
        """Forget all keys and all labels awaited."""
        if len(self._awaited_keys):
            self._awaited_keys = KeyList()
            self._lost -= float(self._awaited.all[:, -1].sum())
            self._awaited = GrowingTable(self.dim + 3)
            self._given_asked, self._fresh = self._given_told, None
            self._survey()
        self.keys = KeyList([None] * self.labels)

    def drop(self, which: NDArray[np.bool_]) -> None:
        """Some of the told labels go, and everything is computed anew."""
        kept = zip(self.told_labels(), which.tolist(), strict=True)
        self._rebuild([label for label, goes in kept if not goes], self.parameters)

    def adopt(self, parameters: Parameters) -> None:
        """Other parameters: everything is computed anew."""
        self._rebuild(self.told_labels(), parameters)

    def _rebuild(self, told: list[tuple[Key, Array, float, float]], parameters: Parameters) -> None:
        """Begin again with these labels told, and those awaited."""
        new = DictionarySolver(self.dim, parameters, self.tolerance)
        with one_thread():
            for key, x, noise, y in told:
                phi, _ = new._enter(x, new._features(x), noise)
                new._learn(key, x, noise, y, phi, used=len(phi))
            for key, x, noise in self.awaited_labels():
                new.ask(key, x, new.solve(x), noise)
        new.watch(self.reservoir)
        self.__dict__.update(new.__dict__)

    # -- arrivals to come ------------------------------------------------------------------------

    def watch(self, reservoir: Reservoir | None) -> None:
        """Keep a reservoir from now on; what it holds already is surveyed."""
        self.reservoir = reservoir
        self._survey()

    def meet(self, x: Array, solved: Solved) -> None:
        """An arrival, at which `solved` was just computed, may stand for those to come."""
        if self.reservoir and self.reservoir.admits():
            self.reservoir.add(x, solved.v, NOTHING_AWAITED, solved.narrowed)

    def age(self, left: float, now: float) -> None:
        """A round passed: what labels say about the reservoir fades, and the factor `left` remains."""
        assert self.reservoir
        self.reservoir.fade(left, self._amplitude, now)

    def reach(self, x: Array, solved: Solved) -> Array:
        """The covariance of f at x with f at each point of the reservoir, given all labels asked for."""
        assert self.reservoir
        with limited(self._L.size * max(self._L.size, self.reservoir.size)):
            weights = self._counted()
            inside: Array = self.reservoir.V @ weights.covariance(weights.turned(solved.v))
            return self._outside(x, solved.v) + inside

    def _outside(self, x: Array, phi: Array) -> Array:
        """That covariance, of what the dictionary leaves out."""
        assert self.reservoir
        column = self._kernel.column(self.reservoir.points.T, x, self._weights)
        return column - self.reservoir.V @ phi

    def _survey(self) -> None:
        """See everything in the reservoir anew."""
        if not self.reservoir:
            return
        with one_thread():
            phi = self._many_features(np.ascontiguousarray(self.reservoir.points.T))
            variances = self._amplitude - _squares(phi) + _squares(self._counted().turned(phi))
        self.reservoir.know(phi.T, np.empty((0, self.reservoir.size)), np.maximum(variances, 0.0))

    # -- keeping ---------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """How many points are kept, and the certificate as of now."""
        certificate = self.certificate
        return {
            "dictionary": self.rank,
            "tolerance": self.tolerance,
            "kappa": certificate.kappa,
            "stretch": certificate.stretch,
        }

    def state(self) -> dict[str, Any]:
        """Everything, as plain data; floats as their bytes."""
        return {
            "keys": list(self.keys.all),
            "told": self._told.all.tobytes(),
            "awaited": list(self._awaited_keys.all),
            "awaited_points": self._awaited.all.tobytes(),
            "D": self._D.all.tobytes(),
            "L": self._L.to_bytes(),
            "given_told": self._given_told.T.tobytes(),
            "given_asked": self._counted().T.tobytes() if len(self._awaited_keys) else b"",
            "mu": self._mu.tobytes(),
            "lost": self._lost,
            "misfit": self._misfit,
            "log_determinant": self._log_determinant,
            "reservoir": self.reservoir.state() if self.reservoir else None,
        }

    def load(self, state: dict[str, Any], parameters: Parameters) -> None:
        """Take up a state that `state` gave."""
        new = DictionarySolver(self.dim, parameters, self.tolerance)
        new.keys, new._awaited_keys = read_keys(state["keys"]), read_keys(state["awaited"])
        rank, p = len(state["mu"]) // 8, len(new._awaited_keys)
        new._mu = floats(state["mu"], rank).copy()
        new._told = read_told(self.dim, state["told"], new.labels)
        new._awaited = GrowingTable(self.dim + 3, floats(state["awaited_points"], p, self.dim + 3))
        new._D = GrowingTable(rank, floats(state["D"], self.dim, rank))
        new._L = Factor.of(rank, state["L"])
        new._given_told = new._given_asked = FeatureWeights(floats(state["given_told"], rank, rank))
        if p:
            new._given_asked = FeatureWeights(floats(state["given_asked"], rank, rank))
        sums = (state["lost"], state["misfit"], state["log_determinant"])
        new._lost, new._misfit, new._log_determinant = msgspec.convert(sums, tuple[float, float, float])
        new.reservoir = read_reservoir(self.dim, state["reservoir"], rank, 0)
        self.__dict__.update(new.__dict__)


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
