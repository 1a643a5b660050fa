"""Arrivals per type, as the theorems over K types take them.

Notation: M_k arrivals of type k, T rounds. Counts may be fractions: expected arrivals are good to plan with.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from breakeven.errors import expect


def counted(arrivals: Sequence[float]) -> NDArray[np.float64]:
    """Arrivals of each type as an array, zeros included.

    >>> counted([3, 0, 2.5])
    array([3. , 0. , 2.5])
    """
    counts = expect.vector("arrivals", arrivals)
    if (counts < 0).any():
        expect.refuse("arrivals", "no negative count", counts.min())
    return counts


def seen_within(arrivals: Sequence[float], rounds: float | None) -> tuple[NDArray[np.float64], float]:
    """Arrivals of the types that were seen, and the rounds.

    >>> seen_within([3, 0, 2], None)
    (array([3., 2.]), 5.0)
    """
    counts = counted(arrivals)
    least = max(1.0, float(counts.sum()))
    total = least if rounds is None else expect.positive("rounds", rounds)
    if total < least * (1 - 1e-12):  # a sum of fractions may be an ulp above the rounds
        expect.refuse("rounds", f"at least the {least:g} arrivals", rounds)
    return counts[counts > 0], total


def even_split(types: int, rounds: int) -> list[int]:
    """Arrivals per type when they are as equal as can be.

    >>> even_split(3, 8)
    [3, 3, 2]
    """
    share, left = divmod(rounds, types)
    return [share + (k < left) for k in range(types)]
