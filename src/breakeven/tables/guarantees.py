"""What the paper proves for its rule on the problems of a plan, in money; None where nothing is proven."""

import numpy as np
from numpy.typing import NDArray

from breakeven import theory
from breakeven.tables.problems import KNOTS, SMOOTHNESS, Problem, Setting

LONGEST = 2_000  # rounds for which an information gain is computed: it takes time as their square


def bounds(setting: Setting, problems: list[Problem]) -> dict[str, float | None]:
    """The most labels and the largest total, and the least total that any rule has on the worst problem."""
    if setting.types is not None:
        return _of_types(setting, setting.types)
    assert setting.dim is not None
    bound = _smooth if setting.kernel == "se" else _rough
    return bound(setting, setting.dim, problems)


def _of_types(setting: Setting, types: int) -> dict[str, float | None]:
    """Theorems 1 and 2."""
    T, B, sigma, delta = setting.rounds, setting.price, setting.noise_std, setting.delta
    labels = theory.label_bound([T / types] * types, label_cost=B, noise_std=sigma, delta=delta).sum()
    most = theory.worst_case_upper_bound(types, T, label_cost=B, noise_std=sigma, delta=delta)
    least = theory.worst_case_lower_bound(types, T, label_cost=B, noise_std=sigma)
    return _money(setting, float(labels), most, least)


def _smooth(setting: Setting, dim: int, problems: list[Problem]) -> dict[str, float | None]:
    """Theorem 3, squared exponential kernel."""
    T, B, sigma, length = setting.rounds, setting.price, setting.noise_std, setting.lengthscale
    labels = theory.label_bound_se(T, dim=dim, label_cost=B, noise_std=sigma, lengthscale=length)
    if T > LONGEST:
        return _money(setting, labels, None, None)
    gains = _gains(setting, problems)
    most = theory.upper_bound_se(
        T,
        dim=dim,
        label_cost=B,
        noise_std=sigma,
        lengthscale=length,
        rkhs_norm=_norm(problems),
        information_gain=lambda n: float(gains[n - 1]),
        delta=setting.delta,
    )
    return _money(setting, labels, most, None)


def _rough(setting: Setting, dim: int, problems: list[Problem]) -> dict[str, float | None]:
    """Theorem 3, Matérn kernel."""
    T, B, sigma = setting.rounds, setting.price, setting.noise_std
    steep = theory.matern_lipschitz(SMOOTHNESS[setting.kernel], setting.lengthscale)
    labels = theory.label_bound_matern(T, dim=dim, label_cost=B, noise_std=sigma, lipschitz=steep)
    if T > LONGEST:
        return _money(setting, labels, None, None)
    gains = _gains(setting, problems)
    most = theory.upper_bound_matern(
        T,
        dim=dim,
        label_cost=B,
        noise_std=sigma,
        lipschitz=steep,
        rkhs_norm=_norm(problems),
        information_gain=lambda n: float(gains[n - 1]),
        delta=setting.delta,
    )
    return _money(setting, labels, most, None)


def _gains(setting: Setting, problems: list[Problem]) -> NDArray[np.float64]:
    """Information gains over the first arrivals, up to one label more than there are rounds."""
    some = problems[0].stream.points[:KNOTS]
    K = setting.function_kernel()(some, some)
    return theory.information_gain_bound(K, setting.rounds + 1, noise_std=setting.noise_std)


def _norm(problems: list[Problem]) -> float:
    return max(problem.norm or 0.0 for problem in problems)


def _money(
    setting: Setting, labels: float, most: float | None, least: float | None
) -> dict[str, float | None]:
    unit = setting.error_cost
    return {
        "labels": labels,
        "total": None if most is None else unit * most,
        "least_total": None if least is None else unit * least,
    }
