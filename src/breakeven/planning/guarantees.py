"""What the paper proves for its rule, in money. Errors are against f, at labelled arrivals, too.

Theorem 3 is about one f, and asks for its norm and for noise that never exceeds σ. A draw of the process has
none, but only its values at the arrivals matter: the smoothest function through T of them has norm √T on
average, and that is put in.
Notation: T rounds, B price, σ noise_std, n labels, d dim, γ_n the most information that n labels can give.
"""

from functools import partial
from math import ceil, sqrt

import msgspec
import numpy as np

from breakeven import theory
from breakeven.beliefs.gp import Kernel, Matern
from breakeven.planning.setting import Setting
from breakeven.theory.type_bounds import discrete_setting

GRIDS = 200  # tried for a bound on information


class Proven(msgspec.Struct, frozen=True, kw_only=True):
    """The most labels and the largest total, and the least total that any rule has on the worst problem.

    That last one is None where nothing is proven.
    """

    labels: float
    total: float
    least_total: float | None = None


def proven(setting: Setting) -> Proven:
    """What holds with a probability of 95%."""
    found = _of_types(setting, setting.types) if setting.types is not None else _of_numbers(setting)
    least, unit = found.least_total, setting.error_cost
    return Proven(
        labels=min(found.labels, float(setting.rounds)),
        total=unit * found.total,
        least_total=None if least is None else unit * least,
    )


def _of_types(setting: Setting, types: int) -> Proven:
    """Theorems 1 and 2, however arrivals are split among types."""
    T, K, B, sigma, delta = setting.rounds, types, setting.price, setting.noise_std, setting.delta
    seen = min(K, T)
    rate = discrete_setting(B, sigma, threshold_scale=1.0).label_rate(T, delta)
    return Proven(
        labels=ceil(rate * seen * (T / seen) ** (2 / 3)) + seen - 1,  # no split has more
        total=theory.worst_case_upper_bound(K, T, label_cost=B, noise_std=sigma, delta=delta),
        least_total=theory.worst_case_lower_bound(K, T, label_cost=B, noise_std=sigma),
    )


def _of_numbers(setting: Setting) -> Proven:
    """Theorem 3."""
    T, d, kernel, sigma = setting.rounds, setting.dim, setting.function_kernel, setting.noise_std
    assert d is not None
    if isinstance(kernel, Matern):
        steep = theory.matern_lipschitz(kernel.smoothness, setting.lengthscale)
        labels = partial(theory.label_bound_matern, lipschitz=steep)
        total = partial(theory.upper_bound_matern, lipschitz=steep)
    else:
        labels = partial(theory.label_bound_se, lengthscale=setting.lengthscale)
        total = partial(theory.upper_bound_se, lengthscale=setting.lengthscale)
    return Proven(
        labels=labels(T, dim=d, label_cost=setting.price, noise_std=sigma),
        total=total(
            T,
            dim=d,
            label_cost=setting.price,
            noise_std=sigma,
            rkhs_norm=sqrt(T),
            information_gain=partial(information_gain, kernel=kernel, dim=d, noise_std=sigma),
            delta=setting.delta,
        ),
    )


def information_gain(n: int, *, kernel: Kernel, dim: int, noise_std: float) -> float:
    """A bound on γ_n over the whole unit cube, for a kernel of amplitude 1.

    By D points of a grid the kernel splits into a part of rank D and a rest, at most r at any point; so γ_n
    ≤ ½ D log(1 + n/(D σ²)) + ½ n r/σ². It holds for every grid: the best of some, or one label a cell, r = 0.
    """
    sides = np.unique(np.geomspace(1.0, n ** (1 / dim), GRIDS).astype(int))
    cells = sides.astype(float) ** dim
    apart = dim * (0.5 / sides / np.asarray(kernel.lengthscale)) ** 2  # to the nearest point of the grid
    rest = 1.0 - kernel.shape(apart) ** 2
    known = 0.5 * cells * np.log1p(n / (cells * noise_std**2))
    return float(min((known + 0.5 * n * rest / noise_std**2).min(), 0.5 * n * np.log1p(noise_std**-2)))
