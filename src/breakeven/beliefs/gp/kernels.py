"""Kernels: how alike f is at two points, as a function of their scaled distance.

Notation: q = Σ_j (x_j − x'_j)² / ℓ_j², and k(x, x') = amplitude · shape(q). `slope` is dshape/dq, which
is all that fitting needs. ℓ is one number, or one per dimension.
"""

from math import inf, sqrt
from typing import Any, Literal

import msgspec
import numpy as np
from msgspec.structs import force_setattr
from numpy.typing import NDArray

from breakeven import theory
from breakeven.beliefs.gp.bessel import FAR, TINY, matern_shape, rough_slope
from breakeven.beliefs.gp.vectors import scale
from breakeven.errors import expect

Array = NDArray[np.float64]

MINUS_HALF = np.array(-0.5)  # NumPy takes half a µs to make an array of a float
TILE = 16_000  # differences at a time: they stay in the cache, and in memory that malloc need not map anew


class Stationary:
    """What kernels of a scaled distance share; the two below say what their shape is."""

    __slots__ = ()
    lengthscale: float | tuple[float, ...]
    amplitude: float

    def shape(self, q: Array) -> Array:
        """The correlation at scaled squared distance q; 1 at 0."""
        raise NotImplementedError

    def slope(self, q: Array, shape: Array) -> Array:
        """The derivative of `shape` in q, given both; finite, also where the true one is −∞ at 0."""
        raise NotImplementedError

    def exponent(self, dim: int) -> float:
        """The exponent of the paper's threshold for this kernel."""
        raise NotImplementedError

    def frequencies(self, count: int, dim: int, random: np.random.Generator) -> Array:
        """Rows ω of the spectrum, normal unless it is said otherwise: E cos(ω·(x − x')) is shape(q)."""
        return random.standard_normal((count, dim)) * np.sqrt(self.weights(dim))

    def weights(self, dim: int) -> Array:
        """1/ℓ² for every dimension."""
        return np.broadcast_to(np.asarray(self.lengthscale, dtype=np.float64) ** -2.0, (dim,)).copy()

    def column(self, points: Array, x: Array, weights: Array) -> Array:
        """k between many points, a column each, and one."""
        apart = points - x[:, None]
        apart *= apart
        return scale(self.shape(weights.dot(apart)), self.amplitude)

    def matrix(self, points: Array, others: Array, weights: Array) -> Array:
        """k between two sets of points, a column each; by differences: a Gram trick loses digits."""
        K = np.empty((points.shape[1], others.shape[1]))
        height = max(1, TILE // max(1, others.size))
        for low in range(0, len(K), height):
            tile = K[low : low + height]
            apart = points[:, low : low + height, None] - others[:, None]
            apart *= apart
            q = weights.dot(apart.reshape(len(weights), -1)).reshape(tile.shape)
            np.multiply(self.shape(q), self.amplitude, out=tile)
        return K

    def __call__(self, X: Any, Y: Any) -> Array:
        """k between the rows of X and the rows of Y.

        >>> SquaredExponential(lengthscale=2.0)([[0.0]], [[0.0], [2.0]]).round(4).tolist()
        [[1.0, 0.6065]]
        """
        X, Y = np.atleast_2d(X), np.atleast_2d(Y)
        return self.matrix(X.T, Y.T, self.weights(X.shape[1]))


def _check(kernel: "Kernel") -> None:
    """Both kernels take their numbers as floats."""
    force_setattr(kernel, "amplitude", expect.positive("amplitude", kernel.amplitude))
    if np.isscalar(kernel.lengthscale):
        force_setattr(kernel, "lengthscale", expect.positive("lengthscale", kernel.lengthscale))
    else:
        row = expect.vector("lengthscale", kernel.lengthscale).tolist()
        force_setattr(kernel, "lengthscale", tuple(expect.positive("lengthscale", one) for one in row))


class SquaredExponential(Stationary, msgspec.Struct, frozen=True, tag=True):
    """amplitude · exp(−q/2): functions with derivatives of every order.

    >>> SquaredExponential(lengthscale=(1.0, 3.0), amplitude=4.0).exponent(dim=2)
    0.2
    """

    lengthscale: float | tuple[float, ...] = 1.0
    amplitude: float = 1.0

    def __post_init__(self) -> None:
        _check(self)

    def shape(self, q: Array) -> Array:
        """exp(−q/2)."""
        return np.exp(MINUS_HALF * q)

    def slope(self, q: Array, shape: Array) -> Array:
        """−½ exp(−q/2)."""
        return -0.5 * shape

    def exponent(self, dim: int) -> float:
        """1/(d+3)."""
        return theory.se_exponent(dim)


class Matern(Stationary, msgspec.Struct, frozen=True, tag=True):
    """amplitude · 2^(1−ν)/Γ(ν) · s^ν K_ν(s) with s = √(2νq): rougher functions, ν the `smoothness`.

    Any ν > 0; at 1/2, 3/2 and 5/2 in closed form.

    >>> Matern(1.5)([[0.0]], [[1.0]]).round(6).tolist()
    [[0.483358]]
    """

    smoothness: float
    lengthscale: float | tuple[float, ...] = 1.0
    amplitude: float = 1.0

    def __post_init__(self) -> None:
        smoothness = expect.positive("smoothness", self.smoothness)
        force_setattr(self, "smoothness", smoothness)
        _check(self)

    def shape(self, q: Array) -> Array:
        """2^(1−ν)/Γ(ν) · s^ν K_ν(s)."""
        s = self._distance(q)
        match self.smoothness:
            case 0.5:
                return np.exp(-s)
            case 1.5:
                return (1.0 + s) * np.exp(-s)
            case 2.5:
                return (1.0 + s + s * s / 3.0) * np.exp(-s)
        return matern_shape(self.smoothness, s)

    def slope(self, q: Array, shape: Array) -> Array:
        """−ν/(2ν−2) times the shape of order ν−1 at the same s, from d/ds[s^ν K_ν(s)] = −s^ν K_{ν−1}(s)."""
        s, nu = self._distance(q), self.smoothness
        match nu:
            case 0.5:
                return -0.5 * np.exp(-s) / np.maximum(s, TINY)
            case 1.5:
                return -1.5 * np.exp(-s)
            case 2.5:
                return -(5.0 / 6.0) * (1.0 + s) * np.exp(-s)
        return nu * rough_slope(nu, s) if nu <= 1.0 else -0.5 * nu / (nu - 1.0) * matern_shape(nu - 1.0, s)

    def _distance(self, q: Array) -> Array:
        """s, cut off where nothing is left to see."""
        nu = self.smoothness
        return np.minimum(sqrt(2.0 * nu) * np.sqrt(q), FAR * max(1.0, nu))

    def exponent(self, dim: int) -> float:
        """1/(2d+3)."""
        return theory.matern_exponent(dim)

    def frequencies(self, count: int, dim: int, random: np.random.Generator) -> Array:
        """Multivariate t with 2ν degrees of freedom."""
        freedom = 2.0 * self.smoothness
        tails = np.sqrt(freedom / random.chisquare(freedom, (count, 1)))
        return super().frequencies(count, dim, random) * tails


Kernel = SquaredExponential | Matern

KernelName = Literal["se", "matern32", "matern52"]

SMOOTHNESS: dict[KernelName, float] = {"se": inf, "matern32": 1.5, "matern52": 2.5}


def kernel_named(name: KernelName, lengthscale: float | tuple[float, ...] = 1.0) -> Kernel:
    """The kernel of this name.

    >>> kernel_named("matern52", (1.0, 2.0))
    Matern(smoothness=2.5, lengthscale=(1.0, 2.0), amplitude=1.0)
    """
    smoothness = SMOOTHNESS[name]
    return SquaredExponential(lengthscale) if smoothness == inf else Matern(smoothness, lengthscale)


class Fading:
    """A kernel of points that end in a time: as before, but halved for every half-life between two.

    >>> faded = Fading(SquaredExponential(), half_life=10.0)
    >>> faded.column(np.array([[0.0], [5.0]]), np.array([0.0, 15.0]), faded.weights(2)).tolist()
    [0.5]
    """

    def __init__(self, kernel: Kernel, half_life: float) -> None:
        self.kernel, self.half_life = kernel, half_life

    def weights(self, dim: int) -> Array:
        """1/ℓ² for every dimension but the time."""
        return self.kernel.weights(dim - 1)

    def column(self, points: Array, x: Array, weights: Array) -> Array:
        """k between many points, a column each, and one."""
        faded: Array = self.kernel.column(points[:-1], x[:-1], weights) * self.fade(points[-1] - x[-1])
        return faded

    def matrix(self, points: Array, others: Array, weights: Array) -> Array:
        """k between two sets of points, a column each."""
        faded = self.kernel.matrix(points[:-1], others[:-1], weights)
        faded *= self.fade(np.subtract.outer(points[-1], others[-1]))
        return faded

    def fade(self, apart: Array) -> Array:
        """What is left of a covariance between points so far apart in time."""
        return np.exp2(np.abs(apart) * (-1.0 / self.half_life))
