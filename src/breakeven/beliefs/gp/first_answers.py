"""What a process answers before its first fit: the labels told, and nothing of its kernel.

Until then the scale of the kernel is a placeholder, in no unit of the data. A point with labels of its own is
answered by them. Any other is taken for one more case like those labelled so far: their mean, and the std of
Student's t with n − 1 degrees of freedom for the next of n labels, s·√((1 + 1/n)·(n − 1)/(n − 3)), which is
infinite for three labels or fewer. Labels vary at least as much as f does, so the claim is not too narrow.
"""

from math import inf, sqrt
from typing import Any

import numpy as np

from breakeven.beliefs.gp.solver import Solver
from breakeven.errors.expect import Array

TOO_FEW = 3  # labels: Student's t has no std


def first_answer(solver: Solver, point: Any, noise_std: float | None) -> tuple[float, float]:
    """The mean and the std of f at a point, where labels were told; a `noise_std` of None is not known."""
    labels, noise = solver.y, solver.noise
    here = (solver.X[:, : len(point)] == point).all(axis=1)
    if not here.any():
        return weighted_mean(labels, np.ones(len(labels))), spread_of_next(labels, noise_std or 0.0)
    if noise_std is None:
        weights, std = np.ones(np.count_nonzero(here)), spread_of_next(labels)
    else:
        weights = 1.0 / np.where(noise[here] > 0.0, noise[here], noise_std**2)
        std = 1.0 / sqrt(weights.sum())
    return weighted_mean(labels[here], weights), std


def weighted_mean(labels: Array, weights: Array) -> float:
    """The mean, counted from the first label, so that equal ones are answered to the bit.

    >>> weighted_mean(np.array([0.1, 0.1, 0.4]), np.array([1.0, 1.0, 1.0]))
    0.2
    """
    first = labels[0]
    return float(first + weights @ (labels - first) / weights.sum())


def spread_of_next(labels: Array, least: float = 0.0) -> float:
    """The std of the next label after these; equal labels say nothing, unless they vary by `least` as known.

    >>> round(spread_of_next(np.array([31.0, 32.0, 33.0, 34.0, 33.0])), 2)
    1.77
    >>> spread_of_next(np.array([31.0, 32.0, 34.0])), spread_of_next(np.zeros(9))
    (inf, inf)
    """
    n = len(labels)
    if n <= TOO_FEW:
        return inf
    seen = max(float(labels.std(ddof=1)), least)
    return seen * sqrt((1.0 + 1.0 / n) * (n - 1.0) / (n - 3.0)) or inf
