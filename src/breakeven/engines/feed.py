"""What an engine hands over: arrivals and labels of one batch, as columns; their faults, and their order.

A faulty row (no key, no id, no order, a type that is none, a cost below 0) is answered with its fault and is
not counted. Nothing here raises because of single rows.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs.types.type_names import type_name
from breakeven.errors import InvalidInput, expect

Column = NDArray[Any] | list[Any]


class ArrivalRows(NamedTuple):
    """Arrivals: whose stream, which id, what came, the order within the key, and costs if there are any."""

    keys: Any
    ids: Any
    xs: Any
    order: Any
    costs: Any = None


class LabelRows(NamedTuple):
    """Labels: whose stream, which arrival, the value; `withdrawn` says which will not come instead.

    `labellers` are the names of who gave them, where several are agreed on; None stands for who was asked.
    """

    keys: Any
    ids: Any
    ys: Any
    withdrawn: Any = None
    labellers: Any = None


class ReadLabels(NamedTuple):
    """Sound labels in the order of key, id and value, those withdrawn last; and how many are faulty."""

    keys: Any
    ids: Any
    ys: NDArray[np.float64]
    gone: NDArray[np.bool_]
    labellers: list[str | None]
    faults: int


class Faults:
    """Why rows cannot be used, by row; the first fault of a row counts.

    >>> faults = Faults(2)
    >>> faults.add(1, "id: expected an integer or a text, got None")
    >>> faults.sound.tolist()
    [True, False]
    """

    def __init__(self, rows: int) -> None:
        self.texts: list[str | None] = [None] * rows
        self.sound = np.ones(rows, dtype=bool)

    def add(self, row: int, text: str) -> None:
        """Note a fault of this row."""
        if self.sound[row]:
            self.texts[row], self.sound[row] = text, False

    def add_all(self, rows: Iterable[int], text: Callable[[int], str]) -> None:
        """Note faults of these rows."""
        for row in rows:
            self.add(row, text(row))


def same_length(rows: NamedTuple) -> int:
    """How many rows these columns have; they must be of one length."""
    lengths = {name: len(column) for name, column in rows._asdict().items() if column is not None}
    first = next(iter(lengths.values()))
    for name, length in lengths.items():
        if length != first:
            expect.refuse(name, f"{first} rows, as in the other columns", length)
    return first


def whole_or_text(name: str, values: Any, kind: str | None, faults: Faults) -> tuple[Column, str | None]:
    """A column of integers or of texts, as `kind` or the first sound row says; others are faulty.

    Faulty rows hold 0 or an empty text. The kind found is returned, too.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and kind != "texts":
        whole = values.astype(np.int64)
        if values.dtype == np.uint64:
            faults.add_all(np.flatnonzero(whole < 0).tolist(), lambda i: _unlike(name, values[i], kind))
        return whole, "integers" if len(values) else kind
    column = plain(values)
    wanted = {"integers": int, "texts": str, None: None}[kind]
    for i, value in enumerate(column):
        one = value.item() if isinstance(value, np.generic) else value
        if type(one) not in (int, str) or not _named(name, one) or type(one) is not (wanted or type(one)):
            faults.add(i, _unlike(name, value, kind))
            one = None
        wanted = wanted or (None if one is None else type(one))
        kind = kind or (None if wanted is None else "integers" if wanted is int else "texts")
        column[i] = one
    empty: Any = 0 if wanted is int else ""
    column = [empty if one is None else one for one in column]
    return np.array(column, dtype=np.int64) if wanted is int else column, kind


def _named(name: str, value: int | str) -> bool:
    """Whether this can be a key, an id or a type."""
    try:
        if isinstance(value, str) and name != "x":
            expect.name_of(name, value)
        else:
            type_name(value)
    except InvalidInput:
        return False
    return True


def _unlike(name: str, value: Any, kind: str | None) -> str:
    what = {"integers": "an integer of at most 64 bits", "texts": "a text of 1 to 250 characters"}
    wanted = what[kind] if kind else "an integer or a text"
    return f"{name}: expected {wanted}, got {expect.shown(value)}"


def orders(values: Any, faults: Faults) -> NDArray[Any]:
    """What arrivals are sorted by within their key: integers, times or numbers; missing ones are faulty."""
    column = values if isinstance(values, np.ndarray) else np.array(values)
    if column.dtype.kind == "M":
        missing = np.isnat(column)
        column = column.astype("datetime64[ns]").astype(np.int64)
    elif column.dtype.kind in "iu":
        return column.astype(np.int64)
    elif column.dtype.kind == "f":
        missing = np.isnan(column)
    else:
        plain = [None if not expect.is_number(one) or one != one else one for one in column.tolist()]
        missing = np.array([one is None for one in plain], dtype=bool)
        whole = all(isinstance(one, int) for one in plain if one is not None)
        filled = [0 if one is None else one for one in plain]
        column = np.array(filled, dtype=np.int64 if whole else np.float64)
    faults.add_all(np.flatnonzero(missing).tolist(), lambda i: "order: expected a number or a time, got none")
    return np.where(missing, 0, column)


def numbers(name: str, values: Any, faults: Faults, *, positive: bool = False) -> NDArray[np.float64]:
    """A column of numbers. A cost that is missing (NaN) is the agreed one; a label must be there."""
    column = np.array([_number(one) for one in values], dtype=float) if _mixed(values) else _floats(values)
    with np.errstate(invalid="ignore"):
        high = np.abs(column) <= expect.LARGEST
        wrong = ~(high & (column >= expect.SMALLEST)) & ~np.isnan(column) if positive else ~high
    what = "a positive, finite number" if positive else "a finite number"
    faults.add_all(
        np.flatnonzero(wrong).tolist(), lambda i: f"{name}: expected {what}, got {expect.shown(values[i])}"
    )
    return np.where(wrong, np.nan if positive else 0.0, column)


def _mixed(values: Any) -> bool:
    return not (isinstance(values, np.ndarray) and values.dtype.kind in "iuf")


def _floats(values: NDArray[Any]) -> NDArray[np.float64]:
    return values.astype(np.float64)


def _number(value: Any) -> float:
    """A number; ∞, which no cost and no label is, where this is something else."""
    if value is None:
        return float("nan")
    return float(value) if expect.is_number(value) else float("inf")


# -- whole batches --------------------------------------------------------------------------------------


class ReadArrivals(NamedTuple):
    """Arrivals whose columns were read; the faulty among them are noted in `faults`."""

    keys: Any
    ids: Any
    order: NDArray[Any]
    costs: NDArray[np.float64] | None
    faults: Faults

    def in_order(self) -> NDArray[np.int64]:
        """The sound rows, in the order of their keys' streams; ids decide where the order is the same."""
        rows = np.flatnonzero(self.faults.sound)
        order = self.order[rows]
        if (order[1:] > order[:-1]).all():
            return rows
        return rows[np.lexsort((_codes(at(self.ids, rows)), order))]


def read_arrivals(rows: ArrivalRows, keys_are: str | None, ids_are: str | None) -> ReadArrivals:
    """Read the columns of arrivals; faulty rows are noted."""
    faults = Faults(same_length(rows))
    keys, _ = whole_or_text("key", rows.keys, keys_are, faults)
    ids, _ = whole_or_text("id", rows.ids, ids_are, faults)
    costs = None if rows.costs is None else numbers("cost", rows.costs, faults, positive=True)
    return ReadArrivals(keys, ids, orders(rows.order, faults), costs, faults)


def read_labels(rows: LabelRows, keys_are: str | None, ids_are: str | None) -> ReadLabels:
    """Read the columns of labels; faulty ones are left out."""
    count = same_length(rows)
    faults = Faults(count)
    keys, _ = whole_or_text("key", rows.keys, keys_are, faults)
    ids, _ = whole_or_text("id", rows.ids, ids_are, faults)
    gone = np.zeros(count, dtype=bool) if rows.withdrawn is None else np.array(rows.withdrawn, dtype=bool)
    values = (
        [0.0 if one else y for y, one in zip(rows.ys, gone.tolist(), strict=True)] if gone.any() else rows.ys
    )
    ys = numbers("y", values, faults)
    sound = np.flatnonzero(faults.sound)
    order = sound[np.lexsort((ys[sound], _codes(at(ids, sound)), _codes(at(keys, sound)), gone[sound]))]
    names = [None] * len(order) if rows.labellers is None else at(plain(rows.labellers), order)
    return ReadLabels(at(keys, order), at(ids, order), ys[order], gone[order], names, count - len(sound))


def _codes(values: Any) -> NDArray[np.int64]:
    """Numbers in the order of the values."""
    if isinstance(values, np.ndarray):
        return values
    places = {value: i for i, value in enumerate(sorted(set(values)))}
    return np.fromiter((places[one] for one in values), dtype=np.int64, count=len(values))


def at(values: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of a column."""
    return values[rows] if isinstance(values, np.ndarray) else [values[i] for i in rows.tolist()]


def plain(values: Any) -> list[Any]:
    """A column as a list."""
    return list(values.tolist()) if isinstance(values, np.ndarray) else list(values)
