"""The Lipschitz constant of a Matérn correlation, as a function of distance.

As d(z^ν K_ν)/dz = −z^ν K_{ν−1}, the slope is √(2ν)/l·2^(1−ν)/Γ(ν)·z^ν K_{ν−1}(z), steepest where
K_{ν−1}(z) = z K_{ν−2}(z).
Notation: ν smoothness, l lengthscale, r distance, z = √(2ν)·r/l, K_ν the modified Bessel function.
"""

from math import exp, inf, lgamma, log, sqrt

from breakeven.errors import expect

FLAT_SMOOTHNESS = 200.0


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
