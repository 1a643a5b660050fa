"""Seeded generators: NumPy's for our own streams, its old one for those of the paper.

Ours differ by purpose, so that equal seeds of two things do not make them alike.
"""

import numpy as np

from breakeven.errors import expect

PURPOSES = ("means", "points", "noise")


def generator(purpose: str, seed: int, name: str = "seed") -> np.random.Generator:
    """A generator for one purpose of one seed; `name` is what the caller calls the seed.

    >>> generator("points", 7).random() == generator("points", 7).random()
    True
    >>> generator("points", 7).random() == generator("noise", 7).random()
    False
    """
    return np.random.default_rng([1 + PURPOSES.index(purpose), expect.whole(name, seed)])


def legacy(name: str, seed: int) -> np.random.RandomState:
    """The generator that the paper's code used; it started all its streams from seed 0.

    >>> round(legacy("seed", 0).rand(), 4)
    0.5488
    """
    return np.random.RandomState(expect.whole(name, seed, most=2**32 - 1))
