"""Named columns of one length that grow together, and a hash table that finds rows of them.

A row is found by the whole numbers in its first two columns: a key of a fleet by (0, key), a type of a key by
(key, type), a label by (key, id). Compiled loops read and write the table, which holds rows, not numbers.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from breakeven.learner.bulk.arrays import Counts
from breakeven.learner.bulk.loops import compiled

Rows = NDArray[np.int32]

FIRST_ROOM = 16
FREE, REMOVED = -1, -2  # places of the table that hold no row
SMALLEST_INDEX = 64
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # this and the next two: the mixing of SplitMix64
STIRRED, STIRRED_AGAIN = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
BLOCK = 16  # places of a table that lie together
BLOCK_BITS = np.uint64(4)


class Kind(NamedTuple):
    """What a column holds: its dtype, the value of a new row, and how many numbers a row has (0: one)."""

    dtype: str
    new: float = 0
    width: int = 0


class GrowingColumns:
    """Rows of named columns; `columns[name]` is a view of the rows in use, to be written as well.

    >>> table = GrowingColumns({"rounds": Kind("i8"), "theta": Kind("f8", 1.0)})
    >>> table.grow(3)
    >>> table["theta"].tolist(), len(table)
    ([1.0, 1.0, 1.0], 3)
    """

    def __init__(self, kinds: dict[str, Kind]) -> None:
        self.kinds = kinds
        self._used = 0
        self._columns = {name: self._empty(kind, 0) for name, kind in kinds.items()}

    @staticmethod
    def _empty(kind: Kind, rows: int) -> NDArray[Any]:
        shape = (rows, kind.width) if kind.width else rows
        return np.full(shape, kind.new, dtype=kind.dtype) if kind.new else np.zeros(shape, dtype=kind.dtype)

    def __len__(self) -> int:
        return self._used

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name][: self._used]

    def with_room(self, name: str) -> NDArray[Any]:
        """A column with the room behind the rows in use, which holds new rows already."""
        return self._columns[name]

    @property
    def room(self) -> int:
        """How many rows there is room for."""
        return len(next(iter(self._columns.values())))

    def reserve(self, rows: int) -> None:
        """Make room for this many rows in all, or for more."""
        if rows <= self.room:
            return
        size = max(rows, 2 * self.room, FIRST_ROOM)
        for name, kind in self.kinds.items():
            more = self._empty(kind, size)
            more[: self._used] = self._columns[name][: self._used]
            self._columns[name] = more

    def use(self, rows: int) -> None:
        """So many rows, for which there is room, are in use from now on."""
        self._used = rows

    def grow(self, more: int) -> None:
        """Add new rows."""
        self.reserve(self._used + more)
        self._used += more

    def widen(self, name: str, width: int) -> None:
        """Every row of a column has this many numbers from now on; new ones are 0."""
        kind, old = self.kinds[name], self._columns[name]
        self.kinds = self.kinds | {name: kind._replace(width=width)}
        self._columns[name] = np.hstack([old, np.zeros((len(old), width - kind.width))])

    def put(self, columns: dict[str, NDArray[Any]]) -> None:
        """Take these rows in place of all."""
        self._used = len(next(iter(columns.values())))
        size = max(self._used, FIRST_ROOM)
        self._columns = {name: self._empty(kind, size) for name, kind in self.kinds.items()}
        for name, values in columns.items():
            self[name][:] = values

    @property
    def nbytes(self) -> int:
        """The bytes of the rows in use."""
        return sum(self[name].nbytes for name in self.kinds)


# -- finding rows ------------------------------------------------------------------------------------


@compiled
def place_of(table: Rows, first: Counts, second: Counts, a: int, b: int) -> int:
    """The place of the table where the row of (a, b) stands; −1 − the place where it could be put if not.

    Numbers b that follow each other, as ids often do, stand in one block of the table, in turn.
    """
    mixed = np.uint64(a) * GOLDEN + (np.uint64(b) >> BLOCK_BITS)
    mixed = (mixed ^ (mixed >> SHIFTS[0])) * STIRRED
    mixed = (mixed ^ (mixed >> SHIFTS[1])) * STIRRED_AGAIN
    within = (np.uint64(b) + (mixed >> SHIFTS[1])) & np.uint64(BLOCK - 1)
    mixed ^= mixed >> SHIFTS[2]
    size = len(table)
    place, put = np.int64(((mixed << BLOCK_BITS) | within) & np.uint64(size - 1)), np.int64(-1)
    while table[place] != FREE:
        row = table[place]
        if row == REMOVED:
            if put < 0:
                put = place
        elif first[row] == a and second[row] == b:
            return int(place)
        place += BLOCK
        if place >= size:
            place = (place + 1) % BLOCK  # the next place of every block, from the first block on
    return int(-1 - (place if put < 0 else put))


@compiled
def find_all(table: Rows, first: Counts, second: Counts, a: Counts, b: Counts, rows: Counts) -> None:
    """The rows of many pairs; −1 where there is none."""
    for i in range(len(a)):
        place = place_of(table, first, second, a[i], b[i])
        rows[i] = table[place] if place >= 0 else -1


@compiled
def meet(
    table: Rows, first: Counts, second: Counts, used: int, a: Counts, b: Counts, start: int, rows: Counts
) -> tuple[int, int]:
    """The rows of many pairs from `start` on; a new pair is put behind the `used` rows of the columns.

    It stops where table or columns have no room: the next pair, and how many rows are used now.
    """
    most = min(len(first), len(table) // 2)
    for i in range(start, len(a)):
        place = place_of(table, first, second, a[i], b[i])
        if place >= 0:
            rows[i] = table[place]
            continue
        if used == most:
            return i, used
        table[-1 - place] = used
        first[used], second[used] = a[i], b[i]
        rows[i] = used
        used += 1
    return len(a), used


@compiled
def enter_all(table: Rows, first: Counts, second: Counts, rows: Counts) -> int:
    """Enter these rows of the columns; the first that is there twice, or −1."""
    for row in rows:
        place = place_of(table, first, second, first[row], second[row])
        if place >= 0:
            return int(row)
        table[-1 - place] = row
    return -1


def room_for(rows: int) -> Rows:
    """An empty table, at most half full with this many rows."""
    size = max(SMALLEST_INDEX, 1 << (2 * rows - 1).bit_length()) if rows else SMALLEST_INDEX
    return np.full(size, FREE, dtype=np.int32)


class IndexedColumns(GrowingColumns):
    """Columns whose rows are found by the numbers in the first two of them."""

    def __init__(self, kinds: dict[str, Kind]) -> None:
        super().__init__(kinds)
        self._pair = tuple(kinds)[:2]
        self.table = room_for(0)

    def _columns_of_pair(self) -> tuple[Counts, Counts]:
        first, second = self._pair
        return self.with_room(first), self.with_room(second)

    def find(self, a: Counts, b: Counts) -> Counts:
        """The rows of these pairs, −1 where there is none."""
        rows = np.empty(len(a), dtype=np.int64)
        find_all(self.table, *self._columns_of_pair(), a, b, rows)
        return rows

    def meet(self, a: Counts, b: Counts) -> Counts:
        """The rows of these pairs; new ones are added."""
        rows, next_pair, before = np.empty(len(a), dtype=np.int64), 0, len(self)
        while True:
            next_pair, used = meet(self.table, *self._columns_of_pair(), len(self), a, b, next_pair, rows)
            self.use(used)
            if next_pair == len(a):
                return rows
            new = (used - before) / max(next_pair, 1)  # the share of pairs so far, and likely of the others
            expected = used + 1 + int(new * (len(a) - next_pair))
            self.reserve(expected)
            if used == len(self.table) // 2:
                self.index(np.arange(used), room=max(2 * used, expected))

    def enter(self, rows: Counts) -> int:
        """Index these rows, too, for which there is room; the first that is there twice, or −1."""
        return enter_all(self.table, *self._columns_of_pair(), rows)

    def index(self, rows: Counts, room: int) -> int:
        """Index these rows anew, with room for more; the first that is there twice, or −1."""
        self.table = room_for(max(room, len(rows) + 1))
        return self.enter(rows)
