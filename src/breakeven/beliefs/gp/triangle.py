"""A small lower-triangular factor R that grows at the end and shrinks anywhere.

Row i of R is kept as column i of an upper triangle in Fortran order, so that BLAS solves in place, with the
capacity as leading dimension. Leaving from the front only moves `start`: labels mostly come in turn.
"""

from math import hypot, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtrs

Array = NDArray[np.float64]


class Triangle:
    """The factor of a positive definite matrix C = R Rᵀ.

    >>> R = Triangle()
    >>> R.append(np.array([]), 2.0)
    >>> R.append(np.array([1.0]), 3.0)
    >>> R.solve(np.array([2.0, 7.0])).tolist()
    [1.0, 2.0]
    """

    def __init__(self) -> None:
        self.size = 0
        self._start = 0
        self._allot(16)

    def _allot(self, capacity: int) -> None:
        self._capacity = capacity
        self._flat = np.zeros(capacity * (capacity + 1))  # one column to spare, see `_upper`

    def _upper(self) -> Any:
        """Rᵀ with the capacity as leading dimension; what lies outside the triangle is never read."""
        first = self._start * (self._capacity + 1)
        flat = self._flat[first : first + self._capacity * self.size]
        return flat.reshape(self._capacity, self.size, order="F")

    def rows(self) -> Array:
        """R as an ordinary matrix."""
        rows: Array = np.triu(self._upper()[: self.size]).T.copy()
        return rows

    def solve(self, w: Array) -> Array:
        """R⁻¹w."""
        if self.size == 0:
            return w
        solved: Array = dtrtrs(self._upper(), w, lower=0, trans=1)[0]
        return solved

    def solve_back(self, u: Array) -> Array:
        """R⁻ᵀu."""
        if self.size == 0:
            return u
        solved: Array = dtrtrs(self._upper(), u, lower=0, trans=0)[0]
        return solved

    def append(self, row: Array, pivot: float) -> None:
        """One more row: its entries left of the diagonal, and the diagonal."""
        if self._start + self.size == self._capacity:
            self._reset(self.rows(), room=2 * self.size + 16)
        self.size += 1
        column = self._upper()[:, -1]
        column[: self.size - 1] = row
        column[self.size - 1] = pivot

    def extend(self, c: Array, floor: float) -> None:
        """One more row of C, given up to its diagonal, whose Schur complement is at least `floor`."""
        u = self.solve(c[:-1])
        self.append(u, sqrt(max(float(c[-1] - u @ u), floor)))

    def pop_first(self, j: int) -> tuple[float, Array]:
        """Make row j the first, then take it out; its pivot, and how far the others lean on it."""
        if j:
            self._reset(_row_first(self.rows(), j), room=self._capacity)
        first = self._upper()[0]
        pivot, lean = float(first[0]), first[1:].copy()
        self._start += 1
        self.size -= 1
        return pivot, lean

    def drop(self, j: int) -> None:
        """Forget row j: the factor of C without its row and column."""
        rows = np.delete(self.rows(), j, axis=0)
        for i in range(j, len(rows)):
            _rotate(rows, i, i, i)
        self._reset(rows[:, :-1], room=self._capacity)

    def load(self, rows: Array) -> None:
        """Take up what `rows` gave."""
        self._reset(rows, room=len(rows) + 16)

    def _reset(self, rows: Array, room: int) -> None:
        self.size, self._start = len(rows), 0
        self._allot(max(room, self.size))
        self._upper()[: self.size] = rows.T


def _row_first(R: Array, j: int) -> Array:
    """The factor of C with row and column j moved to the front."""
    for i in range(j, 0, -1):
        _rotate(R, j, i - 1, i - 1)
        R[i - 1 :, i] *= -1.0  # keeps the diagonal positive
    order = [j, *range(j), *range(j + 1, len(R))]
    return R[order]


def _rotate(R: Array, row: int, column: int, first: int) -> None:
    """Turn two neighbouring columns, from row `first` on, so that the right one is 0 in `row`."""
    left, right = R[first:, column], R[first:, column + 1]
    a, b = R[row, column], R[row, column + 1]
    length = hypot(a, b)
    cosine, sine = a / length, b / length
    R[first:, column], R[first:, column + 1] = cosine * left + sine * right, cosine * right - sine * left
