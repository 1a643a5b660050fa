"""Uneven arrivals: the same function under arrivals that are uniform, lopsided or all of one type.

What Theorem 1 allows Algorithm 1 to lose grows with Σ M_k^⅔, which is largest when arrivals are even.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from breakeven.values import Cell, Chart, Section, Table
from breakeven_research.datasets import Arrivals
from breakeven_research.experiments.exhibits.panels import figure_of, mean_line
from breakeven_research.experiments.runs.theory_runs import ALGORITHM_1, ALGORITHM_2, BraninRun, TypesRun
from breakeven_research.experiments.runs.trials import Curve, Job, Results, average, trials_of

TYPES, LABEL_COST = 10, 10.0
ARRIVALS: tuple[Arrivals, ...] = ("uniform", "lopsided", "one_type")
WORDS = {"uniform": "uniform", "lopsided": "lopsided", "one_type": "one type"}
COLUMNS = [
    "algorithm",
    "arrivals",
    "trials",
    "labels",
    "average loss",
    "±",
    "relative to uniform",
    "median loss",
    "median relative to uniform",
    "largest loss",
]
Runs = dict[str, list[Curve]]  # by arrivals, a curve for each trial


def jobs(trials: int, *, rounds: int = 10_000, branin_rounds: int = 1000) -> list[Job]:
    """Both algorithms under every arrival pattern."""
    over = [(arrivals, seed) for arrivals in ARRIVALS for seed in range(trials)]
    return [
        *(TypesRun(types=TYPES, label_cost=LABEL_COST, rounds=rounds, seed=s, arrivals=a) for a, s in over),
        *(BraninRun(rounds=branin_rounds, seed=s, arrivals=a) for a, s in over),
    ]


def section(results: Results) -> Section:
    """Average loss under each pattern, and what it is relative to uniform arrivals."""
    types = _runs(results, TypesRun, ALGORITHM_1, types=TYPES, label_cost=LABEL_COST)
    branin = _runs(results, BraninRun, ALGORITHM_2)
    charts = [
        _chart("types", f"{ALGORITHM_1}, {TYPES} types", types),
        _chart("branin", f"{ALGORITHM_2}, Branin", branin),
    ]
    table = Table(
        name="skew",
        title="Labels and average loss after the last round",
        columns=COLUMNS,
        rows=[*_rows(ALGORITHM_1, types), *_rows(ALGORITHM_2, branin)],
    )
    text = [
        "What Theorem 1 allows grows with the sum of M_k^⅔ over the types, which is largest when all types "
        "come equally often: uneven arrivals should cost less.",
        "Medians stand beside the means, because Algorithm 2 fits its kernel once, to its first 10 labels: a "
        "trial where that goes wrong moves a mean far.",
        _sentence(ALGORITHM_1, types),
        _sentence(ALGORITHM_2, branin),
    ]
    figure = figure_of("skew", "The same function, other arrivals", charts)
    return Section(title="Uneven arrivals", text=text, tables=[table], figures=[figure])


def _runs(results: Results, kind: type[Job], algorithm: str, **fields: float) -> Runs:
    return {
        arrivals: [curves[algorithm] for _, curves in trials_of(results, kind, arrivals=arrivals, **fields)]
        for arrivals in ARRIVALS
    }


def _chart(name: str, title: str, runs: Runs) -> Chart:
    lines = [
        mean_line(WORDS[arrivals], curves[0].rounds, [one.average_loss(LABEL_COST) for one in curves])
        for arrivals, curves in runs.items()
    ]
    return Chart(
        name=name, title=title, x_label="round", y_label="average loss", lines=lines, log_x=True, log_y=True
    )


def _last(curves: list[Curve]) -> NDArray[np.float64]:
    """The average loss of each trial after its last round."""
    return np.array([one.average_loss(LABEL_COST)[-1] for one in curves])


def _rows(algorithm: str, runs: Runs) -> list[list[Cell]]:
    even = _last(runs["uniform"])
    return [
        _row(algorithm, arrivals, np.array([one.labels[-1] for one in curves]), _last(curves), even)
        for arrivals, curves in runs.items()
    ]


def _row(
    algorithm: str,
    arrivals: str,
    labels: NDArray[np.int64],
    loss: NDArray[np.float64],
    even: NDArray[np.float64],
) -> list[Cell]:
    found = average(loss)
    mean, wide = found.mean, found.half_width
    median = float(np.median(loss))
    return [
        algorithm,
        WORDS[arrivals],
        len(loss),
        float(labels.mean()),
        float(mean),
        None if wide is None else float(wide),
        float(mean / even.mean()),
        median,
        median / float(np.median(even)),
        float(loss.max()),
    ]


def _sentence(algorithm: str, runs: Runs) -> str:
    """What is seen, in means and in medians."""
    means = [float(_last(runs[arrivals]).mean()) for arrivals in ARRIVALS]
    medians = [float(np.median(_last(runs[arrivals]))) for arrivals in ARRIVALS]
    seen = "the more uneven, the cheaper" if _falls(means) and _falls(medians) else "not always cheaper"
    worst = max(float(_last(curves).max()) for curves in runs.values())
    return (
        f"{algorithm} loses {means[1] / means[0]:.2f} times as much under lopsided arrivals as under uniform "
        f"ones, and {means[2] / means[0]:.2f} times under arrivals of one type; by the median trial "
        f"{medians[1] / medians[0]:.2f} and {medians[2] / medians[0]:.2f} times: {seen}. "
        f"The dearest single trial lost {worst:.3g} a round."
    )


def _falls(losses: list[float]) -> bool:
    return all(later < earlier for earlier, later in pairwise(losses))
