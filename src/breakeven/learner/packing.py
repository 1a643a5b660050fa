"""Many values of one kind as named columns, for snapshots: smaller and faster than one by one."""

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec.structs import FieldInfo, astuple, fields

Row = TypeVar("Row", bound=msgspec.Struct)


def as_columns(kind: type[Row], rows: Sequence[Row]) -> dict[str, list[Any]]:
    """A list for every field; one that holds nothing but the default is left out.

    >>> from breakeven.values import Prediction
    >>> as_columns(Prediction, [Prediction(1.0, 2.0, 0.5), Prediction(3.0, 4.0, 0.5)])
    {'mean': [1.0, 3.0], 'std': [2.0, 4.0], 'noise_std': [0.5, 0.5]}
    """
    columns = zip(*map(astuple, rows), strict=True)
    return {
        field.name: list(column)
        for field, column in zip(_fields(kind), columns, strict=False)
        if not _only_default(field, column)
    }


def from_columns(kind: type[Row], columns: dict[str, Any]) -> list[Row]:
    """The values that `as_columns` wrote."""
    if not columns:
        return []
    count = len(next(iter(columns.values())))
    kept = []
    for field in _fields(kind):
        column = columns.get(field.name)
        if column is None:
            if field.default is msgspec.NODEFAULT:
                raise ValueError(f"the column {field.name!r} is missing")
            column = [field.default] * count
        else:
            column = msgspec.convert(column, list[field.type], strict=True)  # type: ignore[name-defined]
        if len(column) != count:
            raise ValueError(f"the column {field.name!r} has another length")
        kept.append(column)
    return list(map(kind, *kept))


@cache
def _fields(kind: type[Any]) -> tuple[FieldInfo, ...]:
    return fields(kind)


def _only_default(field: FieldInfo, column: tuple[Any, ...]) -> bool:
    default = field.default
    return default is not msgspec.NODEFAULT and all(value is default or value == default for value in column)
