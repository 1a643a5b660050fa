"""A block of arrivals, solved at once.

Notation: C is the covariance of f at the block's points given all labels told and awaited; its diagonal is
the narrowed variance. Asking for the label of point j takes c cᵀ/(C_jj + σ²) off it, c being its column. Only
decisions come from here: a point that is asked about is solved again, alone, before it enters the factor.
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

    def narrowed(self, i: int) -> float:
        """The variance at point i, given also what is awaited."""
        return max(float(self._covariance[i, i]), 0.0)

    def ask(self, j: int) -> Array:
        """A label of point j is awaited from now on; by how much each mean moves for a miss of 1."""
        c = self._covariance[j].copy()
        gain: Array = c / (self.narrowed(j) + self._noise_variance)
        self._covariance -= c[:, None] * gain
        return gain

    def tell(self, j: int, y: float) -> None:
        """The label of point j was asked for and came at once, and no other is awaited."""
        self.means = self.means + self.ask(j) * (y - self.means[j])
        self.variances = self._variances()

    def _variances(self) -> Array:
        return np.maximum(self._covariance.diagonal(), 0.0)
