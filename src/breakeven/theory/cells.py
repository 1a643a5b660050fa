"""The cell lemma: what a GP knows about a point that has labelled neighbours.

With s labels inside a set of diameter D that holds x, the posterior variance at x is at most the squared
error of averaging those labels; labels elsewhere only help. The kernel has amplitude 1.
Notation: D diameter, s labels, l lengthscale, σ noise_std, L lipschitz.
"""

from math import inf

from breakeven.errors import expect
from breakeven.theory.lipschitz import lipschitz_constant


def cell_variance_bound_se(diameter: float, labels: int, *, lengthscale: float, noise_std: float) -> float:
    """Most posterior variance in a cell, squared exponential kernel.

    >>> cell_variance_bound_se(0.5, 4, lengthscale=1.0, noise_std=1.0)
    0.5
    """
    scaled = _diameter(diameter) / expect.positive("lengthscale", lengthscale)
    return scaled**2 + _mean_variance(labels, noise_std)  # cell lemma, SE


def cell_variance_bound_matern(diameter: float, labels: int, *, lipschitz: float, noise_std: float) -> float:
    """Most posterior variance in a cell, Matérn kernel.

    >>> cell_variance_bound_matern(0.5, 4, lipschitz=1.0, noise_std=1.0)
    1.25
    """
    D, L = _diameter(diameter), lipschitz_constant(lipschitz)
    return (2 * L * D if D else 0.0) + _mean_variance(labels, noise_std)  # cell lemma, Matérn


def _diameter(diameter: float) -> float:
    return 0.0 if diameter == 0 else expect.positive("diameter", diameter)


def _mean_variance(labels: int, noise_std: float) -> float:
    s, sigma = expect.whole("labels", labels), expect.positive("noise_std", noise_std)
    return sigma**2 / s if s else inf
