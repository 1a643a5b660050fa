"""Learners of every kind whose snapshots are stored, and what they decide next.

Snapshots of a version are written once, when the version is new (`python -m tests.stored.kinds`), and are
then read by every later version.
"""

from pathlib import Path

import msgspec
import numpy as np

from breakeven import (
    Always,
    Audit,
    Averaged,
    AveragedShares,
    Budget,
    Cells,
    Check,
    GaussianProcess,
    Labeller,
    Learner,
    Matern,
    Never,
    Prior,
    Queue,
    RandomSelect,
    SeparateTypes,
    Threshold,
    TypeMeans,
    Value,
    VariableUncertainty,
    algorithm1,
    algorithm2,
)
from breakeven.beliefs import Choosy, Recognised
from breakeven.learner.snapshot import FORMAT_VERSION

FOLDER = Path(__file__).parent
KEY = b"a key for tests"
ROUNDS, NEXT = 40, 8


def audited(rule):
    return Budget(Audit(Queue(rule, most=9), rate=0.2, bound=9.0, noise_std=0.3), total=60.0, per=(30.0, 20))


KINDS = {
    "algorithm1": lambda: algorithm1(label_cost=1.0, noise_std=0.3, seed=3),
    "separate-types": lambda: Learner(SeparateTypes(0.3), Threshold(), label_cost=1.0, seed=3),
    "types-that-learn": lambda: Learner(TypeMeans(0.3, prior_std="learn"), Value(100), label_cost=0.5),
    "types-that-find-their-noise": lambda: Learner(
        TypeMeans(None, prior_mean="fit", label_scale="fit"), Threshold(), label_cost=1.0, warmup=12
    ),
    "types-that-forget": lambda: Learner(
        TypeMeans(0.3, forgetting=15.0), audited(Threshold()), label_cost=1.0, name="clinic", seed=5
    ),
    "cells": lambda: Learner(Cells([0, 0], [1, 1], 0.3), VariableUncertainty("figures"), label_cost=1.0),
    "algorithm2": lambda: algorithm2(2, label_cost=0.5, noise_std=0.3, seed=3),
    "process": lambda: Learner(
        GaussianProcess(2, 0.3, Matern(2.5, (0.5, 0.7))), audited(Value()), label_cost=0.2, error_cost=2.0
    ),
    "process-that-fits": lambda: Learner(
        GaussianProcess(2, None, mean="fit", fit="growing", prior=Prior(), label_scale="fit"),
        Value(60, scored="labels"),
        label_cost=0.3,
        fitting="outside",
    ),
    "process-that-forgets": lambda: Learner(
        GaussianProcess(2, 0.3, forgetting=20.0), Value(reservoir=16), label_cost=0.3
    ),
    "averaged": lambda: Learner(Averaged(2), Value(60, scored="labels", lessons=False), label_cost=0.3),
    "averaged-shares": lambda: Learner(AveragedShares(2), Value(60, scored="labels"), label_cost=0.3),
    "checked-average": lambda: Learner(
        Averaged(2), Check(Value(60, scored="labels"), share=0.5), label_cost=0.3, seed=2
    ),
    "average-with-time": lambda: Learner(
        Averaged(2), Check(Value(60, scored="labels"), share=0.5), label_cost=0.1, seed=3
    ),
    "recognised": lambda: Learner(
        Recognised(Averaged(2), AveragedShares(2), both=True), Check(Value(60)), label_cost=0.3
    ),
    "dictionary": lambda: Learner(
        GaussianProcess(2, 0.3, capacity="auto", tolerance=1e-3), Threshold(), label_cost=0.01
    ),
    "labellers": lambda: Learner(
        GaussianProcess(2, 0.3),
        Value(),
        labellers={"nurse": Labeller(0.1, 0.6), "mri": Labeller(0.5, 0.1)},
    ),
    "random": lambda: Learner(TypeMeans(0.3), RandomSelect(0.4), label_cost=1.0, seed=9, keep=10),
    "always": lambda: Learner(TypeMeans(0.3), Always(), label_cost=1.0),
    "never": lambda: Learner(TypeMeans(0.3), Never(), label_cost=1.0),
}


def yes_no(learner):
    return isinstance(learner.belief, Choosy)


def arrivals(learner, seed):
    random = np.random.default_rng(seed)
    types = type(learner.belief) in (TypeMeans, SeparateTypes)
    for _ in range(10_000):
        x = f"type {random.integers(5)}" if types else random.random(2).tolist()
        y = float(random.normal()) + (0.0 if types else float(np.sin(4 * x[0])))
        yield x, float(y > 0.0) if yes_no(learner) else y


def lived(kind):
    """A learner with a bit of everything behind it."""
    learner = KINDS[kind]()
    stream = arrivals(learner, seed=1)
    if kind == "dictionary":
        for x, y in (next(stream) for _ in range(300)):
            learner.learn(x, y)
    for i, (x, y) in zip(range(ROUNDS), stream, strict=False):
        decision = learner.decide(x)
        if decision.wants_label and i % 4:
            learner.tell(decision.id, y)
        if i == 20:
            learner.learn(x, y, id="gift")
    told = [str(i) for i in range(1, ROUNDS) if learner.state.book.find(str(i)) is not None]
    for id in told:
        if learner.state.book.find(id).y is not None:
            learner.correct(id, 1.0 if yes_no(learner) else 0.25)
            break
    for id in [*learner.awaited][:1]:
        learner.withdraw(id)
    return learner


def goes_on(learner):
    """What the next decisions are, as plain data."""
    found = []
    for (x, _), _ in zip(arrivals(learner, seed=2), range(NEXT), strict=False):
        decision = learner.decide(x)
        found.append(
            [
                decision.id,
                decision.wants_label,
                decision.reason,
                decision.prediction.mean,
                decision.uncertainty,
            ]
        )
    return {
        "decisions": found,
        "number": learner.number,
        "spend": learner.ledger.label_spend,
        "awaited": list(learner.awaited),
        "labels": learner.belief.labels,
    }


def write():
    """Store the kinds that are not stored yet."""
    folder = FOLDER / f"version{FORMAT_VERSION}"
    folder.mkdir(exist_ok=True)
    for kind in KINDS:
        if (folder / f"{kind}.snapshot").exists():
            continue
        learner = lived(kind)
        (folder / f"{kind}.snapshot").write_bytes(learner.snapshot())
        (folder / f"{kind}.json").write_bytes(msgspec.json.format(msgspec.json.encode(goes_on(learner))))
    if not (folder / "keyed.snapshot").exists():
        (folder / "keyed.snapshot").write_bytes(lived("algorithm1").snapshot(key=KEY))


if __name__ == "__main__":
    write()
