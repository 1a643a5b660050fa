"""A block of arrivals, solved at once.

Notation: C is the covariance of f at the block's points given all labels told and awaited; its diagonal is
the narrowed variance. Asking for the label of point j takes c cᵀ/(C_jj + σ²) off it, c being its column;
points are taken in order, so what lies before j stays as it was. Only decisions come from here: a point that
is asked about is solved again, alone, before it enters the factor.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Block:
    """Means and variances at a few points, kept up to date while labels are asked for among them."""

    def __init__(self, means: Array, variances: Array, covariance: Array, noise_variance: float) -> None:
        self.means, self.variances = means, variances
        self._covariance = covariance
        self._noise_variance = noise_variance
        self.narrowed = self._narrowed()

    def _narrowed(self) -> Array:
        """The variances, given also what is awaited."""
        return np.maximum(self._covariance.diagonal(), 0.0)

    def ask(self, j: int, noise: float = 0.0) -> Array:
        """A label of point j is awaited from now on; how far means from j on move for a miss of 1.

        `noise` is its variance, if not the process's own.
        """
        rest = self._covariance[j:, j:]
        c = rest[0].copy()
        gain: Array = c / (max(float(c[0]), 0.0) + (noise or self._noise_variance))
        rest -= np.multiply.outer(c, gain)
        self.narrowed = self._narrowed()
        return gain

    def tell(self, j: int, y: float, noise: float = 0.0) -> None:
        """The label of point j was asked for and came at once, and no other is awaited."""
        self.means[j:] += self.ask(j, noise) * (y - self.means[j])
        self.variances = self.narrowed
