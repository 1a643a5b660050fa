"""Gaussian processes: kernels, the exact posterior, a dictionary for long streams, and fitting.

Reading order: kernels, factor, posterior; projection, dictionary, capacity; likelihood, fitting; process.
"""

from breakeven.beliefs.gp.kernels import (
    SMOOTHNESS,
    Kernel,
    KernelName,
    Matern,
    SquaredExponential,
    kernel_named,
)
from breakeven.beliefs.gp.parameters import Parameters
from breakeven.beliefs.gp.prior import Prior
from breakeven.beliefs.gp.process import GaussianProcess
from breakeven.beliefs.gp.untuned import untuned

__all__ = [
    "SMOOTHNESS",
    "GaussianProcess",
    "Kernel",
    "KernelName",
    "Matern",
    "Parameters",
    "Prior",
    "SquaredExponential",
    "kernel_named",
    "untuned",
]
