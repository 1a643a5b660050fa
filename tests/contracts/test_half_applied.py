"""Whatever goes wrong in the middle of a call, nobody decides on half a state, and the log agrees.

A tracer raises at one executed line of a verb after the other, with a log beside the learner. Afterwards the
learner is as before, or as after some of the verb's events, which the log has; or it says that it is torn,
and what the log leads to goes on.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

import breakeven
from breakeven import (
    Always,
    Audit,
    Averaged,
    AveragedShares,
    Budget,
    Cells,
    Check,
    Fleet,
    GaussianProcess,
    Learner,
    Prior,
    Queue,
    Threshold,
    TypeMeans,
    TypeShares,
    Value,
    algorithm2,
)
from breakeven.beliefs import Recognised, says_yes_or_no
from breakeven.beliefs.gp.blas import LIMIT, one_thread
from breakeven.errors import TornLearner
from breakeven.learner import run_fit
from breakeven.learner.bulk import stream

PACKAGE = str(Path(breakeven.__file__).parent)
SOME, MANY = 10, 300  # lines tried, evenly spread: in the short run, and of a fit in the long one
LONG = 5_000  # lines: there is a fit in it


class Interrupt(KeyboardInterrupt):
    """What the tracer raises at every other line."""


class NoMemory(MemoryError):
    """What it raises at the others."""


CutOff = Interrupt, NoMemory


class Tracer:
    """Counts executed lines of the package, and raises at one of them."""

    def __init__(self, at=None):
        self.at, self.lines, self.raised = at, 0, False
        self.first, self.last = {}, {}  # when each line of the source was executed

    def __call__(self, frame, event, argument):
        path = frame.f_code.co_filename
        if not path.startswith(PACKAGE):
            return None
        if event == "line" and not self.raised:
            self.lines += 1
            place = path, frame.f_lineno
            self.first.setdefault(place, self.lines)
            self.last[place] = self.lines
            if self.lines == self.at:
                self.raised = True
                raise (Interrupt if self.lines % 2 else NoMemory)
        return self

    def run(self, verb):
        sys.settrace(self)
        try:
            verb()
        finally:
            sys.settrace(None)


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
    "average": lambda: Learner(Averaged(2), Value(), label_cost=1.0),
    "dictionary": lambda: Learner(
        GaussianProcess(2, 0.5, capacity="auto", tolerance=1e-4), Value(), label_cost=0.1
    ),
}


YES_NO = {
    "shares": lambda: Learner(TypeShares(), wrapped(Check(Value(), share=1.0)), label_cost=0.1),
    "shares of rows": lambda: Learner(AveragedShares(2), Check(Value(), share=1.0), label_cost=0.1),
    "recognised": lambda: Learner(Recognised(TypeMeans(0.5), TypeShares()), Value(), label_cost=0.1),
    "recognised rows": lambda: Learner(
        Recognised(Averaged(2), AveragedShares(2), both=True), Check(Value(), share=1.0), label_cost=0.1
    ),
}
LEARNERS |= YES_NO
OF_TYPES = TypeMeans, TypeShares
FEW_VERBS = "decide", "tell", "correct", "withdraw the told", "alarm"  # of dear learners, in the short run
FEW_LEARNERS = "average", *YES_NO


def points(learner):
    random = np.random.default_rng(7)
    belief = learner.belief
    if isinstance(getattr(belief, "numbers", belief), OF_TYPES) and type(belief) is not Cells:
        return [f"type {i}" for i in random.integers(0, 4, 30)]
    return random.random((30, 2)).tolist()


def lived(name):
    """A learner that has awaited, told, corrected, withdrawn and unasked arrivals."""
    learner = LEARNERS[name]()
    places, values = points(learner), 2 if name in YES_NO else 5
    for i, x in enumerate(places[:12]):
        decision = learner.decide(x, id=f"case {i}", force=True if i % 3 == 0 else None)
        if decision.wants_label and i % 4:
            learner.tell(decision.id, float(i % values))
    learner.learn(places[0], 1.0, id="gift")
    learner.decide(places[13], force=True, id="awaited")
    learner.decide(places[14], force=True, id="awaited too")
    learner.decide(places[15], force=True, id="told")
    learner.tell("told", 2.0 % values)
    learner.decide(places[16], force=False, id="unasked")
    return learner


def adopt(learner, places):
    if learner.belief.fit_due(warm=True):
        learner.adopt(run_fit(learner.fit_job()))


def y(learner, number):
    """A label: this number, or yes where labels are yes or no."""
    return min(number, 1.0) if says_yes_or_no(learner.belief) else number


def alarm(learner, places):
    """Tell labels that no belief expects, then say that the last was a mistake."""
    for x in places[20:23]:
        decision = learner.decide(x)
        if decision.wants_label:
            learner.tell(decision.id, y(learner, 60.0))
    if decision.wants_label:
        learner.correct(decision.id, 0.0)


VERBS = {
    "decide": lambda one, places: one.decide(places[20]),
    "decide by force": lambda one, places: one.decide(places[20], force=True, cost=0.5),
    "decide on many": lambda one, places: one.decide_many(places[20:23]),
    "decide again": lambda one, places: one.decide(places[16], force=False, id="unasked"),
    "tell": lambda one, places: one.tell("awaited", y(one, 3.0)),
    "tell the unasked": lambda one, places: one.tell("unasked", y(one, 3.0)),
    "tell many": lambda one, places: one.tell_many(["awaited too", "awaited"], [y(one, 3.0), 1.0]),
    "correct": lambda one, places: one.correct("told", 1.0),
    "withdraw": lambda one, places: one.withdraw("awaited"),
    "withdraw the told": lambda one, places: one.withdraw("told", charged=True),
    "withdraw the learnt": lambda one, places: one.withdraw("gift"),
    "reopen": lambda one, places: one.reopen("told"),
    "reopen the withdrawn": lambda one, places: (one.withdraw("awaited"), one.reopen("awaited")),
    "learn": lambda one, places: one.learn(places[21], y(one, 4.0), id="another gift"),
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
    return check_verb(born.snapshot(), points(born), VERBS[verb], every=every)


def check_verb(blob, places, run, *, every):
    events = []
    reference = Learner.restore(blob)
    reference.listen(events.append)
    run(Learner.restore(blob), places)  # what is loaded or compiled at first use is there afterwards
    counted = Tracer()
    counted.run(lambda: run(reference, places))
    stages, replayed = [blob], Learner.restore(blob)
    for event in events:
        replayed.apply(event)
        stages.append(replayed.snapshot())
    torn = 0
    for line in tried(counted, every):
        learner, log = Learner.restore(blob), []
        learner.listen(log.append)
        with pytest.raises(CutOff):
            Tracer(line).run(lambda: run(learner, places))  # noqa: B023
        check_blas()
        where = f"line {line} of {counted.lines}"
        assert log == events[: len(log)], f"{where}: the log has other events"
        try:
            now = learner.snapshot()
        except TornLearner:
            torn += 1
            with pytest.raises(TornLearner, match="restore it from its last snapshot"):
                learner.decide(places[25])
            with pytest.raises(TornLearner, match="restore it"):
                learner.predict(places[25])
            continue
        assert now in stages, f"{where} left half a state behind"
        assert now == stages[len(log)], f"{where}: the log has {len(log)} events"
    for stage in stages:  # where a torn learner goes on, from the log
        Learner.restore(stage).decide(places[25])
    return torn


def check_blas():
    """A call that was cut off has left neither the lock of BLAS threads held nor their limit."""
    assert LIMIT.lock.acquire(timeout=1.0)
    LIMIT.lock.release()
    with one_thread():
        pass
    assert LIMIT._before == []


def quick():
    return [
        (name, verb) for name in LEARNERS for verb in VERBS if name not in FEW_LEARNERS or verb in FEW_VERBS
    ]


@pytest.mark.parametrize(("name", "verb"), quick())
def test_a_verb_that_is_cut_off_leaves_no_half_state(name, verb):
    check(name, verb, every=False)


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", LEARNERS)
def test_a_verb_that_is_cut_off_at_any_line_leaves_no_half_state(name, verb):
    check(name, verb, every=True)


def test_the_tracer_does_tear_learners():
    assert check("process", "tell", every=True) > 5


TYPES = np.arange(150) % 4
IN_COMPILED_LOOPS = {
    "decide": lambda one, places: one.decide_many(TYPES),
    "tell": lambda one, places: one.tell_many(list(one.awaited), [2.0] * len(one.awaited)),
}


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("verb", IN_COMPILED_LOOPS)
def test_a_batch_in_compiled_loops_that_is_cut_off_leaves_no_half_state(verb, every, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(stream, "SHORTEST", 1)
    learner = Learner(TypeMeans(0.5), Always(), label_cost=1.0)
    learner.decide_many(TYPES)
    assert check_verb(learner.snapshot(), TYPES.tolist(), IN_COMPILED_LOOPS[verb], every=every) > 3


TEMPLATE = Learner(TypeMeans(0.5), Threshold(), label_cost=0.1).config()
VERBS_OF_FLEETS = {
    "decide": lambda one: one.decide([1, 2, 1, 9], [1, 2, 3, 1], ids=[21, 21, 22, 23]),
    "tell": lambda one: one.tell([1, 2, 9], [11, 12, 99], [1.5, 2.5, 3.5]),
    "withdraw": lambda one: one.withdraw([1, 2], [11, 13]),
    "put": lambda one: one.put(7, Learner.of(TEMPLATE | {"name": "7"}), ids="integers"),
}


@pytest.mark.parametrize("verb", VERBS_OF_FLEETS)
def test_a_fleet_whose_call_is_cut_off_is_as_before_or_after_or_torn(verb):
    born, run = Fleet(Learner.of(TEMPLATE)), VERBS_OF_FLEETS[verb]
    born.decide([1, 2, 2], [1, 1, 2], ids=[11, 12, 13])
    born.tell([2], [13], [1.0])
    before, counted = born.dump(), Tracer()
    reference = Fleet.load(before)
    run(Fleet.load(before))  # what is compiled at first use is there afterwards
    counted.run(lambda: run(reference))
    torn = 0
    for line in tried(counted, every=True)[::3]:  # which raises both kinds of error
        fleet = Fleet.load(before)
        with pytest.raises(CutOff):
            Tracer(line).run(lambda: run(fleet))  # noqa: B023
        try:
            assert fleet.dump() in (before, reference.dump()), f"line {line} left half a state behind"
        except TornLearner:
            torn += 1
            for verb_of_torn in VERBS_OF_FLEETS.values():
                with pytest.raises(TornLearner, match="expected a whole one, got a torn one"):
                    verb_of_torn(fleet)
    assert torn > 10


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["decide", "tell", "correct", "withdraw the told", "adopt"])
@pytest.mark.parametrize("labels", [199, 1_001])
def test_a_verb_that_is_cut_off_where_the_average_changes_its_ways(labels, verb):
    learner, places = (
        Learner(Averaged(2), Value(), label_cost=1.0, fitting="outside"),
        points(LEARNERS["average"]()),
    )
    random = np.random.default_rng(3)
    for x in random.random((labels, 2)).tolist():
        learner.learn(x, float(np.sin(5.0 * x[0]) + 0.2 * random.standard_normal()))
        if learner.belief.labels in (30, labels - 20):
            learner.fit()
    for id in ("awaited", "told"):
        learner.decide(places[13], force=True, id=id)
    learner.tell("told", 1.5)
    check_verb(learner.snapshot(), places, VERBS[verb], every=False)
