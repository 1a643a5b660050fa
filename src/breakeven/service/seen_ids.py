"""Which ids may have arrived before, in little memory: a no is certain, a yes is looked up in the store.

Bloom filters, each twice as large as the one before; a new one is begun when the last is full.
"""

from collections.abc import Iterable

FIRST_IDS = 1 << 16  # in the first filter
BITS_AN_ID = 12  # at 3 probes about 1 id in 100 is looked up in vain
HALF, LOW = 32, 0xFFFFFFFF


class SeenIds:
    """Ids that came; `complete` says whether all that the store has are in it.

    >>> ids = SeenIds()
    >>> ids.add_all(["a", "b"])
    >>> ids.complete = True
    >>> "a" in ids, "c" in ids
    (True, False)
    """

    def __init__(self) -> None:
        self.complete = False
        self._filters = [bytearray(FIRST_IDS * BITS_AN_ID // 8)]
        self._room = FIRST_IDS

    def __contains__(self, id: str) -> bool:
        """Whether the id may have come; also yes while not all are known."""
        if not self.complete:
            return True
        number = hash(id)
        first, second = number & LOW, (number >> HALF) & LOW | 1
        for bits in self._filters:
            size = len(bits) * 8
            for place in (first % size, (first + second) % size, (first + 2 * second) % size):
                if not bits[place >> 3] >> (place & 7) & 1:
                    break
            else:
                return True
        return False

    def add(self, id: str) -> None:
        """An id came."""
        if not self._room:
            self._filters.append(bytearray(2 * len(self._filters[-1])))
            self._room = len(self._filters[-1]) * 8 // BITS_AN_ID
        self._room -= 1
        bits = self._filters[-1]
        size, number = len(bits) * 8, hash(id)
        first, second = number & LOW, (number >> HALF) & LOW | 1
        for place in (first % size, (first + second) % size, (first + 2 * second) % size):
            bits[place >> 3] |= 1 << (place & 7)

    def add_all(self, ids: Iterable[str]) -> None:
        """Many ids came."""
        for id in ids:
            self.add(id)
