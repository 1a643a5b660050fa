"""Which column is what: the label, the type, or the features, numbers as they are and categories one-hot."""

from collections.abc import Mapping
from difflib import get_close_matches
from math import isfinite, nan
from typing import Any

import numpy as np
import polars as pl
from msgspec import Struct
from numpy.typing import NDArray

from breakeven.errors import expect
from breakeven.tables.options import Options
from breakeven.tables.source import Source

LOOKED_AT = 1_000  # rows that say whether text is written numbers
MOST = 100  # features: beyond these a process learns nothing


class Feature(Struct, frozen=True):
    """A column that says something of an arrival: a number, or one of some categories.

    `fill` is what stands for a number that is missing: the mean of those seen, where that was asked for.
    """

    name: str
    categories: tuple[str, ...] | None = None
    fill: float | None = None

    def numbers(self, value: Any) -> list[float]:
        """A value as numbers; a category that was never seen is none of them.

        >>> Feature("colour", ("blue", "red")).numbers("red"), Feature("age").numbers(61)
        ([0.0, 1.0], [61.0])
        """
        if self.categories is not None:
            return [float(str(value) == one) for one in self.categories]
        number = float(value) if expect.is_number(value) else nan
        if not isfinite(number) and self.fill is not None and (value is None or number != number):
            return [self.fill]
        return [expect.finite(self.name, value)]


class Columns(Struct, frozen=True):
    """What is known of an arrival, by the names of a table's columns.

    >>> columns = Columns("score", features=(Feature("age"), Feature("sex", ("f", "m"))))
    >>> columns.names, columns.point({"age": 61.0, "sex": "m"}).tolist()
    (['age', 'sex = f', 'sex = m'], [61.0, 0.0, 1.0])
    """

    label: str
    type: str | None = None
    features: tuple[Feature, ...] = ()

    @property
    def names(self) -> list[str]:
        """A name for every number of a point."""
        return [name for one in self.features for name in _spread(one)]

    @property
    def dim(self) -> int:
        """How many numbers a point has."""
        return len(self.names)

    def point(self, row: Mapping[str, Any]) -> Any:
        """What a learner is asked about, from one row."""
        if self.type is not None:
            return _value(row, self.type)
        numbers = [number for one in self.features for number in one.numbers(_value(row, one.name))]
        return np.array(numbers)

    def points(self, frame: pl.DataFrame) -> NDArray[np.float64]:
        """A point for every row of a table whose numbers are numbers."""
        parts = [
            frame[one.name].to_numpy()[:, None] if one.categories is None else _one_hot(frame[one.name], one)
            for one in self.features
        ]
        return np.ascontiguousarray(np.concatenate(parts, axis=1, dtype=np.float64))


def _spread(feature: Feature) -> list[str]:
    if feature.categories is None:
        return [feature.name]
    return [f"{feature.name} = {category}" for category in feature.categories]


def _value(row: Mapping[str, Any], name: str) -> Any:
    if name not in row:
        expect.refuse("row", f"a value for {name!r}", sorted(map(str, row)))
    return row[name]


def _one_hot(column: pl.Series, feature: Feature) -> NDArray[np.float64]:
    assert feature.categories is not None
    return np.column_stack(
        [(column == category).fill_null(False).to_numpy() for category in feature.categories]
    ).astype(float)


def choose(source: Source, options: Options) -> Columns:
    """The columns to read, by what was asked for; categories are named once they are read."""
    for name in (options.label, options.type, options.order, options.id, options.cost_column):
        if name is not None:
            check_name(source, name)
    if options.type is not None:
        return Columns(options.label, type=options.type)
    numeric = _numeric(source)
    named = options.features
    if named is None:
        others = {options.label, options.order, options.id, options.cost_column}
        named = tuple(name for name in source.columns if numeric[name] and name not in others)
    for name in named:
        check_name(source, name)
    if options.label in named:
        source.refuse("features other than the label", "the label itself", column=options.label)
    _check_count(source, len(named), named)
    return Columns(options.label, features=tuple(Feature(n, None if numeric[n] else ()) for n in named))


def _numeric(source: Source) -> dict[str, bool]:
    """By name, whether a column holds numbers."""
    if not source.text_numbers:
        return {name: kind.is_numeric() or kind == pl.Boolean for name, kind in source.schema.items()}
    sample = source.sample(LOOKED_AT)
    if sample.height == 0:
        source.refuse("rows below the header", "none")
    return {
        name: sample[name].null_count() < len(sample) and as_numbers(sample[name])[1] is None
        for name in source.columns
    }


def _check_count(source: Source, count: int, names: tuple[str, ...]) -> None:
    if count == 0:
        source.refuse(
            "a feature at least",
            "no other column of numbers",
            hint="name columns with --features, or a --type",
        )
    if count > MOST:
        source.refuse(
            f"{MOST} features at most",
            f"{count:,}, from column {names[0]!r} to {names[-1]!r}",
            hint="choose those that matter with --features",
        )


def named_categories(source: Source, columns: Columns, frame: pl.DataFrame) -> Columns:
    """The same columns with the categories that there are."""
    features = tuple(
        one
        if one.categories is None
        else Feature(one.name, tuple(frame[one.name].drop_nulls().unique().sort()))
        for one in columns.features
    )
    widest = max(features, key=lambda one: len(one.categories or ()), default=None)
    if widest is not None and len(columns.features) <= MOST < sum(len(_spread(one)) for one in features):
        source.refuse(
            f"{MOST} features at most, a category each",
            f"{len(widest.categories or ()):,} categories",
            column=widest.name,
            hint=f"leave it out, or let it be the type: --type {widest.name}",
        )
    return Columns(columns.label, columns.type, features)


def check_name(source: Source, name: str) -> None:
    """Refuse a column that is not there, and suggest the nearest."""
    if name in source.columns:
        return
    by_letters = {one.lower(): one for one in source.columns}
    near = get_close_matches(name.lower(), by_letters, n=1)
    some = ", ".join(map(repr, source.columns[:8])) + (", …" if len(source.columns) > 8 else "")
    hint = f"did you mean {by_letters[near[0]]!r}?" if near else f"there are {some}"
    source.refuse(f"a column {name!r}", "none of that name", hint=hint)


def as_numbers(column: pl.Series) -> tuple[pl.Series, int | None]:
    """A column as numbers, NaN as missing, and the place of the first that is none.

    >>> as_numbers(pl.Series(["1", " 2.5", None, "x"]))[1]
    3
    """
    text = column.dtype in (pl.String, pl.Categorical, pl.Enum)
    plain = column.cast(pl.String).str.strip_chars() if text else column
    numbers = plain.cast(pl.Float64, strict=False).fill_nan(None)
    said_missing = plain.str.to_lowercase() == "nan" if text else None
    bad = numbers.is_null() & column.is_not_null()
    if said_missing is not None:
        bad &= ~said_missing
    elif column.dtype.is_float():
        bad &= ~column.is_nan()
    bad |= numbers.is_infinite().fill_null(False)
    place = bad.arg_max() if bad.any() else None
    return numbers, place
