"""Branin and Hartmann, with their bounds, minimum and minimisers as data.

Both are in the form that is minimised: Hartmann's is the negative sum.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from breakeven.errors import expect

Array = NDArray[np.float64]

Point = tuple[float, ...]


@dataclass(frozen=True)
class Function:
    """A function on a box, called with rows.

    >>> line = Function("line", (0.0,), (1.0,), 0.0, ((0.0,),), lambda X: X[:, 0])
    >>> line([[0.25], [1.0]]).tolist()
    [0.25, 1.0]
    """

    name: str
    low: Point
    high: Point
    minimum: float
    minimisers: tuple[Point, ...]
    formula: Callable[[Array], Array] = field(repr=False)

    @property
    def dim(self) -> int:
        """Numbers in a row."""
        return len(self.low)

    def __call__(self, rows: Any) -> Array:
        """The values at these rows, inside the box or not."""
        return self.formula(expect.matrix("rows", rows, self.dim))


def branin(X: Array) -> Array:
    """(x₂ − 5.1/4π²·x₁² + 5/π·x₁ − 6)² + 10(1 − 1/8π)·cos x₁ + 10.

    >>> branin(np.array([[pi, 2.275]])).round(6).tolist()
    [0.397887]
    """
    x, y = X[:, 0], X[:, 1]
    valley = y - 5.1 / (4 * pi**2) * x**2 + 5 / pi * x - 6
    values: Array = valley**2 + 10 * (1 - 1 / (8 * pi)) * np.cos(x) + 10
    return values


WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
SHARPNESS = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
CENTRES = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def hartmann6(X: Array) -> Array:
    """−Σ_i wᵢ·exp(−Σ_j sᵢⱼ(xⱼ − cᵢⱼ)²), with weights w, sharpness s and centres c.

    >>> hartmann6(CENTRES[:1]).round(6).tolist()
    [-1.011642]
    """
    gaps = X[:, None, :] - CENTRES
    values: Array = -(np.exp(-(SHARPNESS * gaps**2).sum(axis=2)) @ WEIGHTS)
    return values


BRANIN = Function(
    name="branin",
    low=(-5.0, 0.0),
    high=(10.0, 15.0),
    minimum=10 / (8 * pi),
    minimisers=((-pi, 12.275), (pi, 2.275), (3 * pi, 2.475)),
    formula=branin,
)

HARTMANN6 = Function(
    name="hartmann6",
    low=(0.0,) * 6,
    high=(1.0,) * 6,
    minimum=-3.322368011415515,
    minimisers=(
        (
            0.20168951100670543,
            0.15001069182345797,
            0.47687397422189703,
            0.2753324304940561,
            0.31165161660011326,
            0.6573005340656204,
        ),
    ),
    formula=hartmann6,
)
