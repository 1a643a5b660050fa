"""The past cases of a table, checked and in the order of arrival: points, labels, prices, ids."""

from typing import Any

import msgspec
import numpy as np
import polars as pl
from msgspec.structs import replace
from numpy.typing import NDArray

from breakeven.errors import expect
from breakeven.errors.expect import shown
from breakeven.tables.options import Options
from breakeven.tables.reading.choice import check_name, choose, with_categories
from breakeven.tables.reading.columns import Columns
from breakeven.tables.reading.gaps import Gaps, begun, fill_notes, filled, rows_left_out, without_gaps
from breakeven.tables.reading.roles import COST, ID, LABEL, ROW, TYPE, read, roles_of
from breakeven.tables.reading.source import Source

Array = NDArray[np.float64]

EXACT = 2.0**53  # whole numbers up to here are exact


class Cases(msgspec.Struct, frozen=True, kw_only=True):
    """Arrivals in their order; `points` are rows of numbers or, where there is a type, a column of types.

    `rows` says which row of the table each was, and `gaps` which numbers were missing in it. `costs`, `ids`
    and `gaps` are None where there are none; `notes` say what was read and what was left out.
    """

    name: str
    columns: Columns
    rows: NDArray[np.uint32]
    points: Any
    labels: Array
    costs: Array | None = None
    ids: pl.Series | None = None
    gaps: Gaps | None = None
    notes: list[str] = []

    def __len__(self) -> int:
        return len(self.labels)

    def taken(self, places: NDArray[np.int64]) -> "Cases":
        """These cases, in this order; what is missing stands at the mean of its new past."""
        cases = self._picked(places)
        return cases if cases.gaps is None else replace(cases, points=filled(cases.points, cases.gaps))

    def first(self, count: int) -> "Cases":
        """The first so many."""
        return self._picked(slice(count))

    def _picked(self, places: slice | NDArray[np.int64]) -> "Cases":
        parts = {name: getattr(self, name) for name in ("rows", "points", "labels", "costs", "ids", "gaps")}
        return replace(self, **{name: part[places] for name, part in parts.items() if part is not None})

    def prices(self, cost: float | None) -> Array:
        """The price of every label."""
        return np.broadcast_to(np.float64(cost), len(self)) if self.costs is None else self.costs

    def names(self, low: int, high: int) -> list[str] | None:
        """Some of the ids, where there are any."""
        return None if self.ids is None else self.ids[low:high].to_list()

    def part(self, low: int, high: int) -> Any:
        """Some of the points, as a learner takes them."""
        part = self.points[low:high]
        if not isinstance(part, pl.Series):
            return part
        return part.to_numpy() if part.dtype.is_integer() else part.to_list()


def read_cases(source: Source, options: Options, like: Columns | None = None) -> Cases:
    """Read what is asked for, and refuse what cannot be right; `like` other columns, already chosen."""
    with source.telling():
        columns, notes = choose(source, options) if like is None else (like, [])
        frame, whole = _rows(source, columns, options)
        if like is None:
            columns, more = with_categories(source, columns, whole)
            notes = notes + more
            _check_varying(source, columns, whole)
        cases = _cases(source, columns, whole, options)
        if options.missing == "mean" and columns.features:
            cases = _at_past_means(source, cases)
            notes = notes + fill_notes(columns.features, whole)
        return replace(cases, notes=notes + rows_left_out(frame.height - len(cases), frame.height))


def _rows(source: Source, columns: Columns, options: Options) -> tuple[pl.DataFrame, pl.DataFrame]:
    """All rows in their order, and those in which nothing is missing that cannot be filled."""
    roles = roles_of(columns, options)
    for role in roles.values():
        check_name(source, role.column)
    frame = read(source, roles)
    return frame, without_gaps(source, frame, roles, options.missing)


def _cases(source: Source, columns: Columns, frame: pl.DataFrame, options: Options) -> Cases:
    return Cases(
        name=source.name,
        columns=columns,
        rows=frame[ROW].to_numpy(),
        points=columns.points(frame) if columns.type is None else frame[TYPE],
        labels=frame[LABEL].cast(pl.Float64).to_numpy(),
        costs=None if options.cost_column is None else _costs(source, options.cost_column, frame),
        ids=None if options.id is None else _ids(source, options.id, frame),
    )


def _at_past_means(source: Source, cases: Cases) -> Cases:
    """What is missing stands at the mean of its past, and cases without one are left out."""
    gaps = np.isnan(cases.points)
    start = begun(gaps)
    if start == len(cases):
        source.refuse("a row without missing values", "none")
    columns = cases.columns.with_fills(cases.points.mean(axis=0, where=~gaps))
    points, some = filled(cases.points, gaps), gaps if gaps.any() else None
    return replace(cases, columns=columns, points=points, gaps=some)._picked(slice(start, None))


# -- what cannot be right --------------------------------------------------------------------------------


def _check_varying(source: Source, columns: Columns, frame: pl.DataFrame) -> None:
    for one in columns.features:
        column = frame[one.name]
        low, some_without = column.min(), one.kind == "text" and column.null_count() > 0
        if frame.height > 1 and low is not None and low == column.max() and not some_without:
            others = ",".join(other.name for other in columns.features if other != one)
            rounded = isinstance(low, float) and abs(low) > EXACT
            source.refuse(
                "a feature that varies",
                f"{shown(low)} in every row" + (", once rounded to 53 bits" if rounded else ""),
                row=frame[ROW][0],
                column=one.name,
                hint=f"leave it out: --features {shown(others)}" if others else "",
            )


def _costs(source: Source, name: str, frame: pl.DataFrame) -> Array:
    costs = frame[COST].to_numpy()
    bad = np.flatnonzero(costs < expect.SMALLEST)
    if bad.size:
        place = int(bad[0])
        source.refuse("a positive price", f"{costs[place]:g}", row=frame[ROW][place], column=name)
    return costs


def _ids(source: Source, name: str, frame: pl.DataFrame) -> pl.Series:
    ids = frame[ID].cast(pl.String)
    twice = ~ids.is_first_distinct()
    if twice.any():
        place = int(twice.arg_max() or 0)
        source.refuse("an id only once", f"{shown(ids[place])} again", row=frame[ROW][place], column=name)
    return ids
