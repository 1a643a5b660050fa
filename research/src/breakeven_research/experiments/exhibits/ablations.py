"""The paper's two ablations over λ, and what each part of `Value` is good for: its loss without it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from breakeven.values import Cell, Chart, Figure, Line, Section, Table
from breakeven_research.experiments.exhibits.panels import (
    KNOWN,
    PANELS,
    Bundle,
    Panel,
    figure_of,
    mean_line,
    valued,
)
from breakeven_research.experiments.runs.jobs import VARIATIONS, ScaleJob, ValueJob, VariationJob
from breakeven_research.experiments.runs.problems import Problem, Recipe, problem_named
from breakeven_research.experiments.runs.trials import Curve, Job, Results, average, geometric_mean, trials_of


class Ablation(NamedTuple):
    """A problem at a price, run at several scales."""

    name: str
    problem: Problem
    label_cost: float
    scales: tuple[float, ...]

    def jobs(self, recipe: Recipe, trials: int) -> list[Job]:
        """One for each trial."""
        return [
            ScaleJob(self.problem.name, recipe, self.label_cost, trial, self.scales)
            for trial in range(trials)
        ]


ABLATIONS = (
    Ablation("ablation-discrete", problem_named("discrete-k10-uniform"), 10.0, (0.1, 0.25, 0.5, 0.75, 1.0)),
    Ablation("ablation-branin", problem_named("branin"), 10.0, (0.5, 1.0, 1.5, 2.0)),
)

Trials = list[tuple[ScaleJob, dict[str, Curve]]]
COLUMNS = ["ablation", "recipe", "λ", "labels", "loss", "error"]


def section(results: Results) -> Section | None:
    """Both ablations in every recipe that was run; None when none was."""
    figures, rows = [], []
    for ablation in ABLATIONS:
        charts = []
        for recipe in ("figures", "text"):
            trials = trials_of(
                results,
                ScaleJob,
                problem=ablation.problem.name,
                recipe=recipe,
                label_cost=ablation.label_cost,
                scales=ablation.scales,
            )
            if trials:
                charts += _charts(ablation, recipe, trials)
                rows += _rows(ablation, recipe, trials)
        if charts:
            figures.append(_figure(ablation, charts))
    if not figures:
        return None
    return Section(
        title="Ablations over λ",
        text=[
            "The text says that a small λ labels less. By the rule it labels more, since it lowers the "
            f"threshold: {_direction(rows)}."
        ],
        tables=[Table(name="ablations", title="At the end", columns=COLUMNS, rows=rows)],
        figures=figures,
    )


def _figure(ablation: Ablation, charts: list[Chart]) -> Figure:
    return figure_of(
        ablation.name, f"Ablation over λ: {ablation.problem.title}, B={ablation.label_cost:g}", charts
    )


def _charts(ablation: Ablation, recipe: Recipe, trials: Trials) -> list[Chart]:
    losses: list[Line] = []
    errors: list[Line] = []
    for scale in ablation.scales:
        curves = [results[repr(scale)] for _, results in trials]
        rounds = [float(round) for round in curves[0].rounds]
        costs = np.array([curve.average_loss(ablation.label_cost) for curve in curves])
        losses.append(mean_line(f"λ = {scale:g}", rounds, costs))
        errors.append(mean_line(f"λ = {scale:g}", rounds, np.array([c.average_error() for c in curves])))
    title = f"{ablation.problem.title}, B={ablation.label_cost:g} · {recipe}"
    return [
        Chart(name=f"{recipe}-loss", title=title, x_label="round", y_label="average loss", lines=losses),
        Chart(name=f"{recipe}-error", title=title, x_label="round", y_label="average error", lines=errors),
    ]


def _rows(ablation: Ablation, recipe: Recipe, trials: Trials) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for scale in ablation.scales:
        curves = [results[repr(scale)] for _, results in trials]
        labels = average([curve.labels[-1] for curve in curves]).mean
        loss = average([curve.average_loss(ablation.label_cost)[-1] for curve in curves]).mean
        error = average([curve.average_error()[-1] for curve in curves]).mean
        rows.append([ablation.name, recipe, scale, float(labels), float(loss), float(error)])
    return rows


def _direction(rows: list[list[Cell]]) -> str:
    """Labels at the least and at the largest scale of each ablation."""
    groups: dict[tuple[Cell, Cell], list[list[Cell]]] = {}
    for row in rows:
        groups.setdefault((row[0], row[1]), []).append(row)
    return "; ".join(
        f"{name} ({recipe}) {group[0][3]:,.0f} labels at λ = {group[0][2]:g} "
        f"and {group[-1][3]:,.0f} at {group[-1][2]:g}"
        for (name, recipe), group in groups.items()
    )


# -- Value without its parts ---------------------------------------------------------------------------------


MEANING = (
    "“not later” leaves out what a label saves at other arrivals, “no lessons” what it teaches about the "
    "parameters; “no optimism” takes the amplitude as fitted, “flat lengthscales” expects any length alike, "
    "and “no prior” does both, after d + 2 labels bought at any price; “5d labels first” buys the paper's."
)


def value_jobs(trials: list[tuple[Problem, int]]) -> list[Job]:
    """`Value` as it is, and varied."""
    return [
        *[ValueJob(problem.name, "text", trial) for problem, trial in trials],
        *[VariationJob(problem.name, trial) for problem, trial in trials],
    ]


def value_section(results: Results, panels: Sequence[Panel] = PANELS) -> Section | None:
    """A row for each of these panels that was run; None when none was."""
    rows = [row for panel in panels if (row := _value_row(panel, results)) is not None]
    if not rows:
        return None
    table = Table(
        name="value-ablation",
        title="Average loss, the horizon known",
        columns=["panel", "as it is", *VARIATIONS],
        rows=rows,
    )
    return Section(title="Measured: Value without its parts", text=[MEANING, _harm(rows)], tables=[table])


def _value_row(panel: Panel, results: Results) -> list[Cell] | None:
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
    return f"Losses as a multiple of those of `Value` as it is, in the geometric mean: {', '.join(words)}."
