"""A labelled stream through a learner, each label told as soon as it is asked for.

Where few are labelled, arrivals are looked at in blocks: the learner afterwards has the bits of a loop, and
decisions are alike but for ties in the last digits. A learner with verbs of its own goes one by one.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from breakeven.learner.deciding import decide
from breakeven.learner.learner import Learner
from breakeven.learner.state import CHANGING, WHOLE
from breakeven.values import Decision, Prediction

REPLAYED_AT_ONCE = 128  # arrivals looked at together: half as many take 4 to 9% longer from 1000 labels on
FEW_ROUNDS = 16  # arrivals decided one by one before a block is tried again
SELDOM = 4  # a block pays where at most one arrival in this many is labelled

AnswersInOrder = Iterator[tuple[Decision, Prediction]]
Names = Iterable[str | None]


def replay(
    learner: Learner, points: Sequence[Any], labels: NDArray[np.float64], ids: Sequence[str] | None = None
) -> AnswersInOrder:
    """Decide in order on points that `belief.points` gave; each decision, and the prediction after it.

    `ids` are new to the learner, each once.
    """
    learner.state.check_whole()
    own_verbs = type(learner) is not Learner
    low, together = (
        0,
        not own_verbs and learner.belief.labels >= REPLAYED_AT_ONCE,
    )  # who knows little asks much
    while low < len(points):
        way, size = (_block, REPLAYED_AT_ONCE) if together else (_alone, FEW_ROUNDS)
        part = slice(low, low + size)
        names = repeat(None) if ids is None else ids[part]
        answers = list(way(learner, points[part], labels[part].tolist(), names))
        yield from answers
        low += len(answers)
        together = not own_verbs and _block_pays(answers, size)


def _block_pays(last: list[tuple[Decision, Prediction]], size: int) -> bool:
    """Whether the last answers had few labels, and at least half of the last block could be used."""
    bought = sum(decision.wants_label for decision, _ in last)
    return bought * SELDOM <= len(last) and 2 * len(last) >= size


def _alone(learner: Learner, points: Sequence[Any], labels: list[float], ids: Names) -> AnswersInOrder:
    for x, y, id in zip(points, labels, ids, strict=False):
        decision = learner.decide(x, id=id)
        yield decision, learner.tell(decision.id, y) if decision.wants_label else decision.prediction


def _block(learner: Learner, points: Sequence[Any], labels: list[float], ids: Names) -> AnswersInOrder:
    """As far as one look at all of them holds."""
    state = learner.state
    state.phase = CHANGING
    looks = state.belief.look_many(points)
    for i, (x, y, id) in enumerate(zip(points, labels, ids, strict=False)):
        state.phase = CHANGING
        view = looks.look(i)
        state.phase = WHOLE
        decision = decide(state, id, x, state.quote, None, view)
        if not decision.wants_label:
            yield decision, decision.prediction
            continue
        yield decision, learner.tell(decision.id, y)
        if not looks.told(i, y, **state.costs.noise_of(decision.labeller)):
            return
