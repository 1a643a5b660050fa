"""Growth: losses against what was varied, and the exponent that fits them.

An exponent is the slope of a least-squares line through the logarithms, fitted to each trial on its own.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from breakeven.experiments.runs.curve import Curve
from breakeven.experiments.runs.trials import average
from breakeven.experiments.runs.types_run import Sweep

Array = NDArray[np.float64]

FIRST_ROUND = 100
ROUNDS_FITTED = 21  # spaced by equal factors


class Growth(NamedTuple):
    """Total losses, a row for each trial, against what was varied; `theory` is the exponent proved."""

    name: str
    sweep: Sweep
    at: list[float]
    losses: Array
    theory: Fraction
    allowed: list[float] | None = None  # by the corrected Theorem 1, however arrivals are split


def measured(growth: Growth) -> tuple[float, float | None]:
    """The mean exponent over the trials and its standard error."""
    mean, error = average([exponent(growth.at, losses) for losses in growth.losses])
    return float(mean), None if error is None else float(error)


def beside_bound(growth: Growth) -> tuple[float | None, float | None]:
    """The exponent of the bound itself over the same range, and the most of it that was lost."""
    if growth.allowed is None:
        return None, None
    allowed = np.array(growth.allowed)
    return exponent(growth.at, allowed), float((growth.losses / allowed).max())


def along(runs: list[tuple[Curve, float]]) -> tuple[list[float], Array]:
    """Total losses at rounds spaced by equal factors, from round 100 on."""
    rounds = np.array(runs[0][0].rounds)
    kept = spaced(rounds, FIRST_ROUND, ROUNDS_FITTED)
    losses = np.array([curve.total_losses(label_cost)[kept] for curve, label_cost in runs])
    return rounds[kept].tolist(), losses


def spaced(rounds: NDArray[np.int64], first: int, count: int) -> NDArray[np.intp]:
    """Where the rounds nearest to equal factors are, from `first` to the last.

    >>> spaced(np.arange(1, 101), first=1, count=3).tolist()
    [0, 9, 99]
    """
    wanted = np.geomspace(first, rounds[-1], count)
    return np.unique(np.abs(np.log(rounds[:, None] / wanted)).argmin(axis=0))


def exponent(at: list[float], losses: Array) -> float:
    """The slope of the least-squares line through the logarithms.

    >>> round(exponent([1.0, 10.0, 100.0], np.array([2.0, 20.0, 200.0])), 12)
    1.0
    """
    return float(np.polyfit(np.log(at), np.log(losses), 1)[0])


def words(growth: Growth) -> str:
    """The exponent in words, with what theory says.

    >>> words(Growth("Algorithm 1", "K", [1.0, 8.0], np.array([[1.0, 2.0]]), Fraction(1, 3)))
    'Algorithm 1 in K: 0.333, theory 1/3.'
    """
    mean, error = measured(growth)
    spread = "" if error is None else f" ± {error:.3f}"
    return f"{growth.name} in {growth.sweep}: {mean:.3f}{spread}, theory {growth.theory}."
