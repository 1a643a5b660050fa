"""Seeded random numbers by round: round t's number does not depend on what was drawn before.

So replaying, batching and restoring need no generator state beyond the seed.
"""

import numpy as np
from numpy.typing import NDArray

BLOCK = 256
NEXT_BLOCK = 2**192 - BLOCK // 4  # a block has its own highest word of the counter, which counts by fours


class Draws:
    """Uniform numbers in [0, 1): one for every round, and a further one for every further stream of numbers.

    >>> Draws(seed=7)(1000) == Draws(seed=7)(1000)
    True
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._kept: dict[int, tuple[int, list[float]]] = {}  # by stream: its last block

    def __call__(self, round: int, stream: int = 0) -> float:
        """The number that belongs to this round."""
        block, place = divmod(round, BLOCK)
        kept = self._kept.get(stream)
        if kept is None or kept[0] != block:
            kept = self._kept[stream] = block, self.many(block * BLOCK, BLOCK, stream).tolist()
        return kept[1][place]

    def many(self, first: int, count: int, stream: int = 0) -> NDArray[np.float64]:
        """The numbers of so many rounds, from `first` on."""
        block, place = divmod(first, BLOCK)
        numbers = np.empty((-(-(place + count) // BLOCK), BLOCK))
        counter = np.random.Philox(key=self.seed, counter=[0, 0, stream, block])
        draw = np.random.Generator(counter).random
        for row in numbers:
            draw(out=row)
            counter.advance(NEXT_BLOCK)
        return numbers.reshape(-1)[place : place + count]
