"""What is believed of a type's mean before it has labels, given or learnt from other types.

Notation: a mean is N(m, τ²), a label has noise σ. The prior counts as k = (σ/τ)² labels that all say m; where
labels of mean ȳ count as W, the posterior is N((k·m + W·ȳ)/(k + W), σ²/(k + W)). Flat: k = 0.
"""

from collections.abc import Callable, Sequence
from math import cbrt, inf, sqrt
from typing import TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from breakeven import theory
from breakeven.beliefs.types.weights import noise_weight
from breakeven.errors import expect
from breakeven.values import Prediction

CONFIDENCE = 0.9  # at which the spread is taken at its upper end
GRID, REFINED = 60, 40
FURTHEST = 1e3  # the spread is looked for so many times beyond what the numbers span, both ways

Mean = TypeVar("Mean", float, NDArray[np.float64])


class TypePrior(Struct, frozen=True):
    """A normal prior of the types' means; flat where its std is ∞.

    >>> TypePrior(noise_std=1.0, mean=0.0, std=1.0).posterior(3.0, weight=2.0).mean
    2.0
    """

    noise_std: float
    mean: float = 0.0
    std: float = inf

    @property
    def worth(self) -> float:
        """As how many labels it counts."""
        return 0.0 if self.std == inf else noise_weight(self.noise_std, self.std)

    @property
    def prediction(self) -> Prediction:
        """The prediction without labels."""
        return Prediction(self.mean, self.std, self.noise_std)

    def posterior(self, mean: float, weight: float) -> Prediction:
        """The prediction for labels of this mean that weigh so much together."""
        if not weight:
            return self.prediction
        worth = self.worth
        mean = posterior_mean(mean, weight, self.mean, worth)
        return Prediction(mean, self.noise_std / sqrt(worth + weight), self.noise_std)


def posterior_mean(mean: Mean, weight: Mean, prior_mean: float, worth: float) -> Mean:
    """That of labels of this mean and weight, or of many such, where the prior counts as `worth` labels.

    >>> posterior_mean(3.0, weight=2.0, prior_mean=0.0, worth=1.0)
    2.0
    """
    return (worth * prior_mean + weight * mean) / (worth + weight) if worth else mean


def learnt(means: Sequence[float], stds: Sequence[float]) -> tuple[float, float]:
    """The mean of types, and the upper end of their spread, from sample means with these standard errors.

    >>> mean, spread = learnt([1.0, 2.0, 3.0], [0.1, 0.1, 0.1])
    >>> mean, round(spread, 2)
    (2.0, 2.25)
    """
    order = sorted(zip(means, stds, strict=True))  # whatever order they come in, the bits are the same
    y, errors = np.array(order).T
    variances = errors * errors

    def mean_at(spread: float) -> float:
        weights = 1.0 / (spread * spread + variances)
        return float(np.sum(weights * y) / np.sum(weights))

    def likelihood(spread: float) -> float:
        """The restricted log likelihood: the mean is integrated out."""
        weights = 1.0 / (spread * spread + variances)
        off = y - mean_at(spread)
        return 0.5 * float(np.log(weights).sum() - np.sum(weights * off * off) - np.log(weights.sum()))

    low, high = float(errors.min()) / FURTHEST, FURTHEST * float(np.ptp(y) + errors.max())
    spread = _upper_end(likelihood, max(low, expect.SMALLEST), min(high, expect.LARGEST))
    return mean_at(spread), spread


def _upper_end(likelihood: Callable[[float], float], low: float, high: float) -> float:
    """The largest argument at which the likelihood is within the allowance of its top."""
    grid = np.geomspace(low, high, GRID)
    heights = np.array([likelihood(one) for one in grid])
    best = int(heights.argmax())
    top = _top(likelihood, float(grid[max(best - 1, 0)]), float(grid[min(best + 1, GRID - 1)]))
    level = max(likelihood(top), float(heights[best])) - theory.allowance(CONFIDENCE)
    least = float(grid[heights >= level].max(initial=top))
    most = float(min(grid[grid > least], default=least))
    for _ in range(REFINED):
        middle = sqrt(least * most)
        least, most = (middle, most) if likelihood(middle) >= level else (least, middle)
    return least


def _top(likelihood: Callable[[float], float], low: float, high: float) -> float:
    """Where a hill between two arguments is highest, by thirds."""
    for _ in range(REFINED):
        third = cbrt(high / low)
        left, right = low * third, high / third
        low, high = (left, high) if likelihood(left) < likelihood(right) else (low, right)
    return sqrt(low * high)
