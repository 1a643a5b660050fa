"""A copy, a pickle and a restored learner go on as the original does, to the bit, at any number of labels."""

import copy
import pickle

import msgspec
import numpy as np
import pytest

from breakeven import (
    Averaged,
    AveragedShares,
    Cells,
    Check,
    Fleet,
    GaussianProcess,
    Labeller,
    Learner,
    Prior,
    SeparateTypes,
    TypeMeans,
    TypeShares,
    Value,
    algorithm1,
)
from breakeven.beliefs import Recognised
from breakeven.errors import TornLearner
from breakeven.learner.state import CHANGING
from tests.unit.weighing import Bargain, Weighing

SIZES = 40, 250, 800, 1_100  # labels: on both sides of 200, 775 and 1,000, where `Averaged` changes its ways
LONGER = 60  # arrivals after the copy; after one of a dear belief only a few, but for the proof
FEW = 6
BELIEFS = {
    "averaged": lambda: Averaged(2),
    "averaged, noise known": lambda: Averaged(2, 0.3, level=0.7),
    "averaged, mostly zero": lambda: Averaged(2),
    "averaged shares": lambda: AveragedShares(2),
    "recognised rows": lambda: Recognised(Averaged(2), AveragedShares(2)),
    "recognised types": lambda: Recognised(TypeMeans(0.3, prior_std="learn"), TypeShares(level=0.5)),
    "types": lambda: TypeMeans(0.3),
    "types that learn and forget": lambda: TypeMeans(0.3, prior_std="learn", forgetting=50.0),
    "shares": lambda: TypeShares(prior_strength="learn"),
    "separate": lambda: SeparateTypes(0.3),
    "cells": lambda: Cells([0.0, 0.0], [1.0, 1.0], 0.3),
    "process": lambda: GaussianProcess(2, 0.3),
    "process that forgets": lambda: GaussianProcess(2, 0.3, forgetting=100.0),
    "dictionary": lambda: GaussianProcess(2, 0.3, capacity="auto", tolerance=1e-4),
    "process that fits": lambda: GaussianProcess(
        2, None, mean="fit", fit="growing", capacity="auto", prior=Prior(), label_scale="fit"
    ),
}
DEAR = "averaged", "recognised rows", "process that fits"  # beliefs that take seconds
QUICK = ("averaged", 40), ("averaged", 250), ("averaged shares", 40), ("process that fits", 40)
COPIES = {
    "restore": lambda one: Learner.restore(one.snapshot()),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),
}


def stream(name, count):
    random = np.random.default_rng(5)
    X = random.random((count, 2))
    y = np.sin(6.0 * X[:, 0]) + X[:, 1] + 0.3 * random.standard_normal(count)
    if "shares" in name or "recognised" in name:
        y = (y > 0.7).astype(float)
    if "zero" in name:
        y = np.where(random.random(count) < 0.8, 0.0, y)
    if "types" in name or name in ("shares", "separate"):
        return [f"type {i}" for i in random.integers(0, 30, count)], y.tolist()
    return X.tolist(), y.tolist()


def lived(name, labels):
    """A learner with this many labels, some of them awaited or not fitted to yet; and what comes next."""
    xs, ys = stream(name, 2 * labels + LONGER + 20)
    rule = Check(Value(), share=0.5)
    learner = Learner(BELIEFS[name](), rule, label_cost=0.1, keep=60, fitting="outside")
    fits, arrived = [5, 30, 4 * labels // 5], 0
    while learner.belief.labels < labels:
        decision = learner.decide(xs[arrived], force=True)
        if arrived % 10 != 3:
            learner.tell(decision.id, ys[arrived])
        arrived += 1
        if fits and learner.belief.labels >= fits[0]:
            learner.fit()
            del fits[0]
    after = slice(arrived, arrived + (FEW if (name, labels) in QUICK else LONGER))
    return learner, xs[after], ys[after]


def go_on(learner, xs, ys):
    """All that the learner answers from now on, and where it ends, as bytes."""
    said = []
    for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
        decision = learner.decide(x, force=True if i % 3 else None)
        said.append(decision)
        if decision.wants_label and i % 10 != 3:
            said.append(learner.tell(decision.id, y))
            if i % 13 == 2:
                learner.correct(decision.id, ys[i - 1])
        if i == LONGER - 5:
            learner.fit()
        if decision.wants_label and i % 29 == 5:
            learner.withdraw(decision.id)
    said += list(learner.predict_many(xs[:5]))
    return [msgspec.msgpack.encode(one) for one in said], learner.snapshot()


def go_on_alone(belief, xs, ys):
    """The same of a belief by itself."""
    said = []
    for x, y in zip(xs[:FEW], ys[:FEW], strict=True):
        point = belief.point(x)
        view = belief.look(point)
        said += [view.uncertainty, view.prediction, view.saves(0.3).now(labels=True, price=1.0)]
        said.append(belief.learn(point, y))
    return msgspec.msgpack.encode(said), msgspec.msgpack.encode(belief.state())


def sizes():
    for name in BELIEFS:
        for labels in SIZES:
            marks = [pytest.mark.slow] if name.startswith(DEAR) and (name, labels) not in QUICK else []
            yield pytest.param(name, labels, id=f"{name}-{labels}", marks=marks)


@pytest.mark.parametrize(("name", "labels"), list(sizes()))
def test_copies_go_on_to_the_bit(name, labels):
    learner, xs, ys = lived(name, labels)
    copies = {how: make(learner) for how, make in COPIES.items()}
    beliefs = {how: make(learner.belief) for how, make in COPIES.items() if how != "restore"}
    alone = go_on_alone(COPIES["restore"](learner).belief, xs, ys)
    expected = go_on(learner, xs, ys)
    assert [how for how, one in copies.items() if go_on(one, xs, ys) != expected] == []
    assert [how for how, one in beliefs.items() if go_on_alone(one, xs, ys) != alone] == []


def test_a_copy_begins_a_log_of_its_own():
    learner, log = Learner(TypeMeans(0.3), Value(), label_cost=1.0), []
    learner.listen(log.append)
    twin = copy.deepcopy(learner)
    learner.decide("flu")
    twin.decide("cold")
    assert [event.x for event in log] == ["flu"]
    assert twin.created == learner.created


def test_classes_of_ones_own_are_copied_too():
    learner = Learner(Weighing(0.5), Bargain(), labellers={"nurse": Labeller(1.0, 0.5)})
    learner.team = "clinic"
    twins = copy.deepcopy(learner), copy.copy(learner), pickle.loads(pickle.dumps(learner))
    expected = [learner.decide(x) for x in ("flu", "cold", "flu")]
    for twin in twins:
        assert [twin.decide(x) for x in ("flu", "cold", "flu")] == expected
        assert (type(twin.belief), type(twin.rule), twin.team) == (Weighing, Bargain, "clinic")


@pytest.mark.parametrize("make", [copy.deepcopy, copy.copy, COPIES["pickle"]], ids=["deep", "copy", "pickle"])
def test_a_torn_learner_has_no_copies(make):
    learner = Learner(TypeMeans(0.3), Value(), label_cost=1.0)
    learner.state.phase = CHANGING
    with pytest.raises(TornLearner, match="restore it from its last snapshot"):
        make(learner)


@pytest.mark.parametrize("make", [copy.deepcopy, copy.copy, COPIES["pickle"]], ids=["deep", "copy", "pickle"])
def test_a_copied_fleet_goes_on_to_the_bit(make):
    fleet = Fleet(algorithm1(label_cost=0.2, noise_std=0.5))
    random = np.random.default_rng(3)

    def pass_by(one, first):
        keys, types = random.integers(0, 9, 100), random.integers(0, 4, 100)
        answers = one.decide(keys, types, ids=np.arange(first, first + 100))
        asked = np.flatnonzero(answers.wants_label)[::2]
        one.tell(keys[asked], first + asked, random.random(len(asked)))
        return answers.wants_label.tolist(), answers.uncertainty.tolist(), one.dump()

    pass_by(fleet, 0)
    twin, before = make(fleet), random.bit_generator.state
    expected = pass_by(fleet, 100)
    random.bit_generator.state = before
    assert pass_by(twin, 100) == expected
