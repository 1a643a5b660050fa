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
from breakeven.beliefs import as_lists
from breakeven.errors import ConflictingLabel, DuplicateId, InvalidInput, UnknownId, WrongEvent
from breakeven.values import (
    AnyEvent,
    Arrived,
    Corrected,
    Decision,
    Event,
    Fitted,
    Learnt,
    Prediction,
    Reopened,
    Told,
    Withdrawn,
)

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
        waiting = list(learner.awaited)
        if waiting and i % 2:
            learner.tell(waiting[random.integers(len(waiting))], float(random.normal()))
        if i % 6 == 5:
            learner.learn(X[-i], float(random.normal()))
        if i % 7 == 6 and len(waiting) > 2:
            learner.withdraw(next(iter(learner.awaited)), charged=bool(i % 2))
        if i == 12:
            learner.tell("case 12", 2.0)
            learner.correct("case 12", 3.0)
        if i == 17:
            learner.tell("case 17", 2.0)
            learner.withdraw("case 17", charged=True)
            learner.tell("case 17", 4.0)
    unasked = learner.decide(X[0], force=False)
    learner.tell(unasked.id, 1.5)
    learner.reopen("case 12")
    learner.reopen(unasked.id)
    learner.learn(X[0], 2.5, id="gift")
    learner.correct("gift", 2.0)


def answer(id, wants_label=True, cost=1.0, reason="always", by="rule", round=1):
    """A decision that a learner might have given."""
    return Decision(
        id, wants_label, Prediction(0.0, 1.0, 0.2), 1.0, 0.5, cost, 1.0, reason, by=by, round=round
    )


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
    assert {type(event) for event in events} >= {Arrived, Told, Corrected, Withdrawn, Reopened, Learnt}
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
    assert list(again.awaited) == list(learner.awaited)

    stored = msgspec.msgpack.decode(msgspec.msgpack.encode(events), type=list[AnyEvent])
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
    events = [Arrived(2, "", x, answer("1")) for x in KINDS] + [Learnt(2, "", x, 2.0) for x in KINDS]
    stored = msgspec.msgpack.decode(msgspec.msgpack.encode(events), type=list[AnyEvent])
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
    asked = learner.decide("flu", cost=3.0, id="a")
    assert learner.decide("flu", cost=3.0, id="a") == asked
    declined = learner.decide("flu", force=False)
    learner.tell("a", 4)
    learner.tell("a", 4.0)
    learner.correct("a", 5.0)
    learner.correct("a", 5.0)
    learner.learn(("x", np.int64(1)), 6.0)
    learner.reopen("a")
    learner.reopen("a")
    learner.withdraw("1", charged=True)
    learner.withdraw("1", charged=True)
    learner.withdraw("a")
    learner.predict("flu")
    assert heard == [
        Arrived(3, "", "flu", asked, given=3.0),
        Arrived(4, "", "flu", declined),
        Told(5, "", "a", 4.0),
        Corrected(6, "", "a", 5.0),
        Learnt(7, "", ("x", 1), 6.0),
        Reopened(8, "", "a"),
        Withdrawn(9, "", "1", True),
        Withdrawn(10, "", "a", False),
    ]
    assert also == heard
    assert (asked.wants_label, asked.cost, asked.propensity, asked.reason, asked.by, asked.round) == (
        (True, 3.0, 1.0, "always", "rule", 2)
    )
    assert (declined.cost, declined.propensity, declined.reason, declined.by) == (
        (2.0, 0.0, "person_declined", "person")
    )


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
    assert heard[-1].parameters == as_lists(learner.belief.parameters.plain())


def test_the_event_of_a_draw_holds_its_chance():
    learner, heard = Learner(TypeMeans(noise_std=0.2), RandomSelect(0.25), label_cost=2.0), []
    learner.listen(heard.append)
    decisions = learner.decide_many(["flu"] * 20)
    assert {event.decision.propensity for event in heard} == {0.25}
    assert [event.decision for event in heard] == decisions
    assert {event.decision.reason for event in heard} == {"drawn", "not_drawn"}


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
        (lambda one: one.tell("b", np.float32(1.5)), Told(5, "", "b", 1.5)),
        (lambda one: one.tell(np.str_("b"), 3, labeller=np.str_("Ann")), Told(5, "", "b", 3.0, "Ann")),
        (lambda one: one.learn("flu", 3), Learnt(5, "", "flu", 3.0)),
        (lambda one: one.learn("flu", np.float64(1.5), id=Case.A), Learnt(5, "", "flu", 1.5, id="a")),
        (lambda one: one.correct("told", np.float32(1.5)), Corrected(5, "", "told", 1.5)),
        (lambda one: one.correct(np.str_("told"), 1.5), Corrected(5, "", "told", 1.5)),
        (lambda one: one.withdraw("told", charged=np.True_), Withdrawn(5, "", "told", True)),
        (lambda one: one.reopen(np.str_("told")), Reopened(5, "", "told")),
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


def test_whatever_is_given_with_an_arrival_its_event_holds_plain_values():
    learner, heard = Learner(TypeMeans(noise_std=0.2), Always(), label_cost=2.0), []
    learner.listen(heard.append)
    learner.decide(np.str_("flu"), cost=np.int64(3), id=Case.A, force=np.True_)
    learner.snapshot()
    (event,) = heard
    plain = [event.x, event.given, event.decision.id, event.decision.cost, event.decision.wants_label]
    assert list(map(type, plain)) == [str, float, str, float, bool]
    assert plain == ["flu", 3.0, "a", 3.0, True]


def test_an_event_says_who_decided():
    learner, heard = Learner(TypeMeans(noise_std=0.2), Never(), label_cost=2.0, warmup=1), []
    learner.listen(heard.append)
    for force in (False, None, None, True):
        learner.decide("flu", force=force)
    assert [event.decision.by for event in heard] == ["person", "warmup", "rule", "person"]


def test_a_refused_call_is_no_event():
    learner, heard = Learner(TypeMeans(noise_std=0.2), Always(), label_cost=2.0), []
    learner.decide("flu", id="a")
    learner.tell("a", 1.0)
    learner.listen(heard.append)
    with pytest.raises(DuplicateId, match="got 'a'"):
        learner.decide("cold", id="a")
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
        (Arrived(4, "", "flu", answer("a", round=2)), DuplicateId, "got 'a', whose label is told"),
        (Arrived(4, "", "flu", answer(3, round=2)), InvalidInput, "id: expected text, got 3"),
        (Arrived(4, "", "flu", answer("b", round=3)), WrongEvent, "round: expected 2, got 3"),
        (Told(4, "", "a", 9.0), ConflictingLabel, "expected the label 1.0 told before, got 9.0"),
        (Told(4, "", "a", 1.0), WrongEvent, "expected a label that is not told, got 'a' told again"),
        (Told(4, "", "nobody", 9.0), UnknownId, "got 'nobody'"),
        (Corrected(4, "", "nobody", 9.0), UnknownId, "expected a label told before, got 'nobody'"),
        (Withdrawn(4, "", "nobody", False), UnknownId, "expected a label awaited or told, got 'nobody'"),
        (Reopened(4, "", "nobody"), UnknownId, "or one that was asked for and withdrawn, got 'nobody'"),
        (Learnt(4, "", "flu", 1.0, id="a"), DuplicateId, "got 'a'"),
        (Event(4, ""), InvalidInput, "expected one that can follow Created"),
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
