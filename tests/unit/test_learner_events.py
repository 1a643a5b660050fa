"""Events: what a listener hears, and that replaying it gives the same bits without deciding or fitting."""

from enum import StrEnum
from functools import partial

import msgspec
import numpy as np
import pytest

from breakeven import (
    Always,
    Cells,
    GaussianProcess,
    Learner,
    Matern,
    Never,
    RandomSelect,
    Rule,
    Threshold,
    TypeMeans,
    VariableUncertainty,
    Verdict,
)
from breakeven.errors import ConflictingLabel, DuplicateId, InvalidInput, UnknownId
from breakeven.values import Arrived, Corrected, Event, Fitted, Learnt, Told, Withdrawn

BELIEFS = {
    "types": (TypeMeans(noise_std=0.2), 0),
    "types after a warm-up": (TypeMeans(noise_std=0.2), 5),
    "cells": (Cells([0, 0], [1, 1], noise_std=0.2), 0),
    "process": (GaussianProcess(2, 0.2, Matern(1.5, lengthscale=0.3)), 0),
    "process after a warm-up": (GaussianProcess(2, 0.2, fit="after_warmup"), 4),
    "process fitted at every label": (GaussianProcess(2, 0.2, fit="every_label"), 0),
    "process fitted with noise and mean": (GaussianProcess(2, None, mean="fit", fit="growing"), 3),
}
RULES = {
    "threshold": Threshold(0.4),
    "random": RandomSelect(0.6),
    "moving": VariableUncertainty("figures"),
    "budget": VariableUncertainty("original", budget=0.1),
}
KINDS = ["flu", 7, b"\x00\xff", ("clinic", 3, b"x"), ("é", ("ward", -1))]


def points(belief, count, seed=0):
    random = np.random.default_rng(seed)
    if type(belief) is TypeMeans:
        return [KINDS[k] for k in random.integers(len(KINDS), size=count)]
    return random.random((count, 2))


def live(learner, X, seed=1):
    """A whole life: overrides, prices, ids, labels late and out of order, corrected, withdrawn, given."""
    random = np.random.default_rng(seed)
    for i, x in enumerate(X):
        force = True if i % 9 == 4 else False if i % 9 == 8 else None
        id = f"case {i}" if i % 5 == 2 else None
        learner.decide(x, cost=0.1 + i % 3, id=id, force=force)
        waiting = list(learner.pending)
        if waiting and i % 2:
            learner.tell(waiting[random.integers(len(waiting))], float(random.normal()))
        if i % 6 == 5:
            learner.learn(X[-i], float(random.normal()))
        if i % 7 == 6 and len(waiting) > 2:
            learner.withdraw(next(iter(learner.pending)), charged=bool(i % 2))
        if i == 12:
            learner.tell("case 12", 2.0)
            learner.correct("case 12", 3.0)
        if i == 17:
            learner.tell("case 17", 2.0)
            learner.withdraw("case 17", charged=True)
    unasked = learner.decide(X[0], force=False)
    learner.tell(unasked.id, 1.5)


def recorded(make, X):
    learner, events = make(), []
    learner.listen(events.append)
    live(learner, X)
    return learner, events


def replayed(make, events):
    learner = make()
    for event in events:
        learner.apply(event)
    return learner


# -- replay --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("belief", list(BELIEFS))
def test_replaying_the_events_gives_the_same_bits_and_never_decides_or_fits(belief, rule, monkeypatch):
    what, warmup = BELIEFS[belief]
    make = partial(Learner, what, RULES[rule], label_cost=0.5, warmup=warmup, seed=3)
    learner, events = recorded(make, points(what, 20))
    assert {type(event) for event in events} >= {Arrived, Told, Corrected, Withdrawn, Learnt}
    assert (Fitted in {type(event) for event in events}) == (
        "fitted" in belief or belief == "process after a warm-up"
    )

    def never(*args, **kwargs):
        raise AssertionError("replay must not come here")

    monkeypatch.setattr(type(learner.rule), "decide", never)
    monkeypatch.setattr(type(learner.belief), "fit", never)
    again = replayed(make, events)
    assert again.snapshot() == learner.snapshot()
    assert again.ledger == learner.ledger
    assert list(again.pending) == list(learner.pending)

    stored = msgspec.msgpack.decode(msgspec.msgpack.encode(events), type=list[Event])
    assert replayed(make, stored).snapshot() == learner.snapshot()


@pytest.mark.parametrize("belief", list(BELIEFS))
def test_a_replayed_learner_goes_on_as_the_first_one_does(belief):
    what, warmup = BELIEFS[belief]
    make = partial(Learner, what, RULES["budget"], label_cost=0.5, warmup=warmup, seed=3)
    learner, events = recorded(make, points(what, 18))
    again = replayed(make, events)
    for one in (learner, again):
        for x in points(what, 6, seed=5):
            decision = one.decide(x)
            if decision.wants_label:
                one.tell(decision.id, 0.5)
    assert again.snapshot() == learner.snapshot()


def test_events_with_types_of_every_kind_survive_storage():
    events = [Arrived("1", x, True, 1.0, 1.0, "always", "rule") for x in KINDS] + [
        Learnt(x, 2.0) for x in KINDS
    ]
    stored = msgspec.msgpack.decode(msgspec.msgpack.encode(events), type=list[Event])
    belief = TypeMeans(noise_std=1.0)
    assert [belief.recall(event.x) for event in stored] == [event.x for event in events]


def test_replaying_needs_no_ids_of_ones_own():
    make = partial(Learner, TypeMeans(noise_std=0.2), Threshold(), label_cost=0.5)
    learner, events = make(), []
    learner.listen(events.append)
    for x in ("a", "b", "a"):
        learner.decide(x)
    learner.tell("2", 1.0)
    assert replayed(make, events).snapshot() == learner.snapshot()


def test_a_replayed_learner_announces_what_it_replays():
    make = partial(Learner, *BELIEFS["process"][:1], RULES["threshold"], label_cost=0.5)
    _, events = recorded(make, points(BELIEFS["process"][0], 20))
    learner, heard = make(), []
    learner.listen(heard.append)
    for event in events:
        learner.apply(event)
    assert heard == events


# -- listening -----------------------------------------------------------------------------------------


def test_a_listener_hears_everything_in_order():
    learner, heard, also = Learner(TypeMeans(noise_std=0.2), Always(), label_cost=2.0), [], []
    learner.decide("before")
    learner.listen(heard.append)
    learner.listen(also.append)
    learner.decide("flu", cost=3.0, id="a")
    learner.decide("flu", force=False)
    learner.tell("a", 4)
    learner.tell("a", 4.0)
    learner.correct("a", 5.0)
    learner.learn(("x", np.int64(1)), 6.0)
    learner.withdraw("1", charged=True)
    learner.withdraw("a")
    learner.predict("flu")
    assert heard == [
        Arrived("a", "flu", True, 3.0, 1.0, "always", "rule"),
        Arrived("3", "flu", False, 2.0, 0.0, "person_declined", "person"),
        Told("a", 4.0),
        Corrected("a", 5.0),
        Learnt(("x", 1), 6.0),
        Withdrawn("1", True),
        Withdrawn("a", False),
    ]
    assert also == heard


def test_a_fit_is_heard_after_the_label_that_caused_it():
    learner, heard = (
        Learner(GaussianProcess(1, 0.1, fit="after_warmup"), Never(), label_cost=2.0, warmup=2),
        [],
    )
    learner.listen(heard.append)
    learner.decide_many([[0.0], [1.0], [2.0]])
    learner.tell_many(["2", "1"], [1.0, 0.0])
    kinds = [type(event).__name__ for event in heard]
    assert kinds == ["Arrived", "Arrived", "Arrived", "Told", "Told", "Fitted"]
    assert heard[-1].parameters == learner.belief.parameters.plain()


def test_the_event_of_a_draw_holds_its_chance():
    learner, heard = Learner(TypeMeans(noise_std=0.2), RandomSelect(0.25), label_cost=2.0), []
    learner.listen(heard.append)
    decisions = learner.decide_many(["flu"] * 20)
    assert {event.propensity for event in heard} == {0.25}
    assert [event.wants_label for event in heard] == [d.wants_label for d in decisions]
    assert {event.reason for event in heard} == {"drawn", "not_drawn"}


def test_points_are_plain_data_in_events():
    learner, heard = Learner(GaussianProcess(2, 0.2), Always(), label_cost=2.0), []
    learner.listen(heard.append)
    learner.decide(np.array([1, 2]))
    learner.learn([0.5, 1.5], 3)
    assert [event.x for event in heard] == [(1.0, 2.0), (0.5, 1.5)]


class Case(StrEnum):
    A = "a"


@pytest.mark.parametrize(
    ("call", "event"),
    [
        (lambda one: one.tell("b", np.float32(1.5)), Told("b", 1.5)),
        (lambda one: one.tell(np.str_("b"), 3, labeller=np.str_("Ann")), Told("b", 3.0, "Ann")),
        (
            lambda one: one.decide(np.str_("flu"), cost=np.int64(3), id=Case.A, force=np.True_),
            Arrived("a", "flu", True, 3.0, 1.0, "person_asked", "person"),
        ),
        (lambda one: one.learn("flu", 3), Learnt("flu", 3.0)),
        (lambda one: one.learn("flu", np.float64(1.5)), Learnt("flu", 1.5)),
        (lambda one: one.correct("told", np.float32(1.5)), Corrected("told", 1.5)),
        (lambda one: one.correct(np.str_("told"), 1.5), Corrected("told", 1.5)),
        (lambda one: one.withdraw("told", charged=np.True_), Withdrawn("told", True)),
    ],
)
def test_whatever_numbers_and_text_are_given_an_event_holds_plain_ones(call, event):
    learner, heard = Learner(TypeMeans(noise_std=0.2), Always(), label_cost=2.0), []
    learner.decide_many(["flu", "flu"], ids=["told", "b"])
    learner.tell("told", 1.0)
    learner.listen(heard.append)
    call(learner)
    learner.snapshot()
    assert msgspec.json.encode(heard) == msgspec.json.encode([event])


def test_an_event_says_who_decided():
    learner, heard = Learner(TypeMeans(noise_std=0.2), Never(), label_cost=2.0, warmup=1), []
    learner.listen(heard.append)
    for force in (False, None, None, True):
        learner.decide("flu", force=force)
    assert [event.by for event in heard] == ["person", "warmup", "rule", "person"]


def test_a_refused_call_is_no_event():
    learner, heard = Learner(TypeMeans(noise_std=0.2), Always(), label_cost=2.0), []
    learner.decide("flu", id="a")
    learner.tell("a", 1.0)
    learner.listen(heard.append)
    with pytest.raises(DuplicateId, match="got 'a'"):
        learner.decide("flu", id="a")
    with pytest.raises(ConflictingLabel, match="use correct"):
        learner.tell("a", 2.0)
    with pytest.raises(InvalidInput, match="got nan"):
        learner.learn("flu", float("nan"))
    assert heard == []


# -- events that cannot have happened ------------------------------------------------------------------


@pytest.mark.parametrize("event", ["told", None, 3, ("1", 2.0), {"id": "1"}, Told, Event], ids=repr)
def test_what_is_no_event_is_refused(event):
    learner = Learner(TypeMeans(noise_std=0.2), Always(), label_cost=2.0)
    before = learner.snapshot()
    with pytest.raises(InvalidInput, match=r"^event: expected an event of breakeven\.values, got "):
        learner.apply(event)
    assert learner.snapshot() == before


@pytest.mark.parametrize(
    ("event", "error", "match"),
    [
        (Arrived("a", "flu", True, 1.0, 1.0, "always", "rule"), DuplicateId, "got 'a', whose label is told"),
        (Arrived(3, "flu", True, 1.0, 1.0, "always", "rule"), InvalidInput, "id: expected text, got 3"),
        (Told("a", 9.0), ConflictingLabel, "expected the label 1.0 told before, got 9.0"),
        (Told("nobody", 9.0), UnknownId, "got 'nobody'"),
        (Corrected("nobody", 9.0), UnknownId, "expected a label told before, got 'nobody'"),
        (Withdrawn("nobody", False), UnknownId, "expected a label awaited or told, got 'nobody'"),
    ],
    ids=repr,
)
def test_an_event_that_cannot_have_happened_here_is_refused(event, error, match):
    learner = Learner(TypeMeans(noise_std=0.2), Always(), label_cost=2.0)
    learner.decide("flu", id="a")
    learner.tell("a", 1.0)
    before = learner.snapshot()
    with pytest.raises(error, match=match):
        learner.apply(event)
    assert learner.snapshot() == before


def test_a_told_event_that_repeats_itself_is_harmless():
    learner, heard = Learner(TypeMeans(noise_std=0.2), Always(), label_cost=2.0), []
    learner.decide("flu")
    learner.apply(Told("1", 1.0))
    before = learner.snapshot()
    learner.listen(heard.append)
    learner.apply(Told("1", 1.0))
    assert learner.snapshot() == before
    assert heard == []


# -- a rule's memory -----------------------------------------------------------------------------------


class Counting(Rule):
    """Remembers how often it said yes."""

    seen: int = 0
    yes: int = 0

    def decide(self, view):
        return Verdict(view.round % 2 == 0, reason="Every second one.")

    def observe(self, *, labelled):
        self.seen += 1
        self.yes += labelled


def test_a_rule_remembers_its_own_answers_only_and_the_same_ones_in_replay():
    make = partial(Learner, TypeMeans(noise_std=0.2), Counting(), label_cost=2.0, warmup=2)
    learner, events = make(), []
    learner.listen(events.append)
    for i in range(10):
        learner.decide("flu", force=True if i == 5 else None)
    assert (learner.rule.seen, learner.rule.yes) == (7, 3)
    assert replayed(make, events).rule == learner.rule
