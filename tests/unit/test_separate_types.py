"""Types that count their own labels in their radius: split by type, nothing changes, and fewer are bought."""

import numpy as np
import pytest

from breakeven import Learner, SeparateTypes, Threshold, algorithm1, simulate, theory

SETTING = {"label_cost": 10.0}


def separate():
    return Learner(SeparateTypes(noise_std=0.1, delta=0.01), Threshold(), **SETTING)


def stream(types, rounds, seed=0):
    random = np.random.default_rng(seed)
    points, means = random.integers(types, size=rounds), random.random(types)
    return points, means[points] + 0.1 * random.normal(size=rounds), means[points]


def test_the_radius_counts_the_labels_of_its_own_type():
    learner = separate()
    for i in range(5):
        learner.learn("flu", 1.0 + i)
        learner.learn("cold", 2.0)
    assert learner.decide("flu").uncertainty == pytest.approx(theory.radius(0.1, 5, 5, 0.01))
    assert learner.decide("new").reason == "first_of_type"


def test_a_stream_split_by_type_is_decided_as_the_whole():
    points, labels, truth = stream(20, 3000)
    whole = simulate(separate(), points, labels, truth)
    for k in range(20):
        mine = points == k
        alone = simulate(separate(), points[mine], labels[mine], truth[mine])
        assert (alone.wants_label == whole.wants_label[mine]).all()
        assert (alone.prediction == whole.prediction[mine]).all()


def test_it_buys_less_than_algorithm_1_and_keeps_its_bound():
    points, labels, truth = stream(100, 20_000)
    paper = simulate(algorithm1(noise_std=0.1, delta=0.01, **SETTING), points, labels, truth).ledger
    ours = simulate(separate(), points, labels, truth).ledger
    arrivals = np.bincount(points).tolist()
    assert ours.labels < paper.labels
    assert ours.total_loss < paper.total_loss
    assert ours.total_loss < theory.upper_bound(arrivals, noise_std=0.1, delta=0.01, **SETTING)


def test_it_is_stored_under_its_own_name():
    learner = separate()
    learner.learn("flu", 1.0)
    restored = Learner.restore(learner.snapshot())
    assert type(restored.belief) is SeparateTypes
    assert restored.decide("flu") == learner.decide("flu")
    assert learner.summary().belief["kind"] == "SeparateTypes"
