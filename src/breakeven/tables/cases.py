"""The past cases of a table, checked and in the order of arrival: points, labels, costs, ids.

Rows in which a value is missing are refused or left out, or the mean of the past stands for the value.
"""

from collections.abc import Iterable
from typing import Any, NoReturn

import msgspec
import numpy as np
import polars as pl
from msgspec.structs import replace
from numpy.typing import NDArray

from breakeven.errors import expect
from breakeven.errors.expect import Array, shown
from breakeven.rows.row import Columns, Feature
from breakeven.rows.times import part_numbers, written
from breakeven.tables.choice import (
    COST_ROLE,
    ID_ROLE,
    LABEL_ROLE,
    ROW_ROLE,
    TYPE_ROLE,
    Role,
    check_name,
    choose,
    read_rows,
    roles_of,
    with_categories,
    with_parts,
)
from breakeven.tables.faults import OptionWords, as_argument
from breakeven.tables.left_out import left_out_constants, some_names
from breakeven.tables.options import Options
from breakeven.tables.sources import TableSource

Gaps = NDArray[np.bool_]

WHOLE_TO_HERE = 2.0**53  # whole numbers up to this size are exact as floats
COLUMNS_NAMED = 5  # of those with missing values


class Cases(msgspec.Struct, frozen=True, kw_only=True):
    """Arrivals in their order; `points` are rows of numbers or, where there is a type, a column of types.

    `rows` says which row of the table each was, and `gaps` which numbers were missing in it. `costs`, `ids`
    and `gaps` are None where there are none; `notes` say what was read and what was left out. `option` is
    what an option is called where these are read.
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
    option: OptionWords = as_argument

    def __len__(self) -> int:
        return len(self.labels)

    def taken(self, places: NDArray[np.int64]) -> "Cases":
        """These cases, in this order; missing numbers become the means of what now comes before them."""
        cases = self._picked(places)
        return cases if cases.gaps is None else replace(cases, points=filled(cases.points, cases.gaps))

    def first(self, count: int) -> "Cases":
        """The first `count` cases."""
        return self._picked(slice(count))

    def _picked(self, places: slice | NDArray[np.int64]) -> "Cases":
        parts = {name: getattr(self, name) for name in ("rows", "points", "labels", "costs", "ids", "gaps")}
        return replace(self, **{name: part[places] for name, part in parts.items() if part is not None})

    def label_costs(self, cost: float | None) -> Array:
        """What every label costs: its own cost or, where there are none, this one."""
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


def read_cases(source: TableSource, options: Options, like: Columns | None = None) -> Cases:
    """Read the cases that options ask for; `like` are columns that another table was read with."""
    with source.telling():
        columns, notes = choose(source, options) if like is None else (like, [])
        frame = _rows(source, columns, options)
        if like is None and options.features is None:
            columns, more = without_constants(columns, frame)
            notes = more + notes
        roles = roles_of(columns, options, source.option)
        whole = without_gaps(source, frame, roles, options.missing)
        if like is None:
            columns, more = _completed(source, columns, whole, options)
            notes = more + notes
        cases = _cases(source, columns, whole, options)
        if options.missing == "mean" and columns.features:
            cases = _at_past_means(source, cases)
            notes = notes + fill_notes(columns.features, whole)
        return replace(cases, notes=notes + rows_left_out(frame.height - len(cases), frame.height))


def _rows(source: TableSource, columns: Columns, options: Options) -> pl.DataFrame:
    """All rows in order of arrival."""
    roles = roles_of(columns, options, source.option)
    for role in roles.values():
        check_name(source, role.column)
    return read_rows(source, roles)


def _completed(
    source: TableSource, columns: Columns, frame: pl.DataFrame, options: Options
) -> tuple[Columns, list[str]]:
    """The columns with what only the whole table tells: categories, dates, and what never changes."""
    notes: list[str] = []
    if options.features is None:
        columns, notes = without_constants(columns, frame)
    columns, categories = with_categories(source, columns, frame)
    _check_varying(source, columns, frame)
    columns, parts = with_parts(columns, frame)
    features = some_names(one.name for one in columns.features)
    return columns, [*([f"Features: {features}."] if features else []), *parts, *notes, *categories]


def _cases(source: TableSource, columns: Columns, frame: pl.DataFrame, options: Options) -> Cases:
    return Cases(
        name=source.name,
        columns=columns,
        rows=frame[ROW_ROLE].to_numpy(),
        points=_points(columns, frame) if columns.type_column is None else frame[TYPE_ROLE],
        labels=frame[LABEL_ROLE].cast(pl.Float64).to_numpy(),
        costs=None if options.cost_column is None else _costs(source, options.cost_column, frame),
        ids=None if options.id is None else _ids(source, options.id, frame),
        option=source.option,
    )


def _points(columns: Columns, frame: pl.DataFrame) -> Array:
    """A point for every row of a table whose columns have been read."""
    parts = [_spread(one, frame[one.name]) for one in columns.features]
    return np.ascontiguousarray(np.concatenate(parts, axis=1, dtype=np.float64))


def _spread(feature: Feature, column: pl.Series) -> Array:
    """A column of values as rows of numbers; a missing number is NaN, a missing category none."""
    if feature.kind == "time":
        return part_numbers(column.to_numpy(), feature.parts)
    if feature.kind != "text":
        return column.cast(pl.Float64).to_numpy()[:, None]
    numbers = np.zeros((len(column), len(feature.categories)))
    for place, one in enumerate(feature.categories):
        numbers[:, place] = (column == one).fill_null(False).to_numpy()
    return numbers


def _at_past_means(source: TableSource, cases: Cases) -> Cases:
    """Every missing number becomes the mean of those before it; cases that have none before are left out."""
    gaps = np.isnan(cases.points)
    start = begun(gaps)
    if start == len(cases):
        source.refuse("a row without missing values", "none")
    columns = cases.columns.with_fills(cases.points.mean(axis=0, where=~gaps))
    points, some = filled(cases.points, gaps), gaps if gaps.any() else None
    return replace(cases, columns=columns, points=points, gaps=some)._picked(slice(start, None))


# -- what cannot be right --------------------------------------------------------------------------------


def without_constants(columns: Columns, frame: pl.DataFrame) -> tuple[Columns, list[str]]:
    """The columns without features that are the same in every row, and a note on them; one at least stays."""
    names = [one.name for one in columns.features if _is_constant(one, frame)]
    kept = tuple(one for one in columns.features if one.name not in names)
    return (replace(columns, features=kept), left_out_constants(names)) if kept else (columns, [])


def _is_constant(one: Feature, frame: pl.DataFrame) -> bool:
    column = frame[one.name]
    low, some_without = column.min(), one.kind == "text" and column.null_count() > 0
    return frame.height > 1 and low is not None and low == column.max() and not some_without


def _check_varying(source: TableSource, columns: Columns, frame: pl.DataFrame) -> None:
    for one in columns.features:
        if _is_constant(one, frame):
            low = frame[one.name].min()
            others = [other.name for other in columns.features if other != one]
            rounded = one.kind == "number" and isinstance(low, float) and abs(low) > WHOLE_TO_HERE
            same = written(low) if one.kind == "time" and isinstance(low, float) else shown(low)
            hint = f"leave it out: {source.option('features', others)}"
            if not others:
                hint = f"name others with {source.option('features')}, or one with {source.option('type')}"
            source.refuse(
                "a feature that varies",
                f"{same} in every row" + (", once rounded to 53 bits" if rounded else ""),
                row=frame[ROW_ROLE][0],
                column=one.name,
                hint=hint,
            )


def _costs(source: TableSource, name: str, frame: pl.DataFrame) -> Array:
    costs = frame[COST_ROLE].to_numpy()
    bad = np.flatnonzero(costs < expect.SMALLEST)
    if bad.size:
        place = int(bad[0])
        source.refuse("a positive cost", f"{costs[place]:g}", row=frame[ROW_ROLE][place], column=name)
    return costs


def _ids(source: TableSource, name: str, frame: pl.DataFrame) -> pl.Series:
    ids = frame[ID_ROLE].cast(pl.String)
    twice = ~ids.is_first_distinct()
    if twice.any():
        place = int(twice.arg_max() or 0)
        source.refuse(
            "an id only once", f"{shown(ids[place])} again", row=frame[ROW_ROLE][place], column=name
        )
    return ids


# -- missing values -----------------------------------------------------------------------------------


def without_gaps(
    source: TableSource, frame: pl.DataFrame, roles: dict[str, Role], missing: str | None
) -> pl.DataFrame:
    """The rows without gaps that cannot be filled; unless rows may be left out, a gap is refused."""
    must = {name: role for name, role in roles.items() if not (role.feature and missing == "mean")}
    whole = frame.drop_nulls(list(must))
    if missing is None and whole.height < frame.height:
        _refuse(source, frame, must)
    if whole.height == 0:
        source.refuse("a row without missing values", "none")
    return whole


def _refuse(source: TableSource, frame: pl.DataFrame, roles: dict[str, Role]) -> NoReturn:
    lacking = frame.filter(pl.any_horizontal(pl.col(*roles).is_null())).sort(ROW_ROLE)
    counts: dict[str, int] = {}
    for name, role in roles.items():
        counts[role.column] = max(lacking[name].null_count(), counts.get(role.column, 0))
    first = {role.column for name, role in roles.items() if lacking[name][0] is None}
    some = [name for name in source.columns if counts.get(name)]
    listed = ", ".join(f"{counts[name]:,} in {shown(name)}" for name in some[:COLUMNS_NAMED])
    source.refuse(
        "no missing values",
        f"{lacking.height:,} row{_s(lacking.height)} with some ({listed}), the first here",
        row=lacking[ROW_ROLE][0],
        column=next(name for name in some if name in first),
        hint=f"choose {source.option('missing', 'drop')}, or {source.option('missing', 'mean')} for the mean "
        "of the past",
    )


# -- what to say -----------------------------------------------------------------------------------------


def fill_notes(features: Iterable[Feature], frame: pl.DataFrame) -> list[str]:
    """Sentences on what was put in for missing values."""
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
    """Each gap becomes the mean of the numbers before it or, where there are none, the first number after.

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
    """How many cases come before the first in which every gap has a number before it."""
    known = np.logical_or.accumulate(~gaps, axis=0).all(axis=1)
    return int(np.argmax(known)) if known.any() else len(gaps)
