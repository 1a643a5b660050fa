"""A table that grows by rows and columns at its end, and loses rows anywhere.

Both ends are cheap: a row that leaves from the front is only skipped. `all` is a view, not a copy.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Rows:
    """Rows of floats in one array.

    >>> table = Rows(width=2)
    >>> table.append(np.array([1.0, 2.0]))
    >>> table.append(np.array([3.0, 4.0]))
    >>> table.remove(0)
    >>> table.all.tolist()
    [[3.0, 4.0]]
    """

    def __init__(self, width: int, rows: Array | None = None) -> None:
        self.size = 0 if rows is None else len(rows)
        self.width = width
        self._start = 0
        self._data = np.zeros((self.size or 16, width))
        self._look()
        if rows is not None:
            self.all[:] = rows

    def __reduce__(self) -> Any:
        """Copies are made anew: a copied view would not look at the copied data."""
        return type(self), (self.width, self.all)

    def _look(self) -> None:
        self.all = self._data[self._start : self._start + self.size, : self.width]

    def append(self, row: Array | float) -> None:
        """One more row at the end."""
        if self._start + self.size == len(self._data):
            self._move(2 * self.size + 16, self._data.shape[1])
        self.size += 1
        self._look()
        self.all[-1] = row

    def widen(self, column: Array | float) -> None:
        """One more column at the right."""
        self._grow_wider()
        self.all[:, -1] = column

    def _grow_wider(self) -> None:
        if self.width == self._data.shape[1]:
            self._move(len(self._data), self.width + self.width // 2 + 64)
        self.width += 1
        self._look()

    def remove(self, j: int) -> None:
        """Take row j out; the order of the others stays."""
        self.all[1 : j + 1] = self.all[:j].copy()
        self._start += 1
        self.size -= 1
        self._look()

    def _move(self, height: int, width: int) -> None:
        self._data = np.zeros((height, width))
        self._data[: self.size, : self.width] = self.all
        self._start = 0
