"""How likely a process makes the first k of its labels, and the others; and which lie before a change.

Notation: C is the Cholesky factor of the covariance of labels, u = C⁻¹y. Row by row, C and u are those of the
first labels alone; so log Z of the first k labels is a running sum of −log C_ii − ½u_i² − ½ log 2π.
"""

from math import log, pi

import numpy as np

from breakeven.beliefs.gp.blas import one_thread
from breakeven.beliefs.gp.solver import Solver
from breakeven.beliefs.retreats import CHANGE_SEARCHED, best_split
from breakeven.errors.expect import Array

NOISES_TRIED = (1.0, 4.0, 16.0, 64.0, 256.0)  # times the noise variance, where a change is looked for


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


def labels_before_change(solver: Solver) -> int:
    """How many labels, the first told, lie before the change that explains them best; 0 if none does.

    It is looked for among the last labels told, by their marginal likelihood with the parameters as they
    are, and with more noise: that the noise was fitted too small is no change.
    """
    parameters, kernel = solver.parameters, solver.parameters.covariance
    older = max(solver.labels - CHANGE_SEARCHED, 0)
    X, y = np.ascontiguousarray(solver.X[older:].T), solver.y[older:] - parameters.mean
    noise = np.diag([solver.noise_of(one) for one in solver.noise[older:].tolist()])
    with one_thread():
        covariance = kernel.matrix(X, X, kernel.weights(len(X)))
        parts = [evidence(covariance + factor * noise, y) for factor in NOISES_TRIED]
    split = best_split([before for before, _ in parts], [after for _, after in parts], y)
    return older + split if split else 0
