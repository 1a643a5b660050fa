"""Seeded random numbers by round: round t's number does not depend on what was drawn before.

So replaying, batching and restoring need no generator state beyond the seed.
"""

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

DRAWN_AT_ONCE = 256
NEXT_DRAWS = 2**192 - DRAWN_AT_ONCE // 4  # a block has its own highest word of the counter: it counts by 4


def name_words(name: str) -> list[int]:
    """A stream's name as numbers to seed with; none for a stream without a name.

    >>> name_words(""), len(name_words("clinic"))
    ([], 2)
    """
    if not name:
        return []
    digest = blake2b(name.encode(), digest_size=16).digest()
    return [int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:], "big")]


class Draws:
    """Uniform numbers in [0, 1): one for every round, from a seed and the name of the stream.

    Every round has a number in each `series`: 0 is for rules that draw, 1 for audits.

    >>> Draws(seed=7)(1000) == Draws(seed=7)(1000) != Draws(seed=7, name="clinic")(1000)
    True
    """

    def __init__(self, seed: int, name: str = "") -> None:
        self.seed = seed
        words = name_words(name)
        self._key = seed if not words else (words[0] << 64 | words[1]) ^ seed
        self._kept: dict[int, tuple[int, list[float]]] = {}  # by series: its last block

    def __call__(self, round: int, series: int = 0) -> float:
        """The number that belongs to this round."""
        block, place = divmod(round, DRAWN_AT_ONCE)
        kept = self._kept.get(series)
        if kept is None or kept[0] != block:
            kept = self._kept[series] = (
                block,
                self.many(block * DRAWN_AT_ONCE, DRAWN_AT_ONCE, series).tolist(),
            )
        return kept[1][place]

    def many(self, first: int, count: int, series: int = 0) -> NDArray[np.float64]:
        """The numbers of `count` rounds, from `first` on."""
        block, place = divmod(first, DRAWN_AT_ONCE)
        numbers = np.empty((-(-(place + count) // DRAWN_AT_ONCE), DRAWN_AT_ONCE))
        counter = np.random.Philox(key=self._key, counter=[0, 0, series, block])
        draw = np.random.Generator(counter).random
        for row in numbers:
            draw(out=row)
            counter.advance(NEXT_DRAWS)
        return numbers.reshape(-1)[place : place + count]
