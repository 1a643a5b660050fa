"""Points that are rows of numbers: how beliefs over them check, write down and read back a point."""

from collections.abc import Sequence
from typing import Any

from breakeven.errors import expect

LARGEST_DIM = 100_000  # numbers in a point: without a limit a few bytes of a snapshot could claim gigabytes


class NumberRows:
    """A belief over rows of `dim` numbers.

    >>> rows = NumberRows()
    >>> rows.dim = 2
    >>> rows.plain(rows.point([1, 2.5]))
    (1.0, 2.5)
    """

    dim: int

    def point(self, x: Any) -> Any:
        """Check a row of numbers."""
        return expect.vector("x", x, self.dim)

    def points(self, X: Any) -> Sequence[Any]:
        """Check rows of numbers."""
        return [row.copy() for row in expect.matrix("X", X, self.dim)]  # rows of their own: they are kept

    def plain(self, point: Any) -> Any:
        """The point as a tuple of floats."""
        return tuple(point.tolist())

    def recall(self, plain: Any) -> Any:
        """A point, read back from storage."""
        return self.point(plain)
