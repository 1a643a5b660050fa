"""Many at once: the same answers and the same state as one by one."""

import numpy as np
import pytest

from breakeven import (
    Cells,
    GaussianProcess,
    Learner,
    Matern,
    RandomSelect,
    Threshold,
    TypeMeans,
    VariableUncertainty,
)
from breakeven.testing.stream_runs import assert_same_decisions, assert_same_state

BELIEFS = {
    "types": TypeMeans(noise_std=0.3),
    "cells": Cells([0, 0], [1, 1], noise_std=0.3),
    "gp": GaussianProcess(2, 0.3, Matern(2.5, lengthscale=0.3)),
}
RULES = {
    "threshold": Threshold(0.5),
    "random": RandomSelect(0.4),
    "moving": VariableUncertainty("original", budget=0.1),
}


def stream(kind, length, seed=0):
    random = np.random.default_rng(seed)
    if kind == "types":
        return [("a", "b", 3, ("c", 1))[k] for k in random.integers(4, size=length)]
    return random.random((length, 2))


@pytest.fixture(params=list(BELIEFS))
def kind(request):
    return request.param


@pytest.mark.parametrize("rule", list(RULES))
def test_a_batch_with_costs_and_ids_is_a_loop_with_costs_and_ids(kind, rule):
    one, many = (Learner(BELIEFS[kind], RULES[rule], label_cost=0.2, warmup=3, seed=5) for _ in range(2))
    X = stream(kind, 30)
    costs = np.geomspace(0.01, 100.0, 30).tolist()
    ids = [f"no {i}" for i in range(30)]
    loop = [one.decide(x, cost=cost, id=id) for x, cost, id in zip(X, costs, ids, strict=True)]
    compared = assert_same_decisions(
        many.decide_many(X, costs=iter(costs), ids=iter(ids)), loop, exact=kind != "gp"
    )
    assert compared == 30
    assert {d.wants_label for d in loop} == {True, False}
    assert_same_state(many, one)


@pytest.mark.parametrize("rule", list(RULES))
def test_how_a_stream_is_cut_into_batches_does_not_matter(kind, rule):
    X = stream(kind, 40, seed=1)
    results = []
    for cuts in ([40], [1] * 40, [7, 0, 20, 13]):
        learner = Learner(BELIEFS[kind], RULES[rule], label_cost=0.2, seed=9)
        decisions, low = [], 0
        for size in cuts:
            part = learner.decide_many(X[low : low + size])
            low += size
            decisions += part
            asked = [d.id for d in part if d.wants_label]
            learner.tell_many(asked[::2], [float(len(id)) for id in asked[::2]])
        results.append([(d.id, d.wants_label, d.propensity) for d in decisions])
    assert results[0] == results[1] == results[2]


def test_telling_many_is_telling_each(kind):
    one, many = (Learner(BELIEFS[kind], RULES["random"], label_cost=0.2) for _ in range(2))
    for learner in (one, many):
        learner.decide_many(stream(kind, 12))
    ids = [str(i) for i in (3, 9, 1, 12, 5, 3)]
    ys = [1.0, -2.0, 0.5, 7.0, 3.0, 1.0]
    assert many.tell_many(iter(ids), np.array(ys)) == [one.tell(id, y) for id, y in zip(ids, ys, strict=True)]
    assert many.snapshot() == one.snapshot()


def test_telling_many_fits_in_between_as_telling_each_does():
    belief = GaussianProcess(1, 0.1, fit="every_label")
    one, many = (Learner(belief, Threshold(), label_cost=0.01, warmup=3) for _ in range(2))
    for learner in (one, many):
        learner.decide_many([[0.1], [0.5], [0.9]])
    ys = {"1": 0.0, "3": 1.0, "2": 0.4}
    assert many.tell_many(ys, ys.values()) == [one.tell(id, y) for id, y in ys.items()]
    assert many.snapshot() == one.snapshot()
    assert many.summary().fits == 3


def test_predicting_many_is_predicting_each_and_changes_nothing(kind):
    learner = Learner(BELIEFS[kind], RULES["random"], label_cost=0.2)
    X = stream(kind, 30)
    asked = [d.id for d in learner.decide_many(X) if d.wants_label]
    learner.tell_many(asked[:5], [1.0, 2.0, 3.0, 4.0, 5.0])
    before = learner.snapshot()
    for p, x in zip(learner.predict_many(X), X, strict=True):
        q = learner.predict(x)
        assert p.mean == pytest.approx(q.mean, rel=1e-10, abs=1e-10)
        assert p.std == pytest.approx(q.std, rel=1e-10, abs=1e-10)
    assert learner.snapshot() == before


@pytest.mark.parametrize("empty", [[], (), np.empty((0, 2))], ids=["list", "tuple", "array"])
def test_an_empty_batch_is_an_empty_answer(kind, empty):
    learner = Learner(BELIEFS[kind], RULES["random"], label_cost=0.2)
    before = learner.snapshot()
    assert learner.decide_many(empty) == []
    assert learner.decide_many(empty, costs=[], ids=[]) == []
    assert learner.predict_many(empty) == []
    assert learner.tell_many([], []) == []
    assert learner.snapshot() == before


def test_labels_asked_in_a_batch_narrow_the_arrivals_behind_them():
    learner = Learner(BELIEFS["gp"], Threshold(0.5), label_cost=0.2)
    learner.decide([0.2, 0.2], force=True)
    first, second, far = learner.decide_many([[0.5, 0.5], [0.5, 0.5], [9.0, 9.0]])
    assert first.wants_label
    assert second.uncertainty < 0.5 * first.uncertainty
    assert far.uncertainty == pytest.approx(1.0)


def test_a_batch_longer_than_a_block_with_labels_told_and_awaited_is_a_loop():
    one, many = (Learner(BELIEFS["gp"], RandomSelect(0.3), label_cost=0.2, seed=5) for _ in range(2))
    for learner in (one, many):
        asked = [d.id for d in learner.decide_many(stream("gp", 50, seed=2)) if d.wants_label]
        learner.tell_many(asked[:-3], np.sin(np.arange(len(asked) - 3)))
    X = stream("gp", 150, seed=3)
    loop = [one.decide(x) for x in X]
    assert assert_same_decisions(many.decide_many(X), loop, exact=False) == 150
    assert_same_state(many, one)
