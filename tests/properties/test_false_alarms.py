"""How many streams are ever alarmed where the belief is right, and how many soon after labels have shifted.

Streams come from the belief itself, and labels are told at once, or fifty rounds late. Shares of false alarms
are compared with one in twenty, and two standard errors.
"""

import os
from collections import deque
from math import sqrt

import numpy as np
import pytest

from breakeven import (
    Always,
    Averaged,
    Check,
    GaussianProcess,
    Learner,
    RandomSelect,
    SquaredExponential,
    TypeMeans,
    Value,
)
from breakeven.beliefs.averaged.frame import Frame
from breakeven.beliefs.averaged.members import Kernels, all_members, log_prior
from breakeven.theory.self_test import FALSE_ALARMS

STREAMS = int(os.environ.get("BREAKEVEN_STREAMS", "1000"))
ROUNDS, NOISE_STD = 250, 0.3


def process(rng):
    """A function drawn from the process itself, at random points."""
    kernel, X = SquaredExponential(0.3), rng.random((ROUNDS, 1))
    K = kernel.matrix(X.T, X.T, kernel.weights(1)) + 1e-10 * np.eye(ROUNDS)
    f = np.linalg.cholesky(K) @ rng.standard_normal(ROUNDS)
    return GaussianProcess(1, NOISE_STD, kernel), X.tolist(), f


def types(rng):
    """Types whose means are drawn from the prior."""
    names = rng.integers(0, 12, ROUNDS)
    return TypeMeans(NOISE_STD, prior_std=1.0), names.tolist(), rng.standard_normal(12)[names]


def constant(rng):
    """One type, of which nothing is known before."""
    return TypeMeans(NOISE_STD), ["flu"] * ROUNDS, np.full(ROUNDS, 5.0)


def average_of_processes(rng):
    """A function of two numbers drawn from a process, believed by an average that knows none of it."""
    kernel, X = SquaredExponential((1.0, 2.0)), rng.standard_normal((ROUNDS, 2))
    K = kernel.matrix(X.T, X.T, kernel.weights(2)) + 1e-10 * np.eye(ROUNDS)
    return Averaged(2), X.tolist(), np.linalg.cholesky(K) @ rng.standard_normal(ROUNDS)


def average_of_its_own(rng):
    """A function drawn from one of the members of an average, itself drawn as the average would."""
    members = all_members(range(1))
    chances = np.exp([log_prior(one) for one in members])
    member = members[rng.choice(len(members), p=chances / chances.sum())]
    X = rng.standard_normal((ROUNDS, 2))
    frame = Frame(np.zeros(3), np.ones(3), np.ones(3), np.array([[1.0, 1.0, np.inf]]))
    kernels, rows = Kernels([member], frame), np.column_stack([X, np.zeros(ROUNDS)])
    K = kernels.between(rows, rows)[0] + 1e-10 * np.eye(ROUNDS)
    noise = np.sqrt(kernels.noise[0])
    return Averaged(2), X.tolist(), np.linalg.cholesky(K) @ rng.standard_normal(ROUNDS) * NOISE_STD / noise


def average_of_noise(rng):
    """A constant and noise, believed by an average."""
    return Averaged(2), rng.standard_normal((ROUNDS, 2)).tolist(), np.full(ROUNDS, 5.0)


def alarms(make, rule, delay, seed):
    """How often a stream is alarmed, and by how many labels its belief was tested."""
    rng = np.random.default_rng([seed, delay])
    belief, points, f = make(rng)
    learner, late = Learner(belief, rule, label_cost=0.3, seed=seed), deque()
    for t, (x, y) in enumerate(zip(points, f + NOISE_STD * rng.standard_normal(ROUNDS), strict=True)):
        decision = learner.decide(x)
        if decision.wants_label:
            late.append((t + delay, decision.id, y))
        while late and late[0][0] <= t:
            learner.tell(*late.popleft()[1:])
    return learner.ledger.standing


@pytest.mark.slow
@pytest.mark.parametrize(
    "rule", [Check(Value(ROUNDS, scored="labels")), Check(RandomSelect(0.5))], ids=["value", "random"]
)
@pytest.mark.parametrize("delay", [0, 50])
@pytest.mark.parametrize(
    ("make", "streams"),
    [
        (process, STREAMS),
        (types, STREAMS),
        (constant, STREAMS),
        (average_of_processes, STREAMS // 5),
        (average_of_its_own, STREAMS // 5),
        (average_of_noise, STREAMS // 5),
    ],
)
def test_at_most_one_stream_in_twenty_is_ever_alarmed(make, streams, delay, rule):
    found = [alarms(make, rule, delay, seed) for seed in range(streams)]
    alarmed, tests = np.mean([one.alarms > 0 for one in found]), np.mean([one.tests for one in found])
    print(f"\n{make.__name__}, {delay} late: {alarmed:.3f} of streams alarmed, {tests:.0f} tests each")
    assert tests > 10
    assert alarmed <= FALSE_ALARMS + 2.0 * sqrt(FALSE_ALARMS * (1.0 - FALSE_ALARMS) / streams)


SHIFTED_STREAMS = STREAMS // 5
BEFORE, AFTER = 200, 100  # labels


def found_after(make, seed):
    """After how many labels a shift by one predictive standard deviation is found; None if by none."""
    rng = np.random.default_rng([seed, 7])
    belief, points, f = make(rng)
    learner, labels = (
        Learner(belief, Check(Always()), label_cost=0.3),
        f + NOISE_STD * rng.standard_normal(ROUNDS),
    )
    for x, y in zip(points[:BEFORE], labels, strict=False):
        learner.tell(learner.decide(x).id, y)
    alarms = learner.ledger.standing.alarms
    low, high = learner.predict(points[0]).interval(0.6827, of="label")
    for count in range(1, AFTER + 1):
        i = int(rng.integers(BEFORE, ROUNDS))
        y = f[i] + NOISE_STD * rng.standard_normal() + (high - low) / 2.0
        learner.tell(learner.decide(points[i]).id, y)
        if learner.ledger.standing.alarms > alarms:
            return count
    return None


@pytest.mark.slow
@pytest.mark.parametrize(
    "make", [process, types, constant, average_of_processes, average_of_its_own, average_of_noise]
)
def test_a_shift_by_one_standard_deviation_is_found_within_a_hundred_labels(make):
    found = [found_after(make, seed) for seed in range(SHIFTED_STREAMS)]
    counts = [one for one in found if one is not None]
    print(f"\n{make.__name__}: {len(counts)} of {len(found)} found, after {np.median(counts):.0f} labels")
    assert len(counts) >= 0.9 * len(found)
