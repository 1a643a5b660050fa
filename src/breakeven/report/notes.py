"""Where the words of a note go: near their point, over as little of the chart as can be.

Everything is measured in points of print (1/72 inch), from the lower left corner of the picture.
"""

from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LETTER_WIDTH, ROW_HEIGHT = 5.4, 12.5
ASIDE, AWAY = (6.0, 18.0, 34.0), (12.0, 26.0, 44.0, 66.0, 92.0)
MARKER_EDGE = np.array([(right, up) for right in (-4.0, 0.0, 4.0) for up in (-4.0, 0.0, 4.0)])
COVERED, PUSHED_OUT = 10.0, 1000.0


class Box(NamedTuple):
    """A rectangle that words fill."""

    left: float
    bottom: float
    right: float
    top: float

    def covers(self, points: Array) -> int:
        """How many of the points lie in it."""
        x, y = points[:, 0], points[:, 1]
        inside = (x > self.left) & (x < self.right) & (y > self.bottom) & (y < self.top)
        return int(inside.sum())

    def meets(self, other: "Box") -> bool:
        """Whether the two overlap."""
        apart = self.right < other.left or other.right < self.left
        return not (apart or self.top < other.bottom or other.top < self.bottom)

    def inside(self, other: "Box") -> bool:
        """Whether it lies within the other."""
        across = other.left <= self.left and self.right <= other.right
        return across and other.bottom <= self.bottom and self.top <= other.top


def best_box(text: str, point: tuple[float, float], drawn: Array, taken: list[Box], frame: Box) -> Box:
    """The box for some words about a point that covers least of what is drawn and of the boxes taken.

    >>> frame = Box(0, 0, 300, 200)
    >>> best_box("here", (10, 10), np.empty((0, 2)), [], frame).left > 10
    True
    """
    x, y = point
    rows = text.split("\n")
    width, height = LETTER_WIDTH * max(map(len, rows)), ROW_HEIGHT * len(rows)

    def harm(box: Box) -> float:
        distance = abs((box.left + box.right) / 2 - x) / 4 + abs((box.bottom + box.top) / 2 - y)
        crowded = PUSHED_OUT * (not box.inside(frame)) + PUSHED_OUT * sum(map(box.meets, taken))
        return distance + crowded + COVERED * box.covers(drawn)

    lefts = [x + aside for aside in ASIDE] + [x - aside - width for aside in ASIDE]
    bottoms = [y + away for away in AWAY] + [y - away - height for away in AWAY]
    boxes = [Box(left, low, left + width, low + height) for left, low in product(lefts, bottoms)]
    return min(boxes, key=harm)


def inked(points: Array, *, joined: bool) -> Array:
    """Points on all that a line puts on the paper, so close together that no box falls between them."""
    points = points[np.isfinite(points).all(axis=1)]
    if not joined or len(points) < 2:
        return np.asarray(points[:, None] + MARKER_EDGE).reshape(-1, 2)
    steps = np.linspace(0, len(points) - 1, 2 * len(points) + 200)
    return np.column_stack([np.interp(steps, np.arange(len(points)), column) for column in points.T])
