"""The log marginal likelihood of labelled points, what is believed of its parameters, and climbing it.

θ = (log ℓ, one or one per dimension; log amplitude; log noise_std where that is fitted). A mean that is
fitted takes its best value for each θ, in closed form. A prior of θ counts as part of p. With
K = k(X, X) + σ²I, α = K⁻¹(y − m) and W = K⁻¹ − ααᵀ, the gradient of −log p is ½ Σ W ∘ ∂K/∂θ. Where numbers
leave the range of floats, p counts as 0.

Of the prior: s_j is the std of the arrivals on axis j, labelled or not, and d their dimension. Two arrivals
lie about √(2d) such units apart. A lengthscale is log-normal around that distance: before any label f is
believed to change over the spread of its arrivals, not within a hair of it.

The climb is BFGS inside a box with a backtracking line search: with a dozen variables and so cheap a function
a general optimiser spends more time on its wrapping. Where a bound holds, the variable rests on it until the
gradient points inwards again.
"""

from collections.abc import Callable
from math import exp, inf, isfinite, log, pi, sqrt

import msgspec
import numpy as np
from numpy.typing import NDArray

from breakeven import theory
from breakeven.beliefs.gp import blas
from breakeven.beliefs.gp.kernels import LEAST_NOISE, FadingKernel, Kernel, Parameters
from breakeven.errors import expect
from breakeven.errors.expect import Array

Function = Callable[[Array], tuple[float, Array]]

PRIOR_SPREAD = sqrt(3.0)  # of log ℓ: that of the dimension-scaled prior of Hvarfner, Hellsten & Nardi (2024)
VARIES = 1e-12  # a feature that varies less, beside its size, does not vary
NOISE_GUESS, NOISE_SPREAD = exp(-2.0), 1.0  # of the labels' own spread, where the noise is not known
PAIRS_KEPT = 2**24  # squared differences kept in memory; beyond that many they are computed as needed
IMPOSSIBLE = 1e300  # minus the log of a likelihood of 0
LEAST_DESCENT = 1e-4  # share of the promised descent that a step must bring
SHORTEST_STEP = 1e-10
FIRST_STEP = 1.0  # length of the first step, before any curvature is known


class Prior(msgspec.Struct, frozen=True):
    """Log-normal lengthscales around the arrivals' own scale, and an amplitude at its upper end.

    `spread` is the std of log ℓ. An amplitude known from few labels is often far too small, and makes labels
    look worthless; so it is taken at the upper end of what they allow, at this `confidence` (½: as it is).

    >>> Prior().centre(np.array([[0.0, 0.0], [1.0, 10.0]])).round(3).tolist()
    [1.0, 10.0]
    """

    spread: float = PRIOR_SPREAD
    confidence: float = 0.9

    def __post_init__(self) -> None:
        expect.positive("spread", self.spread)
        if not 0.5 <= expect.probability("confidence", self.confidence) < 1.0:
            expect.refuse("confidence", "a number from 0.5 to below 1", self.confidence)

    def centre(self, arrivals: Array) -> Array:
        """The median lengthscale on every axis."""
        spread = arrivals.std(axis=0)
        varies = spread > VARIES * np.abs(arrivals).max(axis=0)
        return sqrt(2.0 * arrivals.shape[1]) * np.where(varies, spread, 1.0)

    @property
    def allowance(self) -> float:
        """How far the log likelihood may fall below its top, at the upper end of the amplitude.

        >>> round(Prior(confidence=0.9).allowance, 3)
        0.821
        """
        return theory.allowance(self.confidence)


class Pull(msgspec.Struct, frozen=True):
    """A prior for one fit: θ is normal around `centre`, of weight 1/variance; 0 where nothing is believed."""

    centre: Array
    weight: Array

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """Minus the log density, but for a constant, and its gradient."""
        away = theta - self.centre
        gradient = self.weight * away
        return 0.5 * float(away @ gradient), gradient


def pull(prior: Prior, arrivals: Array, height: float, *, isotropic: bool, fit_noise: bool) -> Pull:
    """The prior of θ = (log ℓ, log amplitude, log noise_std where fitted), for labels of this height."""
    lengths = prior.centre(arrivals)
    if isotropic:
        lengths = np.sqrt(np.mean(lengths**2, keepdims=True))
    noise = [log(NOISE_GUESS * height)] if fit_noise else []
    return Pull(
        np.concatenate([np.log(lengths), [0.0], noise]),
        np.concatenate([np.full(len(lengths), prior.spread**-2.0), [0.0], [NOISE_SPREAD**-2.0] * len(noise)]),
    )


class Solution(msgspec.Struct, gc=False):
    """−log p at one θ, and what its gradient is made of."""

    value: float
    mean: float
    weights: Array
    amplitude: float
    noise_variance: float
    factor: Array
    alpha: Array
    q: Array
    plain: Array  # the kernel's shape at q
    shape: Array  # faded by the time between points


class Likelihood:
    """−log p(y | X, θ) for one set of labels; `log_units` are the logarithms of the units of θ."""

    def __init__(
        self,
        X: Array,
        y: Array,
        start: Parameters,
        *,
        fit_noise: bool,
        fit_mean: bool,
        pull: Pull | None = None,
        noise: Array | None = None,
        log_units: Array | None = None,
    ) -> None:
        self._fade = None
        if start.half_life is not None:
            self._fade = FadingKernel(start.kernel, start.half_life).fade(
                np.subtract.outer(X[:, -1], X[:, -1])
            )
            X = X[:, :-1]
        self.X, self.y, self.start, self.pull = X, y, start, pull
        self._noise = np.zeros(len(y)) if noise is None else noise
        self._own = self._noise == 0.0  # labels with the process's own noise
        self.fit_noise, self.fit_mean = fit_noise, fit_mean
        self.isotropic = isinstance(start.kernel.lengthscale, float)
        self.scales = 1 if self.isotropic else X.shape[1]
        self.log_units = np.zeros(self.scales + 1 + fit_noise) if log_units is None else log_units
        few = X.size * len(X) <= PAIRS_KEPT
        self._kept = np.stack([self._apart(j).ravel() for j in range(self.scales)]) if few else None

    def theta(self, parameters: Parameters) -> Array:
        """Parameters as a vector of logarithms."""
        kernel = parameters.kernel
        noise = [parameters.noise_std] if self.fit_noise else []
        theta: Array = np.log(np.concatenate([np.atleast_1d(kernel.lengthscale), [kernel.amplitude], noise]))
        return theta

    def parameters(self, theta: Array) -> Parameters:
        """The parameters that θ stands for, with the best mean."""
        numbers = np.exp(theta).tolist()
        lengthscale = numbers[0] if self.isotropic else tuple(numbers[: self.scales])
        kernel: Kernel = msgspec.structs.replace(
            self.start.kernel, lengthscale=lengthscale, amplitude=numbers[self.scales]
        )
        noise_std = numbers[-1] if self.fit_noise else self.start.noise_std
        solution = self._solve(theta) if self.fit_mean else None
        mean = solution.mean if solution else self.start.mean
        return msgspec.structs.replace(self.start, kernel=kernel, noise_std=noise_std, mean=mean)

    def value(self, theta: Array) -> float:
        """−log p, without its gradient; ∞ where K cannot be factored."""
        solution = self._solve(theta)
        if solution is None:
            return inf
        value = solution.value + (self.pull.value_and_gradient(theta)[0] if self.pull else 0.0)
        return value if isfinite(value) else inf

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """−log p and its gradient."""
        solution = self._solve(theta)
        if solution is None:
            return IMPOSSIBLE, np.zeros_like(theta)
        value, gradient = solution.value, self._gradient(solution)
        if self.pull:
            pulled, towards = self.pull.value_and_gradient(theta)
            value, gradient = value + pulled, gradient + towards
        if not isfinite(value + float(gradient.dot(gradient))):
            return IMPOSSIBLE, np.zeros_like(theta)
        return value, gradient

    def _solve(self, theta: Array) -> Solution | None:
        n = len(self.y)
        amplitude = exp(theta[self.scales])
        noise_variance = exp(2.0 * theta[-1]) if self.fit_noise else self.start.noise_variance
        weights = np.exp(-2.0 * theta[: self.scales])
        q = self._distances(weights)
        plain = self.start.kernel.shape(q)
        shape = self._faded(plain)
        K = amplitude * shape
        K.reshape(-1)[:: n + 1] += np.where(
            self._own, noise_variance, np.maximum(self._noise, LEAST_NOISE * amplitude)
        )
        factor, failed = blas.dpotrf(K.T, lower=1, overwrite_a=1)
        if failed:
            return None
        mean, alpha = self._residual(factor)
        misfit = 0.5 * float((self.y - mean) @ alpha)
        value = misfit + float(np.log(factor.diagonal()).sum()) + 0.5 * n * log(2.0 * pi)
        return Solution(value, mean, weights, amplitude, noise_variance, factor, alpha, q, plain, shape)

    def _residual(self, factor: Array) -> tuple[float, Array]:
        """The mean, fitted or given, and α = K⁻¹(y − mean)."""
        if not self.fit_mean:
            return self.start.mean, blas.dpotrs(factor, self.y - self.start.mean, lower=1)[0]
        solved = blas.dpotrs(factor, np.stack([self.y, np.ones_like(self.y)], axis=1), lower=1)[0]
        mean = float(solved[:, 0].sum() / solved[:, 1].sum())
        return mean, solved[:, 0] - mean * solved[:, 1]

    def _gradient(self, at: Solution) -> Array:
        inverse = blas.dpotri(at.factor, lower=1)[0].T  # one half of it, zeros in the other
        trace = float(inverse.trace())
        W = 2.0 * inverse - at.alpha[:, None] * at.alpha  # sums as K⁻¹ − ααᵀ does, but for its diagonal
        slope = W * self._faded(self.start.kernel.slope(at.q, at.plain))
        gradient = np.empty(self.scales + 1 + self.fit_noise)
        gradient[: self.scales] = -at.amplitude * self._projections(slope) * at.weights
        gradient[self.scales] = 0.5 * at.amplitude * (float(np.vdot(W, at.shape)) - trace)
        if self.fit_noise:
            own = self._own
            trace, square = float(inverse.diagonal()[own].sum()), float(at.alpha[own] @ at.alpha[own])
            gradient[-1] = at.noise_variance * (trace - square)
        return gradient

    def _faded(self, shape: Array) -> Array:
        return shape if self._fade is None else shape * self._fade

    def _apart(self, j: int) -> Array:
        """(x_j − x'_j)² for every pair; summed over dimensions where they share one lengthscale."""
        columns = self.X.T if self.isotropic else self.X.T[j : j + 1]
        result: Array = sum(np.subtract.outer(column, column) ** 2 for column in columns)
        return result

    def _distances(self, weights: Array) -> Array:
        """q for every pair, with 1/ℓ² as weights."""
        if self._kept is not None:
            return (weights @ self._kept).reshape(len(self.y), -1)
        result: Array = sum(weight * self._apart(j) for j, weight in enumerate(weights))
        return result

    def _projections(self, M: Array) -> Array:
        """Σ M ∘ (squared differences), for each lengthscale."""
        if self._kept is not None:
            return self._kept @ M.reshape(-1)
        return np.array([float(np.vdot(self._apart(j), M)) for j in range(self.scales)])


def minimise(
    function: Function, start: Array, bounds: Array, *, steps: int = 500, tolerance: float = 1e-9
) -> tuple[float, Array]:
    """The lowest value found from `start`, and where.

    `bounds` has a row (low, high) per variable. Stops when a step gains less than `tolerance`, relative to
    the value, or after `steps`.

    >>> bowl = lambda x: (float(((x - 3.0) ** 2).sum()), 2.0 * (x - 3.0))
    >>> value, x = minimise(bowl, np.zeros(2), np.array([[-9.0, 9.0], [-9.0, 1.0]]))
    >>> x.round(6).tolist()
    [3.0, 1.0]
    """
    low, high = bounds.T
    x = np.clip(start, low, high)
    value, gradient = function(x)
    inverse = _fresh(gradient)
    for _ in range(steps):
        held = ((x <= low) & (gradient > 0)) | ((x >= high) & (gradient < 0))
        direction = -_without(inverse, held).dot(gradient)
        if gradient.dot(direction) > -1e-14 * abs(value):
            return value, x
        found = _line_search(function, x, value, gradient, direction, low, high)
        if found is None:
            return value, x
        new_x, new_value, new_gradient = found
        inverse = _updated(inverse, new_x - x, new_gradient - gradient)
        gained = value - new_value
        x, value, gradient = new_x, new_value, new_gradient
        if gained <= tolerance * max(abs(value), 1.0):
            return value, x
    return value, x


def _fresh(gradient: Array) -> Array:
    """A first inverse Hessian: it makes the first step of unit length."""
    length = sqrt(float(gradient.dot(gradient)))
    return np.eye(len(gradient)) * (FIRST_STEP / length if length > 0 else 1.0)


def _without(inverse: Array, held: NDArray[np.bool_]) -> Array:
    """The inverse Hessian for the variables that may move."""
    if not held.any():
        return inverse
    freed = inverse.copy()
    freed[held] = 0.0
    freed[:, held] = 0.0
    return freed


def _line_search(
    function: Function, x: Array, value: float, gradient: Array, direction: Array, low: Array, high: Array
) -> tuple[Array, float, Array] | None:
    """Halve the step, or better where a parabola says so, until it brings enough."""
    step = 1.0
    while step > SHORTEST_STEP:
        new_x = np.minimum(np.maximum(x + step * direction, low), high)
        promised = float(gradient.dot(new_x - x))
        new_value, new_gradient = function(new_x)
        if new_value <= value + LEAST_DESCENT * promised:
            return new_x, new_value, new_gradient
        parabola = -0.5 * promised / (new_value - value - promised)
        step *= min(max(parabola, 0.1), 0.5)
    return None


def _updated(inverse: Array, moved: Array, change: Array) -> Array:
    """The BFGS update; skipped where the curvature is not positive."""
    curvature = float(moved.dot(change))
    if curvature <= 1e-12 * sqrt(float(moved.dot(moved)) * float(change.dot(change))):
        return inverse
    along = inverse.dot(change)
    scale = 1.0 + float(change.dot(along)) / curvature
    cross = moved[:, None] * along
    return np.asarray(inverse + ((scale * moved)[:, None] * moved - cross - cross.T) / curvature)
