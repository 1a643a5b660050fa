"""Where labels changed, if they did: the split that makes both parts together most likely."""

from collections.abc import Sequence
from math import log

import numpy as np

from breakeven.errors.expect import Array

LEAST_PART = 3  # labels on either side: a single wrong one is no change
WRONG = 0.05  # the share of labels behind alarms that are merely wrong
CHANGE_SEARCHED = 400  # labels, the last ones, among which a change is looked for


def best_split(before: Sequence[Array], after: Sequence[Array], y: Array) -> int:
    """How many of the labels y lie before the change; 0 where one world explains all of them better.

    `before[i][k]` is the log evidence of the first k labels in the i-th explanation, `after[i][k]` that of
    the others, for k from 0 to n. A change may lie anywhere, so it must be more likely by as many times as
    there are places for it; and more likely than that the last label is merely wrong, and might be any.

    >>> y = np.array([0.0, 0.1, 0.0, 0.1, 5.0, 5.1, 5.0, 5.1])
    >>> whole = np.array([0.0, -1.0, -2.0, -3.0, -4.0, -30.0, -60.0, -90.0, -120.0])
    >>> best_split([whole], [whole[::-1] - 0.5], y)
    4
    >>> best_split([-np.arange(9.0)], [-np.arange(9.0)[::-1]], y)
    0
    """
    n = len(y)
    places = np.arange(LEAST_PART, n - LEAST_PART + 1)
    if not len(places):
        return 0
    scores = np.max([one[places] + other[places] for one, other in zip(before, after, strict=True)], axis=0)
    best = int(np.argmax(scores))
    span = float(np.ptp(y))
    wrong = log(WRONG) - log(span) if span else 0.0
    unchanged = max(max(one[n], one[n - 1] + wrong) for one in before)
    return int(places[best]) if scores[best] - log(len(places)) > unchanged else 0
