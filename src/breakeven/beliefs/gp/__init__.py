"""Gaussian processes: kernels, two solvers, fitting, and the belief itself.

Reading order: process; kernels; solver, exact, dictionary; factor, blas; reservoir; likelihood, fitting.
"""

from breakeven.beliefs.gp.kernels import (
    SMOOTHNESS,
    Kernel,
    KernelName,
    Matern,
    Parameters,
    SquaredExponential,
    kernel_named,
)
from breakeven.beliefs.gp.likelihood import Prior
from breakeven.beliefs.gp.process import GaussianProcess, checked_half_life, untuned

__all__ = [
    "SMOOTHNESS",
    "GaussianProcess",
    "Kernel",
    "KernelName",
    "Matern",
    "Parameters",
    "Prior",
    "SquaredExponential",
    "checked_half_life",
    "kernel_named",
    "untuned",
]
