"""Replay a labelled history through a learner, and draw up the bill.

A label is told as soon as it is asked for, and no other label is told. The given learner itself learns.
Long streams of types run in compiled loops, and a Gaussian process looks at blocks of arrivals; afterwards
the learner is the same as if arrivals had come one by one.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs import Choosy
from breakeven.errors import expect
from breakeven.errors.expect import Array
from breakeven.learner import Learner, bulk, replay
from breakeven.learner.bulk import Answers
from breakeven.ledger import Ledger
from breakeven.values import EVEN, AuditReport, Standing, counted, expected_error
from breakeven.values.showing import lines_table

Replayed = tuple[Answers, Array, NDArray[np.bool_], Array]  # answers, costs, which are ambiguous, stretches


class Trace(msgspec.Struct, frozen=True, dict=True):
    """What happened in each round of a replayed stream, and the bill.

    `target` is what predictions are scored against, the array that was given: the truth, or the labels. The
    exact uncertainty was within a factor of `stretch` of the one shown, both ways; where the threshold lies
    within that, too, the decision is `ambiguous`. `audit` is what audits of the learner say by then, and
    `standing` how its belief stands. Errors count at a `level`, ½ where answers too low and too high cost the
    same. The bill is drawn up when it is first read.
    """

    wants_label: NDArray[np.bool_]
    prediction: Array
    uncertainty: Array
    threshold: Array
    cost: Array
    ambiguous: NDArray[np.bool_]
    stretch: Array
    target: Array
    scored: Literal["truth", "labels"]
    noise_std: float
    error_cost: float = 1.0
    audit: AuditReport | None = None
    level: float = EVEN
    standing: Standing | None = None

    def __repr__(self) -> str:
        """How long it is, and its bill."""
        return f"Trace(rounds={len(self.wants_label)}, scored={self.scored!r}, ledger={self.ledger!r})"

    def __str__(self) -> str:
        """The bill in a few lines."""
        return str(self.ledger)

    def _repr_html_(self) -> str:
        return lines_table(f"{len(self.wants_label):,} rounds, replayed", str(self.ledger))

    def plot(self) -> Any:
        """The average cost after each round, as a matplotlib figure."""
        return self.ledger.plot()

    @property
    def exact(self) -> NDArray[np.bool_]:
        """Where nothing was approximated."""
        exact: NDArray[np.bool_] = self.stretch == 1.0
        return exact

    @property
    def error(self) -> Array:
        """How far each answer is off its target, as its error counts."""
        missed: Array = self.target - self.prediction
        if self.level != EVEN:
            return counted(missed, self.level)
        return np.abs(missed, out=missed)  # in place: a stream may be long

    @cached_property
    def ledger(self) -> Ledger:
        """The bill, round by round."""
        spend, errors = np.where(self.wants_label, self.cost, 0.0), self.error
        rounds, labels = len(spend), int(self.wants_label.sum())
        noise = expected_error(self.level) * self.noise_std
        return Ledger(
            rounds=rounds,
            labels=labels,
            label_spend=float(spend.sum()),
            prediction_error=float(errors.sum()),
            scored=self.scored,
            noise_floor=noise * (rounds - labels) if self.scored == "labels" else None,
            spend_by_round=spend,
            error_by_round=errors,
            error_cost=self.error_cost,
            audit=self.audit,
            standing=self.standing,
        )


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
    learner.state.check_whole()
    ours = type(learner) is Learner  # a subclass may have verbs of its own: they are called one by one
    ready = ours and bulk.holds_types(xs) and bulk.pays(learner.state, len(xs))
    points = xs if ready else learner.belief.points(xs)
    y = _column("labels", labels, len(points))
    if isinstance(learner.belief, Choosy):
        y = np.array([learner.belief.label(f"labels[{i}]", one) for i, one in enumerate(y.tolist())])
    f = None if truth is None else _column("truth", truth, len(points))
    replayed = _bulk if ready or (ours and bulk.pays(learner.state, len(points))) else _plain
    columns, cost, ambiguous, stretch = replayed(learner, points, y, true=f is not None)
    bill = learner.ledger
    return Trace(
        **columns._asdict(),
        cost=cost,
        ambiguous=ambiguous,
        stretch=stretch,
        target=y if f is None else f,
        scored="labels" if f is None else "truth",
        noise_std=learner.belief.traits.noise_std,
        error_cost=learner.error_cost,
        audit=bill.audit,
        level=learner.state.errors.level,
        standing=bill.standing,
    )


def _bulk(learner: Learner, points: Sequence[Any], y: Array, *, true: bool) -> Replayed:
    """Compiled loops over types, where nothing is approximated."""
    columns, rounds = bulk.replay(learner.state, points, y, true=true).answers, len(points)
    cost = np.broadcast_to(learner.label_cost, rounds)
    return columns, cost, np.broadcast_to(False, rounds), np.broadcast_to(1.0, rounds)


def _plain(learner: Learner, points: Sequence[Any], y: Array, *, true: bool) -> Replayed:
    columns = Answers.empty(len(points))
    cost = np.full(len(points), learner.label_cost)
    ambiguous, stretch = np.zeros(len(points), dtype=bool), np.ones(len(points))
    for i, (decision, after) in enumerate(replay(learner, points, y)):
        columns.wants_label[i] = decision.wants_label
        columns.prediction[i] = after.mean if true or not decision.wants_label else y[i]
        columns.uncertainty[i] = decision.uncertainty
        columns.threshold[i] = decision.threshold
        cost[i] = decision.cost
        if not decision.exact:
            ambiguous[i], stretch[i] = decision.ambiguous, decision.stretch
    return columns, cost, ambiguous, stretch


def _column(name: str, values: Any, points: int) -> Array:
    """One finite number for each point; an array that is so already is read in place, not copied."""
    ready = type(values) is np.ndarray and values.dtype == float and values.shape == (points,)
    if ready and values.flags.carray and values.dot(values) < expect.LARGEST**2 / 2:  # false for NaN, too
        return cast(Array, values)
    return expect.column(name, values, points)
