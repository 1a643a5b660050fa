"""Measured losses of Algorithm 1 between the bounds of Theorems 1 and 2.

Bounds are evaluated at the arrivals that there really were. A crossing is looked for at the rounds that a
curve keeps.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from breakeven import theory
from breakeven.experiments.runs.trials import Results, trials_of
from breakeven.experiments.runs.types_run import ALGORITHM_1, CLIPPED, TypesRun

Array = NDArray[np.float64]


class Bracket(NamedTuple):
    """Measured losses and the bounds around them: a row for each trial, a column for each kept round."""

    job: TypesRun
    rounds: list[int]
    loss: Array
    clipped: Array
    corrected: Array
    printed: Array
    least: Array


def bracket(results: Results, types: int, label_cost: float) -> Bracket:
    """The trials of one setting, with the bounds at their arrivals."""
    trials = trials_of(results, TypesRun, types=types, label_cost=label_cost, arrivals="uniform")
    first, curves = trials[0]
    rounds = curves[ALGORITHM_1].rounds
    bounds = np.array([_bounds(job, rounds) for job, _ in trials])
    return Bracket(
        first,
        rounds,
        np.array([found[ALGORITHM_1].total_losses(label_cost) for _, found in trials]),
        np.array([found[CLIPPED].total_losses(label_cost) for _, found in trials]),
        bounds[:, 0],
        bounds[:, 1],
        bounds[:, 2],
    )


def _bounds(job: TypesRun, rounds: list[int]) -> Array:
    """Theorem 1 corrected, Theorem 1 printed and Theorem 2, at each of the rounds."""
    cost, noise_std, delta = job.label_cost, job.noise_std, job.delta
    counts = job.arrivals_until(rounds).tolist()
    forms: tuple[theory.Form, ...] = ("corrected", "printed")
    upper = [
        [theory.upper_bound(m, label_cost=cost, noise_std=noise_std, delta=delta, form=form) for m in counts]
        for form in forms
    ]
    return np.array([*upper, [theory.lower_bound(m, label_cost=cost, noise_std=noise_std) for m in counts]])


def crossed(rounds: list[int], loss: Array, bound: Array) -> list[int]:
    """The rounds in which the loss is above the bound.

    >>> crossed([1, 2, 5], np.array([3.0, 3.0, 3.0]), np.array([2.0, 2.5, 4.0]))
    [1, 2]
    """
    return [t for t, above in zip(rounds, loss > bound, strict=True) if above]
