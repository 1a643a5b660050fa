"""Theorem 3 against Algorithm 2: how many labels and how much loss it allows, and what was measured.

The information gain is bounded over a grid of about 64 points: a bound over these, none over the whole cube.
"""

from functools import lru_cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from breakeven import theory
from breakeven.beliefs.gp import Kernel, Matern, SquaredExponential
from breakeven.errors import expect
from breakeven.values import Cell, Table
from breakeven_research.experiments.runs.theory_runs import ALGORITHM_2, SmoothRun
from breakeven_research.experiments.runs.trials import Job, Results, trials_of

Array = NDArray[np.float64]

LENGTHSCALE = 0.5
KERNELS: tuple[Kernel, ...] = (SquaredExponential(LENGTHSCALE), Matern(2.5, LENGTHSCALE))
DIMS = (1, 2, 3)
LABEL_COSTS = (1.0, 10.0)
ROUNDS = (100, 1000, 10_000)
DELTA = 0.1
CANDIDATES = 64
COLUMNS = [
    "kernel",
    "d",
    "B",
    "T",
    "trials",
    "labels allowed",
    "labels measured",
    "most labels",
    "loss allowed",
    "loss measured",
    "largest loss",
    "allowed / measured",
    "never labelling loses at most",
]


def jobs(trials: int, *, rounds: tuple[int, ...] = ROUNDS) -> list[Job]:
    """Algorithm 2 with each kernel, dimension, price and length."""
    return [
        SmoothRun(kernel=kernel, dim=dim, label_cost=cost, rounds=T, seed=seed)
        for kernel in KERNELS
        for dim in DIMS
        for cost in LABEL_COSTS
        for T in rounds
        for seed in range(trials)
    ]


def table(results: Results) -> Table:
    """A row for each problem: what the corrected theorem allows and what was measured."""
    problems: dict[SmoothRun, list[tuple[int, float]]] = {}
    for job, curves in trials_of(results, SmoothRun):
        curve = curves[ALGORITHM_2]
        found = curve.labels[-1], curve.total_loss(job.label_cost)
        problems.setdefault(_any_seed(job), []).append(found)
    most = max(problem.rounds for problem in problems) + 1
    return Table(
        name="theorem3",
        title=f"Theorem 3, corrected, δ = {DELTA:g}",
        columns=COLUMNS,
        rows=[_row(problem, np.array(found), most) for problem, found in problems.items()],
    )


def sentences(table: Table) -> list[str]:
    """What the table shows, counted from its rows."""
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    ratios = [_number(row["allowed / measured"]) for row in rows]
    kept = all(_number(row["largest loss"]) <= _number(row["loss allowed"]) for row in rows)
    kept &= all(_number(row["most labels"]) <= _number(row["labels allowed"]) for row in rows)
    all_rounds = sum(row["labels allowed"] == row["T"] for row in rows)
    vacuous = sum(
        _number(row["loss allowed"]) >= _number(row["never labelling loses at most"]) for row in rows
    )
    return [
        "Theorem 3 takes a function of known norm, noise within ±σ and the true kernel. Algorithm 2 "
        f"{'stays within it everywhere' if kept else 'does not stay within it everywhere'}: "
        f"the loss allowed is {min(ratios):,.0f} to {max(ratios):,.0f} times the loss measured.",
        f"In {vacuous} of {len(rows)} rows the loss allowed is no less than never labelling can lose: there "
        "the bound is vacuous. The cause is β, which is 300·γ·log³(T/δ) at least: the theorem is about "
        f"rates. In {all_rounds} rows the label bound allows a label in every round.",
        f"The information gain γ is bounded over a grid of {CANDIDATES} points of the cube, not over all of "
        "it.",
    ]


def _any_seed(job: SmoothRun) -> SmoothRun:
    return msgspec.structs.replace(job, seed=0)


def _row(problem: SmoothRun, found: Array, most: int) -> list[Cell]:
    labels, loss = found.mean(axis=0).tolist()
    allowed = loss_allowed(problem, most)
    return [
        _kernel_words(problem.kernel),
        problem.dim,
        problem.label_cost,
        problem.rounds,
        len(found),
        labels_allowed(problem),
        labels,
        int(found[:, 0].max()),
        allowed,
        loss,
        float(found[:, 1].max()),
        allowed / loss,
        problem.rkhs_norm * problem.rounds,  # |f| ≤ ‖f‖, as the kernel's amplitude is 1
    ]


def labels_allowed(problem: SmoothRun) -> float:
    """The label bound of Theorem 3."""
    T, cost, noise_std = problem.rounds, problem.label_cost, problem.noise_std
    if isinstance(problem.kernel, Matern):
        return theory.label_bound_matern(
            T, dim=problem.dim, label_cost=cost, noise_std=noise_std, lipschitz=_lipschitz(problem.kernel)
        )
    return theory.label_bound_se(
        T, dim=problem.dim, label_cost=cost, noise_std=noise_std, lengthscale=_lengthscale(problem.kernel)
    )


def loss_allowed(problem: SmoothRun, most: int) -> float:
    """The loss bound of Theorem 3; the information gain is computed for up to `most` labels at once."""
    gains = _gains(problem.kernel, problem.dim, problem.noise_std, most)

    def gain(labels: int) -> float:
        return float(gains[labels - 1])

    if isinstance(problem.kernel, Matern):
        return theory.upper_bound_matern(
            problem.rounds,
            dim=problem.dim,
            label_cost=problem.label_cost,
            noise_std=problem.noise_std,
            lipschitz=_lipschitz(problem.kernel),
            rkhs_norm=problem.rkhs_norm,
            information_gain=gain,
            delta=DELTA,
        )
    return theory.upper_bound_se(
        problem.rounds,
        dim=problem.dim,
        label_cost=problem.label_cost,
        noise_std=problem.noise_std,
        lengthscale=_lengthscale(problem.kernel),
        rkhs_norm=problem.rkhs_norm,
        information_gain=gain,
        delta=DELTA,
    )


@lru_cache(maxsize=64)
def _gains(kernel: Kernel, dim: int, noise_std: float, most: int) -> Array:
    grid = candidates(dim)
    return theory.information_gain_bound(kernel(grid, grid), most, noise_std=noise_std)


def candidates(dim: int) -> Array:
    """A grid over the unit cube, its corners included.

    >>> [len(candidates(dim)) for dim in (1, 2, 3)]
    [64, 64, 64]
    """
    axis = np.linspace(0.0, 1.0, round(CANDIDATES ** (1 / dim)))
    return np.stack(np.meshgrid(*[axis] * dim), axis=-1).reshape(-1, dim)


def _lengthscale(kernel: Kernel) -> float:
    if isinstance(kernel.lengthscale, tuple):
        expect.refuse("lengthscale", "one number, as Theorem 3 has", kernel.lengthscale)
    return kernel.lengthscale


def _lipschitz(kernel: Matern) -> float:
    return theory.matern_lipschitz(kernel.smoothness, _lengthscale(kernel))


def _kernel_words(kernel: Kernel) -> str:
    return f"Matérn {kernel.smoothness:g}" if isinstance(kernel, Matern) else "squared exponential"


def _number(cell: Cell) -> float:
    assert isinstance(cell, int | float)
    return float(cell)
