"""Averaged beliefs that labels refute: what is set aside, what is widened, and what comes back."""

import numpy as np
import pytest

from breakeven import Averaged, AveragedShares, Check, Learner, RandomSelect
from breakeven.beliefs import Recognised
from breakeven.beliefs.averaged.posterior import growing_evidence
from breakeven.beliefs.belief import Checkable
from breakeven.testing.stream_runs import recorded
from breakeven.values import Refuted, Told
from breakeven.wire import event_from_json, to_json

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
    places = [belief.point(x) for x in points(40)[12:]]
    before = belief.predict_many(places)
    assert isinstance(belief, Checkable)
    belief.give_way(99, 0, 2.0)
    after = belief.predict_many(places)
    pairs = list(zip(before, after, strict=True))
    # members do not quite agree, so the median of wider ones moves a little: less than a tenth of the std
    assert np.mean([abs(b.mean - a.mean) / b.std for b, a in pairs]) < 0.1
    assert np.mean([a.std / b.std for b, a in pairs]) == pytest.approx(2.0, rel=0.15)
    belief.return_to(99)
    assert belief.predict_many(places) == before
    belief.give_way(99, 0, 2.0)
    belief.adopt(belief.fit(belief.fit_job(), rng))
    assert belief.predict(places[0]).std == pytest.approx(before[0].std, rel=1e-3)


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


# -- corners -------------------------------------------------------------------------------------------------


def test_ranks_among_equal_labels_can_be_written_and_replayed():
    learner = Learner(Averaged(1), RULE, label_cost=1.0)
    log = recorded(learner)
    for i, x in enumerate(points(14)[:, :1]):
        learner.tell(learner.decide(x).id, 3.0 if i in (7, 9, 12) else 0.0)
    again = Learner.fold(event_from_json(to_json(event)) for event in log)
    assert again.snapshot() == learner.snapshot()


def test_a_label_far_out_is_replayed():
    learner = Learner(Averaged(1, noise_std=0.1), RULE, label_cost=1.0)
    log, rng = recorded(learner), np.random.default_rng(1)
    for x in rng.normal(size=11):
        learner.tell(learner.decide([x]).id, x + 0.1 * rng.normal())
    learner.tell(learner.decide([0.0]).id, 1e4)
    assert all(
        0.0 <= event.rank <= 1.0 for event in log if isinstance(event, Told) and event.rank is not None
    )
    assert Learner.fold(log).snapshot() == learner.snapshot()


@pytest.mark.parametrize(
    ("value", "seeds"),
    [(0.0, 1), pytest.param(0.0, 4, marks=pytest.mark.slow), pytest.param(30.0, 4, marks=pytest.mark.slow)],
)
def test_exceptions_of_one_value_are_no_surprise(value, seeds):
    for seed in range(seeds):
        learner, rng = Learner(Averaged(1), RULE, label_cost=1.0), np.random.default_rng(seed)
        for i, x in enumerate(rng.normal(size=(90, 1))):
            y = value if i > 8 and rng.random() < 0.3 else 10.0
            learner.tell(learner.decide(x).id, y)
        assert learner.ledger.standing.alarms == 0


@pytest.mark.parametrize("part", [slice(3), slice(-3, None)])
def test_three_equal_labels_are_rarely_taken_for_a_change(part):
    found = 0
    for seed in range(8):
        rng, belief = np.random.default_rng(seed), Averaged(2)
        labels = rng.integers(1, 6, 30).astype(float)
        labels[part] = 4.0
        for x, y in zip(points(30, seed=seed), labels, strict=True):
            belief.learn(belief.point(x), y)
        belief.adopt(belief.fit(belief.fit_job(), rng))
        found += belief.outdated() > 0
    assert found <= 1


def grown(count):
    belief, rng = Averaged(2), np.random.default_rng(0)
    for key, x in enumerate(points(count), start=1):
        belief.learn(belief.point(x), smooth(x, rng), key)
    belief.adopt(belief.fit(belief.fit_job(), rng))
    return belief


def test_labels_taken_back_make_a_fit_due():
    belief = grown(40)
    belief.give_way(40, 10, 1.0)
    belief.adopt(belief.fit(belief.fit_job(), np.random.default_rng(0)))
    belief.return_to(40)
    assert list(belief._keys.all) == list(range(1, 41))
    assert belief.fit_due(warm=True)


def test_labels_set_aside_are_still_known_to_be_yes_or_no():
    belief = Recognised(Averaged(1), AveragedShares(1), both=True)
    learner = Learner(belief, RULE, label_cost=0.1)
    for i, x in enumerate(points(20)[:, :1]):
        learner.tell(learner.decide(x).id, float(i % 3 == 0))
    belief = learner.belief
    assert belief.kind == "yes/no"
    belief.give_way(20, 17, 1.0)
    assert belief.kind == "yes/no"


@pytest.mark.parametrize(
    "labels",
    [(0, 0, 0, 0, 1e-3, 5), (0, 0, 0, 1, 70), (5, 5, 5, 7, 900), (0, 0, 1, 1, 1e3), (0, 0, 1, 0, 2, 0, 1e3)],
    ids=str,
)
def test_a_label_of_a_third_kind_refutes_nothing_while_it_is_open_whether_most_are_equal(labels):
    learner = Learner(Averaged(2), RULE, label_cost=1.0)
    for x, y in zip(points(len(labels)), labels, strict=True):
        learner.tell(learner.decide(x).id, y)
    assert learner.ledger.standing.alarms == 0


def test_once_labels_are_known_to_differ_one_far_off_refutes():
    learner = Learner(Averaged(2), RULE, label_cost=1.0)
    told(learner, (12, smooth))
    learner.tell(learner.decide([0.0, 0.0]).id, 1e3)
    assert learner.ledger.standing.alarms == 1
