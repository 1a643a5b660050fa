"""Running a stream through a learner, and comparing what came out."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from breakeven.beliefs import TypeBelief
from breakeven.errors import BreakevenError, InvalidInput
from breakeven.learner import GivenCost, Learner
from breakeven.learner.snapshot import seal, unseal
from breakeven.testing.contract import LabelledStream
from breakeven.values import Decision, Event, Prediction

NEARLY_EQUAL = 1e-10  # relative, or absolute below 1: predictions that are the same but for rounding
TOO_CLOSE = 1e-9  # of the threshold: uncertainties this near to it may be decided either way


def given_cost(learner: Learner, cost: float) -> GivenCost:
    """A cost of labels; where there are labellers, of each of them."""
    return dict.fromkeys(learner.labellers, cost) if learner.labellers else cost


def run(learner: Learner, stream: LabelledStream) -> list[Decision]:
    """Tell every label at once."""
    decisions = []
    for x, y in zip(stream.points, stream.labels, strict=True):
        decision = learner.decide(x)
        decisions.append(decision)
        if decision.wants_label:
            learner.tell(decision.id, y)
    return decisions


def run_late(learner: Learner, stream: LabelledStream, seed: int = 1) -> list[Decision]:
    """Tell labels late and out of order."""
    random = np.random.default_rng(seed)
    decisions, awaited = [], []
    for x, y in zip(stream.points, stream.labels, strict=True):
        decision = learner.decide(x)
        decisions.append(decision)
        if decision.wants_label:
            awaited.append((decision.id, y))
        if awaited and random.random() < 0.4:
            learner.tell(*awaited.pop(int(random.integers(len(awaited)))))
    for i in random.permutation(len(awaited)):
        learner.tell(*awaited[i])
    return decisions


def run_eventfully(learner: Learner, stream: LabelledStream) -> None:
    """Let everything happen.

    Labels late, corrected, withdrawn, reopened, forced, unasked, told after a withdrawal, asked for again
    and learnt; costs and ids that are given.
    """
    for i, (x, y) in enumerate(zip(stream.points, stream.labels, strict=True)):
        force, id = (
            [None, None, None, True, False][i % 5],
            f"{learner.name} case {learner.number}" if i % 6 == 2 else None,
        )
        decision = _decide(learner, x, cost=1.0 + i % 3, force=force, id=id)
        if decision.wants_label and i % 4:
            learner.tell(decision.id, y)
            if i % 7 == 1:
                learner.correct(decision.id, stream.other(y))
            if i % 7 == 2:
                learner.withdraw(decision.id, charged=True)
            if i % 7 == 3:
                learner.reopen(decision.id)
        elif decision.wants_label and i % 8 == 4:
            learner.withdraw(decision.id)
            if i % 16 == 4:
                learner.tell(decision.id, y)
            elif i % 32 == 12:
                learner.reopen(decision.id)
        elif not decision.wants_label and i % 3 == 0:
            learner.tell(decision.id, y)
            if i % 2:
                learner.reopen(decision.id)
        if i % 6 == 5:
            learner.learn(
                x, stream.other(y), id=f"{learner.name} gift {learner.number}" if i % 12 == 5 else None
            )
        if i == 9:
            learner.reprice(error_cost=1.5)
    for id in list(learner.awaited)[::2]:
        learner.tell(id, stream.two[0])


def recorded(learner: Learner) -> list[Event]:
    """A list that gets every event of a new learner, from its first on."""
    assert learner.created is not None, "only a learner that begins a stream has its first event"
    log: list[Event] = [learner.created]
    learner.listen(log.append)
    return log


def own_classes(learner: Learner) -> dict[str, Any]:
    """Belief and rule of a learner, as replay and restore want them named; naming ours does no harm."""
    return {"rules": [type(one) for one in learner.rule.layers], "beliefs": [type(learner.belief)]}


def _decide(learner: Learner, x: object, *, cost: float, force: bool | None, id: str | None) -> Decision:
    """As a person wants, or as the rule does where its limits forbid that."""
    try:
        return learner.decide(x, cost=given_cost(learner, cost), force=force, id=id)
    except InvalidInput:
        return learner.decide(x, cost=given_cost(learner, cost), id=id)


def past_warmup(learner: Learner, stream: LabelledStream) -> Learner:
    """The learner after its warm-up, all told."""
    i = 0
    while learner.summary().warmup_left:
        decision = learner.decide(stream.points[i % len(stream.points)])
        learner.tell(decision.id, stream.labels[i % len(stream.labels)])
        i += 1
    return learner


def uncertainty(learner: Learner, x: object) -> float:
    """How unsure the belief is at x, awaited labels counted."""
    return learner.belief.look(learner.belief.point(x)).uncertainty


@contextmanager
def nothing_changes(learner: Learner) -> Iterator[None]:
    """Compare snapshots before and after."""
    before = learner.snapshot()
    yield
    assert learner.snapshot() == before, "the state changed"


@contextmanager
def refused(learner: Learner, *words: str) -> Iterator[None]:
    """Expect an error of ours with these words, and an unchanged learner."""
    before = learner.snapshot()
    message = None
    try:
        yield
    except BreakevenError as error:
        message = str(error)
    assert message is not None, "expected a BreakevenError, nothing was raised"
    missing = [word for word in words if word not in message]
    assert not missing, f"the message lacks {missing}: {message}"
    assert learner.snapshot() == before, "a refused call changed the state"


def assert_same_decisions(some: Sequence[Decision], others: Sequence[Decision], *, exact: bool) -> int:
    """Equal decisions, but for ones too close to call: there the runs part. How many were compared.

    Where the belief is `exact`, uncertainties and thresholds must agree in all bits, too.
    """
    for count, (one, other) in enumerate(zip(some, others, strict=True)):
        numbers = [(one.uncertainty, one.threshold), (other.uncertainty, other.threshold)]
        if exact:
            assert one.wants_label == other.wants_label, f"decision {one.id} differs: {one} and {other}"
            assert repr(numbers[0]) == repr(numbers[1]), f"decision {one.id} differs in its bits: {numbers}"
        elif one.wants_label != other.wants_label:
            gap = abs(one.uncertainty - one.threshold)
            assert gap <= TOO_CLOSE * abs(one.threshold), f"decision {one.id} differs: {one} and {other}"
            return count
        else:
            assert _near(one.uncertainty, other.uncertainty, TOO_CLOSE), f"uncertainty of {one.id} differs"
    return len(some)


def assert_same_state(one: Learner, other: Learner) -> None:
    """Equal states to the bit; where the belief rounds, but for the numbers in answers that are kept."""
    if is_exact(one):
        assert one.snapshot() == other.snapshot(), "the states differ"
        return
    contents = [unseal(learner.snapshot()) for learner in (one, other)]
    for content in contents:
        for entries in (content["book"]["awaited"], content["book"]["settled"]):
            answers = entries.get("decisions", {})
            for rounded in ("prediction", "uncertainty", "stretch", "worth", "worth_now"):
                answers.pop(rounded, None)
    assert seal(contents[0]) == seal(contents[1]), "the states differ"


def assert_same_predictions(one: Learner, other: Learner, stream: LabelledStream) -> None:
    """Equal predictions: to the bit for means over types, to 1e-10 for others."""
    exact = is_exact(one)
    for x in stream.points:
        a, b = one.predict(x), other.predict(x)
        assert a == b if exact else near(a, b), f"predictions at {x!r} differ: {a} and {b}"


def is_exact(learner: Learner) -> bool:
    """Whether the belief's arithmetic leaves no rounding behind: sums of labels, and nothing else."""
    return isinstance(learner.belief, TypeBelief)


def near(a: Prediction, b: Prediction) -> bool:
    """Equal to 1e-10."""
    return _near(a.mean, b.mean, NEARLY_EQUAL) and _near(a.std, b.std, NEARLY_EQUAL)


def _near(a: float, b: float, tolerance: float) -> bool:
    return a == b or abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))
