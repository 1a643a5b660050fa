"""Which column is what: the label, the type, or the features, numbers as they are and categories one-hot.

They are kept beside a learner, so that the rows which it is asked about later are read as the table was.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from breakeven.errors import expect
from breakeven.tables.reading import kinds
from breakeven.tables.reading.kinds import Kind


class Feature(Struct, frozen=True):
    """A column that says something of an arrival: a number, true or false, or one of some categories.

    `fill` is what stands for a missing value, where that was asked for: for a number the mean of those
    seen, and for a category none.

    >>> Feature("colour", "text", ("blue", "red")).numbers("red"), Feature("age").numbers(61)
    ([0.0, 1.0], [61.0])
    """

    name: str
    kind: Kind = "number"
    categories: tuple[str, ...] = ()
    fill: float | None = None

    @property
    def names(self) -> list[str]:
        """A name for every number that it makes."""
        return [f"{self.name} = {one}" for one in self.categories] if self.kind == "text" else [self.name]

    def numbers(self, value: Any) -> list[float]:
        """A value as numbers; a category that was never seen is none of them."""
        known = kinds.one(self.name, value, self.kind, required=self.fill is None)
        if known is None:
            return [self.fill or 0.0] * len(self.names)
        return [float(known == one) for one in self.categories] if self.kind == "text" else [float(known)]

    def spread(self, column: pl.Series) -> NDArray[np.float64]:
        """A column of such values as rows of numbers; a missing number is NaN, a missing category none."""
        if self.kind != "text":
            return column.cast(pl.Float64).to_numpy()[:, None]
        numbers = np.zeros((len(column), len(self.categories)))
        for place, one in enumerate(self.categories):
            numbers[:, place] = (column == one).fill_null(False).to_numpy()
        return numbers


class Columns(Struct, frozen=True):
    """What is known of an arrival, by the names of a table's columns; `cost` is that of its price.

    >>> columns = Columns("score", features=(Feature("age"), Feature("sex", "text", ("f", "m"))))
    >>> columns.names, columns.point({"age": 61.0, "sex": "m"}).tolist()
    (['age', 'sex = f', 'sex = m'], [61.0, 0.0, 1.0])
    """

    label: str
    type: str | None = None
    features: tuple[Feature, ...] = ()
    cost: str | None = None
    label_kind: Kind = "number"
    type_kind: Kind = "text"

    @property
    def names(self) -> list[str]:
        """A name for every number of a point."""
        return [name for one in self.features for name in one.names]

    @property
    def dim(self) -> int:
        """How many numbers a point has."""
        return len(self.names)

    def point(self, row: Mapping[str, Any]) -> Any:
        """What a learner is asked about, from one row."""
        if self.type is not None:
            return kinds.one(self.type, _value(row, self.type), self.type_kind)
        return np.array([number for one in self.features for number in one.numbers(_value(row, one.name))])

    def points(self, frame: pl.DataFrame) -> NDArray[np.float64]:
        """A point for every row of a table whose columns have been read."""
        parts = [one.spread(frame[one.name]) for one in self.features]
        return np.ascontiguousarray(np.concatenate(parts, axis=1, dtype=np.float64))

    def with_fills(self, means: NDArray[np.float64]) -> "Columns":
        """From now on a missing number stands at one of these means, and a missing category is none."""
        fills = dict(zip(self.names, means.tolist(), strict=True))
        filled = (replace(one, fill=fills[one.name] if one.kind != "text" else 0.0) for one in self.features)
        return replace(self, features=tuple(filled))

    def price(self, row: Mapping[str, Any]) -> float | None:
        """What the label of a row costs, where a column says so.

        >>> Columns("score", cost="exam").price({"exam": 40})
        40.0
        """
        if self.cost is None:
            return None
        return expect.positive(self.cost, kinds.one(self.cost, _value(row, self.cost), "number"))


def _value(row: Mapping[str, Any], name: str) -> Any:
    if name not in row:
        expect.refuse("row", f"a value for {name!r}", sorted(map(str, row)))
    return row[name]
