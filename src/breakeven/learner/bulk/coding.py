"""Types as small whole numbers, in the order in which they first appear.

Integers that lie close together are looked up as they are; everything else is numbered by a dict first.
"""

from collections.abc import Sequence
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
        self.keys_by_number.append(key)
        return number

    def __init__(self, keys: list[Any]) -> None:
        self.keys_by_number = list(keys)
        super().__init__(zip(keys, range(len(keys)), strict=True))


class Coding:
    """The types seen so far: the code of a value is `lookup[value - low]`, and its type `names[code]`."""

    def __init__(self, points: Points, loops: ModuleType) -> None:
        self._points, self._loops = points, loops
        self._numbering = None if isinstance(points, np.ndarray) else _Numbering([])
        self.names: list[Any] = []
        self.low = 0
        self.lookup: Codes = np.empty(0, dtype=np.uint32)

    def values(self, rounds: slice) -> Counts:
        """Some rounds' types as values that `lookup` reaches."""
        part = self._points[rounds]
        if self._numbering is None and isinstance(part, np.ndarray):
            values = np.require(part, np.int64, ["C", "A", "W"])
            if self._reach(int(values.min()), int(values.max())):
                return values
            self._give_up_looking()
        assert self._numbering is not None
        plain = part.tolist() if isinstance(part, np.ndarray) else part
        values = np.fromiter(map(self._numbering.__getitem__, plain), dtype=np.int64, count=len(part))
        self._reach(0, len(self._numbering) - 1)
        return values

    def _reach(self, low: int, high: int) -> bool:
        """Widen the lookup to these values, unless that is too wide."""
        size = len(self.lookup)
        if size and self.low <= low and high < self.low + size:
            return True
        if size:
            low, high = min(low, self.low), max(high, self.low + size - 1)
        if self._numbering is None and high - low >= WIDEST:
            return False
        lookup = np.full(high - low + 1, UNSEEN, dtype=np.uint32)
        lookup[self.low - low : self.low - low + size] = self.lookup
        self.low, self.lookup = low, lookup
        return True

    def _give_up_looking(self) -> None:
        self._numbering = _Numbering(self.names)
        self.low, self.lookup = 0, np.arange(len(self.names), dtype=np.uint32)

    def meet(self, values: Counts) -> list[Any]:
        """Number the types that are new among these values, and name them."""
        fresh = np.empty(len(values), dtype=np.int64)
        count = self._loops.number(values, self.low, self.lookup, len(self.names), fresh)
        names: list[Any] = fresh[:count].tolist()
        if self._numbering is not None:
            names = [self._numbering.keys_by_number[number] for number in names]
        self.names += names
        return names

    def types_at(self, rounds: Counts) -> list[Any]:
        """The types of these rounds, counted from 0."""
        if isinstance(self._points, np.ndarray):
            return list(self._points[rounds].tolist())
        return [self._points[round] for round in rounds.tolist()]
