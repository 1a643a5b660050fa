"""Averaged beliefs that labels refute: what is set aside, what is widened, and what comes back."""

import numpy as np
import pytest

from breakeven import Averaged, AveragedShares, Check, Learner, RandomSelect
from breakeven.beliefs.averaged.posterior import growing_evidence
from breakeven.beliefs.belief import Checkable
from breakeven.testing.stream_runs import recorded
from breakeven.values import Refuted

RULE = Check(RandomSelect(1.0), share=0.0)  # buys every label
AROUND = 6  # labels by which the place of a change may be missed


def points(count, seed=0):
    return np.random.default_rng(seed).normal(size=(count, 2))


def smooth(x, rng):
    return np.sin(1.5 * x[0]) + 0.1 * rng.normal()


def mostly_no(x, rng):
    return float(rng.random() < 0.1)


def mostly_zero(x, rng):
    return float(rng.random() < 0.1) * rng.uniform(1.0, 2.0)


def told(learner, labels, *, seed=0):
    """Labels of so many arrivals; returns their ids."""
    rng, ids = np.random.default_rng([seed, 1]), []
    for x in points(*labels[:1], seed=seed):
        decision = learner.decide(x)
        learner.tell(decision.id, labels[1](x, rng))
        ids.append(decision.id)
    return ids


def refuted(learner, label, *, most=60):
    """Labels of another world, until the belief gives way; returns the id of the one that refuted it."""
    for x in points(most, seed=9):
        decision = learner.decide(x)
        alarms = learner.ledger.standing.alarms
        learner.tell(decision.id, label(x))
        if learner.ledger.standing.alarms > alarms:
            return decision.id
    raise AssertionError("not refuted")


CHANGES = {
    "numbers": (Averaged(2), smooth, lambda x: 3.0 - np.sin(1.5 * x[0])),
    "known noise": (Averaged(2, noise_std=0.1), smooth, lambda x: 3.0 - np.sin(1.5 * x[0])),
    "yes and no": (AveragedShares(2), mostly_no, lambda x: 1.0),
    "mostly zero": (Averaged(2), mostly_zero, lambda x: 1.5 + 0.1 * x[0]),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_labels_before_a_change_are_set_aside(kind):
    belief, before, after = CHANGES[kind]
    learner = Learner(belief, RULE, label_cost=1.0, seed=2)
    log = recorded(learner)
    told(learner, (40, before))
    assert learner.ledger.standing.alarms == 0
    refuted(learner, after)
    (alarm,) = (event for event in log if isinstance(event, Refuted))
    assert abs(alarm.outdated - 40) <= AROUND
    assert learner.belief.labels < 40
    for x in points(25, seed=3):
        learner.tell(learner.decide(x).id, after(x))
    errors = [abs(learner.predict(x).mean - after(x)) for x in points(50, seed=4)]
    assert np.mean(errors) < 0.5


@pytest.mark.parametrize("kind", CHANGES)
def test_correcting_the_label_that_refuted_it_brings_all_back(kind):
    belief, before, after = CHANGES[kind]
    learner = Learner(belief, RULE, label_cost=1.0, seed=2)
    first, *_ = told(learner, (40, before))
    cause = refuted(learner, after)
    gone = 40 - learner.belief.labels
    learner.correct(first, before(points(1)[0], np.random.default_rng(5)))
    restored = Learner.restore(learner.snapshot())
    for one in (learner, restored):
        one.correct(cause, before(points(1)[0], np.random.default_rng(5)))
    assert learner.belief.labels > 40 > 40 - gone
    assert learner.ledger.standing.state == "consistent"
    x = points(1, seed=7)[0]
    assert learner.predict(x) == restored.predict(x)
    assert learner.snapshot() == restored.snapshot()


def test_labels_set_aside_can_be_withdrawn_and_reopened():
    belief, before, after = CHANGES["numbers"]
    learner = Learner(belief, RULE, label_cost=1.0, seed=2)
    first, second, third, *_ = told(learner, (40, before))
    cause = refuted(learner, after)
    left = learner.belief.labels
    learner.withdraw(first)
    learner.reopen(second)
    assert learner.belief.labels == left
    learner.tell(second, 0.5)
    assert learner.belief.labels == left + 1
    everything = learner.ledger.labels
    learner.correct(cause, 0.0)
    assert learner.belief.labels == everything  # which the one withdrawn is not among
    learner.correct(third, 0.25)


def test_widened_claims_are_wider_and_their_answers_the_same():
    belief = Averaged(2)
    rng = np.random.default_rng(0)
    for x in points(12):
        belief.learn(belief.point(x), smooth(x, rng))
    belief.adopt(belief.fit(belief.fit_job(), rng))
    x = belief.point([0.3, 0.1])
    before = belief.predict(x)
    assert isinstance(belief, Checkable)
    belief.give_way(99, 0, 2.0)
    after = belief.predict(x)
    assert after.mean == pytest.approx(before.mean, abs=0.1 * before.std)
    assert after.std == pytest.approx(2.0 * before.std, rel=0.15)
    belief.return_to(99)
    assert belief.predict(x) == before
    belief.give_way(99, 0, 2.0)
    belief.adopt(belief.fit(belief.fit_job(), rng))
    assert belief.predict(x).std == pytest.approx(before.std, rel=1e-3)


def test_evidence_is_the_density_of_labels_given_those_before():
    """By the chain rule: each label adds the log density that a Student t gives it, knowing the others."""
    from scipy.stats import t

    rng = np.random.default_rng(3)
    A = rng.normal(size=(7, 7))
    K, z = A @ A.T + np.eye(7), rng.normal(size=7)
    found = growing_evidence(K, z, None)
    for k in range(3, 7):
        inverse = np.linalg.inv(K[:k, :k])
        ones, certain = inverse.sum(axis=1), inverse.sum()
        P = inverse - np.outer(ones, ones) / certain
        mean = ones @ z[:k] / certain + K[k, :k] @ P @ z[:k]
        open_there = 1.0 - K[k, :k] @ ones
        variance = K[k, k] - K[k, :k] @ inverse @ K[k, :k] + open_there**2 / certain
        scale = np.sqrt(z[:k] @ P @ z[:k] / (k - 1) * variance)
        assert found[k + 1] - found[k] == pytest.approx(t.logpdf(z[k], k - 1, mean, scale))
