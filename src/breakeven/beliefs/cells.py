"""The naive belief over a box: halve every axis, and treat each of the 2^d cells as a type.

It is the comparison that a Gaussian process must win: nothing is learnt from one cell about another.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from breakeven.beliefs.types import TypeMeans
from breakeven.beliefs.types.across_types import PriorStd
from breakeven.beliefs.types.means import FromLabels
from breakeven.errors import expect
from breakeven.values import EVEN, Prediction, View


class Cells(TypeMeans):
    """Sample means over the 2^d halves of a box.

    Every axis is compared with its midpoint, so a point outside the box falls into the nearest cell.

    >>> belief = Cells(low=[0, 0], high=[1, 1], noise_std=0.1)
    >>> belief.learn(belief.point([0.9, 0.2]), 5.0).mean
    5.0
    >>> belief.predict(belief.point([7.0, 0.4])).mean
    5.0
    """

    listens_to = "cell"

    def __init__(
        self,
        low: Any,
        high: Any,
        noise_std: float | None = None,
        delta: float = 0.05,
        prior_mean: float | FromLabels = 0.0,
        prior_std: PriorStd = None,
        forgetting: float | None = None,
        label_scale: float | FromLabels = 1.0,
        level: float = EVEN,
    ) -> None:
        super().__init__(noise_std, delta, prior_mean, prior_std, forgetting, label_scale, level)
        self.low = expect.vector("low", low)
        self.dim = len(self.low)
        self.high = expect.vector("high", high, self.dim)
        if self.dim == 0 or not (self.low < self.high).all():
            expect.refuse("high", "numbers above low on every axis", high)
        self._middle = self.low / 2.0 + self.high / 2.0

    def point(self, x: Any, name: str = "x") -> Any:
        """Check a row of numbers."""
        return expect.vector(name, x, self.dim)

    def points(self, X: Any) -> Sequence[Any]:
        """Check rows of numbers."""
        return [row.copy() for row in expect.matrix("X", X, self.dim)]

    def plain(self, point: Any) -> Any:
        """The point as a tuple of floats."""
        return tuple(point.tolist())

    def recall(self, plain: Any) -> Any:
        """A point, read back from storage."""
        return self.point(plain)

    def look(self, point: Any) -> View:
        """The confidence radius of the point's cell and its mean."""
        return super().look(self._cell(point))

    def predict(self, point: Any) -> Prediction:
        """The mean of the labels told in the point's cell."""
        return super().predict(self._cell(point))

    def _type(self, point: Any) -> Any:
        return self._cell(point)

    def _cell(self, point: Any) -> bytes:
        return np.packbits(point >= self._middle).tobytes()

    def config(self) -> dict[str, Any]:
        """The arguments it was made with."""
        return {"low": self.low.tolist(), "high": self.high.tolist(), **super().config()}
