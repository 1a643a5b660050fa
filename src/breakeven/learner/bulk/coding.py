"""Types as small whole numbers, in the order in which they first appear.

Integers that lie close together are looked up as they are; everything else is numbered by a dict first.
"""

from collections.abc import Sequence
from itertools import islice
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from breakeven.learner.bulk.arrays import UNSEEN, Codes, Counts

Points = Sequence[Any] | NDArray[Any]

WIDEST = 2**22  # integers further apart than this are not looked up as they are


class _Numbering(dict[Any, int]):
    """A new key gets the next number."""

    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self)
        return number


class Coding:
    """The types met so far: the code of a value is `lookup[value - low]`, and its type `names[code]`.

    `values` are those of the rounds taken last. One that the lookup does not reach, or that is unseen there,
    is a type still to be met.
    """

    def __init__(self, points: Points, loops: ModuleType) -> None:
        self._points, self._loops = points, loops
        self._numbering = None if isinstance(points, np.ndarray) else _Numbering()
        self._part = points[:0]
        self.names: list[Any] = []
        self.low = 0
        self.lookup: Codes = np.empty(0, dtype=np.uint32)
        self.values: Counts = np.empty(0, dtype=np.int64)

    def take(self, rounds: slice) -> None:
        """Some rounds come."""
        self._part = self._points[rounds]
        if self._numbering is None:
            self.values = np.require(self._part, np.int64, ["C", "A", "W"])
        else:
            self._number(self._numbering)

    def _number(self, numbering: _Numbering) -> None:
        plain = self._part.tolist() if isinstance(self._part, np.ndarray) else self._part
        self.values = np.fromiter(map(numbering.__getitem__, plain), dtype=np.int64, count=len(plain))

    def meet(self, start: int) -> list[Any]:
        """Number the types that are new from `start` of the rounds on, and name them."""
        if self._numbering is None and not self._reach(self.values[start:]):
            self._numbering = _Numbering(zip(self.names, range(len(self.names)), strict=True))
            self._number(self._numbering)
        fresh = self._fresh(self.values[start:]) if self._numbering is None else self._fresh_names()
        self.names += fresh
        return fresh

    def _reach(self, values: Counts) -> bool:
        """Widen the lookup to these values, unless that is too wide."""
        low, high, size = int(values.min()), int(values.max()), len(self.lookup)
        if size:
            low, high = min(low, self.low), max(high, self.low + size - 1)
        if high - low >= WIDEST:
            return False
        lookup = np.full(high - low + 1, UNSEEN, dtype=np.uint32)
        lookup[self.low - low : self.low - low + size] = self.lookup
        self.low, self.lookup = low, lookup
        return True

    def _fresh(self, values: Counts) -> list[Any]:
        fresh = np.empty(len(values), dtype=np.int64)
        count = self._loops.number(values, self.low, self.lookup, len(self.names), fresh)
        return list(fresh[:count].tolist())

    def _fresh_names(self) -> list[Any]:
        """What the dict holds beyond the names; its numbers are the codes."""
        assert self._numbering is not None
        self.low, self.lookup = 0, np.arange(len(self._numbering), dtype=np.uint32)
        fresh = len(self._numbering) - len(self.names)
        return list(islice(reversed(self._numbering), fresh))[::-1]

    def codes(self) -> Codes:
        """The codes of the rounds taken, all of whose types were met."""
        return self.lookup[self.values - self.low]

    def types_at(self, rounds: Counts) -> list[Any]:
        """The types of these rounds, counted from 0."""
        if isinstance(self._points, np.ndarray):
            return list(self._points[rounds].tolist())
        return [self._points[round] for round in rounds.tolist()]
