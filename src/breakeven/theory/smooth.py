"""Theorem 3: what Algorithm 2 can lose and how often it can label, on x ∈ [0, 1]^d.

For a kernel of amplitude 1, noise bounded by σ, threshold scale 1. The corrected form rounds the proof's cell
counts up, buys no more than T labels, and has the γ_t that the theorem's β_t lacks (its proof has it).
Notation: T rounds, B label_cost, σ noise_std, n labels, ‖f‖ rkhs_norm, γ information_gain, δ delta.
"""

from collections.abc import Callable
from math import ceil, inf, isinf, log, log1p, sqrt

from breakeven.errors import expect
from breakeven.theory.forms import Form, is_corrected
from breakeven.theory.grid import Grid, matern_grid, se_grid

Gain = Callable[[int], float] | float


def label_bound_se(
    rounds: int,
    *,
    dim: int,
    label_cost: float,
    noise_std: float,
    lengthscale: float,
    form: Form = "corrected",
) -> float:
    """Most labels that Algorithm 2 buys, squared exponential kernel.

    >>> label_bound_se(1000, dim=1, label_cost=10, noise_std=0.5, lengthscale=0.5)
    130.0
    """
    grid = se_grid(rounds, dim, label_cost, noise_std, lengthscale)
    return min(float(grid.rounds), grid.labels(form))  # Thm 3, n


def label_bound_matern(
    rounds: int, *, dim: int, label_cost: float, noise_std: float, lipschitz: float, form: Form = "corrected"
) -> float:
    """Most labels that Algorithm 2 buys, Matérn kernel.

    >>> label_bound_matern(1000, dim=1, label_cost=10, noise_std=0.5, lipschitz=1.0)
    357.0
    """
    grid = matern_grid(rounds, dim, label_cost, noise_std, lipschitz)
    return min(float(grid.rounds), grid.labels(form))  # Thm 3, n


def upper_bound_se(
    rounds: int,
    *,
    dim: int,
    label_cost: float,
    noise_std: float,
    lengthscale: float,
    rkhs_norm: float,
    information_gain: Gain,
    delta: float,
    form: Form = "corrected",
) -> float:
    """Loss that Algorithm 2 exceeds with probability `delta`, SE kernel.

    `information_gain` is γ as a function of n, asked up to T + 1, or one number that holds for all of these.

    >>> setting = dict(dim=1, label_cost=10, noise_std=0.5, lengthscale=0.5, rkhs_norm=1.0, delta=0.1)
    >>> round(upper_bound_se(1000, information_gain=4.0, **setting))
    314653
    """
    grid = se_grid(rounds, dim, label_cost, noise_std, lengthscale)
    return _loss(grid, rkhs_norm, information_gain, delta, form)


def upper_bound_matern(
    rounds: int,
    *,
    dim: int,
    label_cost: float,
    noise_std: float,
    lipschitz: float,
    rkhs_norm: float,
    information_gain: Gain,
    delta: float,
    form: Form = "corrected",
) -> float:
    """Loss that Algorithm 2 exceeds with probability `delta`, Matérn kernel.

    Infinite when `lipschitz` is: the theorem says nothing about a smoothness below ½.

    >>> setting = dict(dim=1, label_cost=10, noise_std=0.5, rkhs_norm=1.0, delta=0.1)
    >>> round(upper_bound_matern(1000, lipschitz=1.0, information_gain=4.0, **setting))
    385143
    """
    grid = matern_grid(rounds, dim, label_cost, noise_std, lipschitz)
    return _loss(grid, rkhs_norm, information_gain, delta, form)


def confidence_factor(
    rounds: int, *, rkhs_norm: float, information_gain: Gain, delta: float, form: Form = "corrected"
) -> float:
    """β_t: the square of error over posterior std, at most.

    >>> round(confidence_factor(10, rkhs_norm=1.0, information_gain=0.5, delta=0.1), 1)
    14651.7
    """
    t, norm = expect.whole("rounds", rounds, least=1), _not_negative("rkhs_norm", rkhs_norm)
    delta = expect.probability("delta", delta, open=True)
    gain = _gain(information_gain, t) if is_corrected(form) else 1.0
    return 2 * norm**2 + 300 * gain * log(t / delta) ** 3  # proof of Thm 3, β_t


def _loss(grid: Grid, rkhs_norm: float, information_gain: Gain, delta: float, form: Form) -> float:
    T, n = grid.rounds, grid.labels(form)
    beta = confidence_factor(
        T + 1, rkhs_norm=rkhs_norm, information_gain=information_gain, delta=delta, form=form
    )
    if isinf(n):
        return inf
    gain = _gain(information_gain, ceil(min(T, n)))
    asked = sqrt(2 * beta * n * gain / log1p(grid.noise_std**-2))  # Thm 3, C₃, A₃
    return grid.label_cost * n + sqrt(beta) * grid.unlabelled() + asked  # Thm 3


def _gain(information_gain: Gain, n: int) -> float:
    value = information_gain(n) if callable(information_gain) else information_gain
    return _not_negative("information_gain", value)


def _not_negative(name: str, value: float) -> float:
    return 0.0 if value == 0 else expect.positive(name, value)
