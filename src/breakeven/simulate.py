"""Replay a labelled history through a learner, and draw up the bill.

A label is told at once when it is asked for, and never otherwise. The learner given is the one that learns.
"""

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from breakeven.errors import expect
from breakeven.learner import Learner
from breakeven.ledger import EXPECTED_NOISE, Ledger

Array = NDArray[np.float64]


class Trace(msgspec.Struct, frozen=True):
    """What happened in each round of a replayed stream, and the bill."""

    wants_label: NDArray[np.bool_]
    prediction: Array
    uncertainty: Array
    threshold: Array
    cost: Array
    ledger: Ledger


def simulate(learner: Learner, xs: Any, labels: Any, truth: Any = None) -> Trace:
    """Run a stream through a learner and say what it would have cost.

    With `truth` (the values of f) every round is scored |f − p|, and a labelled round predicts after its
    label, as in the paper. Without it a labelled round answers its label, error 0, and an unlabelled one is
    scored |y − p|: that contains the label noise, whose expected share is the ledger's `noise_floor`.

    >>> from breakeven import algorithm1
    >>> trace = simulate(algorithm1(label_cost=2.0, noise_std=0.1), ["a", "a", "b"], [1.0, 1.1, 5.0])
    >>> trace.wants_label.tolist(), trace.ledger.label_spend
    ([True, False, True], 4.0)
    """
    points = learner.belief.points(xs)
    y = expect.column("labels", labels, len(points))
    f = None if truth is None else expect.column("truth", truth, len(points))
    decisions = []
    predictions = np.empty(len(points))
    for i, x in enumerate(points):
        decision = learner.decide(x)
        decisions.append(decision)
        predictions[i] = decision.prediction.mean
        if decision.wants_label:
            after = learner.tell(decision.id, y[i])
            predictions[i] = y[i] if f is None else after.mean
    wants_label = np.array([d.wants_label for d in decisions], dtype=bool)
    cost = np.array([d.cost for d in decisions])
    return Trace(
        wants_label=wants_label,
        prediction=predictions,
        uncertainty=np.array([d.uncertainty for d in decisions]),
        threshold=np.array([d.threshold for d in decisions]),
        cost=cost,
        ledger=_bill(learner, np.where(wants_label, cost, 0.0), predictions, y, f),
    )


def _bill(learner: Learner, spend: Array, predictions: Array, y: Array, f: Array | None) -> Ledger:
    errors = np.abs((y if f is None else f) - predictions)
    labels = int((spend > 0).sum())
    noise = EXPECTED_NOISE * learner.belief.traits.noise_std
    return Ledger(
        rounds=len(spend),
        labels=labels,
        label_spend=float(spend.sum()),
        prediction_error=float(errors.sum()),
        scored="labels" if f is None else "truth",
        noise_floor=noise * (len(spend) - labels) if f is None else None,
        spend_by_round=spend.tolist(),
        error_by_round=errors.tolist(),
    )
