"""Which ids may have arrived before, in little memory: a no is certain, a yes is looked up in the store.

The latest are kept as they are. Some thousands at a time they go to Bloom filters, each twice as large as the
one before; a new one is begun when the last is full.
"""

from collections.abc import Collection, Iterable
from itertools import islice

import numpy as np
from numpy.typing import NDArray

FIRST_IDS = 1 << 16  # in the first filter
BITS_AN_ID = 12  # at 3 probes about 1 id in 100 is looked up in vain
HALF, LOW = 32, 0xFFFFFFFF
LATEST_KEPT = 1 << 12  # ids, before they go to a filter


class SeenIds:
    """Ids that came; `complete` says whether all that the store has are in it.

    >>> ids = SeenIds()
    >>> ids.add_all(["a", "b"])
    >>> ids.complete = True
    >>> "a" in ids, "c" in ids, ids.among(["c", "a"])
    (True, False, ['a'])
    """

    def __init__(self) -> None:
        self.complete = False
        self._latest: set[str] = set()
        self._filters = [bytearray(FIRST_IDS * BITS_AN_ID // 8)]
        self._room = FIRST_IDS

    def __contains__(self, id: str) -> bool:
        """Whether the id may have come; also yes while not all are known."""
        if not self.complete or id in self._latest:
            return True
        number = hash(id)
        first, second = number & LOW, (number >> HALF) & LOW | 1
        for bits in self._filters:
            size = len(bits) * 8
            place = first % size
            if not bits[place >> 3] >> (place & 7) & 1:  # as a rule, for a new id
                continue
            for place in ((first + second) % size, (first + 2 * second) % size):
                if not bits[place >> 3] >> (place & 7) & 1:
                    break
            else:
                return True
        return False

    def among(self, ids: list[str]) -> list[str]:
        """Those of many ids that may have come."""
        if not self.complete:
            return ids
        first, _ = _numbers(ids)
        maybe = np.zeros(len(ids), dtype=np.uint8)
        for content in self._filters:  # most new ids are told by their first place
            bits, places = np.frombuffer(content, dtype=np.uint8), first % (len(content) * 8)
            maybe |= bits[places >> 3] >> (places & 7).astype(np.uint8)
        latest = self._latest
        hits = (maybe & 1).tolist()
        return [id for id, hit in zip(ids, hits, strict=True) if id in latest or (hit and id in self)]

    def add(self, id: str) -> None:
        """An id came."""
        self._latest.add(id)
        if len(self._latest) >= LATEST_KEPT:
            self._put_into_filter()

    def add_all(self, ids: Iterable[str]) -> None:
        """Many ids came."""
        coming = iter(ids)
        while some := set(islice(coming, LATEST_KEPT)):
            self._latest |= some
            if len(self._latest) >= LATEST_KEPT:
                self._put_into_filter()

    def add_found(self, found: "SeenIds") -> None:
        """All that the store had came before these; so from here on a no is certain."""
        self._filters = [*found._filters, *self._filters]
        self._latest |= found._latest
        self.complete = True

    def _put_into_filter(self) -> None:
        if self._room < len(self._latest):
            self._filters.append(bytearray(2 * len(self._filters[-1])))
            self._room = len(self._filters[-1]) * 8 // BITS_AN_ID
        self._room -= len(self._latest)
        bits = np.frombuffer(self._filters[-1], dtype=np.uint8)
        first, second = _numbers(self._latest)
        places = np.concatenate([first, first + second, first + 2 * second]) % (len(bits) * 8)
        np.bitwise_or.at(bits, places >> 3, np.left_shift(1, places & 7).astype(np.uint8))
        self._latest = set()


def _numbers(ids: Collection[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two numbers of each id, from which its places in a filter are made."""
    numbers: NDArray[np.int64] = np.fromiter(map(hash, ids), np.int64, len(ids))
    return numbers & LOW, (numbers >> HALF) & LOW | 1
