"""The Cholesky factor L of K + σ²I, in blocks of rows: growing it copies nothing.

Block b holds rows 256b … 256b+255: what lies left of its diagonal square as one array, the square as
another. A solve is one dgemv and one small triangular solve per block; n rows take 8·n²/2 bytes and a little.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtrs

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
        self._square: list[Array] = []
        self._blocks: list[tuple[int, int, Array, Array]] = []

    def _look(self, b: int) -> None:
        """Note block b as it is now: first row, last row, what is left of its square, its square transposed."""
        low = b * BLOCK
        used = min(self.size - low, BLOCK)
        del self._blocks[b:]
        self._blocks.append((low, low + used, self._left[b][:used], self._square[b].T[:, :used]))

    def solve(self, b: Array) -> Array:
        """L⁻¹b, written over b, by the routine whose results enter the factor."""
        for low, high, left, square in self._blocks:
            part = b[low:high]
            if low:
                part -= left @ b[:low]
            b[low:high] = dtrtrs(square, part, lower=0, trans=1, overwrite_b=1)[0]
        return b

    def solve_many(self, B: Array) -> Array:
        """L⁻¹B for many columns at once."""
        V = np.array(B, order="F")
        for low, high, left, square in self._blocks:
            V[low:high] = dtrtrs(square, V[low:high] - left @ V[:low], lower=0, trans=1)[0]
        return V

    def log_determinant(self) -> float:
        """log det(L Lᵀ)."""
        return 2.0 * sum(float(np.log(np.diag(square)).sum()) for _, _, _, square in self._blocks)

    def append(self, row: Array, pivot: float) -> None:
        """One more row: its entries left of the diagonal, and the diagonal."""
        b, r = divmod(self.size, BLOCK)
        if r == 0:
            self._left.append(np.zeros((BLOCK, b * BLOCK)))
            self._square.append(np.zeros((BLOCK, BLOCK)))
        if b:
            self._left[b][r] = row[: b * BLOCK]
        square = self._square[b][r]
        square[:r] = row[b * BLOCK :]
        square[r] = pivot
        self.size += 1
        self._look(b)

    def truncate(self, size: int) -> None:
        """Forget the rows from `size` on."""
        self.size = size
        blocks = -(-size // BLOCK)
        del self._left[blocks:], self._square[blocks:], self._blocks[blocks:]
        if blocks:
            self._look(blocks - 1)

    def extend(self, rows: Callable[[int, int], Array], size: int, noise_variance: float) -> None:
        """Grow to `size` rows; rows(low, high) gives K[low:high, :high], without the noise.

        Far entries come from one solve a block, near ones row by row: that never fails, because a
        pivot cannot fall below the noise.
        """
        while self.size < size:
            low, high = self.size, min(size, (self.size // BLOCK + 1) * BLOCK)
            K = rows(low, high)
            far = self.solve_many(K[:, :low].T)
            near = K[:, low:] - far.T @ far
            corner = Triangle()
            for i in range(high - low):
                near[i, i] += noise_variance
                corner.extend(near[i, : i + 1], noise_variance)
            for i, tail in enumerate(corner.rows()):
                self.append(np.concatenate([far[:, i], tail[:i]]), float(tail[i]))

    def to_bytes(self) -> list[bytes]:
        """Each block's rows, as stored."""
        return [
            part[: min(self.size - b * BLOCK, BLOCK)].tobytes()
            for b, pair in enumerate(zip(self._left, self._square, strict=True))
            for part in pair
        ]

    def load(self, size: int, parts: list[bytes]) -> None:
        """Take up what `to_bytes` gave."""
        self.size, self._left, self._square, self._blocks = size, [], [], []
        for b in range(-(-size // BLOCK)):
            left, square = np.zeros((BLOCK, b * BLOCK)), np.zeros((BLOCK, BLOCK))
            used = min(size - b * BLOCK, BLOCK)
            left[:used] = np.frombuffer(parts[2 * b]).reshape(used, b * BLOCK)
            square[:used] = np.frombuffer(parts[2 * b + 1]).reshape(used, BLOCK)
            self._left.append(left)
            self._square.append(square)
            self._look(b)
