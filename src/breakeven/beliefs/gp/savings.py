"""What a label would take off the expected error, here and at arrivals to come; docs/value.md derives it.

Notation: s a std given all labels asked for, c the covariance of f at the point with f at an arrival to come.
A label with noise variance σ² takes c²/(s² + σ²) off that arrival's variance; the expected error is √(2/π)·s.
"""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from breakeven import theory
from breakeven.values import Saving

Array = NDArray[np.float64]


def saving(
    variance: float, reach: Array, variances: Array, noise_variance: float, lesson: float, half_life: float
) -> Saving:
    """The saving of a label at a point of this variance, that reaches so far to arrivals of these variances.

    The point itself stands for arrivals to come, too. `lesson` is the share of their errors that goes by what
    the label teaches.
    """
    spread = variance + noise_variance
    here = theory.EXPECTED_ERROR * float(_drop(variance, variance * variance / spread))
    there = theory.EXPECTED_ERROR * float(np.sum(_drop(variances, reach * reach / spread)))
    errors = theory.EXPECTED_ERROR * (float(np.sqrt(variances).sum()) + sqrt(variance))
    count = len(variances) + 1
    outright = theory.EXPECTED_ERROR * sqrt(spread)
    return Saving(here, (there + here) / count, lesson * errors / count, half_life, outright)


def lesson_share(parameters: int, labels: int) -> float:
    """What one more label takes off the share of an error that comes of estimating so many parameters.

    >>> lesson_share(parameters=4, labels=4)
    0.1
    """
    return parameters / (2.0 * labels * (labels + 1))


def _drop(variance: Array | float, gone: Array | float) -> Array:
    """How much a std falls when so much of its variance goes."""
    before = np.sqrt(variance)
    after = np.sqrt(np.maximum(variance - np.asarray(gone), 0.0))
    both = before + after
    drop: Array = np.divide(np.minimum(gone, variance), both, out=np.zeros_like(both), where=both > 0.0)
    return drop
