"""A labelled stream of types, each label told as soon as it is asked for."""

from collections.abc import Sequence
from itertools import compress

import numpy as np

from breakeven.learner.book import Replayed
from breakeven.learner.bulk.arrays import Array, Before, Columns, Labels
from breakeven.learner.bulk.coding import Points
from breakeven.learner.bulk.stream import Run
from breakeven.learner.learner import Learner

PIECE = 8  # chunks whose labels are kept together: one large array is had much faster than many small ones


def replay(
    learner: Learner,
    points: Points,
    y: Array,
    *,
    true: bool,
    before: Before | None = None,
    ids: Sequence[str] | None = None,
) -> Columns:
    """Run types through a learner that `pays` for them; nothing is checked here, not even that `ids` are new.

    A labelled round answers the mean after its label, if there is a `true` value to meet, else the label.
    What was believed `before` it is written where there is room for it.
    """
    run, out = Run(learner, points), Columns.empty(len(points))
    codes, room = np.empty(0, dtype=np.uint32), np.empty(0)
    told: list[Replayed] = []
    for rounds in run.chunks():
        count = rounds.stop - rounds.start
        if len(room) < count:
            codes, room = np.empty(count, dtype=np.uint32), np.empty(PIECE * count)
        labels = Labels(y[rounds], true, codes, room)
        bought = run.decide(rounds, out.part(rounds), labels, before and before.part(rounds))
        asked = np.packbits(out.wants_label[rounds])
        small = codes[:bought].astype(np.min_scalar_type(len(run.coding.names)))
        first = learner.rounds + 1 + rounds.start
        names = None if ids is None else list(compress(ids[rounds], out.wants_label[rounds].tolist()))
        told.append(Replayed(first, asked, small, room[:bought], run.coding.names, learner.label_cost, names))
        room = room[bought:]
    if ids is not None:
        learner._book.note(ids, learner.rounds + 1)
    run.settle(out.wants_label, ids)
    learner._book.replay(told, learner.label_cost)
    return out
