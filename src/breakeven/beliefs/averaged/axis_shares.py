"""What an averaged belief listens to: every member by its weight, and of each the shares of its axes.

Notation: m_j is how long axis j is taken to be and v_j how much the feature varies; its share in a member is
v_j/m_j² over the sum of these. A linear trend has the same shares. The constant listens to nothing.
"""

from collections.abc import Sequence

import numpy as np

from breakeven.beliefs.averaged.members import Frame, Member
from breakeven.beliefs.similarity import Hearing
from breakeven.errors.expect import Array


def axis_hearing(frame: Frame, members: Sequence[Member], weights: Array) -> Hearing:
    """The shares of features and of time, averaged over members of these weights."""
    along = frame.axes**-2.0 * frame.variation
    along = along / np.maximum(along.sum(axis=1, keepdims=True), 1e-300)
    by_family = np.zeros(len(frame.axes))
    for member, weight in zip(members, weights.tolist(), strict=True):
        if member.shape:
            by_family[member.axes] += weight
    shares = by_family @ along / float(weights.sum())
    varies = frame.variation[:-1] > 0.0
    spreads = np.where(varies, frame.scale[:-1], 0.0) * np.sqrt(frame.variation[:-1])
    return Hearing.of(shares[:-1], spreads, float(shares[-1]))
