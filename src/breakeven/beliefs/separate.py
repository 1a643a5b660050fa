"""Types that never look at each other: Algorithm 1's belief with each type's own count in its radius."""

from math import sqrt
from typing import Any

from breakeven import theory
from breakeven.beliefs.types import TypeMeans
from breakeven.beliefs.types.tallies import Tally
from breakeven.values import View


class SeparateTypes(TypeMeans):
    """`TypeMeans` whose confidence radius counts a type's own labels, where the paper counts those of all.

    That is not Algorithm 1 but keeps its bound, with the failure probability for arrivals that may react. The
    radii are narrower, so `Threshold` buys fewer labels (`theory.label_bound` with `counted="type"`), and a
    type's decisions depend on its own history only: they stay the same when a stream is split by type.

    >>> one, both = SeparateTypes(noise_std=0.1), SeparateTypes(noise_std=0.1)
    >>> for belief in (one, both):
    ...     _ = belief.learn("flu", 3.0)
    >>> _ = both.learn("cold", 5.0)
    >>> one.look("flu").uncertainty == both.look("flu").uncertainty
    True
    """

    counted = "type"

    def look(self, point: Any) -> View:
        """The confidence radius of this type by its own labels, and its mean."""
        view = super().look(point)
        tally = self._tallies.get(point)
        if tally is not None:
            view.uncertainty = self._radius(tally)
        return view

    def _radius(self, tally: Tally) -> float:
        """N_k in place of N."""
        weight = self._labels.asked_of(tally)
        if not weight:
            return theory.radius(self.noise_std, 0, 1, self.delta)
        return sqrt(theory.confidence_spread(self.noise_std, max(weight, 1.0), self.delta) / weight)
