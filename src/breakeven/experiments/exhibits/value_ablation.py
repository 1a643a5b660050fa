"""What each part of `Value` is good for: its loss without it."""

from collections.abc import Sequence

from breakeven.experiments.exhibits.panels import KNOWN, PANELS, Bundle, Panel, valued
from breakeven.experiments.runs.curve import Curve
from breakeven.experiments.runs.job import Job
from breakeven.experiments.runs.problem import Problem
from breakeven.experiments.runs.trials import Results, geometric_mean, trials_of
from breakeven.experiments.runs.value_job import ValueJob
from breakeven.experiments.runs.variation_job import VARIATIONS, VariationJob
from breakeven.values import Cell, Section, Table

MEANING = (
    "“not later” leaves out what a label saves at other arrivals, “no lessons” what it teaches about the "
    "parameters; “no optimism” takes the amplitude as fitted, “flat lengthscales” expects any length alike, "
    "and “no prior” does both, after d + 2 labels bought at any price; “5d labels first” buys the paper's."
)


def jobs(trials: list[tuple[Problem, int]]) -> list[Job]:
    """`Value` as it is, and varied."""
    return [
        *[ValueJob(problem.name, "text", trial) for problem, trial in trials],
        *[VariationJob(problem.name, trial) for problem, trial in trials],
    ]


def section(results: Results, panels: Sequence[Panel] = PANELS) -> Section | None:
    """A row for each of these panels that was run; None when none was."""
    rows = [row for panel in panels if (row := _row(panel, results)) is not None]
    if not rows:
        return None
    table = Table(
        name="value-ablation",
        title="Average loss, the horizon known",
        columns=["panel", "as it is", *VARIATIONS],
        rows=rows,
    )
    return Section(title="Measured: Value without its parts", text=[MEANING, _harm(rows)], tables=[table])


def _row(panel: Panel, results: Results) -> list[Cell] | None:
    trials = [curves for _, curves in trials_of(results, VariationJob, problem=panel.problem.name)]
    whole = valued(panel, "text", results)
    if not trials or not whole:
        return None
    return [panel.name, _loss(whole[KNOWN]), *(_varied(panel, name, trials) for name in VARIATIONS)]


def _varied(panel: Panel, name: str, trials: list[dict[str, Curve]]) -> float | None:
    """The loss of a variation; None where it does not apply."""
    run = f"{name}-{panel.price.tag}"
    if run not in trials[0]:
        return None
    return _loss(Bundle([curves[run] for curves in trials], panel.price.label_cost))


def _loss(bundle: Bundle) -> float:
    return float(bundle.end.mean)


def _harm(rows: list[list[Cell]]) -> str:
    """What leaving each part out costs, over the panels that have it."""
    words = []
    for place, name in enumerate(VARIATIONS, start=2):
        ratios = [float(row[place] or 0.0) / float(row[1] or 1.0) for row in rows if row[place] is not None]
        if ratios:
            words.append(f"{name} {geometric_mean(ratios):.3g}")
    return f"Losses are so many times those of `Value` as it is, in the geometric mean: {', '.join(words)}."
