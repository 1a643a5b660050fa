"""How fast the loss grows: measured exponents in T, K and B beside those of the theorems.

In T one run gives the whole curve; in K and B every value is a run of its own. An exponent is the slope of a
least-squares line through the logarithms, fitted to each trial on its own.
"""

from fractions import Fraction
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from breakeven import theory
from breakeven.beliefs.gp import SquaredExponential
from breakeven.values import Cell, Chart, Line, Section, Table
from breakeven_research.experiments.exhibits.panels import figure_of, mean_line, plain_line
from breakeven_research.experiments.exhibits.theorem3 import DIMS, LENGTHSCALE
from breakeven_research.experiments.runs.theory_runs import (
    ALGORITHM_1,
    ALGORITHM_2,
    SmoothRun,
    Sweep,
    TypesRate,
)
from breakeven_research.experiments.runs.trials import Curve, Job, Results, average, distinct, trials_of

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


# -- the exhibit ---------------------------------------------------------------------------------------------


TYPES, LABEL_COST = 10, 10.0
SMOOTH_KERNEL, SMOOTH_LABEL_COST = SquaredExponential(LENGTHSCALE), 1.0
KS = (5, 10, 20, 50, 100, 200, 500)
BS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
COLUMNS = [
    "algorithm",
    "in",
    "from",
    "to",
    "trials",
    "measured exponent",
    "standard error",
    "theory",
    "exponent of Theorem 1, corrected",
    "loss / Theorem 1, at most",
]
COUNTED = {"T": "round", "K": "types", "B": "label cost"}


def jobs(
    trials: int,
    *,
    rounds: int = 1_000_000,
    sweep_rounds: int = 100_000,
    smooth_rounds: int = 10_000,
    types: tuple[int, ...] = KS,
    label_costs: tuple[float, ...] = BS,
) -> list[Job]:
    """One long run for T, a run for each K and each B, and one for each dimension."""
    found: list[Job] = []
    for seed in range(trials):
        found.append(_job("T", TYPES, LABEL_COST, rounds, seed))
        found += [_job("K", K, LABEL_COST, sweep_rounds, seed) for K in types]
        found += [_job("B", TYPES, B, sweep_rounds, seed) for B in label_costs]
        found += [
            SmoothRun(
                kernel=SMOOTH_KERNEL,
                dim=dim,
                label_cost=SMOOTH_LABEL_COST,
                rounds=smooth_rounds,
                seed=seed,
            )
            for dim in DIMS
        ]
    return found


def _job(sweep: Sweep, types: int, label_cost: float, rounds: int, seed: int) -> TypesRate:
    return TypesRate(
        types=types, label_cost=label_cost, rounds=rounds, seed=seed, means_seed=seed, sweep=sweep
    )


def section(results: Results) -> Section:
    """Losses on logarithmic axes with the slopes of the theorems, and the table of exponents."""
    discrete = [in_rounds(results), across(results, "K", "types"), across(results, "B", "label_cost")]
    smooth = [in_smooth_rounds(results, dim) for dim in distinct(results, SmoothRun, "dim")]
    charts = [_chart(one.sweep, f"{one.name}: loss against {one.sweep}", [one]) for one in discrete]
    charts.append(_chart("gp", f"{ALGORITHM_2}: loss against T", smooth))
    table = Table(
        name="rates",
        title="Exponents of the loss",
        columns=COLUMNS,
        rows=[_row(x) for x in discrete + smooth],
    )
    caption = "Dashed: the slope of the theorem, through the first point measured."
    return Section(
        title="Rates",
        text=_text(discrete + smooth),
        tables=[table],
        figures=[figure_of("rates", "How fast the loss grows", charts, caption)],
    )


def in_rounds(results: Results) -> Growth:
    """The loss of Algorithm 1 as its runs went on."""
    trials = trials_of(results, TypesRate, sweep="T")
    at, losses = along([(curves[ALGORITHM_1], job.label_cost) for job, curves in trials])
    allowed = [_allowed(trials[0][0], rounds=int(T)) for T in at]
    return Growth(ALGORITHM_1, "T", at, losses, Fraction(2, 3), allowed)


def across(results: Results, sweep: Sweep, field: Literal["types", "label_cost"]) -> Growth:
    """The loss of Algorithm 1 after its last round, at each value of a field."""
    trials = trials_of(results, TypesRate, sweep=sweep)
    at = sorted({getattr(job, field) for job, _ in trials})
    losses = [
        [
            curves[ALGORITHM_1].total_loss(job.label_cost)
            for job, curves in trials_of(results, TypesRate, sweep=sweep, **{field: value})
        ]
        for value in at
    ]
    allowed = [_allowed(trials[0][0], **{field: value}) for value in at]
    return Growth(ALGORITHM_1, sweep, at, np.array(losses).T, Fraction(1, 3), allowed)


def _allowed(job: TypesRate, **changed: Any) -> float:
    """What the corrected Theorem 1 allows in the worst case, logarithms and whole labels included."""
    job = msgspec.structs.replace(job, **changed)
    return theory.worst_case_upper_bound(
        job.types, job.rounds, label_cost=job.label_cost, noise_std=job.noise_std, delta=job.delta
    )


def in_smooth_rounds(results: Results, dim: int) -> Growth:
    """The loss of Algorithm 2 as its runs went on, in one dimension or more."""
    same = {"kernel": SMOOTH_KERNEL, "label_cost": SMOOTH_LABEL_COST, "dim": dim}
    longest = max(job.rounds for job, _ in trials_of(results, SmoothRun, **same))
    trials = trials_of(results, SmoothRun, **same, rounds=longest)
    at, losses = along([(curves[ALGORITHM_2], job.label_cost) for job, curves in trials])
    return Growth(f"{ALGORITHM_2}, d = {dim}", "T", at, losses, Fraction(dim + 2, dim + 3))


def _row(growth: Growth) -> list[Cell]:
    mean, error = measured(growth)
    ends = growth.at[0], growth.at[-1]
    measures = [len(growth.losses), mean, error, float(growth.theory)]
    return [growth.name, growth.sweep, *ends, *measures, *beside_bound(growth)]


def _chart(name: str, title: str, growths: list[Growth]) -> Chart:
    return Chart(
        name=name,
        title=title,
        x_label=COUNTED[growths[0].sweep],
        y_label="total loss",
        lines=[line for growth in growths for line in _lines(growth)],
        log_x=True,
        log_y=True,
    )


def _lines(growth: Growth) -> list[Line]:
    at = np.array(growth.at)
    reference = growth.losses[:, 0].mean() * (at / at[0]) ** float(growth.theory)
    return [
        mean_line(growth.name, growth.at, growth.losses),
        plain_line(f"slope {growth.theory}", at, reference, "dashed"),
    ]


def _text(growths: list[Growth]) -> list[str]:
    above = sum(measured(growth)[0] > growth.theory for growth in growths)
    return [
        "The theorems bound the loss from above, so a smaller measured exponent is no contradiction.",
        f"{above} of {len(growths)} exponents are measured above the theory's, which leaves out logarithms "
        "and whole labels. The table has the exponent of the corrected Theorem 1 itself over the same range, "
        "with both in it, and how much of that bound was lost at most: a line fitted over a finite range can "
        "be steeper while the loss stays below the bound.",
        *(words(growth) for growth in growths),
    ]
