"""Growing tables and triangular factors: the storage and the few operations that every solver is made of.

`Factor` is the Cholesky factor of K + σ²I in blocks of rows, so that growing it copies little. Block b holds
rows 512b … 512b+511 in two arrays: what lies left of its diagonal square, and the square's lower triangle,
packed row after row. A solve is one dgemv and one dtpsv a block; n rows take 8·n²/2 bytes. `Triangle` is a
smaller factor that loses rows anywhere. A row leaves by a closed form of the rotations that textbooks use:
the new columns are old ones plus a multiple of a running sum, a panel of columns at a time by dgemm.
"""

from collections.abc import Callable
from math import prod, sqrt
from typing import Any

import numpy as np

from breakeven.beliefs.gp import blas
from breakeven.errors.expect import Array

ROWS_PER_BLOCK = 512
FIRST_ROWS = 16  # a table's, a triangle's and a block's first room
PANEL = 32  # columns that are turned together
BEHIND = np.tril(np.ones((PANEL, PANEL)), -1)  # of a panel's columns, those behind each
SAFE_PIVOT = 1.0 - 1e-6  # of the noise: a squared pivot below it is rounding


def dot(a: Array, b: Array) -> float:
    """a·b, at a third of what NumPy takes; BLAS refuses empty vectors.

    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0])), dot(np.empty(0), np.empty(0))
    (11.0, 0.0)
    """
    product: float = blas.ddot(a, b) if len(a) else 0.0
    return product


def scale(a: Array, factor: float) -> Array:
    """factor·a, written over a.

    >>> scale(np.array([1.0, 2.0]), 0.5), scale(np.empty(0), 0.5)
    (array([0.5, 1. ]), array([], dtype=float64))
    """
    scaled: Array = blas.dscal(factor, a) if len(a) else a
    return scaled


def floats(data: Any, *shape: int) -> Array:
    """Finite numbers of this shape from their bytes; raises ValueError, before any memory is taken, if not.

    >>> floats(np.ones(2).tobytes(), 1, 2)
    array([[1., 1.]])
    """
    count = prod(shape)
    if type(data) is not bytes or min(shape) < 0 or len(data) != 8 * count:
        raise ValueError(f"expected the bytes of {count} numbers")
    if not count:
        return np.empty(shape)
    numbers = np.frombuffer(data).reshape(shape)
    if not np.isfinite(numbers).all():
        raise ValueError("expected finite numbers")
    return numbers


class GrowingTable:
    """Rows of floats in one array, which grows by rows and columns at its end and loses rows anywhere.

    Both ends are cheap: a row that leaves from the front is only skipped. `all` is a view, not a copy.

    >>> table = GrowingTable(width=2)
    >>> table.append(np.array([1.0, 2.0]))
    >>> table.append(np.array([3.0, 4.0]))
    >>> table.remove(0)
    >>> table.all.tolist()
    [[3.0, 4.0]]
    """

    def __init__(self, width: int, rows: Array | None = None) -> None:
        self._data = np.empty((0, width)) if rows is None else rows.copy()
        self.size, self.width, self._start = len(self._data), width, 0
        self._show(self._data)

    def __reduce__(self) -> Any:
        """Copies are made anew: a copied view would not look at the copied data."""
        return type(self), (self.width, self.all)

    def _look(self) -> None:
        self._show(self._data[self._start : self._start + self.size, : self.width])

    def _show(self, all: Array) -> None:
        self.all = all

    def append(self, row: Array | float) -> None:
        """One more row at the end."""
        if self._start + self.size == len(self._data):
            self._move(2 * self.size + FIRST_ROWS, self._data.shape[1])
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
        """Take row j out; the order of the others stays. The shorter side moves."""
        if 2 * j < self.size:
            self.all[1 : j + 1] = self.all[:j]
            self._start += 1
        else:
            self.all[j:-1] = self.all[j + 1 :]
        self.size -= 1
        self._look()

    def _move(self, height: int, width: int) -> None:
        data = np.zeros((height, width))
        data[: self.size, : self.width] = self.all
        self._data, self._start = data, 0


class Triangle:
    """The factor R of a positive definite matrix C = R Rᵀ, which grows at the end and shrinks anywhere.

    Row i of R is kept as column i of an upper triangle in Fortran order, so that BLAS solves in place, with
    the capacity as leading dimension. Leaving from the front only moves `start`: labels mostly come in turn.

    >>> R = Triangle()
    >>> R.append(np.array([]), 2.0)
    >>> R.append(np.array([1.0]), 3.0)
    >>> R.solve(np.array([2.0, 7.0])).tolist()
    [1.0, 2.0]
    """

    def __init__(self) -> None:
        self.size = 0
        self._start = 0
        self._allot(0)

    def _allot(self, capacity: int) -> None:
        self._capacity = capacity
        self._flat = np.zeros(capacity * (capacity + 1))  # one column to spare, see `_upper`

    def _upper(self, first: int = 0) -> Any:
        """Rᵀ from row and column `first` on, with the capacity as leading dimension.

        Below its diagonal are zeros, and from row `size` on whatever comes next in memory.
        """
        start, size = (self._start + first) * (self._capacity + 1), self.size - first
        return self._flat[start : start + self._capacity * size].reshape(self._capacity, size, order="F")

    def rows(self) -> Array:
        """R as an ordinary matrix."""
        rows: Array = np.triu(self._upper()[: self.size]).T.copy()
        return rows

    def solve(self, w: Array) -> Array:
        """R⁻¹w."""
        if self.size == 0:
            return w
        solved: Array = blas.dtrtrs(self._upper(), w, lower=0, trans=1)[0]
        return solved

    def solve_back(self, u: Array) -> Array:
        """R⁻ᵀu."""
        if self.size == 0:
            return u
        solved: Array = blas.dtrtrs(self._upper(), u, lower=0, trans=0)[0]
        return solved

    def append(self, row: Array, pivot: float) -> None:
        """One more row: its entries left of the diagonal, and the diagonal."""
        if self._start + self.size == self._capacity:
            self._reset(self.rows(), room=2 * self.size + FIRST_ROWS)
        self.size += 1
        column = self._upper()[:, -1]
        column[: self.size - 1] = row
        column[self.size - 1] = pivot

    def extend(self, c: Array, floor: float) -> None:
        """One more row of C, given up to its diagonal, whose Schur complement is at least `floor`."""
        u = self.solve(c[:-1])
        self.append(u, sqrt(max(float(c[-1] - u @ u), floor)))

    def pop_first(self, j: int) -> tuple[float, Array]:
        """Make row j the first, then take it out; its pivot, and how far the others lean on it.

        With (b, d) the row's entries up to its diagonal and ρ_k² = d² + Σ_{i≥k} b_i², column k becomes
        (ρ_{k+1}/ρ_k)·R_k − b_k/(ρ_k ρ_{k+1})·s_k, where s_k = d·R_j + Σ_{k<i<j} b_i·R_i.
        """
        U = self._upper()
        if j == 0:
            self._start += 1
            self.size -= 1
            return float(U[0, 0]), U[0, 1:].copy()
        row = U[: j + 1, j].copy()
        rho = np.sqrt(np.cumsum(row[::-1] ** 2)[::-1])
        rest = row[j] * U[j]
        keep, take = rho[1:] / rho[:-1], -row[:j] / (rho[:-1] * rho[1:])
        for low, high in _panels(j):
            U[high, low:] = rest[low:]  # that row is done with
            turned = U[low : high + 1, low:].T @ _turn(keep[low:high], take[low:high], row[low:high])
            rest[low:] = turned[:, -1]
            U[low + 1 : high + 1, low + 1 : j + 1] = turned[
                : j - low, :-1
            ].T  # one row down, one to the right:
            U[low + 1 : high + 1, j + 1 :] = turned[j - low + 1 :, :-1].T  # `start` moves by one of each
        self._start += 1
        self.size -= 1
        return float(rho[0]), np.concatenate([rest[:j], rest[j + 1 :]]) / rho[0]

    def drop(self, j: int) -> None:
        """Forget row j: the factor of C without its row and column.

        What lies behind is G with G Gᵀ + f fᵀ to be factored, f being column j. With G u = f and
        τ_k² = 1 + Σ_{i≤k} u_i², column k becomes (τ_k/τ_{k−1})·G_k + u_k/(τ_k τ_{k−1})·Σ_{i>k} u_i G_i.
        """
        f = self._upper()[j, j + 1 :].copy()
        if len(f):
            keep, take, u = _raised(blas.dtrtrs(self._upper(j + 1), f, lower=0, trans=1)[0])
            G, rest, last = self._upper(j + 1)[: len(u)], np.zeros(len(u)), None
            for low, high in _panels(len(u)):
                G[high : high + 1, low:] = rest[low:]  # that row is done with, if there is one
                old = G[low : high + 1, low:].T
                turned = old @ _turn(keep[low:high], take[low:high], u[low:high])[: old.shape[1]]
                rest[low:] = turned[:, -1]
                if last is not None:
                    self._put(j, *last)
                last = low, turned[:, :-1].T
            assert last is not None
            self._put(j, *last)
            U = self._upper()
            U[:j, j:-1] = U[:j, j + 1 :]
        self.size -= 1

    def _put(self, j: int, low: int, turned: Array) -> None:
        """Columns of G, one to the left and one up: where they belong without row j."""
        self._upper()[j + low : j + low + len(turned), j + low : -1] = turned

    def load(self, rows: Array) -> None:
        """Take up what `rows` gave."""
        self._reset(rows, room=len(rows))

    def factor(self, C: Array, noise: Array) -> None:
        """Factor C anew; no pivot can lie below the root of its noise variance, whatever rounding does."""
        R = cholesky(C, noise)
        if R is None:
            self._reset(np.empty((0, 0)), room=len(C))
            for i in range(len(C)):
                self.extend(C[i, : i + 1], float(noise[i]))
        else:
            self.load(R)

    def _reset(self, rows: Array, room: int) -> None:
        self.size, self._start = len(rows), 0
        self._allot(max(room, self.size))
        self._upper()[: self.size] = rows.T


def cholesky(C: Array, noise: Array) -> Array | None:
    """The lower factor of C; None where rounding takes a squared pivot below its noise variance."""
    if not len(C):
        return np.empty((0, 0))
    factor, failed = blas.dpotrf(C.T, lower=0, clean=1)  # of a symmetric matrix: no copy to transpose it
    if failed or (factor.diagonal() ** 2 < SAFE_PIVOT * noise).any():
        return None
    lower: Array = factor.T
    return lower


def _panels(end: int) -> list[tuple[int, int]]:
    """Ranges of columns, the last first."""
    return [(max(high - PANEL, 0), high) for high in range(end, 0, -PANEL)]


def _turn(keep: Array, take: Array, lean: Array) -> Array:
    """What a panel's new columns are of its old ones and of the running sum behind, and so the sum itself.

    A column for every new one, and last the sum; a row for every old one, and last the sum.
    """
    width = len(keep)
    turn = np.empty((width + 1, width + 1))
    np.multiply(lean[:, None] * take, BEHIND[:width, :width], out=turn[:-1, :-1])
    turn.reshape(-1)[:: width + 2] = np.append(keep, 1.0)
    turn[:-1, -1], turn[-1, :-1] = lean, take
    return turn


def _raised(u: Array) -> tuple[Array, Array, Array]:
    """How columns of G change where G(I + u uᵀ)Gᵀ is to be factored; see `Triangle.drop`."""
    tau = np.sqrt(1.0 + np.cumsum(u * u))
    before = np.concatenate([[1.0], tau[:-1]])
    return tau / before, u / (tau * before), u


class Factor:
    """A lower-triangular L that grows by rows.

    >>> L = Factor()
    >>> L.append(np.array([]), 2.0)
    >>> L.append(np.array([1.0]), 3.0)
    >>> L.solve(np.array([2.0, 7.0])).tolist()
    [1.0, 2.0]
    """

    def __init__(self) -> None:
        self.size = 0
        self._left: list[Array] = []
        self._packed: list[Array] = []

    def solve(self, b: Array) -> Array:
        """L⁻¹b, written over b, by the routine whose results enter the factor."""
        low, rows = 0, self.size
        for packed in self._packed:
            used = rows if rows < ROWS_PER_BLOCK else ROWS_PER_BLOCK
            if low:  # offx=0, incx=1, offy=low, incy=1, trans=1, overwrite_y=1: names cost half a µs
                left = self._left[low // ROWS_PER_BLOCK][:used]
                b = blas.dgemv(-1.0, left.T, b, 1.0, b, 0, 1, low, 1, 1, 1)
            b = blas.dtpsv(used, packed, b, 1, low, 0, 1, 0, 1)  # incx, offx, lower, trans, diag, overwrite_x
            low, rows = low + ROWS_PER_BLOCK, rows - ROWS_PER_BLOCK
        return b

    def solve_many(self, B: Array) -> Array:
        """L⁻¹B, written over B, for many columns at once; B is in C order.

        BLAS reads rows as columns: it solves VᵀLᵀ = Bᵀ, in place.
        """
        if B.size == 0:
            return B  # which BLAS refuses
        for b, (left, packed) in enumerate(zip(self._left, self._packed, strict=True)):
            low, used = b * ROWS_PER_BLOCK, self._used(b)
            part = B[low : low + used].T
            if low:
                blas.dgemm(-1.0, B[:low].T, left[:used].T, 1.0, part, overwrite_c=1)
            _solve_square(packed[: _entries(used)], used, part)
        return B

    def log_determinant(self) -> float:
        """log det(L Lᵀ)."""
        total = 0.0
        for b, packed in enumerate(self._packed):
            diagonal = packed[np.cumsum(np.arange(1, self._used(b) + 1)) - 1]
            total += 2.0 * float(np.log(diagonal).sum())
        return total

    def _used(self, b: int) -> int:
        """How many rows of block b are filled."""
        return min(self.size - b * ROWS_PER_BLOCK, ROWS_PER_BLOCK)

    def append(self, row: Array, pivot: float) -> None:
        """One more row: its entries left of the diagonal, and the diagonal."""
        b, r = divmod(self.size, ROWS_PER_BLOCK)
        start = _entries(r)
        if b == len(self._packed) or start == len(self._packed[b]):
            self._make_room(b, r, r + 1)
        if b:
            self._left[b][r] = row[: b * ROWS_PER_BLOCK]
            row = row[b * ROWS_PER_BLOCK :]
        packed = self._packed[b]
        packed[start : start + r] = row
        packed[start + r] = pivot
        self.size += 1

    def _make_room(self, b: int, filled: int, wanted: int) -> None:
        """Room for `wanted` rows in block b, `filled` of which are there: twice as much each time."""
        room = FIRST_ROWS
        while room < wanted:
            room *= 2
        left, packed = np.zeros((room, b * ROWS_PER_BLOCK)), np.zeros(_entries(room))
        if filled:
            left[:filled], packed[: _entries(filled)] = (
                self._left[b][:filled],
                self._packed[b][: _entries(filled)],
            )
        self._left[b:], self._packed[b:] = [left], [packed]

    def _append_rows(self, rows: Array) -> None:
        """More rows, full up to their diagonals, all of one block; `rows` has as many columns as L then."""
        (b, r), count = divmod(self.size, ROWS_PER_BLOCK), len(rows)
        low = b * ROWS_PER_BLOCK
        if b == len(self._packed) or len(self._packed[b]) < _entries(r + count):
            self._make_room(b, r, r + count)
        self._left[b][r : r + count] = rows[:, :low]
        if r:
            for i, row in enumerate(rows, start=r):
                self._packed[b][_entries(i) : _entries(i + 1)] = row[low : low + i + 1]
        else:
            self._packed[b][: _entries(count)] = blas.dtrttp(rows[:, low:].T, uplo="U")[0]
        self.size += count

    def truncate(self, size: int) -> None:
        """Forget the rows from `size` on."""
        self.size = size
        blocks = -(-size // ROWS_PER_BLOCK)
        del self._left[blocks:], self._packed[blocks:]

    def extend(self, rows: Callable[[int, int], Array], size: int, noise: Array) -> None:
        """Grow to `size` rows; rows(low, high) gives K[low:high, :high], without each row's noise variance.

        Far entries come from one solve a block, near ones from a Cholesky factor of what these leave, or row
        by row where rounding breaks that: a pivot cannot fall below the noise.
        """
        while self.size < size:
            low, high = self.size, min(size, (self.size // ROWS_PER_BLOCK + 1) * ROWS_PER_BLOCK)
            K = rows(low, high)
            far = self.solve_many(K[:, :low].T.copy())
            near = K[:, low:] - far.T @ far
            near.reshape(-1)[:: high - low + 1] += noise[low:high]
            corner = Triangle()
            corner.factor(near, noise[low:high])
            self._append_rows(np.hstack([far.T, corner.rows()]))

    def rows(self, low: int, high: int) -> Array:
        """Rows low … high−1 of L as an ordinary matrix, up to column high−1."""
        result = np.zeros((high - low, high))
        for b in range(low // ROWS_PER_BLOCK, -(-high // ROWS_PER_BLOCK)):
            first, used = b * ROWS_PER_BLOCK, self._used(b)
            some = slice(max(low - first, 0), min(high - first, used))
            place = slice(max(first - low, 0), max(first - low, 0) + some.stop - some.start)
            square = blas.dtpttr(used, self._packed[b][: _entries(used)], uplo="U")[0].T
            result[place, :first] = self._left[b][some]
            result[place, first : first + some.stop] = np.tril(square[some, : some.stop], some.start)
        return result

    def without(self, i: int) -> "Factor":
        """The factor of the matrix without row and column i; see `Triangle.drop` for the formula."""
        smaller = Factor()
        blocks = i // ROWS_PER_BLOCK
        smaller._left, smaller._packed = self._left[:blocks], self._packed[:blocks]
        smaller.size = blocks * ROWS_PER_BLOCK
        f = np.zeros(self.size)
        for low in range(smaller.size, self.size, ROWS_PER_BLOCK):
            b, used = low // ROWS_PER_BLOCK, self._used(low // ROWS_PER_BLOCK)
            if low <= i:
                f[i + 1 : low + used] = self._packed[b][_column(i - low, used)][1:]
            else:
                f[low : low + used] = self._left[b][:used, i]
        keep, take, u = _raised(self.solve(f)[i + 1 :])
        turns = [
            (low, high, _turn(keep[low:high], take[low:high], u[low:high])) for low, high in _panels(len(u))
        ]
        while smaller.size < self.size - 1:
            low, high = smaller.size, min(smaller.size + ROWS_PER_BLOCK, self.size - 1)
            old = self.rows(low, high + 1)
            rows = np.delete(old, i - low, axis=0) if low <= i else old[1:]
            _turn_rows(rows, i, turns)
            rows[:, i:-1] = rows[:, i + 1 :]
            smaller._append_rows(rows[:, :-1])
        return smaller

    def to_bytes(self) -> list[bytes]:
        """Each block's filled rows: left of the square, and the packed square."""
        parts = []
        for b, (left, packed) in enumerate(zip(self._left, self._packed, strict=True)):
            used = self._used(b)
            parts += [left[:used].tobytes(), packed[: _entries(used)].tobytes()]
        return parts

    @classmethod
    def of(cls, size: int, parts: list[bytes]) -> "Factor":
        """The factor that `to_bytes` wrote; raises ValueError where the parts do not fit."""
        factor = cls()
        if type(parts) is not list or len(parts) != 2 * -(-size // ROWS_PER_BLOCK):
            raise ValueError("expected two parts for every block of a factor")
        for b in range(len(parts) // 2):
            used = min(size - b * ROWS_PER_BLOCK, ROWS_PER_BLOCK)
            left = floats(parts[2 * b], used, b * ROWS_PER_BLOCK)
            packed = floats(parts[2 * b + 1], _entries(used))
            factor._left.append(left.copy())
            factor._packed.append(packed.copy())
        factor.size = size
        return factor


def _turn_rows(rows: Array, i: int, turns: list[tuple[int, int, Array]]) -> None:
    """Change the columns behind column i of some rows of L, in place, the last panel first."""
    rest = np.zeros(len(rows))
    for low, high, turn in turns:
        if i + 1 + low < rows.shape[1]:
            old = rows[:, i + 1 + low : i + 1 + high]
            width = old.shape[1]
            turned = old @ turn[:width, :width]
            turned += rest[:, None] * turn[-1, :width]
            rest += old @ turn[:width, -1]
            old[:] = turned


def _column(j: int, rows: int) -> Array:
    """Where the entries of column j, from the diagonal on, lie in a packed triangle."""
    i = np.arange(j, rows)
    return np.asarray(i * (i + 1) // 2 + j)


def _solve_square(packed: Array, rows: int, B: Array) -> None:
    """BU⁻¹ over B, U being a packed square.

    Unpacked it lives no longer than this: two of them, and malloc gives their pages back at every solve.
    """
    square = blas.dtpttr(rows, packed, uplo="U")[0]
    blas.dtrsm(1.0, square, B, side=1, overwrite_b=1)


def _entries(rows: int) -> int:
    """Entries in the first rows of a packed triangle."""
    return rows * (rows + 1) // 2
