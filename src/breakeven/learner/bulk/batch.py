"""A batch of types, whose labels are awaited: radii narrow at once, predictions stay what they are."""

from collections.abc import Iterator
from itertools import repeat

import numpy as np

from breakeven.learner.bulk.arrays import Before, Columns
from breakeven.learner.bulk.coding import Points
from breakeven.learner.bulk.stream import Run
from breakeven.learner.learner import Learner
from breakeven.values import Decision, Prediction


def decide_many(learner: Learner, points: Points) -> list[Decision]:
    """Decide on types with a learner that `pays` for them; nothing is checked here."""
    run, out = Run(learner, points), Columns.empty(len(points))
    decisions: list[Decision] = []
    predictions: list[Prediction] = []
    for rounds in run.chunks():
        before = Before.empty(rounds.stop - rounds.start)
        run.decide(rounds, out.part(rounds), before=before)
        predictions += learner.belief.predict_many(run.coding.names[len(predictions) :])
        first = learner.rounds + 1 + rounds.start
        decisions += _decisions(run, first, out.part(rounds), before, predictions, learner.label_cost)
    asked = np.flatnonzero(out.wants_label)
    learner._book.ask_many(asked + learner.rounds + 1, run.coding.types_at(asked), learner.label_cost)
    run.settle(out.wants_label)
    return decisions


def _decisions(
    run: Run, first: int, answers: Columns, before: Before, predictions: list[Prediction], cost: float
) -> Iterator[Decision]:
    """Those of the chunk just answered, which begins with this round."""
    codes, wanted, propensity = run.coding.codes(), answers.wants_label, run.judge.propensity
    return map(
        Decision,
        map(str, range(first, first + len(codes))),
        wanted.tolist(),
        map(predictions.__getitem__, codes.tolist()),
        answers.uncertainty.tolist(),
        answers.threshold.tolist(),
        repeat(cost),
        wanted.astype(float).tolist() if propensity is None else repeat(propensity),
        run.judge.reasons(answers, before, run.types.told[codes] == 0),
        *map(repeat, (True, False, 1.0, None)),  # exact, not ambiguous, not stretched, no labeller
        run.judge.worths(before),
    )
