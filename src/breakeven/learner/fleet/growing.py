"""Named columns of one length that grow together: room is doubled when it runs out."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FIRST_ROOM = 16


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
        return np.full((rows, kind.width) if kind.width else rows, kind.new, dtype=kind.dtype)

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
        count = len(next(iter(columns.values())))
        self._used = 0
        self._columns = {name: self._empty(kind, 0) for name, kind in self.kinds.items()}
        self.grow(count)
        for name, values in columns.items():
            self._columns[name][:count] = values

    @property
    def nbytes(self) -> int:
        """The bytes of the rows in use."""
        return sum(self[name].nbytes for name in self.kinds)
