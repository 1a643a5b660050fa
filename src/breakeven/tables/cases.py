"""The past cases of a table, checked and in the order of arrival: points, labels, prices, ids."""

from typing import Any

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from breakeven.errors import expect
from breakeven.errors.expect import shown
from breakeven.tables.columns import Columns, Feature, as_numbers, choose, named_categories
from breakeven.tables.options import Options
from breakeven.tables.source import Source

Array = NDArray[np.float64]

ROW, KEY = "\0row", "\0key"  # no column of a table is called so
NO_LABEL = "labels are numbers: write yes and no as 1 and 0"


class Cases(msgspec.Struct, frozen=True, kw_only=True):
    """Arrivals in their order; `points` are rows of numbers or, where there is a type, a column of types.

    `costs` and `ids` are None where the table has none; `notes` say what was left out.
    """

    name: str
    columns: Columns
    points: Any
    labels: Array
    costs: Array | None = None
    ids: pl.Series | None = None
    notes: list[str] = []

    def __len__(self) -> int:
        return len(self.labels)

    def taken(self, places: NDArray[np.int64]) -> "Cases":
        """These cases, in this order."""
        points = self.points[places.tolist()] if isinstance(self.points, pl.Series) else self.points[places]
        return msgspec.structs.replace(
            self,
            points=points,
            labels=self.labels[places],
            costs=None if self.costs is None else self.costs[places],
            ids=None if self.ids is None else self.ids[places.tolist()],
        )

    def first(self, count: int) -> "Cases":
        """The first so many."""
        return self.taken(np.arange(count))

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
    columns = choose(source, options) if like is None else like
    frame = _frame(source, columns, options)
    if frame.height == 0:
        source.refuse("rows below the header", "none")
    if options.order is not None:
        frame = _in_order(source, frame, options.order)
    frame, notes = _without_gaps(source, frame, columns, options)
    if like is None:
        columns = named_categories(source, columns, frame)
        _check_features(source, frame, columns)
    if options.missing == "mean":
        columns = _with_fills(columns, frame)
    return Cases(
        name=source.name,
        columns=columns,
        points=frame[columns.type] if columns.type is not None else columns.points(frame),
        labels=frame[columns.label].to_numpy(),
        costs=None if options.cost_column is None else _costs(source, frame, options.cost_column),
        ids=None if options.id is None else _ids(source, frame, options.id),
        notes=notes,
    )


# -- reading ---------------------------------------------------------------------------------------------


def _frame(source: Source, columns: Columns, options: Options) -> pl.DataFrame:
    """All columns needed, numbers as numbers, and which row of the table each row is."""
    numbers = {columns.label: NO_LABEL}
    numbers |= {one.name: "" for one in columns.features if one.categories is None}
    if options.cost_column is not None:
        numbers[options.cost_column] = ""
    words = [one.name for one in columns.features if one.categories is not None]
    kept = [name for name in (options.order, options.id, columns.type) if name is not None]
    names = list(dict.fromkeys([*numbers, *words, *kept]))
    batches, rows = [], 0
    for batch in source.batches(names):
        read = [_numbers(source, batch[name], rows, hint) for name, hint in numbers.items()]
        read += [batch[name].cast(pl.String) for name in words]
        read += [_types(batch[name]) for name in kept if name == columns.type]
        others = batch.select(name for name in kept if name != columns.type and name not in numbers)
        index = pl.Series(ROW, np.arange(rows + 1, rows + 1 + batch.height, dtype=np.uint32))
        batches.append(pl.DataFrame([*read, index]).hstack(others))
        rows += batch.height
    return pl.concat(batches, rechunk=True) if batches else pl.DataFrame({name: [] for name in names})


def _numbers(source: Source, column: pl.Series, rows: int, hint: str) -> pl.Series:
    if column.dtype.is_nested() or column.dtype.is_temporal():
        source.refuse("numbers", f"{column.dtype}", column=column.name, hint=hint)
    numbers, bad = as_numbers(column)
    if bad is not None:
        source.refuse(
            "a finite number", shown(column[bad]), row=rows + bad + 1, column=column.name, hint=hint
        )
    return numbers


def _types(column: pl.Series) -> pl.Series:
    """Types are whole numbers or text."""
    return column.cast(pl.Int64) if column.dtype.is_integer() else column.cast(pl.String)


def _in_order(source: Source, frame: pl.DataFrame, name: str) -> pl.DataFrame:
    if frame[name].null_count():
        row = frame[ROW][int(frame[name].is_null().arg_max() or 0)]
        source.refuse("something to sort by", "a missing value", row=row, column=name)
    key = frame[name]
    if key.dtype == pl.String:
        numbers, bad = as_numbers(key)
        key = numbers if bad is None else key
    return frame.with_columns(key.alias(KEY)).sort(KEY, maintain_order=True).drop(KEY)


# -- missing values --------------------------------------------------------------------------------------


def _without_gaps(
    source: Source, frame: pl.DataFrame, columns: Columns, options: Options
) -> tuple[pl.DataFrame, list[str]]:
    """No value is missing any more: rows are dropped, or filled with the mean of the past."""
    filled = [one.name for one in columns.features] if options.missing == "mean" else []
    notes = []
    for one in columns.features:
        gaps = frame[one.name].null_count()
        if one.name in filled and gaps and one.categories is None:
            frame = frame.with_columns(_with_past_means(frame[one.name]))
            notes.append(f"{gaps:,} missing values of {one.name!r} stand at the mean of those before them.")
        elif one.name in filled and gaps:
            notes.append(f"{gaps:,} missing values of {one.name!r} are of no category.")
    words = [one.name for one in columns.features if one.categories is not None and one.name in filled]
    must = [name for name in frame.columns if name not in words and name != ROW]
    whole = frame.drop_nulls(must)
    dropped = frame.height - whole.height
    if dropped and options.missing is None:
        _refuse_gaps(source, frame, must, dropped)
    if whole.height == 0:
        source.refuse("a row without missing values", "none")
    if dropped:
        notes.append(f"{dropped:,} of {frame.height:,} rows have missing values and were left out.")
    return whole, notes


def _refuse_gaps(source: Source, frame: pl.DataFrame, must: list[str], dropped: int) -> None:
    must = [name for name in source.columns if name in must]
    counted = [(name, frame[name].null_count()) for name in must if frame[name].null_count()]
    counts = ", ".join(f"{count:,} in {shown(name)}" for name, count in counted[:5])
    first = frame.filter(pl.any_horizontal(pl.col(must).is_null())).sort(ROW).row(0, named=True)
    name, row = next(name for name in must if first[name] is None), first[ROW]
    source.refuse(
        "no missing values",
        f"{dropped:,} rows with some ({counts}), the first here",
        row=row,
        column=name,
        hint="choose --missing drop, or --missing mean for the mean of the past",
    )


def _with_past_means(column: pl.Series) -> pl.Series:
    """Each gap at the mean of what came before it; what nothing came before stays missing."""
    known = column.is_not_null()
    mean = column.fill_null(0.0).cum_sum() / known.cast(pl.Float64).cum_sum()
    return pl.select(
        pl.when(known).then(column).otherwise(mean.fill_nan(None)).alias(column.name)
    ).to_series()


def _with_fills(columns: Columns, frame: pl.DataFrame) -> Columns:
    """From now on a missing number stands at the mean of all of these."""

    def mean(one: Feature) -> float | None:
        return None if one.categories is not None else float(frame[one.name].to_numpy().mean())

    features = tuple(Feature(one.name, one.categories, mean(one)) for one in columns.features)
    return Columns(columns.label, columns.type, features)


# -- what cannot be right --------------------------------------------------------------------------------


def _check_features(source: Source, frame: pl.DataFrame, columns: Columns) -> None:
    for one in columns.features:
        if frame.height > 1 and frame[one.name].n_unique() == 1:
            others = ",".join(other.name for other in columns.features if other != one)
            source.refuse(
                "a feature that varies",
                f"{shown(frame[one.name][0])} in every row",
                row=1,
                column=one.name,
                hint=f"leave it out: --features {shown(others)}" if others else "",
            )
    for name in [columns.label, *(one.name for one in columns.features if one.categories is None)]:
        large = frame[name].abs() > expect.LARGEST
        if large.any():
            row = frame[ROW][int(large.arg_max() or 0)]
            source.refuse(f"numbers of size {expect.LARGEST:g} at most", "a larger one", row=row, column=name)


def _costs(source: Source, frame: pl.DataFrame, name: str) -> Array:
    costs = frame[name].to_numpy()
    bad = np.flatnonzero(~((costs >= expect.SMALLEST) & (costs <= expect.LARGEST)))
    if bad.size:
        row = frame[ROW][int(bad[0])]
        source.refuse("a positive price", f"{costs[bad[0]]:g}", row=row, column=name)
    return costs


def _ids(source: Source, frame: pl.DataFrame, name: str) -> pl.Series:
    ids = frame[name].cast(pl.String)
    twice = ~ids.is_first_distinct()
    if twice.any():
        place = int(twice.arg_max() or 0)
        source.refuse("an id only once", f"{shown(ids[place])} again", row=frame[ROW][place], column=name)
    if (ids == "").any():
        source.refuse("an id", "empty text", row=frame[ROW][int((ids == "").arg_max() or 0)], column=name)
    return ids
