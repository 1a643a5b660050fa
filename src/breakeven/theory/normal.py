"""Of normal errors: how large they are on average, and how far a likelihood leaves a number open."""

from math import pi, sqrt

EXPECTED_ERROR = sqrt(2.0 / pi)  # E|f − mean| / std


def allowance(confidence: float) -> float:
    """How far the log likelihood falls below its top at the upper end of a number, at this confidence: z²/2.

    >>> round(allowance(0.9), 4), allowance(0.5)
    (0.8212, 0.0)
    """
    from statistics import NormalDist  # slow to import, rarely needed

    return 0.5 * NormalDist().inv_cdf(confidence) ** 2
