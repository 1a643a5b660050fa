"""Missing values: rows that have some are refused or left out, or the mean of the past stands for them."""

from collections.abc import Iterable
from typing import NoReturn

import numpy as np
import polars as pl
from numpy.typing import NDArray

from breakeven.errors.expect import shown
from breakeven.tables.reading.columns import Feature
from breakeven.tables.reading.roles import ROW, Role
from breakeven.tables.reading.source import Source

Array = NDArray[np.float64]
Gaps = NDArray[np.bool_]

MOST_NAMED = 5  # columns to name


def without_gaps(
    source: Source, frame: pl.DataFrame, roles: dict[str, Role], missing: str | None
) -> pl.DataFrame:
    """The rows in which nothing is missing that cannot be filled; all, unless some may be left out."""
    must = {name: role for name, role in roles.items() if not (role.feature and missing == "mean")}
    whole = frame.drop_nulls(list(must))
    if missing is None and whole.height < frame.height:
        _refuse(source, frame, must)
    if whole.height == 0:
        source.refuse("a row without missing values", "none")
    return whole


def _refuse(source: Source, frame: pl.DataFrame, roles: dict[str, Role]) -> NoReturn:
    lacking = frame.filter(pl.any_horizontal(pl.col(*roles).is_null())).sort(ROW)
    counts: dict[str, int] = {}
    for name, role in roles.items():
        counts[role.column] = max(lacking[name].null_count(), counts.get(role.column, 0))
    first = {role.column for name, role in roles.items() if lacking[name][0] is None}
    some = [name for name in source.columns if counts.get(name)]
    listed = ", ".join(f"{counts[name]:,} in {shown(name)}" for name in some[:MOST_NAMED])
    source.refuse(
        "no missing values",
        f"{lacking.height:,} row{_s(lacking.height)} with some ({listed}), the first here",
        row=lacking[ROW][0],
        column=next(name for name in some if name in first),
        hint="choose --missing drop, or --missing mean for the mean of the past",
    )


# -- what to say -----------------------------------------------------------------------------------------


def fill_notes(features: Iterable[Feature], frame: pl.DataFrame) -> list[str]:
    """What stands for the values that are missing in some rows."""
    counts = {one: frame[one.name].null_count() for one in features}
    return [_fill_note(one, count) for one, count in counts.items() if count]


def _fill_note(one: Feature, count: int) -> str:
    what = f"{count:,} missing value{_s(count)} of {shown(one.name)}"
    if one.kind == "text":
        return f"{what} {'is' if count == 1 else 'are'} of no category."
    return f"{what} {'stands' if count == 1 else 'stand'} at the mean of those before."


def rows_left_out(count: int, rows: int) -> list[str]:
    """How many of the rows were left out, if any.

    >>> rows_left_out(1, 1200)
    ['1 of 1,200 rows has missing values and was left out.']
    """
    words = "has missing values and was" if count == 1 else "have missing values and were"
    return [f"{count:,} of {rows:,} rows {words} left out."] if count else []


def _s(count: int) -> str:
    return "" if count == 1 else "s"


# -- the mean of the past --------------------------------------------------------------------------------


def filled(points: Array, gaps: Gaps) -> Array:
    """Each gap at the mean of what came before it or, where nothing did, at the first that comes.

    >>> filled(np.array([[0.0], [1.0], [3.0], [0.0]]), np.array([[True], [False], [False], [True]])).T
    array([[1., 1., 3., 2.]])
    """
    points = points.copy()
    for place in np.flatnonzero(gaps.any(axis=0)):
        gap, column = gaps[:, place], points[:, place]
        sums, counts = np.where(gap, 0.0, column).cumsum(), (~gap).cumsum()
        first = column[np.argmin(gap)]
        points[:, place] = np.where(gap, np.where(counts, sums / np.maximum(counts, 1), first), column)
    return points


def begun(gaps: Gaps) -> int:
    """How many cases come before the first whose gaps all have a past."""
    known = np.logical_or.accumulate(~gaps, axis=0).all(axis=1)
    return int(np.argmax(known)) if known.any() else len(gaps)
