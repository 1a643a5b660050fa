"""The Cholesky factor L of K + σ²I, in blocks of rows: growing it copies nothing.

Block b holds rows 512b … 512b+511 in two arrays: what lies left of its diagonal square, and the square's
lower triangle, packed row after row. A solve is one dgemv and one dtpsv per block; n rows take 8·n²/2 bytes.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dgemm, dgemv, dtpsv, dtrsm
from scipy.linalg.lapack import dtpttr

from breakeven.beliefs.gp.triangle import Triangle

Array = NDArray[np.float64]

BLOCK = 512


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
            used = rows if rows < BLOCK else BLOCK
            if low:  # offx=0, incx=1, offy=low, incy=1, trans=1, overwrite_y=1: names cost half a µs
                left = self._left[low // BLOCK][:used]
                b = dgemv(-1.0, left.T, b, 1.0, b, 0, 1, low, 1, 1, 1)
            b = dtpsv(used, packed, b, 1, low, 0, 1, 0, 1)  # incx, offx, lower, trans, diag, overwrite_x
            low, rows = low + BLOCK, rows - BLOCK
        return b

    def solve_many(self, B: Array) -> Array:
        """L⁻¹B, written over B, for many columns at once; B is in C order.

        BLAS reads rows as columns: it solves VᵀLᵀ = Bᵀ, in place.
        """
        if B.size == 0:
            return B  # which BLAS refuses
        for b, (left, packed) in enumerate(zip(self._left, self._packed, strict=True)):
            low, used = b * BLOCK, self._used(b)
            part = B[low : low + used].T
            if low:
                dgemm(-1.0, B[:low].T, left[:used].T, 1.0, part, overwrite_c=1)
            _solve_square(packed[: _length(used)], used, part)
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
        return min(self.size - b * BLOCK, BLOCK)

    def append(self, row: Array, pivot: float) -> None:
        """One more row: its entries left of the diagonal, and the diagonal."""
        b, r = divmod(self.size, BLOCK)
        if r == 0:
            self._left.append(np.zeros((BLOCK, b * BLOCK)))
            self._packed.append(np.zeros(_length(BLOCK)))
        if b:
            self._left[b][r] = row[: b * BLOCK]
            row = row[b * BLOCK :]
        start = _length(r)
        packed = self._packed[b]
        packed[start : start + r] = row
        packed[start + r] = pivot
        self.size += 1

    def truncate(self, size: int) -> None:
        """Forget the rows from `size` on."""
        self.size = size
        blocks = -(-size // BLOCK)
        del self._left[blocks:], self._packed[blocks:]

    def extend(self, rows: Callable[[int, int], Array], size: int, noise: Array) -> None:
        """Grow to `size` rows; rows(low, high) gives K[low:high, :high], without each row's noise variance.

        Far entries come from one solve a block, near ones row by row: that never fails, because a
        pivot cannot fall below the noise.
        """
        while self.size < size:
            low, high = self.size, min(size, (self.size // BLOCK + 1) * BLOCK)
            K = rows(low, high)
            far = self.solve_many(K[:, :low].T.copy())
            near = K[:, low:] - far.T @ far
            corner = Triangle()
            for i in range(high - low):
                near[i, i] += noise[low + i]
                corner.extend(near[i, : i + 1], float(noise[low + i]))
            for i, tail in enumerate(corner.rows()):
                self.append(np.concatenate([far[:, i], tail[:i]]), float(tail[i]))

    def to_bytes(self) -> list[bytes]:
        """Each block's filled rows: left of the square, and the packed square."""
        parts = []
        for b, (left, packed) in enumerate(zip(self._left, self._packed, strict=True)):
            used = self._used(b)
            parts += [left[:used].tobytes(), packed[: _length(used)].tobytes()]
        return parts

    def load(self, size: int, parts: list[bytes]) -> None:
        """Take up what `to_bytes` gave."""
        self.size, self._left, self._packed = size, [], []
        for b in range(-(-size // BLOCK)):
            used = self._used(b)
            left, packed = np.zeros((BLOCK, b * BLOCK)), np.zeros(_length(BLOCK))
            left[:used] = np.frombuffer(parts[2 * b]).reshape(used, b * BLOCK)
            packed[: _length(used)] = np.frombuffer(parts[2 * b + 1])
            self._left.append(left)
            self._packed.append(packed)


def _solve_square(packed: Array, rows: int, B: Array) -> None:
    """BU⁻¹ over B, U being a packed square.

    Unpacked it lives no longer than this: two of them, and malloc gives their pages back at every solve.
    """
    square = dtpttr(rows, packed, uplo="U")[0]
    dtrsm(1.0, square, B, side=1, overwrite_b=1)


def _length(rows: int) -> int:
    """Entries in the first so many rows of a packed triangle."""
    return rows * (rows + 1) // 2
