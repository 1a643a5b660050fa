"""log K_ν(s), the modified Bessel function of the second kind, without overflow for any order ν ≥ 0."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LARGE_ORDER = 100.0  # from here Debye's expansion in 1/ν holds to 1e-10


def log_bessel_k(order: float, s: Array) -> Array:
    """log K_order(s) for s > 0.

    >>> import numpy as np
    >>> round(float(log_bessel_k(0.5, np.array([2.0]))[0]), 10)  # log(sqrt(pi/4) exp(-2))
    -2.1207822376
    """
    if order > LARGE_ORDER:
        return _debye(order, s)
    from scipy.special import gammaln, kve

    scaled = kve(order, s)
    if np.isfinite(scaled).all():
        return np.asarray(np.log(scaled) - s)
    h = np.minimum(s, 1.0) ** 2 / 4.0 / (1.0 - order)  # overflow: s is small, take the ascending series
    series = 1.0 + h * (1.0 + h * (1.0 - order) / (2.0 * (2.0 - order)))
    small = gammaln(order) - np.log(2.0) + order * np.log(2.0 / s) + np.log(series)
    return np.asarray(np.where(np.isfinite(scaled), np.log(np.minimum(scaled, 1e308)) - s, small))


def _debye(order: float, s: Array) -> Array:
    """The uniform expansion for large orders (DLMF 10.41.4), with z = s/ν and p = 1/√(1+z²)."""
    z = s / order
    root = np.sqrt(1.0 + z * z)
    p = 1.0 / root
    eta = root + np.log(z / (1.0 + root))
    u1 = (3.0 * p - 5.0 * p**3) / 24.0
    u2 = (81.0 * p**2 - 462.0 * p**4 + 385.0 * p**6) / 1152.0
    u3 = (30375.0 * p**3 - 369603.0 * p**5 + 765765.0 * p**7 - 425425.0 * p**9) / 414720.0
    u4 = (4465125.0 * p**4 - 94121676.0 * p**6 + 349922430.0 * p**8 - 446185740.0 * p**10) / 39813120.0
    u4 += 185910725.0 * p**12 / 39813120.0
    series = 1.0 - u1 / order + u2 / order**2 - u3 / order**3 + u4 / order**4
    result: Array = 0.5 * np.log(np.pi / (2.0 * order)) - order * eta - 0.5 * np.log(root) + np.log(series)
    return result
