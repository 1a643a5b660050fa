"""From measured numbers to what a report draws: lines with bands, and figures with the table behind them."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from breakeven.experiments.runs.trials import average
from breakeven.values.exhibit import Cell, Chart, Figure, Line, Table

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
