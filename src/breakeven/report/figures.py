"""Figures as files: a PNG and an SVG of every chart, and the numbers behind them."""

from collections.abc import Sequence
from pathlib import Path

from breakeven.files import write
from breakeven.report.drawing import draw
from breakeven.report.styles import styles_of
from breakeven.report.tables import csv
from breakeven.values.exhibit import Chart, Figure

ENDINGS = ("png", "svg", "csv")


def write_figure(figure: Figure, folder: Path, *, endings: Sequence[str] = ENDINGS) -> list[Path]:
    """Write `<figure>-<chart>.png` and `.svg` for every chart, and `<figure>.csv`, or some of these.

    The pictures of an only chart are called after the figure alone.
    """
    styles = styles_of(line.label for chart in figure.charts for line in chart.lines)
    pictures = [
        write(folder, f"{picture_name(figure, chart)}.{ending}", picture)
        for chart in figure.charts
        for ending, picture in draw(chart, styles).items()
        if ending in endings
    ]
    numbers = [write(folder, f"{figure.name}.csv", csv(figure.data).encode())] if "csv" in endings else []
    return [*pictures, *numbers]


def picture_name(figure: Figure, chart: Chart) -> str:
    """What the pictures of a chart are called, without their ending."""
    return figure.name if len(figure.charts) == 1 else f"{figure.name}-{chart.name}"
