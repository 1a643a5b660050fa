"""Whatever goes wrong in the middle of a call, nobody decides on half a state.

A tracer raises at one executed line of a verb after the other. Afterwards the learner is as before, or as
after some of the verb's events, which every listener has, or it says that it is torn.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

import breakeven
from breakeven import (
    Audit,
    Averaged,
    Budget,
    Cells,
    Check,
    GaussianProcess,
    Learner,
    Prior,
    Queue,
    Threshold,
    TypeMeans,
    Value,
    algorithm2,
)
from breakeven.beliefs.gp.blas import one_thread
from breakeven.errors import ListenerFailed, TornLearner
from breakeven.learner import run_fit

PACKAGE = str(Path(breakeven.__file__).parent)
SOME, MANY = 10, 300  # lines tried, evenly spread: in the short run, and of a fit in the long one
LONG = 5_000  # lines: there is a fit in it


class CutOff(Exception):
    """What the tracer raises."""


class Tracer:
    """Counts executed lines of the package, and raises at one of them."""

    def __init__(self, at=None):
        self.at, self.lines, self.raised = at, 0, False
        self.first, self.last = {}, {}  # when each line of the source was executed

    def __call__(self, frame, event, argument):
        path = frame.f_code.co_filename
        if not path.startswith(PACKAGE) or path.endswith("blas.py"):  # which has a lock of the process
            return None
        if event == "line" and not self.raised:
            self.lines += 1
            place = path, frame.f_lineno
            self.first.setdefault(place, self.lines)
            self.last[place] = self.lines
            if self.lines == self.at:
                self.raised = True
                raise CutOff
        return self

    def run(self, verb):
        sys.settrace(self)
        try:
            verb()
        finally:
            sys.settrace(None)


@pytest.fixture(autouse=True)
def _threads_are_free():
    """A call that is cut off may never leave the limit of BLAS threads, which belongs to the process."""
    yield
    one_thread.forked()


def wrapped(rule):
    return Budget(
        Audit(Queue(rule, most=50), rate=0.3, bound=50.0, noise_std=0.5), total=1000.0, per=(500.0, 40)
    )


LEARNERS = {
    "types": lambda: Learner(TypeMeans(0.5), Threshold(), label_cost=1.0),
    "types that learn": lambda: Learner(TypeMeans(0.5, prior_std="learn"), Value(), label_cost=1.0),
    "types that forget": lambda: Learner(
        TypeMeans(0.5, forgetting=9.0), wrapped(Threshold()), label_cost=1.0
    ),
    "cells": lambda: Learner(Cells([0, 0], [1, 1], 0.5), wrapped(Value()), label_cost=1.0),
    "process": lambda: Learner(GaussianProcess(2, 0.5), wrapped(Threshold()), label_cost=0.1),
    "process in the warm-up": lambda: algorithm2(2, label_cost=1.0, noise_std=0.5, warmup=14),
    "process that forgets": lambda: Learner(GaussianProcess(2, 0.5, forgetting=9.0), Value(), label_cost=0.1),
    "process that fits": lambda: Learner(
        GaussianProcess(2, None, mean="fit", fit="growing", prior=Prior()), Value(), label_cost=1.0
    ),
    "checked types": lambda: Learner(TypeMeans(0.5), Check(Threshold(0.1), share=1.0), label_cost=1.0),
    "checked process": lambda: Learner(
        GaussianProcess(2, 0.5), wrapped(Check(Threshold(0.1), share=1.0)), label_cost=0.1
    ),
    "checked average": lambda: Learner(Averaged(2), wrapped(Check(Value(), share=1.0)), label_cost=1.0),
    "dictionary": lambda: Learner(
        GaussianProcess(2, 0.5, capacity="auto", tolerance=1e-4), Value(), label_cost=0.1
    ),
}


def points(learner):
    random = np.random.default_rng(7)
    if type(learner.belief) is TypeMeans:
        return [f"type {i}" for i in random.integers(0, 4, 30)]
    return random.random((30, 2)).tolist()


def lived(name):
    """A learner that has awaited, told, corrected, withdrawn and unasked arrivals."""
    learner = LEARNERS[name]()
    places = points(learner)
    for i, x in enumerate(places[:12]):
        decision = learner.decide(x, id=f"case {i}", force=True if i % 3 == 0 else None)
        if decision.wants_label and i % 4:
            learner.tell(decision.id, float(i % 5))
    learner.learn(places[0], 1.0, id="gift")
    learner.decide(places[13], force=True, id="awaited")
    learner.decide(places[14], force=True, id="awaited too")
    learner.decide(places[15], force=True, id="told")
    learner.tell("told", 2.0)
    learner.decide(places[16], force=False, id="unasked")
    return learner


def adopt(learner, places):
    if learner.belief.fit_due(warm=True):
        learner.adopt(run_fit(learner.fit_job()))


def alarm(learner, places):
    """Tell labels that no belief expects, then say that the last was a mistake."""
    for x in places[20:23]:
        decision = learner.decide(x)
        if decision.wants_label:
            learner.tell(decision.id, 60.0)
    if decision.wants_label:
        learner.correct(decision.id, 1.0)


VERBS = {
    "decide": lambda one, places: one.decide(places[20]),
    "decide by force": lambda one, places: one.decide(places[20], force=True, cost=0.5),
    "decide on many": lambda one, places: one.decide_many(places[20:23]),
    "decide again": lambda one, places: one.decide(places[16], force=False, id="unasked"),
    "tell": lambda one, places: one.tell("awaited", 3.0),
    "tell the unasked": lambda one, places: one.tell("unasked", 3.0),
    "tell many": lambda one, places: one.tell_many(["awaited too", "awaited"], [3.0, 1.0]),
    "correct": lambda one, places: one.correct("told", 1.0),
    "withdraw": lambda one, places: one.withdraw("awaited"),
    "withdraw the told": lambda one, places: one.withdraw("told", charged=True),
    "withdraw the learnt": lambda one, places: one.withdraw("gift"),
    "reopen": lambda one, places: one.reopen("told"),
    "learn": lambda one, places: one.learn(places[21], 4.0, id="another gift"),
    "reprice": lambda one, places: one.reprice(label_cost=2.0, rule=wrapped(Threshold(2.0))),
    "reprice to value": lambda one, places: one.reprice(rule=Value(1000)),
    "explain": lambda one, places: one.explain("told"),
    "predict": lambda one, places: one.predict(places[20]),
    "predict many": lambda one, places: one.predict_many(places[20:24]),
    "look at it": lambda one, places: (one.ledger, one.summary(), one.decision("told"), list(one.awaited)),
    "snapshot": lambda one, places: one.snapshot(),
    "fit": lambda one, places: one.fit(),
    "adopt": adopt,
    "alarm": alarm,
}


def tried(counted, every):
    """The executed lines to raise at: all, or some of them.

    A fit repeats the same lines many thousand times: of it, each line of the source at its first and its last
    time, and some in between.
    """
    if every and counted.lines <= LONG:
        return range(1, counted.lines + 1)
    spread = np.linspace(1, counted.lines, min(MANY if every else SOME, counted.lines)).astype(int).tolist()
    ends = [*counted.first.values(), *counted.last.values()] if every else []
    return sorted({*spread, *ends})


def check(name, verb, *, every):
    born = lived(name)
    blob, places = born.snapshot(), points(born)
    events = []
    reference = Learner.restore(blob)
    reference.listen(events.append)
    VERBS[verb](Learner.restore(blob), places)  # what is loaded or compiled at first use is there afterwards
    counted = Tracer()
    counted.run(lambda: VERBS[verb](reference, places))
    stages, replayed = [blob], Learner.restore(blob)
    for event in events:
        replayed.apply(event)
        stages.append(replayed.snapshot())
    torn = 0
    for line in tried(counted, every):
        learner, heard = Learner.restore(blob), []
        learner.listen(heard.append)
        with pytest.raises((CutOff, ListenerFailed)) as raised:
            Tracer(line).run(lambda: VERBS[verb](learner, places))  # noqa: B023
        try:
            now = learner.snapshot()
        except TornLearner:
            torn += 1
            with pytest.raises(TornLearner, match="restore it from its last snapshot"):
                learner.decide(places[25])
            with pytest.raises(TornLearner, match="restore it"):
                learner.predict(places[25])
            continue
        assert now in stages, f"line {line} of {counted.lines} left half a state behind"
        happened = events[: stages.index(now)]
        if raised.type is ListenerFailed:  # cut off where the listener was called: it is the one that failed
            assert now != blob, f"line {line}: an event failed to be told, and did not happen"
            assert heard == happened[:-1], f"at line {line} listeners have {len(heard)} events"
        else:
            assert heard == happened, f"at line {line} listeners have {len(heard)} events"
    return torn


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", LEARNERS)
def test_a_verb_that_is_cut_off_leaves_no_half_state(name, verb):
    check(name, verb, every=False)


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", LEARNERS)
def test_a_verb_that_is_cut_off_at_any_line_leaves_no_half_state(name, verb):
    check(name, verb, every=True)


def test_the_tracer_does_tear_learners():
    assert check("process", "tell", every=True) > 5
