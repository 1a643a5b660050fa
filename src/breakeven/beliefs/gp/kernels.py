"""Kernels, which say how alike f is at two points, and the parameters of a process: kernel, noise and mean.

Notation: q = Σ_j (x_j − x'_j)² / ℓ_j², and k(x, x') = amplitude · shape(q). `slope` is dshape/dq, which
is all that fitting needs. ℓ is one number, or one per dimension. K_ν is the modified Bessel function of the
second kind; s^ν K_ν(s), scaled to 1 at s = 0, is every Matérn kernel's shape.
"""

from math import inf, sqrt
from typing import Any, Literal

import msgspec
import numpy as np
from msgspec.structs import force_setattr

from breakeven import theory
from breakeven.beliefs.gp.factor import scale
from breakeven.errors import expect
from breakeven.errors.expect import Array

LEAST_NOISE = 1e-12  # of the amplitude: the smallest noise variance of a label
LARGE_ORDER = 100.0  # from here Debye's expansion in 1/ν holds to 1e-12
TINY = 1e-100  # a distance that is zero for every purpose, yet can be divided by
FAR = 1e4  # beyond FAR·max(1, ν) no correlation is left; SciPy's K_ν turns nan beyond 1e9
MINUS_HALF = np.array(-0.5)  # NumPy takes half a µs to make an array of a float
TILE = 16_000  # differences at a time: they stay in the cache, and in memory that malloc need not map anew


class Stationary:
    """What kernels of a scaled distance share; the two below say what their shape is."""

    __slots__ = ()
    lengthscale: float | tuple[float, ...]
    amplitude: float

    def shape(self, q: Array) -> Array:
        """The correlation at the scaled squared distance q. It is 1 at q = 0."""
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
        weights: Array = np.asarray(self.lengthscale, dtype=np.float64) ** -2.0
        return weights if isinstance(self.lengthscale, tuple) else np.full(dim, weights)

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
    lengths = kernel.lengthscale
    if not isinstance(lengths, tuple) and np.isscalar(lengths):
        force_setattr(kernel, "lengthscale", expect.positive("lengthscale", lengths))
    else:
        row = lengths if isinstance(lengths, tuple) else expect.vector("lengthscale", lengths).tolist()
        force_setattr(kernel, "lengthscale", tuple([expect.positive("lengthscale", one) for one in row]))


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

KernelName = Literal["se", "matern32", "matern52"]  # the same on the command line, in Python and in adapters

SMOOTHNESS: dict[KernelName, float] = {"se": inf, "matern32": 1.5, "matern52": 2.5}


def kernel_named(name: KernelName, lengthscale: float | tuple[float, ...] = 1.0) -> Kernel:
    """The kernel of this name.

    >>> kernel_named("matern52", (1.0, 2.0))
    Matern(smoothness=2.5, lengthscale=(1.0, 2.0), amplitude=1.0)
    """
    smoothness = SMOOTHNESS[name]
    return SquaredExponential(lengthscale) if smoothness == inf else Matern(smoothness, lengthscale)


LASTING = 1e15  # a half-life in rounds that stands for none: nothing fades


class FadingKernel:
    """A kernel of points that end in a time: as before, but halved for every half-life between two.

    >>> faded = FadingKernel(SquaredExponential(), half_life=10.0)
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
        """The share that is left of a covariance between two points this many rounds apart."""
        return np.exp2(np.abs(apart) * (-1.0 / self.half_life))


class Parameters(msgspec.Struct, frozen=True):
    """Kernel, noise and mean, as given or as last fitted, in the user's units.

    With a `half_life`, points end in their time. `label_scale` is what the paper's λ counts in; None where it
    is to be found in the labels and was not yet.
    """

    kernel: Kernel
    noise_std: float
    mean: float = 0.0
    half_life: float | None = None
    label_scale: float | None = 1.0

    @property
    def covariance(self) -> Kernel | FadingKernel:
        """The kernel, of points in time where they have one."""
        return self.kernel if self.half_life is None else FadingKernel(self.kernel, self.half_life)

    @property
    def noise_variance(self) -> float:
        """σ², but at least `least_noise`: below that, rounding would be larger than the noise."""
        return max(self.noise_std * self.noise_std, self.least_noise)

    @property
    def least_noise(self) -> float:
        """The smallest noise variance of a label."""
        return LEAST_NOISE * self.kernel.amplitude

    def scaled(self, factor: float) -> "Parameters":
        """The same process with every deviation this many times as large; its predictions stay."""
        kernel = msgspec.structs.replace(self.kernel, amplitude=self.kernel.amplitude * factor * factor)
        return msgspec.structs.replace(self, kernel=kernel, noise_std=self.noise_std * factor)

    def plain(self) -> dict[str, Any]:
        """As text and numbers."""
        result: dict[str, Any] = msgspec.to_builtins(self)
        return result

    @staticmethod
    def of(plain: dict[str, Any]) -> "Parameters":
        """Read back what `plain` gave."""
        return msgspec.convert(plain, Parameters)


def checked_kernel(kernel: Any, dim: int) -> Kernel:
    """The kernel, by itself or by its name, if it is one for points of this dimension."""
    if isinstance(kernel, str) and kernel in SMOOTHNESS:
        return kernel_named(kernel, (1.0,) * dim)
    if not isinstance(kernel, SquaredExponential | Matern):
        names = ", ".join(map(repr, SMOOTHNESS))
        expect.refuse("kernel", f"a SquaredExponential, a Matern, or one of {names}", kernel)
    if isinstance(kernel.lengthscale, tuple) and len(kernel.lengthscale) != dim:
        expect.refuse("kernel", f"one lengthscale, or one for each of {dim} dimensions", kernel.lengthscale)
    return kernel


def checked_parameters(
    plain: dict[str, Any], dim: int, half_life: float | Literal["fit"] | None
) -> Parameters:
    """Parameters from plain data, if they suit a process of this dimension and half-life, or a fitted one."""
    try:
        parameters = Parameters.of(plain)
    except msgspec.ValidationError as error:
        expect.refuse("parameters", "kernel, noise_std and mean", str(error), described=True)
    checked_kernel(parameters.kernel, dim)
    expect.positive("noise_std", parameters.noise_std)
    expect.finite("mean", parameters.mean)
    if parameters.label_scale is not None:
        expect.positive("label_scale", parameters.label_scale)
    if half_life == "fit":
        expect.positive("half_life", parameters.half_life)
    elif parameters.half_life != half_life:
        expect.refuse("half_life", f"that of the process, {half_life}", parameters.half_life)
    return parameters


def matern_shape(order: float, s: Array) -> Array:
    """2^(1−ν)/Γ(ν) · s^ν K_ν(s).

    >>> matern_shape(0.5, np.array([0.0, 2.0])).round(10).tolist()  # exp(-s)
    [1.0, 0.1353352832]
    """
    if order > LARGE_ORDER:
        return _debye(order, s)
    from scipy.special import gammaln, kve

    inside = np.maximum(s, TINY)
    scaled = kve(order, inside)
    log_shape = (1.0 - order) * np.log(2.0) - gammaln(order) + order * np.log(inside) - inside
    shape = np.minimum(np.exp(log_shape + np.log(scaled)), 1.0)
    if order > 2.0:  # there K_ν may overflow at a small s, where these terms of the series are enough
        h = np.minimum(s, 1.0) ** 2 / 4.0 / (1.0 - order)
        shape = np.where(scaled < np.inf, shape, 1.0 + h * (1.0 + h * (1.0 - order) / (2.0 * (2.0 - order))))
    return np.where(s > 0.0, shape, 1.0)


def rough_slope(order: float, s: Array) -> Array:
    """Its derivative in s, over s: −2^(1−ν)/Γ(ν) · s^(ν−1) K_{1−ν}(s), for orders ν ≤ 1.

    It is −∞ at 0; the finite value there will do, because it is only ever multiplied by that distance.
    """
    from scipy.special import gamma, kve

    s = np.maximum(s, TINY)
    bessel = kve(1.0 - order, s) * np.exp(-s)
    slope: Array = -(2.0 ** (1.0 - order)) / gamma(order) * s ** (order - 1.0) * bessel
    return slope


def _debye(order: float, s: Array) -> Array:
    """The uniform expansion for large orders (DLMF 10.41.4) over its value at 0, with r = √(1+s²/ν²) − 1."""
    z = s / order
    root = np.hypot(1.0, z)
    r = z * (z / (1.0 + root))
    leading = np.exp(order * (np.log1p(0.5 * r) - r)) / np.sqrt(root)
    result: Array = leading * _debye_series(order, 1.0 / root) / _debye_series(order, np.ones(1))
    return result


def _debye_series(order: float, p: Array) -> Array:
    """Σ (−1)^k u_k(p)/ν^k up to k = 4 (DLMF 10.41.10)."""
    u1 = (3.0 * p - 5.0 * p**3) / 24.0
    u2 = (81.0 * p**2 - 462.0 * p**4 + 385.0 * p**6) / 1152.0
    u3 = (30375.0 * p**3 - 369603.0 * p**5 + 765765.0 * p**7 - 425425.0 * p**9) / 414720.0
    u4 = (4465125.0 * p**4 - 94121676.0 * p**6 + 349922430.0 * p**8 - 446185740.0 * p**10) / 39813120.0
    u4 += 185910725.0 * p**12 / 39813120.0
    result: Array = 1.0 - (u1 - (u2 - (u3 - u4 / order) / order) / order) / order
    return result
