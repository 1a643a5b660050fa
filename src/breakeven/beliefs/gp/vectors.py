"""What every arrival does to vectors a few times, at a third of what NumPy takes to get to it.

BLAS refuses empty vectors, so that is seen to here.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import ddot, dscal

Array = NDArray[np.float64]


def dot(a: Array, b: Array) -> float:
    """a·b.

    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0])), dot(np.empty(0), np.empty(0))
    (11.0, 0.0)
    """
    product: float = ddot(a, b) if len(a) else 0.0
    return product


def scale(a: Array, factor: float) -> Array:
    """factor·a, written over a.

    >>> scale(np.array([1.0, 2.0]), 0.5), scale(np.empty(0), 0.5)
    (array([0.5, 1. ]), array([], dtype=float64))
    """
    scaled: Array = dscal(factor, a) if len(a) else a
    return scaled
