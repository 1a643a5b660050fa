"""Points for charts: as many as a screen has use for, and the tables that stand beside them."""

from typing import Any

import polars as pl

from breakeven.values import Chart, Figure, Line, Table

MOST_POINTS = 5_000  # points of a chart
FEW = 11  # rows of a table that stands for a long line

LABELLED, UNLABELLED = pl.col("wants_label"), ~pl.col("wants_label")


def count(table: pl.LazyFrame) -> int:
    """How many rows it has."""
    return int(table.select(pl.len()).collect(engine="streaming").item())


def cases(number: int) -> str:
    """So many cases, in words."""
    return f"{number:,} {'case' if number == 1 else 'cases'}"


def some(table: pl.LazyFrame, rows: int, *, lines: int = 1) -> pl.DataFrame:
    """Of so many rows those drawn, where that many lines share a chart with a reference of two ends.

    >>> some(pl.LazyFrame({"x": range(12)}), 12, lines=MOST_POINTS // 6)["x"].to_list()
    [0, 4, 8, 11]
    """
    return _spread(table, rows, MOST_POINTS // lines - 2).collect(engine="streaming")


def few(table: pl.DataFrame) -> pl.DataFrame:
    """So few of the rows that they can be read."""
    return _spread(table.lazy(), table.height, FEW).collect()


def _spread(table: pl.LazyFrame, rows: int, most: int) -> pl.LazyFrame:
    """So many of its rows at most, evenly from the first to the last."""
    step, place = max(1, -(-(rows - 1) // (most - 1))), pl.row_index()
    return table.filter((place % step == 0) | (place == rows - 1))


def line(label: str, x: Any, y: Any, **rest: Any) -> Line:
    """A line through columns."""
    return Line(label=label, x=[float(one) for one in x], y=[float(one) for one in y], **rest)


def names(table: pl.DataFrame) -> list[str]:
    """The ids of its rows, where they were asked for."""
    return table["id"].cast(pl.String).to_list() if "id" in table.columns else []


def figure(chart: Chart, numbers: pl.DataFrame | None = None, caption: str = "") -> Figure:
    """A chart alone; `numbers` are worth reading beside it."""
    numbers = pl.DataFrame() if numbers is None else numbers
    rows = [list(row) for row in numbers.rows()]
    data = Table(name=chart.name, title=chart.title, columns=numbers.columns, rows=rows)
    return Figure(name=chart.name, title=chart.title, charts=[chart], data=data, caption=caption)
