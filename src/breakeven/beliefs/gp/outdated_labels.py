"""Which labels of a process lie before a change in the world, if there was one."""

import numpy as np

from breakeven.beliefs.change import CHANGE_SEARCHED, best_split
from breakeven.beliefs.gp.blas import one_thread
from breakeven.beliefs.gp.evidence import evidence
from breakeven.beliefs.gp.solver import Solver

NOISES_TRIED = (1.0, 4.0, 16.0, 64.0, 256.0)  # times the noise variance, where a change is looked for


def labels_before_change(solver: Solver) -> int:
    """How many labels, the first told, lie before the change that explains them best; 0 if none does.

    It is looked for among the last labels told, by their marginal likelihood with the parameters as they
    are, and with more noise: that the noise was fitted too small is no change.
    """
    parameters, kernel = solver.parameters, solver.parameters.covariance
    older = max(solver.labels - CHANGE_SEARCHED, 0)
    X, y = np.ascontiguousarray(solver.X[older:].T), solver.y[older:] - parameters.mean
    noise = np.diag([solver.noise_of(one) for one in solver.noise[older:].tolist()])
    with one_thread:
        covariance = kernel.matrix(X, X, kernel.weights(len(X)))
        parts = [evidence(covariance + factor * noise, y) for factor in NOISES_TRIED]
    split = best_split([before for before, _ in parts], [after for _, after in parts], y)
    return older + split if split else 0
