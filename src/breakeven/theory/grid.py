"""The discretisation in the proof of Theorem 3: k cells along each axis, u labels in each.

In the proof k and u are real numbers; rounded up, the argument stands.
Notation: T rounds, d dim, B label_cost, σ noise_std, l lengthscale, L lipschitz, e the threshold's exponent.
"""

from math import ceil, inf, isinf, sqrt
from typing import NamedTuple

from breakeven.errors import expect
from breakeven.theory.forms import Form, is_corrected
from breakeven.theory.lipschitz import lipschitz_constant
from breakeven.theory.thresholds import gp_unit, matern_exponent, se_exponent


class Grid(NamedTuple):
    """Cells small enough that u labels in one bring its points below every threshold up to T."""

    rounds: int
    dim: int
    label_cost: float
    noise_std: float
    exponent: float
    per_axis: float
    labels_each: float

    def labels(self, form: Form) -> float:
        """Bound the labels; infinite without a Lipschitz constant, and above T where print is."""
        k, u = self.per_axis, self.labels_each
        if not is_corrected(form) or isinf(k):
            return _power(k, self.dim) * u  # Thm 3: C₁B^(−d₁)T^d₁, A₁B^(−d₂)T^d₂
        return min(float(self.rounds), _power(ceil(k), self.dim) * ceil(u))

    def unlabelled(self) -> float:
        """Sum the thresholds up to T, as an integral."""
        e = self.exponent
        growth: float = self.label_cost**e * self.rounds ** (1 - e)
        return gp_unit(self.noise_std) / (1 - e) * growth  # Thm 3, C₂, A₂


def se_grid(rounds: int, dim: int, label_cost: float, noise_std: float, lengthscale: float) -> Grid:
    """Cut the unit cube for a squared exponential kernel.

    >>> se_grid(16, 1, 1.0, 0.5, 1.0)[-2:]
    (4.0, 4.0)
    """
    T, d, B, sigma = _checked(rounds, dim, label_cost, noise_std)
    e = se_exponent(d)
    k = sqrt(d) / (sigma * expect.positive("lengthscale", lengthscale)) * (T / B) ** e  # proof of Thm 3, SE
    return Grid(T, d, B, sigma, e, k, (T / B) ** (2 * e))


def matern_grid(rounds: int, dim: int, label_cost: float, noise_std: float, lipschitz: float) -> Grid:
    """Cut the unit cube for a Matérn kernel.

    >>> matern_grid(32, 1, 1.0, 0.5, 1.0)[-2:]
    (32.0, 4.0)
    """
    T, d, B, sigma = _checked(rounds, dim, label_cost, noise_std)
    e = matern_exponent(d)
    u = (T / B) ** (2 * e)
    k = 2 * sqrt(d) * lipschitz_constant(lipschitz) / sigma**2 * u  # proof of Thm 3, Matérn
    return Grid(T, d, B, sigma, e, k, u)


def _checked(rounds: int, dim: int, label_cost: float, noise_std: float) -> tuple[int, int, float, float]:
    return (
        expect.whole("rounds", rounds, least=1),
        expect.whole("dim", dim, least=1),
        expect.positive("label_cost", label_cost),
        expect.positive("noise_std", noise_std),
    )


def _power(base: float, exponent: int) -> float:
    try:
        return float(base) ** exponent
    except OverflowError:
        return inf
