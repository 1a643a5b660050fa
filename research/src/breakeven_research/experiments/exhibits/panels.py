"""The panels of the paper: average loss and average error of every method, in both recipes.

Also what every exhibit draws with: lines with bands, and figures with the table behind them.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from breakeven.values import Cell, Chart, Figure, Line, Table
from breakeven_research.experiments.runs.jobs import PanelJob, ValueJob
from breakeven_research.experiments.runs.methods import PROBABILITIES
from breakeven_research.experiments.runs.problems import PROBLEMS, Price, Problem, Recipe
from breakeven_research.experiments.runs.trials import Average, Curve, Results, average, distinct, trials_of

Array = NDArray[np.float64]

DATA_COLUMNS = ["chart", "line", "x", "y", "low", "high"]


def mean_line(label: str, x: Sequence[float], trials: Any) -> Line:
    """The mean over trials (a row each) with its band; without a band when there is one trial.

    >>> mean_line("loss", [1, 2], [[3.0, 4.0], [3.0, 4.0]]).low
    [3.0, 4.0]
    """
    found = average(trials)
    return Line(
        label=label,
        x=list(x),
        y=found.mean.tolist(),
        low=None if found.low is None else found.low.tolist(),
        high=None if found.high is None else found.high.tolist(),
    )


def plain_line(label: str, x: Any, y: Any, kind: Literal["line", "dashed", "dots"] = "line") -> Line:
    """A line without a band, from any sequences of numbers.

    >>> plain_line("bound", (1, 2), np.array([5.0, 6.0]), "dashed").y
    [5.0, 6.0]
    """
    return Line(label=label, x=np.asarray(x).tolist(), y=np.asarray(y).tolist(), kind=kind)


def figure_of(name: str, title: str, charts: list[Chart], caption: str = "") -> Figure:
    """A figure whose table holds every point of every line.

    >>> chart = Chart(name="a", title="", x_label="", y_label="", lines=[Line(label="b", x=[1], y=[2.0])])
    >>> figure_of("one", "One", [chart]).data.rows
    [['a', 'b', 1, 2.0, None, None]]
    """
    rows = [row for chart in charts for line in chart.lines for row in _points(chart.name, line)]
    data = Table(name=name, title=title, columns=DATA_COLUMNS, rows=rows)
    return Figure(name=name, title=title, charts=charts, data=data, caption=caption)


def _points(chart: str, line: Line) -> list[list[Cell]]:
    without: list[None] = [None] * len(line.x)
    bands = zip(line.x, line.y, line.low or without, line.high or without, strict=True)
    return [[chart, line.label, *point] for point in bands]


# -- panels --------------------------------------------------------------------------------------------------


KNOWN, UNKNOWN = "Value", "Value, horizon unknown"
COLUMNS = ["recipe", "method", "round", "trials", "loss", "loss_low", "loss_high"]
COLUMNS += ["error", "error_low", "error_high", "labels"]


class Panel(NamedTuple):
    """A problem at a price: one of the paper's 18 plots of average loss."""

    problem: Problem
    price: Price

    @property
    def name(self) -> str:
        """As the command line and the files call it."""
        return f"{self.problem.name}-{self.price.tag}"

    @property
    def title(self) -> str:
        """As a person would."""
        return f"{self.problem.title}, B={self.price.label_cost:g}"


PANELS = tuple(Panel(problem, price) for problem in PROBLEMS for price in problem.prices)


class Bundle(NamedTuple):
    """The curves of one method, one for each trial, and the price they are paid at."""

    curves: list[Curve]
    label_cost: float

    @property
    def losses(self) -> Array:
        """Average losses, a row for each trial."""
        return np.array([curve.average_loss(self.label_cost) for curve in self.curves])

    @property
    def errors(self) -> Array:
        """Average errors, a row for each trial."""
        return np.array([curve.average_error() for curve in self.curves])

    @property
    def labels(self) -> Array:
        """Labels bought, a row for each trial."""
        return np.array([curve.labels for curve in self.curves], dtype=np.float64)

    @property
    def end(self) -> Average:
        """The average loss at the end."""
        return average(self.losses[:, -1])


class Measured(NamedTuple):
    """A panel in one recipe: every method's curves, and the best probability in hindsight."""

    methods: dict[str, Bundle]
    best_probability: float


def measured(panel: Panel, recipe: Recipe, results: Results) -> Measured | None:
    """What was run for this panel; None when nothing was."""
    trials = [curves for _, curves in trials_of(results, PanelJob, problem=panel.problem.name, recipe=recipe)]
    if not trials:
        return None
    cost, tag = panel.price.label_cost, panel.price.tag

    def bundle(run: str) -> Bundle:
        return Bundle([curves[run] for curves in trials], cost)

    best = min(PROBABILITIES, key=lambda p: float(bundle(f"random-{p:g}").end.mean))
    runs = {
        panel.problem.algorithm: f"algorithm-{tag}",
        "Random Select": "random-0.5",
        "VAR-UNCERTAINTY": f"var-{reading(panel.problem, recipe)}",
        "Naive Algorithm 1": f"naive-{tag}",
        "Label all": "all",
        "Never": "never",
        "Random, best p": f"random-{best:g}",
    }
    methods = {name: bundle(run) for name, run in runs.items() if run in trials[0]}
    return Measured(methods | valued(panel, recipe, results), best)


def valued(panel: Panel, recipe: Recipe, results: Results) -> dict[str, Bundle]:
    """What `Value` did on this panel, with its horizon and without; empty when it was not run."""
    trials = [curves for _, curves in trials_of(results, ValueJob, problem=panel.problem.name, recipe=recipe)]
    runs = {KNOWN: f"known-{panel.price.tag}", UNKNOWN: f"unknown-{panel.price.tag}"} if trials else {}
    return {
        name: Bundle([curves[run] for curves in trials], panel.price.label_cost) for name, run in runs.items()
    }


def reading(problem: Problem, recipe: Recipe) -> str:
    """Which reading of VAR-UNCERTAINTY a recipe takes."""
    if recipe == "text":
        return "printed"
    return "figures_gp" if problem.warmup else "figures"


def figure(panel: Panel, results: Results) -> Figure:
    """Loss and error in each recipe that was run, and every number behind them."""
    charts, rows, captions = [], [], []
    for recipe in distinct(results, PanelJob, "recipe"):
        found = measured(panel, recipe, results)
        if found is not None:
            charts += _charts(panel, recipe, found)
            rows += _rows(recipe, found)
            captions.append(
                f"{recipe}: {_trials(found)}, Random is cheapest at p = {found.best_probability:g}"
            )
    data = Table(name=panel.name, title=panel.title, columns=COLUMNS, rows=rows)
    return Figure(
        name=panel.name, title=panel.title, charts=charts, data=data, caption="; ".join(captions) + "."
    )


def _trials(found: Measured) -> str:
    count = len(next(iter(found.methods.values())).curves)
    return "one trial" if count == 1 else f"{count} trials"


def _charts(panel: Panel, recipe: Recipe, found: Measured) -> list[Chart]:
    losses, errors = [], []
    for method, bundle in found.methods.items():
        rounds = [float(round) for round in bundle.curves[0].rounds]
        losses.append(mean_line(method, rounds, bundle.losses))
        errors.append(mean_line(method, rounds, bundle.errors))
    return [
        _chart(panel, recipe, "loss", losses),
        _chart(panel, recipe, "error", errors),
    ]


def _chart(panel: Panel, recipe: Recipe, what: str, lines: list[Line]) -> Chart:
    return Chart(
        name=f"{recipe}-{what}",
        title=f"{panel.title} · {recipe}",
        x_label="round",
        y_label=f"average {what}",
        lines=lines,
        log_y=True,
    )


def _rows(recipe: Recipe, found: Measured) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for method, bundle in found.methods.items():
        loss, error, labels = average(bundle.losses), average(bundle.errors), average(bundle.labels)
        for i, round in enumerate(bundle.curves[0].rounds):
            rows.append(
                [
                    recipe,
                    method,
                    round,
                    len(bundle.curves),
                    *_band(loss, i),
                    *_band(error, i),
                    float(labels.mean[i]),
                ]
            )
    return rows


def _band(found: Average, i: int) -> list[Cell]:
    if found.low is None or found.high is None:
        return [float(found.mean[i]), None, None]
    return [float(found.mean[i]), float(found.low[i]), float(found.high[i])]
