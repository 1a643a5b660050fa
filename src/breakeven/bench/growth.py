"""How fast a cost grows: the exponent b of a·x^b, fitted through the points."""

from collections.abc import Sequence

import numpy as np


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """The slope of the line through the logarithms, by least squares.

    >>> round(exponent([1, 10, 100], [3, 300, 30_000]), 6)
    2.0
    """
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])
