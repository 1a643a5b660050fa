"""A crafted snapshot with a right digest allocates at most 20 times its size and raises only our errors."""

import difflib  # noqa: F401  (loaded by the first message that names the nearest word)
import itertools
import random
import tracemalloc

import msgspec
import numpy as np
import pytest

from breakeven import (
    Audit,
    Budget,
    Cells,
    Check,
    GaussianProcess,
    Labeller,
    Learner,
    Matern,
    Prior,
    Queue,
    RandomSelect,
    Threshold,
    TypeMeans,
    Value,
    VariableUncertainty,
)
from breakeven.errors import SnapshotError
from breakeven.learner.snapshot import seal, unseal

FLOOR = 60_000  # bytes that reading the smallest learner takes
WRONG = (0, -1, 7, 10**6, 10**9, 2**62, 2**64 - 1, -(2**63), 0.5, 1e300, float("inf"), float("nan"), None,
         True, "", "x", "fit", b"", b"\x00" * 8, [], {}, [[]], [None] * 50,
         {"kind": "Threshold"})  # fmt: skip

LEARNERS = {
    "types": lambda: Learner(TypeMeans(0.5), Threshold(), label_cost=1.0),
    "types that forget": lambda: Learner(
        TypeMeans(0.5, prior_std="learn", forgetting=9.0),
        Budget(Audit(Queue(Value(), most=50), rate=0.3, bound=50.0), total=1e3, per=(500.0, 40)),
        label_cost=1.0,
    ),
    "cells": lambda: Learner(
        Cells([0, 0], [1, 1], 0.5),
        VariableUncertainty(),
        labellers={"nurse": Labeller(1.0, 0.5), "mri": Labeller(9.0, 0.1)},
    ),
    "process": lambda: Learner(GaussianProcess(2, 0.5, Matern(1.5)), RandomSelect(0.7), label_cost=1.0),
    "process that forgets": lambda: Learner(
        GaussianProcess(2, None, mean="fit", fit="growing", prior=Prior(), forgetting=20.0),
        Value(reservoir=8),
        label_cost=0.1,
    ),
    "checked types": lambda: Learner(TypeMeans(0.2), Check(Threshold(0.01)), label_cost=1.0),
    "checked process": lambda: Learner(GaussianProcess(2, 0.2), Check(Threshold(0.01)), label_cost=1.0),
    "dictionary": lambda: Learner(
        GaussianProcess(2, 0.5, capacity="auto", tolerance=1e-2), Value(reservoir=8), label_cost=0.01
    ),
}


def lived(name):
    learner, rng = LEARNERS[name](), np.random.default_rng(3)
    for i in range(300 if name == "dictionary" else 25):
        x = f"type {i % 4}" if type(learner.belief) is TypeMeans else rng.random(2)
        if name == "dictionary":
            learner.learn(x, float(rng.normal()))
            continue
        decision = learner.decide(x)
        if decision.wants_label and i % 5:
            learner.tell(decision.id, float(rng.normal()))
    return learner


def leaves(content, path=()):
    """The paths of everything in plain data."""
    yield path
    items = (
        content.items()
        if isinstance(content, dict)
        else enumerate(content)
        if isinstance(content, list)
        else ()
    )
    for key, value in items:
        yield from leaves(value, (*path, key))


def changed(content, path, value):
    content = msgspec.msgpack.decode(msgspec.msgpack.encode(content))
    place = content
    for key in path[:-1]:
        place = place[key]
    if value is DROPPED:
        del place[path[-1]]
    elif value is LONGER:
        old = place[path[-1]]
        place[path[-1]] = old * 2 if isinstance(old, list | str | bytes) else [old, old]
    else:
        place[path[-1]] = value
    return content


DROPPED, LONGER = object(), object()


def attack(name, count=None):
    """Put every wrong value in every place of a snapshot, or some of them; how many were refused."""
    blob = lived(name).snapshot()
    content = unseal(blob)
    paths = [path for path in leaves(content) if path]
    attacks = list(itertools.product(paths, (*WRONG, DROPPED, LONGER)))
    Learner.restore(blob)
    refused = 0
    for path, value in attacks if count is None else random.Random(1).sample(attacks, count):
        crafted = seal(changed(content, path, value))
        tracemalloc.start()
        try:
            Learner.restore(crafted)
        except SnapshotError:
            refused += 1
        except Exception as error:
            pytest.fail(f"{path} = {value!r} raised {error!r}")
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert peak <= 20 * len(crafted) + FLOOR, (
            f"{path} = {value!r} allocated {peak} bytes of {len(crafted)}"
        )
    return refused


@pytest.mark.parametrize("dim", [10**5 + 1, 10**9])
def test_a_process_that_claims_any_dimension_is_refused_before_it_takes_memory(dim):
    content = unseal(LEARNERS["process"]().snapshot())
    del content["config"]["belief"]["kernel"]  # the default has one lengthscale for every dimension
    content["config"]["belief"]["dim"] = dim
    crafted = seal(content)
    tracemalloc.start()
    try:
        with pytest.raises(SnapshotError, match="dim: expected a whole number of at most 100000, got"):
            Learner.restore(crafted)
        assert tracemalloc.get_traced_memory()[1] <= 20 * len(crafted) + FLOOR
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", LEARNERS)
def test_a_crafted_snapshot_is_refused_in_words_or_read(name):
    assert attack(name, count=150) > 30


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_every_crafted_snapshot_is_refused_in_words_or_read(name):
    attack(name)
