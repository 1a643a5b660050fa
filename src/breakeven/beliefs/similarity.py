"""Which labelled cases a belief over numbers takes to be alike, and which features it listens to.

Notation: s_j is the share of feature j in all that the belief listens to, and σ_j how far it spreads. The
distance of two points is √(½ Σ_j s_j (a_j − b_j)² / σ_j²): two cases drawn at random are about 1 apart, and a
feature that nobody listens to does not count.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from breakeven.beliefs.belief import Key
from breakeven.errors.expect import Array
from breakeven.values import FeatureWeight, NearLabel
from breakeven.values.explanation import MOST_SIMILAR, TIME

LEAST_HEARD = 1e-9  # the share below which nothing is listened to


class Hearing(NamedTuple):
    """The share of every feature and of time, and how far each feature spreads.

    Shares sum to how far the belief listens to anything at all: the rest takes all points alike.
    """

    shares: Array
    spreads: Array
    time: float = 0.0

    @staticmethod
    def of(shares: Array, spreads: Array, time: float = 0.0) -> "Hearing":
        """A feature that does not vary is not heard."""
        varies = (spreads > 0.0) & np.isfinite(spreads)
        return Hearing(np.where(varies, shares, 0.0), np.where(varies, spreads, 1.0), time)

    @property
    def heeded(self) -> float:
        """How far the belief listens to anything."""
        return min(float(self.shares.sum()) + self.time, 1.0)

    @property
    def features(self) -> tuple[FeatureWeight, ...]:
        """Relative weights, the largest first; features that are not heard are left out."""
        heeded = self.heeded
        if heeded < LEAST_HEARD:
            return ()
        weights = [
            FeatureWeight(f"x[{j}]", share / heeded, j)
            for j, share in enumerate(self.shares.tolist())
            if share > LEAST_HEARD * heeded
        ]
        if self.time > LEAST_HEARD * heeded:
            weights.append(FeatureWeight(TIME, self.time / heeded))
        return tuple(sorted(weights, key=lambda one: -one.weight))

    def distances(self, X: Array, point: Array) -> Array | None:
        """How far each row is from a point; None where nothing tells them apart."""
        total = float(self.shares.sum())
        if total < LEAST_HEARD:
            return None
        apart = (X - point) / self.spreads
        apart *= apart
        away: Array = np.sqrt(apart @ (self.shares / (2.0 * total)))
        return away


def nearest(
    hearing: Hearing | None, X: Array, y: Array, key_at: Callable[[int], Key], point: Array, before: int
) -> tuple[NearLabel, ...]:
    """The labels nearest to a point, or the last told where nothing tells points apart."""
    away = None if hearing is None else hearing.distances(X, point)
    order = range(len(y) - 1, -1, -1) if away is None else np.argsort(away, kind="stable").tolist()
    found: list[NearLabel] = []
    for i in order:
        key = key_at(i)
        if key is None or key < before:
            found.append(NearLabel(key, _plain(X[i]), float(y[i]), None if away is None else float(away[i])))
        if len(found) == MOST_SIMILAR:
            break
    return tuple(found)


def _plain(row: Any) -> tuple[float, ...]:
    return tuple(row.tolist())
