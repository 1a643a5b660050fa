"""Labels that count with projected features: what they say of the weights, and how far that is from exact.

Notation: a label at x counts as one of w·φ, w being the weights of m orthonormal directions, N(0, I) before
any label. T is a square root of their covariance, S = T Tᵀ; a label changes it in place (Potter's update), so
S stays a covariance whatever rounding does. r is what projecting takes off the squared length of a label's
features, and κ = √(Σ r/σ²) over all labels; docs/dictionary.md derives what that means for the std.
"""

from math import hypot, sqrt

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dger

from breakeven.beliefs.gp.block import Block
from breakeven.beliefs.gp.vectors import dot

Array = NDArray[np.float64]


class Certificate(msgspec.Struct, frozen=True):
    """How far a std from projected features can be from that of the exact process with the same labels.

    >>> certificate = Certificate(kappa=0.1)
    >>> [round(one, 3) for one in certificate.band(2.0)]
    [1.902, 2.102]
    >>> certificate.ambiguous(2.0, threshold=2.2)
    False
    """

    kappa: float

    @property
    def stretch(self) -> float:
        """s = κ/2 + √(1 + κ²/4): the exact std lies within this factor, both ways."""
        return 0.5 * self.kappa + hypot(1.0, 0.5 * self.kappa)

    def band(self, std: float) -> tuple[float, float]:
        """The least and the largest exact std behind this one."""
        return std / self.stretch, std * self.stretch

    def ambiguous(self, std: float, threshold: float) -> bool:
        """Whether the exact std may lie on the other side of the threshold."""
        low, high = self.band(std)
        return low <= threshold <= high


class Weights:
    """What labels say of the weights.

    >>> weights = Weights()
    >>> weights.grow()
    >>> weights.absorb(weights.turned(np.ones(1)), noise_variance=1.0)
    (array([1.]), 2.0)
    >>> weights.turned(np.ones(1)).round(4)  # its square is the variance: half of it is gone
    array([0.7071])
    """

    def __init__(self, T: Array | None = None) -> None:
        self.T = np.empty((0, 0)) if T is None else np.array(T)  # without gaps, for BLAS to write into

    def copy(self) -> "Weights":
        """The same, on its own."""
        return Weights(self.T)

    def grow(self) -> None:
        """One more weight, independent of the others."""
        old, size = self.T, len(self.T)
        self.T = np.zeros((size + 1, size + 1))
        self.T[:size, :size] = old
        self.T[size, size] = 1.0

    def turned(self, phi: Array) -> Array:
        """Tᵀφ: its square is the variance of w·φ. Columns of features give columns."""
        turned: Array = self.T.T.dot(phi)
        return turned

    def covariance(self, turned: Array) -> Array:
        """Sφ, the covariance of w with w·φ, from Tᵀφ."""
        covariance: Array = self.T.dot(turned)
        return covariance

    def absorb(self, turned: Array, noise_variance: float) -> tuple[Array, float]:
        """A label of w·φ, given Tᵀφ; its covariance Sφ with the weights, and its variance, both before it."""
        covariance, variance = self.covariance(turned), dot(turned, turned) + noise_variance
        share = 1.0 / (variance + sqrt(noise_variance * variance))
        if len(turned):
            self.T = dger(-share, turned, covariance, a=self.T.T, overwrite_a=1).T  # T -= share · Sφ (Tᵀφ)ᵀ
        return covariance, variance


class ProjectedBlock(Block):
    """A block of arrivals in which a label asked for counts as a dictionary would count it.

    Two covariances add up: of w·φ, and of what lies outside the dictionary.
    """

    def __init__(
        self,
        means: Array,
        variances: Array,
        inside: Array,
        outside: Array,
        noise_variance: float,
        limit: float,
    ) -> None:
        self._outside, self._limit = outside, limit
        super().__init__(means, variances, inside, noise_variance)

    def _narrowed(self) -> Array:
        """The variances, given also what is awaited."""
        return np.maximum(self._covariance.diagonal() + self._outside.diagonal(), 0.0)

    def ask(self, j: int, noise: float = 0.0) -> Array:
        """A label of point j is awaited from now on; the point joins or is absorbed."""
        if self._outside[j, j] > self._limit:
            rest = self._outside[j:, j:]
            direction = rest[0] / sqrt(rest[0, 0])
            moved = np.multiply.outer(direction, direction)
            rest -= moved
            self._covariance[j:, j:] += moved
        return super().ask(j, noise)
