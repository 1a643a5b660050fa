"""The thresholds of both algorithms, the confidence radius of Algorithm 1, and how large normal errors are.

Called once per arrival: plain floats in, plain floats out, and nothing is checked here.
Notation: B label_cost, λ scale, σ noise_std, δ delta, d dim, N labels of all types, N_k labels of one type.
"""

from math import inf, log, pi, sqrt

from breakeven.errors import expect

DISCRETE_EXPONENT = 1 / 3
"""The exponent of Algorithm 1's threshold."""
EXPECTED_ERROR = sqrt(2.0 / pi)
"""The expected error of a normal belief divided by its standard deviation: E|f − mean| / std."""


def threshold(
    label_cost: float, count: float, exponent: float, unit: float = 1.0, scale: float = 1.0
) -> float:
    """Uncertainty above which a label is worth its cost.

    Algorithm 1: exponent 1/3, unit 1, `count` the arrivals of this type, this one included.
    Algorithm 2: `se_exponent` or `matern_exponent`, unit `gp_unit`, `count` the round, from 1.

    >>> threshold(8.0, 1, exponent=DISCRETE_EXPONENT)
    2.0
    >>> threshold(8.0, 64, exponent=DISCRETE_EXPONENT, scale=3.0)
    1.5
    """
    level: float = scale * unit * (label_cost / count) ** exponent  # Alg. 1; eq. (thresholdSE)
    return level


def se_exponent(dim: int) -> float:
    """Exponent of the threshold for a squared exponential kernel.

    >>> se_exponent(1)
    0.25
    """
    return 1 / (expect.whole("dim", dim, least=1) + 3)  # eq. (thresholdSE)


def matern_exponent(dim: int) -> float:
    """Exponent of the threshold for a Matérn kernel, any smoothness.

    >>> matern_exponent(1)
    0.2
    """
    return 1 / (2 * expect.whole("dim", dim, least=1) + 3)  # eq. (thresholdSE), Matérn


def gp_unit(noise_std: float) -> float:
    """Scale Algorithm 2's threshold by √2 times the noise.

    >>> round(gp_unit(5.0), 3)
    7.071
    """
    return sqrt(2) * noise_std  # eq. (thresholdSE)


def confidence_spread(noise_std: float, labels: float, delta: float) -> float:
    """Squared confidence radius of a type with one label, given all `labels` ≥ 1.

    >>> round(confidence_spread(0.1, 10, 0.01), 4)
    0.2441
    """
    return 2 * noise_std**2 * (log(2 / delta) + 3 * log(labels))  # eq. (Utk) at δ/N³


def radius(noise_std: float, labels_of_type: int, labels: int, delta: float) -> float:
    """Confidence radius of one type's mean, infinite before its first label.

    >>> round(radius(0.1, 4, 10, 0.01), 4), radius(0.1, 0, 10, 0.01)
    (0.247, inf)
    """
    if labels_of_type == 0:
        return inf
    return sqrt(confidence_spread(noise_std, labels, delta) / labels_of_type)  # eq. (Utk)


def allowance(confidence: float) -> float:
    """How far the log likelihood falls below its top at the upper end of a number, at this confidence: z²/2.

    >>> round(allowance(0.9), 4), allowance(0.5)
    (0.8212, 0.0)
    """
    from statistics import NormalDist  # slow to import, rarely needed

    return 0.5 * NormalDist().inv_cdf(confidence) ** 2
