"""Gaussian processes: kernels, the exact posterior with awaited labels, and fitting.

Reading order: kernels, factor, posterior, likelihood, fitting, process.
"""

from breakeven.beliefs.gp.kernels import Kernel, Matern, SquaredExponential
from breakeven.beliefs.gp.parameters import Parameters
from breakeven.beliefs.gp.process import GaussianProcess

__all__ = ["GaussianProcess", "Kernel", "Matern", "Parameters", "SquaredExponential"]
