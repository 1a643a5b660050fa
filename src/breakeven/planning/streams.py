"""A stream: what arrives, what a label would say, and what is true.

The points are types (whole numbers) or rows of numbers. A stream owns its arrays; they cannot be written to.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from breakeven.errors import expect
from breakeven.errors.expect import Array


@dataclass(frozen=True, eq=False)
class Stream:
    """Points in the order of their arrival, their noisy labels, and the values of f.

    >>> stream = Stream([0, 1, 0], [0.9, 2.1, 1.2], [1.0, 2.0, 1.0], noise_std=0.1, name="two types")
    >>> len(stream), stream.dim, stream.points.tolist()
    (3, None, [0, 1, 0])
    """

    points: NDArray[Any]
    labels: Array
    truth: Array
    noise_std: float
    name: str

    def __post_init__(self) -> None:
        points = _checked_points(self.points)
        self._keep("points", points)
        self._keep("labels", expect.column("labels", self.labels, len(points)))
        self._keep("truth", expect.column("truth", self.truth, len(points)))
        object.__setattr__(self, "noise_std", expect.positive("noise_std", self.noise_std))
        object.__setattr__(self, "name", expect.text("name", self.name))

    def _keep(self, field: str, array: NDArray[Any]) -> None:
        array.flags.writeable = False
        object.__setattr__(self, field, array)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def dim(self) -> int | None:
        """Numbers in a row; None when the points are types."""
        return int(self.points.shape[1]) if self.points.ndim == 2 else None

    def first(self, rounds: int | None) -> "Stream":
        """The first `rounds` arrivals of the stream; all of it for None.

        >>> stream = Stream([0, 1, 0], [0.9, 2.1, 1.2], [1.0, 2.0, 1.0], noise_std=0.1, name="two types")
        >>> stream.first(2).labels.tolist()
        [0.9, 2.1]
        """
        if rounds is None:
            return self
        end = expect.whole("rounds", rounds, most=len(self))
        return Stream(self.points[:end], self.labels[:end], self.truth[:end], self.noise_std, self.name)


def _checked_points(value: Any) -> NDArray[Any]:
    """A copy: one whole number for each arrival, or one row of finite numbers."""
    try:
        array = np.array(value)
    except ValueError:  # rows of differing lengths
        array = np.empty(())
    if array.ndim == 1 and (array.dtype.kind in "iu" or not array.size):
        return array.astype(np.int64)
    if array.ndim == 2 and array.shape[1]:
        return expect.matrix("points", array, array.shape[1])
    expect.refuse("points", "whole numbers, or rows of numbers", value)
