"""Whichever way a rule is run, the decision, its reason and its numbers are the same.

The ways: a loop of `decide`, `decide_many`, `simulate`, and the compiled loops, with labels told or awaited.
"""

from math import isnan

import numpy as np
import pytest
from msgspec.structs import astuple

from breakeven import (
    Always,
    Audit,
    Budget,
    Cells,
    Check,
    GaussianProcess,
    Learner,
    Never,
    Queue,
    RandomSelect,
    SquaredExponential,
    Threshold,
    TypeMeans,
    Value,
    VariableUncertainty,
    simulate,
)
from breakeven.learner import bulk, replay
from breakeven.learner.bulk import stream as bulk_stream
from breakeven.rules import RULES as OURS
from breakeven.testing.stream_runs import assert_same_decisions, assert_same_state

RULES = {
    "threshold": Threshold(),
    "stream clock": Threshold(0.4, "stream"),
    "random": RandomSelect(0.3),
    "always": Always(),
    "never": Never(),
    **{
        reading: VariableUncertainty(reading, budget=0.2 if reading == "original" else None)
        for reading in ("printed", "figures", "figures_gp", "uncertain", "original")
    },
    "within a share": VariableUncertainty("uncertain", budget=0.1),
    "value": Value(),
    "outlived": Value(horizon=60),
    "value of labels": Value(horizon=500, lessons=False, scored="labels"),
    "budget": Budget(Threshold(), total=9.0, per=(4.0, 30)),
    "budgeted value": Budget(Value(horizon=200), total=9.0),
    "queue": Queue(Threshold(), 3),
    "audit": Audit(Threshold(), 0.2, bound=9.0),
    "check": Check(Value(horizon=200), share=0.5),
    "limited audit": Queue(Budget(Audit(RandomSelect(0.3), 0.2, bound=9.0), per=(6.0, 9)), 4),
}
TYPES = {
    "flat": TypeMeans(0.3),
    "prior": TypeMeans(0.3, prior_mean=0.5, prior_std=0.4),
    "learnt": TypeMeans(0.3, prior_std="learn"),
    "forgetting": TypeMeans(0.3, forgetting=40.0),
    "scaled": TypeMeans(0.3, label_scale=2.5),
}
POINTS = {
    "cells": Cells([0.0, 0.0], [1.0, 1.0], 0.3),
    "process": GaussianProcess(2, 0.3, SquaredExponential(0.4)),
    "fading": GaussianProcess(2, 0.3, SquaredExponential(0.4), forgetting=40.0),
}
ROUNDS = 150
RANDOM = np.random.default_rng(4)
KINDS = RANDOM.integers(5, size=ROUNDS)
PLACES = RANDOM.random((ROUNDS, 2))
LABELS = np.sqrt(KINDS + 1.0) + 0.3 * RANDOM.standard_normal(ROUNDS)


def test_every_rule_of_ours_is_here():
    assert {type(layer) for rule in RULES.values() for layer in rule.layers} == set(OURS)


@pytest.fixture
def _compiled():
    """Every stream of types is long enough for the compiled loops, in chunks of a few rounds."""
    pytest.importorskip("numba")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk_stream, "SHORTEST", 1)
        patch.setattr(bulk_stream, "CHUNK_ROUNDS", 37)
        yield


@pytest.fixture
def _plain():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk_stream, "SHORTEST", 10**9)
        yield


def make(belief, rule):
    return Learner(belief, RULES[rule], label_cost=0.8, error_cost=1.5, seed=6, keep=10 * ROUNDS)


def values(decision):
    """Everything that a decision says; NaN as a word, as it is not equal to itself."""
    told = astuple(decision)
    return [*("none" if isinstance(one, float) and isnan(one) else one for one in told), decision.why]


def loop(learner, xs, ys=None):
    """One by one; labels are told at once where they are given, and awaited else."""
    decisions = []
    for i, x in enumerate(xs):
        decision = learner.decide(x)
        decisions.append(decision)
        if ys is not None and decision.wants_label:
            learner.tell(decision.id, ys[i])
    return decisions


def kept(learner):
    """The decisions that the learner still has, which it can give again."""
    return [learner.decision(str(round)) for round in range(1, ROUNDS + 1)]


@pytest.mark.parametrize("belief", list(TYPES))
@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("way", ["compiled", "plain"])
def test_all_ways_over_types_say_the_same_to_the_bit(belief, rule, way, request):
    xs = KINDS.tolist()
    prompt, late = make(TYPES[belief], rule), make(TYPES[belief], rule)
    told, awaited = loop(prompt, xs, LABELS), loop(late, xs)
    request.getfixturevalue(f"_{way}")
    simulated, batched, passed = (make(TYPES[belief], rule) for _ in range(3))
    trace = simulate(simulated, KINDS, LABELS)
    assert list(map(values, kept(simulated))) == list(map(values, told))
    assert simulated.snapshot() == prompt.snapshot()
    assert list(map(values, batched.decide_many(KINDS))) == list(map(values, awaited))
    assert batched.snapshot() == late.snapshot()
    assert trace.wants_label.tolist() == [one.wants_label for one in told]
    assert repr(trace.threshold.tolist()) == repr([one.threshold for one in told])
    assert trace.uncertainty.tolist() == [one.uncertainty for one in told]
    if bulk.pays(passed.state, ROUNDS):
        run = bulk.replay(passed.state, xs, LABELS, true=False, full=True)
        assert run.reasons.worded() == [one.reason for one in told]
        assert run.answers.wants_label.tolist() == [one.wants_label for one in told]
        assert run.before.prediction.tolist() == [one.prediction.mean for one in told]
        assert passed.snapshot() == prompt.snapshot()


@pytest.mark.usefixtures("_compiled")
def test_the_compiled_loops_serve_all_rules_that_they_should():
    served = {rule for rule in RULES if bulk.pays(make(TYPES["flat"], rule).state, ROUNDS)}
    assert served == set(RULES) - {"budget", "budgeted value", "queue", "audit", "check", "limited audit"}
    assert bulk.pays(make(TYPES["learnt"], "value").state, ROUNDS)
    assert bulk.pays(make(TYPES["scaled"], "threshold").state, ROUNDS)


@pytest.mark.parametrize("belief", list(POINTS))
@pytest.mark.parametrize("rule", list(RULES))
def test_all_ways_over_points_say_the_same(belief, rule):
    """To the bit where nothing is rounded, else but for the last digits."""
    what, exact = POINTS[belief], belief == "cells"
    prompt, late = make(what, rule), make(what, rule)
    told, awaited = loop(prompt, PLACES, LABELS), loop(late, PLACES)
    simulated, replayed, batched = (make(what, rule) for _ in range(3))
    simulate(simulated, PLACES, LABELS)
    in_blocks = [decision for decision, _ in replay(replayed, replayed.belief.points(PLACES), LABELS)]
    in_batch = batched.decide_many(PLACES)
    for some, others in ((kept(simulated), told), (in_blocks, told), (in_batch, awaited)):
        assert assert_same_decisions(some, others, exact=exact) == ROUNDS
        for one, other in zip(some, others, strict=True):
            assert (one.reason, one.propensity, one.cost) == (other.reason, other.propensity, other.cost)
            assert (one.id, one.by, one.round) == (other.id, other.by, other.round)
            if exact:
                assert values(one) == values(other)
    assert_same_state(simulated, prompt)
    assert_same_state(replayed, prompt)
    assert_same_state(batched, late)


@pytest.mark.slow
@pytest.mark.parametrize("rule", [name for name, rule in RULES.items() if len(rule.layers) == 1])
def test_a_stream_that_is_long_indeed_is_the_loop(rule):
    rounds = 120_000
    random = np.random.default_rng(8)
    kinds, labels = random.integers(50, size=rounds), random.standard_normal(rounds)
    learner, other = (Learner(TypeMeans(0.3), RULES[rule], label_cost=0.8, seed=6) for _ in range(2))
    simulate(learner, kinds, labels)
    loop(other, kinds.tolist(), labels.tolist())
    assert learner.snapshot() == other.snapshot()
