"""A log alone rebuilds its learner: numbered events, the first of which says how it was made."""

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from breakeven import (
    Audit,
    Budget,
    Cells,
    GaussianProcess,
    Learner,
    Matern,
    RandomSelect,
    Rule,
    SquaredExponential,
    Threshold,
    TypeMeans,
    Value,
    Verdict,
)
from breakeven.errors import (
    CalledByListener,
    InvalidInput,
    ListenerFailed,
    TornLearner,
    UnknownId,
    WrongEvent,
)
from breakeven.testing import LabelledStream
from breakeven.testing.stream_runs import recorded, run, run_eventfully
from breakeven.values import AnyEvent, Arrived, Created, Erased, Fitted, Reopened, Told, Withdrawn

BELIEFS = {
    "types": TypeMeans(0.3),
    "learnt prior": TypeMeans(0.3, prior_std="learn"),
    "forgetting": TypeMeans(0.3, forgetting=9.0),
    "cells": Cells([0, 0], [1, 1], 0.3),
    "process": GaussianProcess(1, 0.3, Matern(1.5, 0.4)),
    "fitted": GaussianProcess(1, 0.3, SquaredExponential(0.4), fit="growing"),
    "fading": GaussianProcess(1, 0.3, SquaredExponential(0.4), forgetting=9.0),
}
RULES = {
    "threshold": Threshold(0.5),
    "value": Value(horizon=200, reservoir=8),
    "audited": Budget(Audit(RandomSelect(0.4), 0.3, bound=9.0), total=60.0),
}


def make(belief="types", rule="threshold", **more):
    return Learner(BELIEFS[belief], RULES[rule], **{"label_cost": 0.05, "keep": 12, **more})


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("belief", list(BELIEFS))
def test_a_log_alone_rebuilds_the_learner(belief, rule):
    learner = make(belief, rule, seed=7, name="ward 3")
    log = recorded(learner)
    run_eventfully(learner, LabelledStream.of(learner))
    assert [event.number for event in log] == list(range(1, learner.number + 1))
    assert {event.stream for event in log} == {"ward 3"}
    again = Learner.fold(log)
    assert again.snapshot() == learner.snapshot()
    assert again.created == learner.created
    more = LabelledStream.of(learner, seed=5)
    assert run(again, more) == run(learner, more)


@pytest.mark.parametrize("belief", list(BELIEFS))
def test_a_log_rebuilds_a_learner_that_began_with_a_belief_that_had_learnt(belief):
    first = make(belief)
    run_eventfully(first, LabelledStream.of(first))
    first.decide(LabelledStream.of(first).points[0], force=True)
    learner = Learner(first.belief, Threshold(), label_cost=0.05, keep=5)
    log = recorded(learner)
    assert log[0].state is not None
    assert (learner.number, learner.rounds, len(learner.awaited)) == (1, 0, 0)
    run_eventfully(learner, LabelledStream.of(learner, seed=3))
    assert Learner.fold(log).snapshot() == learner.snapshot()


@pytest.mark.parametrize("belief", list(BELIEFS))
def test_a_log_rebuilds_a_learner_that_began_with_a_belief_that_saw_arrivals_only(belief):
    first = make(belief)
    for x in LabelledStream.of(first).points:
        first.decide(x, force=False)
    learner = Learner(first.belief, Threshold(), label_cost=0.05)
    log = recorded(learner)
    run(learner, LabelledStream.of(learner, seed=3))
    assert Learner.fold(log).snapshot() == learner.snapshot()


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("belief", list(BELIEFS))
def test_a_snapshot_begins_a_stream_of_another_name(belief, rule):
    first = make(belief, rule, name="old")
    run_eventfully(first, LabelledStream.of(first))
    learner = Learner.restore(first.snapshot(), name="new")
    log = recorded(learner)
    assert (learner.name, learner.number, log[0].stream) == ("new", 1, "new")
    assert learner.ledger == first.ledger
    run_eventfully(learner, LabelledStream.of(learner, seed=3))
    assert [event.number for event in log] == list(range(1, learner.number + 1))
    assert Learner.fold(log).snapshot() == learner.snapshot()


@pytest.mark.parametrize("belief", ["types", "forgetting", "process", "fitted"])
def test_labels_of_the_first_stream_and_of_the_second_keep_apart(belief):
    """Labels are named by the numbers of events, which begin again with a new name."""
    first = Learner(BELIEFS[belief], Threshold(), label_cost=0.05, name="old")
    points = LabelledStream.of(first).points
    for i in range(4):
        first.decide(points[i], id=f"old {i}", force=True)
    first.tell("old 0", 1.0)
    renamed, same = Learner.restore(first.snapshot(), name="new"), Learner.restore(first.snapshot())
    for learner in (renamed, same):
        for i in range(6):
            learner.decide(points[i + 4], id=f"new {i}", force=True)
        for i in (3, 0, 5):
            learner.tell(f"new {i}", 10.0 + i)
        for i in (2, 1):
            learner.tell(f"old {i}", 2.0 + i)
        learner.correct("old 0", 5.0)
        learner.withdraw("new 3")
        learner.withdraw("old 3")
        learner.reopen("old 1")
    for one, other in zip(renamed.predict_many(points[:10]), same.predict_many(points[:10]), strict=True):
        tolerance = 1e-6 if belief == "fitted" else 0.0  # fits draw from the stream's name, too
        assert one.mean == pytest.approx(other.mean, rel=tolerance, abs=0.0)
        assert one.std == pytest.approx(other.std, rel=tolerance, abs=0.0)
    assert list(renamed.awaited) == list(same.awaited)
    assert renamed.belief.labels == same.belief.labels


def test_draws_come_from_seed_and_name_and_an_empty_name_changes_nothing():
    def drawn(**more):
        learner = Learner(TypeMeans(0.3), RandomSelect(0.5), label_cost=1.0, **more)
        return [d.wants_label for d in learner.decide_many(["flu"] * 60)]

    assert drawn(seed=3) == drawn(seed=3, name="")
    assert drawn(seed=3, name="a") == drawn(seed=3, name="a")
    assert (
        len({tuple(drawn(**more)) for more in ({"seed": 3}, {"seed": 4}, {"name": "a"}, {"name": "b"})}) == 4
    )


# -- what cannot come next -----------------------------------------------------------------------------


def test_gaps_repeats_and_events_of_other_streams_are_refused():
    learner = make(name="ours")
    log = recorded(learner)
    run(learner, LabelledStream.of(learner))
    again = Learner.fold(log[:5])
    before = again.snapshot()
    for event, message in (
        (log[4], r"^event: expected number 6, got 5: a repeat$"),
        (log[1], r"^event: expected number 6, got 2: a repeat$"),
        (log[6], r"^event: expected number 6, got 7: a gap$"),
        (
            replace(log[5], stream="theirs"),
            r"expected one of the stream 'ours', got one of 'theirs'$",
        ),
        (replace(log[5], stream=""), r"^event: expected one of the stream 'ours', got one of ''$"),
    ):
        with pytest.raises(WrongEvent, match=message):
            again.apply(event)
    with pytest.raises(WrongEvent, match="got 1: a repeat"):
        again.apply(log[0])
    assert again.snapshot() == before
    for event in log[5:]:
        again.apply(event)
    assert again.snapshot() == learner.snapshot()


def test_a_log_begins_with_its_creation():
    learner = make()
    log = recorded(learner)
    run(learner, LabelledStream.of(learner))
    for bad in ([], log[1:], [log[1], log[0]], [replace(log[0], number=2)], ["created"]):
        with pytest.raises(WrongEvent, match=r"^event: expected Created, number 1, at the beginning, got "):
            Learner.fold(bad)
    with pytest.raises(WrongEvent, match="a gap"):
        Learner.fold([log[0], *log[2:]])
    with pytest.raises(WrongEvent, match="a repeat"):
        Learner.fold([log[0], log[0]])


class Often(Rule):
    every: int = 2

    def decide(self, view):
        return Verdict(view.round % self.every == 0)


class Own(TypeMeans):
    pass


def test_classes_of_ones_own_are_named_on_replay_as_on_restore():
    learner = Learner(Own(0.3), Often(), label_cost=1.0)
    log = recorded(learner)
    run(learner, LabelledStream.of(learner))
    learner.reprice(rule=Budget(Often(3), total=9.0))
    run(learner, LabelledStream.of(learner))
    again = Learner.fold(log, rules=[Often], beliefs=[Own])
    assert again.snapshot() == learner.snapshot()
    for missing in ({}, {"rules": [Often]}, {"beliefs": [Own]}):
        with pytest.raises(InvalidInput, match=r"expected a known name, .*, got 'own:"):
            Learner.fold(log, **missing)


def test_a_snapshot_names_the_event_after_which_it_was_taken():
    learner = make(name="ours")
    log = recorded(learner)
    run_eventfully(learner, LabelledStream.of(learner))
    number, blob = learner.number, learner.snapshot()
    run_eventfully(learner, LabelledStream.of(learner, seed=4))
    again = Learner.restore(blob)
    assert again.number == number
    for event in log[number:]:
        again.apply(event)
    assert again.snapshot() == learner.snapshot()


# -- erased events -------------------------------------------------------------------------------------


@pytest.mark.parametrize("belief", list(BELIEFS))
def test_an_event_whose_content_is_gone_counts_its_number_and_its_round(belief):
    learner = make(belief, keep=100)
    log = recorded(learner)
    points = LabelledStream.of(learner).points
    for i in range(6):
        learner.decide(points[i], force=True)
    learner.tell("2", 3.0)
    gone = {
        event.number for event in log if isinstance(event, Arrived | Told | Fitted) and _about(event, "2")
    }
    erased = [
        Erased(event.number, event.stream, isinstance(event, Arrived)) if event.number in gone else event
        for event in log
        if not isinstance(event, Fitted)
    ]
    erased = [replace(event, number=number) for number, event in enumerate(erased, 1)]
    again = Learner.fold(msgspec.msgpack.decode(msgspec.msgpack.encode(erased), type=list[AnyEvent]))
    assert (again.rounds, again.number) == (6, len(erased))
    assert list(again.awaited) == ["1", "3", "4", "5", "6"]
    with pytest.raises(UnknownId):
        again.decision("2")
    assert again.decide(points[0]).id == "7"
    assert again.ledger.labels == 5 + again.decision("7").wants_label


def _about(event, id):
    return (isinstance(event, Told) and event.id == id) or (
        isinstance(event, Arrived) and event.decision.id == id
    )


# -- listeners -----------------------------------------------------------------------------------------


def test_a_listener_that_raises_keeps_the_event_from_nobody():
    learner, heard, also = make(), [], []

    def bad(event):
        heard.append(event)
        raise RuntimeError("disk full")

    learner.listen(bad)
    learner.listen(also.append)
    with pytest.raises(ListenerFailed, match=r"got RuntimeError: disk full; event 2 happened all the same"):
        learner.decide("flu", id="a")
    assert heard == also == [Arrived(2, "", "flu", learner.decision("a"))]
    learner.unlisten(bad)
    learner.tell("a", 1.0)
    assert (len(heard), len(also)) == (1, 2)
    with pytest.raises(InvalidInput, match=r"^listener: expected one that was given to listen"):
        learner.unlisten(bad)


VERBS = {
    "decide": lambda one: one.decide("flu"),
    "tell": lambda one: one.tell("a", 1.0),
    "withdraw": lambda one: one.withdraw("a"),
    "learn": lambda one: one.learn("flu", 1.0),
    "reopen": lambda one: one.reopen("a"),
    "correct": lambda one: one.correct("a", 1.0),
    "reprice": lambda one: one.reprice(label_cost=3.0),
    "decide_many": lambda one: one.decide_many(["flu"]),
    "tell_many": lambda one: one.tell_many(["a"], [1.0]),
    "predict": lambda one: one.predict("flu"),
    "snapshot": lambda one: one.snapshot(),
    "fit": lambda one: one.fit(),
}


@pytest.mark.parametrize("verb", list(VERBS))
def test_a_verb_called_from_inside_a_listener_is_refused(verb):
    learner, caught = make(), []

    def calling(event):
        try:
            VERBS[verb](learner)
        except CalledByListener as error:
            caught.append(error)

    learner.listen(calling)
    learner.decide("flu", id="a")
    assert len(caught) == 1
    assert learner.number == 2


# -- created -------------------------------------------------------------------------------------------


def test_the_first_event_holds_the_whole_configuration():
    learner = make("process", "audited", seed=9, name="ward", warmup=2, error_cost=2.0)
    created = learner.created
    assert isinstance(created, Created)
    assert (created.number, created.stream, created.state) == (1, "ward", None)
    assert created.config == learner.config()
    assert Learner.of(created.config).snapshot() == learner.snapshot()
    learner.reprice(label_cost=3.0, rule=Threshold())
    assert created.config != learner.config()
    assert learner.created == created


def test_a_name_is_short_text():
    for bad in (3, None, "a" * 251, "\ud800"):
        with pytest.raises(InvalidInput, match=r"^name: expected text"):
            make(name=bad)
    assert np.all([make(name=name).name == name for name in ("", "é", "a" * 250)])


def test_an_event_that_cannot_happen_twice_is_refused_and_changes_nothing():
    learner = Learner(TypeMeans(0.3), Threshold(), label_cost=1.0)
    for id in ("gone", "open"):
        learner.decide("a", id=id, force=True)
    learner.withdraw("gone")
    learner.tell("open", 1.0)
    learner.reopen("open")
    before = learner.snapshot()
    for event, words in (
        (Withdrawn(learner.number + 1, "", "gone", False), "'gone', which is withdrawn"),
        (Reopened(learner.number + 1, "", "open"), "'open' reopened again"),
    ):
        with pytest.raises(WrongEvent, match=words):
            learner.apply(event)
        assert learner.snapshot() == before


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_log_that_was_cut_off_leaves_a_torn_learner_and_no_gap(error):
    learner = Learner(TypeMeans(0.5), Threshold(), label_cost=1.0)
    first, log = learner.created, []

    def keep(event):
        if event.number == 3:
            raise error("now")
        log.append(event)

    learner.listen(keep)
    learner.decide("flu")
    with pytest.raises(error, match="now"):
        learner.tell("1", 2.0)
    with pytest.raises(TornLearner, match="restore it from its last snapshot"):
        learner.decide("flu")
    assert Learner.fold([first, *log]).tell("1", 2.0).mean == 2.0
