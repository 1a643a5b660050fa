"""Checks on learners whose belief is checked: what refutes it is an event, and a mistake is taken back."""

from copy import deepcopy

from breakeven.beliefs import Choosy
from breakeven.learner import Learner
from breakeven.testing.contract import LabelledStream, Make, check, checked, fixed
from breakeven.testing.stream_runs import assert_same_predictions, own_classes, recorded, run
from breakeven.values import Event, Refuted, Told

OFF = (30.0, 0.8)  # so far is a label that seems merely wrong, and one that seems to come from another world


def _run_to_alarm(learner: Learner, stream: LabelledStream, off: float) -> str | None:
    """Tell labels as they are, then wrong ones, until one refutes the belief; its id, if there is one."""
    known = learner.belief.labels
    for x, y in zip(stream.points, stream.labels, strict=True):
        decision = learner.decide(x)
        if decision.wants_label:
            learner.tell(decision.id, y if learner.belief.labels < known + 8 else _wrong(learner, y, off))
        if learner.state.trust.alarms:
            return decision.id
    return None


@check(checked)
def an_alarm_is_replayed_to_the_bit(make: Make, stream: LabelledStream) -> None:
    """Replay searches for no change again, and a learner restored after an alarm goes on to the bit."""
    for off in OFF:
        _check_replay(make(), stream, off)


def _check_replay(live: Learner, stream: LabelledStream, off: float) -> None:
    log: list[Event] = recorded(live)
    if _run_to_alarm(live, stream, off) is None:
        return
    assert any(isinstance(event, Refuted) for event in log), "an alarm is no event"
    assert live.decide(stream.points[0]).doubt is not None, (
        "a decision does not say that the belief is refuted"
    )
    own = own_classes(live)
    folded, restored = Learner.fold(log, **own), Learner.restore(live.snapshot(), **own)
    assert folded.snapshot() == live.snapshot(), "replay and live differ"
    assert run(restored, stream) == run(live, stream), "decisions differ after restore"
    assert restored.snapshot() == live.snapshot(), "a restored learner went another way"


@check(checked & fixed)
def correcting_the_label_that_alarmed_brings_everything_back(make: Make, stream: LabelledStream) -> None:
    """Predictions are those of a learner that was told the right label; what was spent stays spent."""
    for outdated in (0, 3):
        _check_return(make(), make(), stream, outdated)


def _check_return(mistaken: Learner, right: Learner, stream: LabelledStream, outdated: int) -> None:
    live = deepcopy(right)
    log = recorded(live)
    id = _run_to_alarm(live, stream, OFF[0])
    if id is None or not getattr(live.belief, "even", True):  # such types set nothing aside
        return
    for event in log[1:]:
        if isinstance(event, Told) and event.id == id:
            mistaken.apply(event)
            mistaken.apply(Refuted(event.number + 1, event.stream, live.rounds, outdated, 1.5))
            break
        mistaken.apply(event)
        right.apply(event)
    limit, labels = mistaken.state.trust.test.limit, mistaken.belief.labels
    assert limit > right.state.trust.test.limit, "an alarm spent nothing"
    assert labels == right.belief.labels + 1 - outdated, "labels were not set aside"
    y = right.predict(stream.points[live.rounds - 1]).mean  # as expected as can be
    mistaken.correct(id, y)
    right.tell(id, y)
    assert mistaken.belief.labels == right.belief.labels, "labels that were set aside are still missing"
    assert_same_predictions(mistaken, right, stream)
    assert mistaken.state.trust.test.limit == limit, "what was spent came back"
    assert mistaken.state.trust.doubt is None, "the belief is still refuted"
    assert run(mistaken, stream), "it does not go on"


@check(checked & fixed)
def labels_set_aside_can_be_changed(make: Make, stream: LabelledStream) -> None:
    """Corrected, withdrawn or reopened meanwhile, they come back as they are by then."""
    for change in (_correct, Learner.withdraw, Learner.reopen):
        aside, kept = make(), make()
        live = make()
        log = recorded(live)
        id = _run_to_alarm(live, stream, OFF[0])
        if id is None or not getattr(live.belief, "even", True):
            return
        told = [event for event in log if isinstance(event, Told)]
        alarm = next(i for i, event in enumerate(log) if isinstance(event, Refuted))
        for event in log[1:alarm]:
            aside.apply(event)
            kept.apply(event)
        aside.apply(Refuted(aside.number + 1, aside.name, aside.rounds, 3, 1.0))
        for learner in (aside, kept):
            change(learner, told[0].id)
        aside.correct(id, 1.0)
        kept.correct(id, 1.0)
        assert aside.belief.labels == kept.belief.labels, "a label was changed and is not known any more"
        assert_same_predictions(aside, kept, stream)


def _correct(learner: Learner, id: str) -> None:
    learner.correct(id, 1.0 if isinstance(learner.belief, Choosy) else 7.0)


def _wrong(learner: Learner, y: float, off: float) -> float:
    """Another label, so far off; yes for no where labels are yes and no."""
    return 1.0 - y if isinstance(learner.belief, Choosy) else y + off
