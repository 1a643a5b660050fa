"""Theorem 3: what Algorithm 2 can lose and how often it can label, on x ∈ [0, 1]^d.

For a kernel of amplitude 1, noise bounded by σ, threshold scale 1. The proof cuts the cube into k cells
along each axis with u labels in each; k and u are real numbers there, and rounded up, the argument stands.
The corrected form does so, buys no more than T labels, and has the γ_t that the theorem's β_t lacks (its
proof has it).
The cell lemma: with s labels inside a set of diameter D that holds x, the posterior variance at x is at most
the squared error of averaging those labels; labels elsewhere only help.
The Lipschitz constant of a Matérn correlation: as d(z^ν K_ν)/dz = −z^ν K_{ν−1}, the slope is
√(2ν)/l·2^(1−ν)/Γ(ν)·z^ν K_{ν−1}(z), steepest where K_{ν−1}(z) = z K_{ν−2}(z).

Notation: T rounds, d dim, B label_cost, σ noise_std, n labels, l lengthscale, L lipschitz, e the threshold's
exponent, ‖f‖ rkhs_norm, γ information_gain, δ delta; D diameter, s labels of a cell; ν smoothness, r
distance, z = √(2ν)·r/l, K_ν the modified Bessel function.
"""

from collections.abc import Callable
from math import ceil, exp, inf, isinf, lgamma, log, log1p, sqrt
from typing import NamedTuple

from breakeven.errors import expect
from breakeven.theory.thresholds import gp_unit, matern_exponent, se_exponent
from breakeven.theory.type_bounds import Form, is_corrected

FLAT_SMOOTHNESS = 200.0

Gain = Callable[[int], float] | float


# -- the Lipschitz constant of a Matérn kernel -------------------------------------------------------


def matern_lipschitz(smoothness: float, lengthscale: float) -> float:
    """Steepest slope of the Matérn correlation, infinite below smoothness ½.

    It falls with the smoothness, so the value at 200 (0.1% above the limit e^(−½)/l) serves for all beyond.

    >>> matern_lipschitz(0.5, 2.0), round(matern_lipschitz(1.5, 1.0), 4), matern_lipschitz(0.4, 1.0)
    (0.5, 0.6372, inf)
    """
    nu = min(expect.positive("smoothness", smoothness), FLAT_SMOOTHNESS)
    per_length = 1 / expect.positive("lengthscale", lengthscale)
    if nu <= 0.5:
        return per_length if nu == 0.5 else inf
    from scipy.special import kve

    z = _steepest(nu)
    log_bessel = log(kve(nu - 1, z)) - z
    return sqrt(2 * nu) * per_length * exp((1 - nu) * log(2) - lgamma(nu) + nu * log(z) + log_bessel)


def lipschitz_constant(value: float) -> float:
    """Check a Lipschitz constant: positive, and possibly infinite.

    >>> lipschitz_constant(inf), lipschitz_constant(2)
    (inf, 2.0)
    """
    return inf if value == inf else expect.positive("lipschitz", value)


def _steepest(nu: float) -> float:
    from scipy.special import kve

    low, high = 0.0, sqrt(2 * nu)  # the limit ν → ∞ has its steepest point at z = √(2ν)
    for _ in range(100):
        z = (low + high) / 2
        low, high = (z, high) if z * kve(nu - 2, z) < kve(nu - 1, z) else (low, z)
    return high


# -- the cell lemma ----------------------------------------------------------------------------------


def cell_variance_bound_se(diameter: float, labels: int, *, lengthscale: float, noise_std: float) -> float:
    """Most posterior variance in a cell, squared exponential kernel.

    >>> cell_variance_bound_se(0.5, 4, lengthscale=1.0, noise_std=1.0)
    0.5
    """
    scaled = _diameter(diameter) / expect.positive("lengthscale", lengthscale)
    return scaled**2 + _mean_variance(labels, noise_std)  # cell lemma, SE


def cell_variance_bound_matern(diameter: float, labels: int, *, lipschitz: float, noise_std: float) -> float:
    """Most posterior variance in a cell, Matérn kernel.

    >>> cell_variance_bound_matern(0.5, 4, lipschitz=1.0, noise_std=1.0)
    1.25
    """
    D, L = _diameter(diameter), lipschitz_constant(lipschitz)
    return (2 * L * D if D else 0.0) + _mean_variance(labels, noise_std)  # cell lemma, Matérn


def _diameter(diameter: float) -> float:
    return 0.0 if diameter == 0 else expect.positive("diameter", diameter)


def _mean_variance(labels: int, noise_std: float) -> float:
    s, sigma = expect.whole("labels", labels), expect.positive("noise_std", noise_std)
    return sigma**2 / s if s else inf


# -- the cells of the proof --------------------------------------------------------------------------


class Grid(NamedTuple):
    """Cells small enough that u labels in one bring its points below every threshold up to T."""

    rounds: int
    dim: int
    label_cost: float
    noise_std: float
    exponent: float
    per_axis: float
    labels_each: float

    def labels(self, form: Form) -> float:
        """Bound the labels; infinite without a Lipschitz constant, and above T where print is."""
        k, u = self.per_axis, self.labels_each
        if not is_corrected(form) or isinf(k):
            return _power(k, self.dim) * u  # Thm 3: C₁B^(−d₁)T^d₁, A₁B^(−d₂)T^d₂
        return min(float(self.rounds), _power(ceil(k), self.dim) * ceil(u))

    def unlabelled(self) -> float:
        """Sum the thresholds up to T, as an integral."""
        e = self.exponent
        growth: float = self.label_cost**e * self.rounds ** (1 - e)
        return gp_unit(self.noise_std) / (1 - e) * growth  # Thm 3, C₂, A₂


def se_grid(rounds: int, dim: int, label_cost: float, noise_std: float, lengthscale: float) -> Grid:
    """Cut the unit cube for a squared exponential kernel.

    >>> se_grid(16, 1, 1.0, 0.5, 1.0)[-2:]
    (4.0, 4.0)
    """
    T, d, B, sigma = _checked(rounds, dim, label_cost, noise_std)
    e = se_exponent(d)
    k = sqrt(d) / (sigma * expect.positive("lengthscale", lengthscale)) * (T / B) ** e  # proof of Thm 3, SE
    return Grid(T, d, B, sigma, e, k, (T / B) ** (2 * e))


def matern_grid(rounds: int, dim: int, label_cost: float, noise_std: float, lipschitz: float) -> Grid:
    """Cut the unit cube for a Matérn kernel.

    >>> matern_grid(32, 1, 1.0, 0.5, 1.0)[-2:]
    (32.0, 4.0)
    """
    T, d, B, sigma = _checked(rounds, dim, label_cost, noise_std)
    e = matern_exponent(d)
    u = (T / B) ** (2 * e)
    k = 2 * sqrt(d) * lipschitz_constant(lipschitz) / sigma**2 * u  # proof of Thm 3, Matérn
    return Grid(T, d, B, sigma, e, k, u)


def _checked(rounds: int, dim: int, label_cost: float, noise_std: float) -> tuple[int, int, float, float]:
    return (
        expect.whole("rounds", rounds, least=1),
        expect.whole("dim", dim, least=1),
        expect.positive("label_cost", label_cost),
        expect.positive("noise_std", noise_std),
    )


def _power(base: float, exponent: int) -> float:
    try:
        return float(base) ** exponent
    except OverflowError:
        return inf


# -- Theorem 3 ---------------------------------------------------------------------------------------


def label_bound_se(
    rounds: int,
    *,
    dim: int,
    label_cost: float,
    noise_std: float,
    lengthscale: float,
    form: Form = "corrected",
) -> float:
    """Most labels that Algorithm 2 buys, squared exponential kernel.

    >>> label_bound_se(1000, dim=1, label_cost=10, noise_std=0.5, lengthscale=0.5)
    130.0
    """
    grid = se_grid(rounds, dim, label_cost, noise_std, lengthscale)
    return min(float(grid.rounds), grid.labels(form))  # Thm 3, n


def label_bound_matern(
    rounds: int, *, dim: int, label_cost: float, noise_std: float, lipschitz: float, form: Form = "corrected"
) -> float:
    """Most labels that Algorithm 2 buys, Matérn kernel.

    >>> label_bound_matern(1000, dim=1, label_cost=10, noise_std=0.5, lipschitz=1.0)
    357.0
    """
    grid = matern_grid(rounds, dim, label_cost, noise_std, lipschitz)
    return min(float(grid.rounds), grid.labels(form))  # Thm 3, n


def upper_bound_se(
    rounds: int,
    *,
    dim: int,
    label_cost: float,
    noise_std: float,
    lengthscale: float,
    rkhs_norm: float,
    information_gain: Gain,
    delta: float,
    form: Form = "corrected",
) -> float:
    """Loss that Algorithm 2 exceeds with probability `delta`, SE kernel.

    `information_gain` is γ as a function of n, asked up to T + 1, or one number that holds for all of these.

    >>> setting = dict(dim=1, label_cost=10, noise_std=0.5, lengthscale=0.5, rkhs_norm=1.0, delta=0.1)
    >>> round(upper_bound_se(1000, information_gain=4.0, **setting))
    314653
    """
    grid = se_grid(rounds, dim, label_cost, noise_std, lengthscale)
    return _loss(grid, rkhs_norm, information_gain, delta, form)


def upper_bound_matern(
    rounds: int,
    *,
    dim: int,
    label_cost: float,
    noise_std: float,
    lipschitz: float,
    rkhs_norm: float,
    information_gain: Gain,
    delta: float,
    form: Form = "corrected",
) -> float:
    """Loss that Algorithm 2 exceeds with probability `delta`, Matérn kernel.

    Infinite when `lipschitz` is: the theorem says nothing about a smoothness below ½.

    >>> setting = dict(dim=1, label_cost=10, noise_std=0.5, rkhs_norm=1.0, delta=0.1)
    >>> round(upper_bound_matern(1000, lipschitz=1.0, information_gain=4.0, **setting))
    385143
    """
    grid = matern_grid(rounds, dim, label_cost, noise_std, lipschitz)
    return _loss(grid, rkhs_norm, information_gain, delta, form)


def confidence_factor(
    rounds: int, *, rkhs_norm: float, information_gain: Gain, delta: float, form: Form = "corrected"
) -> float:
    """β_t: the square of error over posterior std, at most.

    >>> round(confidence_factor(10, rkhs_norm=1.0, information_gain=0.5, delta=0.1), 1)
    14651.7
    """
    t, norm = expect.whole("rounds", rounds, least=1), _not_negative("rkhs_norm", rkhs_norm)
    delta = expect.probability("delta", delta, open=True)
    gain = _gain(information_gain, t) if is_corrected(form) else 1.0
    return 2 * norm**2 + 300 * gain * log(t / delta) ** 3  # proof of Thm 3, β_t


def _loss(grid: Grid, rkhs_norm: float, information_gain: Gain, delta: float, form: Form) -> float:
    T, n = grid.rounds, grid.labels(form)
    beta = confidence_factor(
        T + 1, rkhs_norm=rkhs_norm, information_gain=information_gain, delta=delta, form=form
    )
    if isinf(n):
        return inf
    gain = _gain(information_gain, ceil(min(T, n)))
    asked = sqrt(2 * beta * n * gain / log1p(grid.noise_std**-2))  # Thm 3, C₃, A₃
    return grid.label_cost * n + sqrt(beta) * grid.unlabelled() + asked  # Thm 3


def _gain(information_gain: Gain, n: int) -> float:
    value = information_gain(n) if callable(information_gain) else information_gain
    return _not_negative("information_gain", value)


def _not_negative(name: str, value: float) -> float:
    return 0.0 if value == 0 else expect.positive(name, value)
