"""The rows of a batch behind it: in columns, until somebody looks for one, and then as entries of the book.

Of labels that are awaited, `tell_many` looks for those of one batch in its columns.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import repeat
from math import isnan
from typing import Any, Protocol

import numpy as np

from breakeven.errors.expect import Array
from breakeven.learner.book import Book, Entry
from breakeven.learner.bulk.arrays import Counts, Points
from breakeven.values import Arrived, CompiledDecisions

POWERS_OF_TEN = 10 ** np.arange(19)


class ArrivedRows:
    """Rows of a batch with their keys: points and decisions, costs that were given, and labels told.

    Costs and labels are NaN where there is none. A label that was bought was paid for.
    """

    def __init__(
        self,
        keys: Counts,
        points: Points,
        ids: Sequence[Any],
        decided: CompiledDecisions,
        money: Array | None = None,
        labels: Array | None = None,
    ) -> None:
        self.keys, self.ids, self.decided = keys, ids, decided
        self._points, self._money, self._labels = points, money, labels

    def since(self, row: int) -> "ArrivedRows":
        """The rows from this one on, to be kept; copied where most of them would be kept for nothing."""
        points = self._points
        if 2 * row >= len(points):
            rows = slice(row, None)
            money = None if self._money is None else self._money[rows].copy()
            return ArrivedRows(
                self.keys[rows].copy(),
                own_points(points[rows]),
                self.ids[rows],
                self.decided.part(rows),
                money,
            )
        return ArrivedRows(self.keys, own_points(points), self.ids, self.decided, self._money)

    def chosen(self, places: Counts, labels: Array | None = None) -> "ArrivedRows":
        """Some rows, copied, and these labels of theirs."""
        decided, money = self.decided.chosen(places), None if self._money is None else self._money[places]
        points = self.points_at(places)
        return ArrivedRows(self.keys[places], points, decided.given_ids, decided, money, labels)

    def points_at(self, places: Counts) -> Points:
        """The points of some rows."""
        points = self._points
        if isinstance(points, np.ndarray):
            return points[places]
        return list(map(points.__getitem__, places.tolist()))

    @cached_property
    def _places(self) -> dict[str, int]:
        return dict(zip(map(str, self.ids), range(len(self.ids)), strict=True))

    def entries(self, ids: Sequence[str]) -> list[Entry]:
        """The entries under these ids."""
        return self.entries_at([self._places[id] for id in ids])

    def entries_at(self, places: Sequence[int]) -> list[Entry]:
        """The entries of these rows."""
        keys, decisions = self.keys[np.asarray(places, dtype=np.intp)].tolist(), self.decided.at(places)
        given, labels = _given(self._money, places), _given(self._labels, places)
        ids, who, paid = (one.id for one in decisions), repeat(None), (one.wants_label for one in decisions)
        types = types_at(self._points, places)
        return list(map(Entry, ids, keys, types, decisions, given, labels, who, paid))

    def events(self, number: int, stream: str) -> list[Arrived]:
        """The events of all rows, the first with this number."""
        places = range(len(self.decided))
        numbers = range(number, number + len(places))
        cases = types_at(self._points, places), self.decided, _given(self._money, places)
        return list(map(Arrived, numbers, repeat(stream), *cases))


def _given(column: Array | None, places: Sequence[int]) -> list[float | None]:
    """The numbers at some places, None where there is none."""
    if column is None:
        return [None] * len(places)
    numbers = column[np.asarray(places, dtype=np.intp)].tolist()
    return [None if isnan(one) else one for one in numbers]


class AwaitedColumns(ArrivedRows):
    """Rows whose labels were bought, and which of these are still awaited."""

    def __init__(self, rows: ArrivedRows, places: Counts) -> None:
        own = rows.chosen(places)
        super().__init__(own.keys, own._points, own.ids, own.decided, own._money)
        self._awaited, self._left = np.ones(len(places), dtype=bool), len(places)

    def __len__(self) -> int:
        return self._left

    def all_entries(self) -> list[Entry]:
        """The entries of those that are still awaited."""
        return self.entries_at(np.flatnonzero(self._awaited).tolist())

    def has_any(self, ids: Iterable[str]) -> bool:
        """Whether one of these ids may be among them: numbers are not looked at one by one."""
        if isinstance(self.ids, np.ndarray):
            return any(map(str.isdecimal, ids))
        return not self._places.keys().isdisjoint(ids)

    def find(self, ids: list[str]) -> "FoundRows | None":
        """The labels of these ids, if all of them are awaited here and each comes once."""
        if not isinstance(self.ids, np.ndarray):
            found = list(map(self._places.get, ids))
            places = None if None in found else np.array(found, dtype=np.int64)
        else:
            places = self._find_numbers(ids, self.ids)
        if places is None or not self._awaited[places].all():
            return None
        once = np.zeros(len(self.ids), dtype=bool)
        once[places] = True
        return FoundRows(self, places, ids) if np.count_nonzero(once) == len(ids) else None

    @staticmethod
    def _find_numbers(ids: list[str], numbers: Counts) -> Counts | None:
        """Where these ids stand among the numbers of automatic ones, if all of them do."""
        wanted = plain_numbers(ids)
        if wanted is None:
            return None
        places = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
        return places if np.array_equal(numbers[places], wanted) else None

    def tell(self, places: Counts) -> None:
        """The labels of these rows are not awaited any more."""
        self._awaited[places] = False
        self._left -= len(places)


# -- labels that are awaited ------------------------------------------------------------------------


class AwaitedLabelsFound(Protocol):
    """Labels that are awaited, in the order in which they are told."""

    points: Points
    ids: Sequence[str]

    def tell(self, book: Book, labels: slice, y: Array) -> None:
        """Some of them came."""
        ...


def find_awaited(book: Book, ids: list[Any]) -> AwaitedLabelsFound | None:
    """The labels of these ids, if all of them are awaited and each comes once."""
    if not set(map(type, ids)) <= {str}:
        return None
    in_columns: Iterator[FoundRows | None] = (rows.find(ids) for rows in book.unwritten)
    if (found := next(filter(None, in_columns), None)) is not None:
        return found
    entries = book.all_awaited(ids)
    return None if entries is None else FoundEntries(entries, ids)


class FoundEntries:
    """Awaited labels that are entries of the book."""

    def __init__(self, entries: list[Entry], ids: Sequence[str]) -> None:
        self._entries, self.ids = entries, ids
        self.points = whole_numbers([one.x for one in entries])

    def tell(self, book: Book, labels: slice, y: Array) -> None:
        """Some of them came."""
        book.tell_many(self._entries[labels], y.tolist())


class FoundRows:
    """Awaited labels in the columns of one batch."""

    def __init__(self, rows: "AwaitedColumns", places: Counts, ids: Sequence[str]) -> None:
        self._rows, self._places, self.ids = rows, places, ids
        self.points = rows.points_at(places)

    def tell(self, book: Book, labels: slice, y: Array) -> None:
        """Some of them came; as many are kept as the book remembers."""
        places, ids = self._places[labels], self.ids[labels]
        kept = slice(len(ids) - min(len(ids), book.keep), None)
        told = self._rows.chosen(places[kept], y[kept].copy())
        self._rows.tell(places)
        book.tell_rows(self._rows, ids[kept], told)


# -- points and ids ---------------------------------------------------------------------------------


def own_points(points: Points) -> Points:
    """Points that nobody else can change: an array may be the caller's."""
    return points.copy() if isinstance(points, np.ndarray) else points


def types_at(points: Points, places: Sequence[int]) -> list[Any]:
    """The types at some places."""
    if isinstance(points, np.ndarray):
        return list(points[np.asarray(places, dtype=np.intp)].tolist())
    return [points[place] for place in places]


def whole_numbers(points: Sequence[Any]) -> Points:
    """Types as an array, if all of them are integers that it holds."""
    if set(map(type, points)) != {int}:
        return points
    try:
        return np.array(points, dtype=np.int64)
    except OverflowError:
        return points


def plain_numbers(ids: Sequence[str]) -> Counts | None:
    """The numbers that these are, if all of them are written as automatic ids are.

    >>> plain_numbers(["7", "12"]), plain_numbers(["07"]), plain_numbers(["case 7"]), plain_numbers(["7", ""])
    (array([ 7, 12]), None, None, None)
    """
    joined = "".join(ids)
    if not (joined.isascii() and joined.isdecimal()):
        return None
    try:
        numbers = np.fromiter(map(int, ids), dtype=np.int64, count=len(ids))
    except (ValueError, OverflowError):  # one is empty, or too long
        return None
    digits = np.searchsorted(POWERS_OF_TEN, numbers, side="right")
    return numbers if digits.sum() == len(joined) else None  # else one begins with 0
