"""How likely a process makes the first k of its labels, and the others, for every k at once.

Notation: C is the Cholesky factor of the covariance of labels, u = C⁻¹y. Row by row, C and u are those of the
first labels alone; so log Z of the first k labels is a running sum of −log C_ii − ½u_i² − ½ log 2π.
"""

from math import log, pi

import numpy as np

from breakeven.errors.expect import Array


def evidence(covariance: Array, y: Array) -> tuple[Array, Array]:
    """The log evidence of the first k labels and of the others, for k from 0 to n; y are less the mean.

    >>> before, after = evidence(np.eye(3), np.zeros(3))
    >>> bool(np.allclose(before + after, before[-1]))
    True
    """
    return _running(covariance, y), _running(covariance[::-1, ::-1], y[::-1])[::-1]


def log_evidence(covariance: Array, y: Array) -> float:
    """The log evidence of all labels; y are less the mean."""
    return float(_running(covariance, y)[-1])


def _running(covariance: Array, y: Array) -> Array:
    C = np.linalg.cholesky(covariance)
    u = np.linalg.solve(C, y)
    return np.concatenate([[0.0], np.cumsum(-np.log(np.diagonal(C)) - 0.5 * u * u - 0.5 * log(2.0 * pi))])
