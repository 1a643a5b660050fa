"""A labelled stream through a learner, each label told as soon as it is asked for.

Where few are labelled, arrivals are looked at in blocks: the learner afterwards has the bits of a loop, and
decisions are alike but for ties in the last digits. A learner with verbs of its own goes one by one.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from breakeven.learner.learner import BLOCK, Learner
from breakeven.values import Decision, Prediction

SELDOM = 4  # one label in so many arrivals, at most, for a block to be worth its solve

Answers = Iterator[tuple[Decision, Prediction]]


def replay(learner: Learner, points: Sequence[Any], labels: NDArray[np.float64]) -> Answers:
    """Decide in order on points that `belief.points` gave; each decision, and the prediction after it."""
    low, size, most = 0, 1, BLOCK if type(learner) is Learner else 1
    while low < len(points):
        part = slice(low, low + size)
        answers = list((_block if size > 1 else _alone)(learner, points[part], labels[part]))
        yield from answers
        low += len(answers)
        bought = sum(decision.wants_label for decision, _ in answers)
        size = min(most, 2 * size) if bought * SELDOM <= len(answers) else 1


def _alone(learner: Learner, points: Sequence[Any], labels: NDArray[np.float64]) -> Answers:
    for x, y in zip(points, labels, strict=True):
        decision = learner.decide(x)
        yield decision, learner.tell(decision.id, y) if decision.wants_label else decision.prediction


def _block(learner: Learner, points: Sequence[Any], labels: NDArray[np.float64]) -> Answers:
    """As far as one look at all of them holds."""
    looks = learner.belief.look_many(points)
    for i, (x, y) in enumerate(zip(points, labels, strict=True)):
        decision = learner._decide(None, x, learner.label_cost, None, looks.look(i))
        if not decision.wants_label:
            yield decision, decision.prediction
            continue
        yield decision, learner.tell(decision.id, y)
        if not looks.told(i, y):
            return
