"""Seeded random numbers by round: round t's number does not depend on what was drawn before.

So replaying, batching and restoring need no generator state beyond the seed.
"""

import numpy as np

BLOCK = 256


class Draws:
    """One uniform number in [0, 1) for every round.

    >>> Draws(seed=7)(1000) == Draws(seed=7)(1000)
    True
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._block = -1
        self._numbers: list[float] = []

    def __call__(self, round: int) -> float:
        """The number that belongs to this round."""
        block, place = divmod(round, BLOCK)
        if block != self._block:
            raw = np.random.Philox(key=self.seed, counter=[0, 0, 0, block]).random_raw(BLOCK)
            self._numbers = ((raw >> np.uint64(11)) * 2.0**-53).tolist()
            self._block = block
        return self._numbers[place]
