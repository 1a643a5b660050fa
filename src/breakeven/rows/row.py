"""Which column is what: the label, its cost, the type or the features; one row becomes one point.

Numbers stay as they are, a category becomes one number for each that is known, and a date becomes its trend
and its places in the year, the week and the day. Columns are plain data and are kept beside a learner, so
that rows which come later are read as the first ones were.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from breakeven.errors import expect
from breakeven.errors.expect import Array
from breakeven.rows.reading import PLAIN_WRITING, Kind, Writing, read_value
from breakeven.rows.times import TimePart, moment_of, part_names, part_numbers
from breakeven.values import Explanation, FeatureWeight


class Column(Struct, frozen=True):
    """A column by its name, what kind of value it holds, and what is declared of its numbers.

    `unit` is for people to read. A number below `low` or above `high` is refused. `writing` says how numbers
    and dates are written where they are text.

    >>> Column("age", unit="years", low=0, high=120).value(61)
    61.0
    >>> Column("age", unit="years", low=0, high=120).value(610)
    Traceback (most recent call last):
    breakeven.errors.InvalidInput: age: expected a number from 0 to 120 years, got 610
    """

    name: str
    kind: Kind = "number"
    unit: str = ""
    low: float | None = None
    high: float | None = None
    writing: Writing = PLAIN_WRITING

    def __post_init__(self) -> None:
        if self.low is None and self.high is None:
            return
        if self.kind != "number":
            expect.refuse(f"{self.name}: low, high", "a range only where there are numbers", self.kind)
        low, high = self._ends
        if not low < high:
            expect.refuse(
                f"{self.name}: low, high", "the lower number first", f"{low:g}, {high:g}", described=True
            )

    @property
    def _ends(self) -> tuple[float, float]:
        return (
            -np.inf if self.low is None else expect.finite(f"{self.name}: low", self.low),
            np.inf if self.high is None else expect.finite(f"{self.name}: high", self.high),
        )

    def value(self, value: Any, *, required: bool = True) -> Any:
        """One value as this column has it; None where it is missing and not `required`."""
        known = read_value(self.name, value, self.kind, self.writing, required=required)
        if known is None or (self.low is None and self.high is None):
            return known
        low, high = self._ends
        if not low <= known <= high:
            expect.refuse(self.name, self.range, value)
        return known

    @property
    def range(self) -> str:
        """The declared range in words.

        >>> Column("age", low=0).range, Column("bmi", unit="kg/m²", low=10, high=60).range
        ('a number of at least 0', 'a number from 10 to 60 kg/m²')
        """
        low, high = self._ends
        if high == np.inf:
            words = f"a number of at least {low:g}"
        elif low == -np.inf:
            words = f"a number of at most {high:g}"
        else:
            words = f"a number from {low:g} to {high:g}"
        return f"{words} {self.unit}" if self.unit else words


class Feature(Column, frozen=True):
    """A column that says something of an arrival: a number, true or false, a category or a moment.

    A category is one of some `categories`; of a moment `parts` are looked at. `fill` stands for a missing
    value, where that was asked for: for a number a mean, and for a category zeros. `fills` has the means of
    all numbers that a moment makes.

    >>> Feature("colour", "text", categories=("blue", "red")).numbers("red"), Feature("age").numbers(61)
    ([0.0, 1.0], [61.0])
    >>> Feature("seen", "time", parts=("trend",)).numbers("1970-01-31")
    [30.0]
    """

    categories: tuple[str, ...] = ()
    fill: float | None = None
    parts: tuple[TimePart, ...] = ()
    fills: tuple[float, ...] = ()

    @property
    def names(self) -> list[str]:
        """A name for every number that it makes."""
        if self.kind == "time":
            return part_names(self.name, self.parts)
        return [f"{self.name} = {one}" for one in self.categories] if self.kind == "text" else [self.name]

    def numbers(self, value: Any) -> list[float]:
        """A value as numbers; a category that is not in `categories` gives zeros only."""
        known = self.value(value, required=self.fill is None and not self.fills)
        if known is None:
            return list(self.fills) or [self.fill or 0.0] * len(self.names)
        if self.kind == "time":
            (numbers,) = part_numbers(np.array([known]), self.parts).tolist()
            return list(numbers)
        return [float(known == one) for one in self.categories] if self.kind == "text" else [float(known)]

    def value_of(self, numbers: list[float]) -> Any:
        """The value that these numbers were made of; None where they do not tell (an unknown category)."""
        if self.kind == "time":
            return moment_of(numbers, self.parts)
        if self.kind != "text":
            return bool(numbers[0]) if self.kind == "truth" else numbers[0]
        chosen = (name for name, number in zip(self.categories, numbers, strict=True) if number)
        return next(chosen, None)

    def filled_with(self, means: Mapping[str, float]) -> "Feature":
        """The same feature, but a missing value becomes the mean of each of its numbers, by their names."""
        if self.kind == "time":
            return replace(self, fills=tuple(means[name] for name in self.names))
        return replace(self, fill=0.0 if self.kind == "text" else means[self.name])


class Columns(Struct, frozen=True, kw_only=True):
    """What the columns of a row mean to a learner: a row in, a point, a cost and a label out.

    With a `type_column` a point is one type; else it is the numbers of all `features`. `cost_column` says
    what the label of a row costs, where that differs from row to row.

    >>> sex = Feature("sex", "text", categories=("f", "m"))
    >>> columns = Columns(label_column=Column("score"), features=(Feature("age"), sex))
    >>> columns.names, columns.point({"age": 61.0, "sex": "m", "name": "Otto"}).tolist()
    (['age', 'sex = f', 'sex = m'], [61.0, 0.0, 1.0])
    >>> columns.label("12.5")
    12.5
    """

    label_column: Column
    features: tuple[Feature, ...] = ()
    type_column: Column | None = None
    cost_column: Column | None = None

    def __post_init__(self) -> None:
        if (self.type_column is None) == (not self.features):
            expect.refuse(
                "columns", "features or a type_column", "both" if self.features else "neither", described=True
            )

    @property
    def names(self) -> list[str]:
        """A name for every number of a point."""
        return [name for one in self.features for name in one.names]

    @property
    def dim(self) -> int:
        """How many numbers a point has."""
        return len(self.names)

    def point(self, row: Mapping[str, Any]) -> Any:
        """The point of one row, as a learner takes it; columns that are not needed are ignored."""
        if self.type_column is not None:
            return self.type_column.value(_value(row, self.type_column))
        return np.array([number for one in self.features for number in one.numbers(_value(row, one))])

    def cost(self, row: Mapping[str, Any]) -> float | None:
        """What the label of a row costs; None where no column says so.

        >>> age, exam = Feature("age"), Column("exam")
        >>> columns = Columns(label_column=Column("score"), features=(age,), cost_column=exam)
        >>> columns.cost({"age": 61, "exam": 40})
        40.0
        """
        if self.cost_column is None:
            return None
        value = self.cost_column.value(_value(row, self.cost_column))
        return expect.positive(self.cost_column.name, value)

    def label(self, value: Any) -> float:
        """A label as a learner takes it."""
        return float(self.label_column.value(value))

    def row(self, point: Any) -> dict[str, Any]:
        """The row that a point was made of: a value by the name of each column.

        >>> sex = Feature("sex", "text", categories=("f", "m"))
        >>> Columns(label_column=Column("score"), features=(Feature("age"), sex)).row((61.0, 0.0, 1.0))
        {'age': 61.0, 'sex': 'm'}
        """
        if self.type_column is not None:
            return {self.type_column.name: point}
        numbers = iter(point)
        return {one.name: one.value_of([next(numbers) for _ in one.names]) for one in self.features}

    def explained(self, explanation: Explanation) -> Explanation:
        """An explanation in the words of these columns: features and points have their names.

        A category counts with all its values together.
        """
        if self.type_column is not None:
            features = tuple(replace(one, name=self.type_column.name) for one in explanation.features)
        else:
            features = self._named(explanation.features)
        points = [one.x for one in explanation.similar]
        return explanation.named(features, self.row(explanation.x), map(self.row, points))

    def _named(self, weights: tuple[FeatureWeight, ...]) -> tuple[FeatureWeight, ...]:
        """Weights by column; what is no feature, such as time, keeps its name."""
        columns = [(place, one.name) for place, one in enumerate(self.features) for _ in one.names]
        total: dict[tuple[int | None, str], float] = {}
        for weight in weights:
            key = (None, weight.name) if weight.position is None else columns[weight.position]
            total[key] = total.get(key, 0.0) + weight.weight
        named = [FeatureWeight(name, weight, place) for (place, name), weight in total.items()]
        return tuple(sorted(named, key=lambda one: -one.weight))

    def with_fills(self, means: Array) -> "Columns":
        """The same columns, but a missing number becomes its mean, and a missing category zeros."""
        fills = dict(zip(self.names, means.tolist(), strict=True))
        return replace(self, features=tuple(one.filled_with(fills) for one in self.features))


def _value(row: Mapping[str, Any], column: Column) -> Any:
    if column.name not in row:
        expect.refuse("row", f"a value for {column.name!r}", sorted(map(str, row)))
    return row[column.name]
