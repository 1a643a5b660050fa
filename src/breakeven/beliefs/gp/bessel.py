"""s^ν K_ν(s), the Bessel function in every Matérn kernel, scaled to 1 at s = 0; no order overflows.

Notation: ν > 0 the order, 0 ≤ s ≤ FAR·max(1, ν), K_ν the modified Bessel function of the second kind.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LARGE_ORDER = 100.0  # from here Debye's expansion in 1/ν holds to 1e-12
TINY = 1e-100  # a distance that is zero for every purpose, yet can be divided by
FAR = 1e4  # beyond FAR·max(1, ν) no correlation is left; SciPy's K_ν turns nan beyond 1e9


def matern_shape(order: float, s: Array) -> Array:
    """2^(1−ν)/Γ(ν) · s^ν K_ν(s).

    >>> import numpy as np
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
