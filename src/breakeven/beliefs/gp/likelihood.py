"""The log marginal likelihood of labelled points, and its gradient in the logarithms of the parameters.

θ = (log ℓ, one or one per dimension; log amplitude; log noise_std where that is fitted). A mean that is
fitted takes its best value for each θ, in closed form. A prior of θ counts as part of p. With
K = k(X, X) + σ²I, α = K⁻¹(y − m) and W = K⁻¹ − ααᵀ, the gradient of −log p is ½ Σ W ∘ ∂K/∂θ.
"""

from math import exp, inf, log, pi

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from breakeven.beliefs.gp.kernels import Fading, Kernel
from breakeven.beliefs.gp.parameters import LEAST_NOISE, Parameters
from breakeven.beliefs.gp.prior import Pull

Array = NDArray[np.float64]

KEPT = 2**24  # squared differences kept in memory; beyond that many they are computed as needed


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
    """−log p(y | X, θ) for one set of labels."""

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
    ) -> None:
        self._fade = None
        if start.half_life is not None:
            self._fade = Fading(start.kernel, start.half_life).fade(np.subtract.outer(X[:, -1], X[:, -1]))
            X = X[:, :-1]
        self.X, self.y, self.start, self.pull = X, y, start, pull
        self._noise = np.zeros(len(y)) if noise is None else noise
        self._own = self._noise == 0.0  # labels with the process's own noise
        self.fit_noise, self.fit_mean = fit_noise, fit_mean
        self.isotropic = isinstance(start.kernel.lengthscale, float)
        self.scales = 1 if self.isotropic else X.shape[1]
        few = X.size * len(X) <= KEPT
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
        return Parameters(kernel, noise_std, mean, self.start.half_life)

    def value(self, theta: Array) -> float:
        """−log p, without its gradient; ∞ where K cannot be factored."""
        solution = self._solve(theta)
        if solution is None:
            return inf
        return solution.value + (self.pull.value_and_gradient(theta)[0] if self.pull else 0.0)

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """−log p and its gradient."""
        solution = self._solve(theta)
        if solution is None:
            return 1e300, np.zeros_like(theta)
        value, gradient = solution.value, self._gradient(solution)
        if self.pull:
            pulled, towards = self.pull.value_and_gradient(theta)
            value, gradient = value + pulled, gradient + towards
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
        factor, failed = dpotrf(K.T, lower=1, overwrite_a=1)
        if failed:
            return None
        mean, alpha = self._residual(factor)
        misfit = 0.5 * float((self.y - mean) @ alpha)
        value = misfit + float(np.log(factor.diagonal()).sum()) + 0.5 * n * log(2.0 * pi)
        return Solution(value, mean, weights, amplitude, noise_variance, factor, alpha, q, plain, shape)

    def _residual(self, factor: Array) -> tuple[float, Array]:
        """The mean, fitted or given, and α = K⁻¹(y − mean)."""
        if not self.fit_mean:
            return self.start.mean, dpotrs(factor, self.y - self.start.mean, lower=1)[0]
        solved = dpotrs(factor, np.stack([self.y, np.ones_like(self.y)], axis=1), lower=1)[0]
        mean = float(solved[:, 0].sum() / solved[:, 1].sum())
        return mean, solved[:, 0] - mean * solved[:, 1]

    def _gradient(self, at: Solution) -> Array:
        inverse = dpotri(at.factor, lower=1)[0].T  # one half of it, zeros in the other
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
