"""What is believed of a kernel's parameters before labels say much, and how far labels leave them open.

Notation: s_j the std of the arrivals on axis j, labelled or not, and d their dimension. Two arrivals lie
about √(2d) such units apart. A lengthscale is log-normal around that distance: before any label f is believed
to change over the spread of its arrivals, not within a hair of it.
"""

from math import exp, log, sqrt

import msgspec
import numpy as np
from numpy.typing import NDArray

from breakeven import theory
from breakeven.errors import expect

Array = NDArray[np.float64]

SPREAD = sqrt(3.0)  # of log ℓ: that of the dimension-scaled prior of Hvarfner, Hellsten & Nardi (2024)
ROUNDING = 1e-12  # a feature that varies less, beside its size, does not vary
NOISE, NOISE_SPREAD = exp(-2.0), 1.0  # of the labels' own spread, where the noise is not known


class Prior(msgspec.Struct, frozen=True):
    """Log-normal lengthscales around the arrivals' own scale, and an amplitude at its upper end.

    `spread` is the std of log ℓ. An amplitude known from few labels is often far too small, and makes labels
    look worthless; so it is taken at the upper end of what they allow, at this `confidence` (½: as it is).

    >>> Prior().centre(np.array([[0.0, 0.0], [1.0, 10.0]])).round(3).tolist()
    [1.0, 10.0]
    """

    spread: float = SPREAD
    confidence: float = 0.9

    def __post_init__(self) -> None:
        expect.positive("spread", self.spread)
        if not 0.5 <= expect.probability("confidence", self.confidence) < 1.0:
            expect.refuse("confidence", "a number from 0.5 to below 1", self.confidence)

    def centre(self, arrivals: Array) -> Array:
        """The median lengthscale on every axis."""
        spread = arrivals.std(axis=0)
        varies = spread > ROUNDING * np.abs(arrivals).max(axis=0)
        return sqrt(2.0 * arrivals.shape[1]) * np.where(varies, spread, 1.0)

    @property
    def allowance(self) -> float:
        """How far the log likelihood may fall below its top, at the upper end of the amplitude.

        >>> round(Prior(confidence=0.9).allowance, 3)
        0.821
        """
        return theory.allowance(self.confidence)


class Pull(msgspec.Struct, frozen=True):
    """A prior for one fit: θ is normal around `centre`, of weight 1/variance; 0 where nothing is believed."""

    centre: Array
    weight: Array

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """Minus the log density, but for a constant, and its gradient."""
        away = theta - self.centre
        gradient = self.weight * away
        return 0.5 * float(away @ gradient), gradient


def pull(prior: Prior, arrivals: Array, height: float, *, isotropic: bool, fit_noise: bool) -> Pull:
    """The prior of θ = (log ℓ, log amplitude, log noise_std where fitted), for labels of this height."""
    lengths = prior.centre(arrivals)
    if isotropic:
        lengths = np.sqrt(np.mean(lengths**2, keepdims=True))
    noise = [log(NOISE * height)] if fit_noise else []
    return Pull(
        np.concatenate([np.log(lengths), [0.0], noise]),
        np.concatenate([np.full(len(lengths), prior.spread**-2.0), [0.0], [NOISE_SPREAD**-2.0] * len(noise)]),
    )
