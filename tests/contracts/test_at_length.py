"""The checks of every learner where its belief has many labels, beyond the switches of its algebra."""

from functools import cache, partial

import numpy as np
import pytest

from breakeven import (
    Averaged,
    AveragedShares,
    Check,
    GaussianProcess,
    Learner,
    SquaredExponential,
    TypeMeans,
    Value,
)
from breakeven.beliefs.averaged.labelled_rows import LabelledRows
from breakeven.testing import checks_for
from breakeven.testing.contract import LabelledStream

BELIEFS = {
    "types": TypeMeans(0.1, prior_std="learn"),
    "process": GaussianProcess(2, 0.1, SquaredExponential(lengthscale=0.4)),
    "dictionary": GaussianProcess(2, 0.1, SquaredExponential(lengthscale=0.4), capacity="auto"),
    "averaged": Averaged(2),
    "averaged, known noise": Averaged(2, noise_std=0.1),
    "averaged shares": AveragedShares(2),
}
RULE = Check(Value(horizon=5_000, reservoir=16, scored="labels"), share=1.0)
MOST_MEMBERS = {40: 64, 250: 4, 1_050: 2}  # so many members, about, are there at this number of labels
FIT_WITH = 40  # labels: members found with more of them are slow to find


@cache
def lived(name, labels):
    """A belief that has learnt so many labels; its members, if it has any, are those of a few labels."""
    belief, found = Learner(BELIEFS[name], RULE, label_cost=0.05).belief, None
    for count, (x, y) in enumerate(zip(*stream(belief, labels), strict=True), start=1):
        point = belief.point(x)
        belief.arrive(point)
        belief.learn(point, y)
        if count == FIT_WITH and isinstance(belief, LabelledRows):
            found = belief.fit(belief.fit_job(), np.random.default_rng(0))
    if found is not None:
        some = found["members"][: MOST_MEMBERS[labels]]  # the constant is the first for yes and no
        belief.adopt({**found, "members": some})
    return belief


def stream(belief, labels):
    """Points and labels such as the checks have, and more of them."""
    drawn = [
        LabelledStream.of(Learner(belief, RULE, label_cost=0.05), seed) for seed in range(1, 2 + labels // 14)
    ]
    points, ys = ([one for each in drawn for one in getattr(each, what)] for what in ("points", "labels"))
    return points[:labels], ys[:labels]


def make(name, labels):
    return Learner(lived(name, labels), RULE, label_cost=0.05, keep=20)


QUICK = {
    ("averaged", 40),
    ("averaged", 250),
    ("averaged", 1_050),
    ("averaged shares", 250),
    ("process", 250),
    ("dictionary", 250),
    ("types", 1_050),
}  # the others are left to `make proof`


def cases():
    for name in BELIEFS:
        for labels in MOST_MEMBERS:
            marks = [] if (name, labels) in QUICK else [pytest.mark.slow]
            for check in checks_for(partial(make, name, 1)):
                yield pytest.param(name, labels, check, id=f"{name}-{labels}-{check.name}", marks=marks)


@pytest.mark.parametrize(("name", "labels", "check"), list(cases()))
def test_contract(name, labels, check):
    check(partial(make, name, labels))
