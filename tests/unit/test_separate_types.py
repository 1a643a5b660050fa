"""Types that count their own labels in their radius: split by type, nothing changes, and fewer are bought."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven import Learner, SeparateTypes, Threshold, algorithm1, simulate, theory
from breakeven.errors import InvalidInput

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


SETTINGS = st.fixed_dictionaries(
    {
        "label_cost": st.floats(0.01, 100.0),
        "noise_std": st.floats(0.01, 3.0),
        "delta": st.floats(1e-6, 0.9),
        "scale": st.floats(0.1, 3.0),
    }
)


def built(setting):
    belief = SeparateTypes(setting["noise_std"], setting["delta"])
    return Learner(belief, Threshold(setting["scale"]), label_cost=setting["label_cost"])


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=60), SETTINGS)
def test_any_split_by_type_leaves_decisions_and_predictions_as_they_are(rows, setting):
    """Labels come late: `wait` rounds of the own type after they were asked for."""
    whole, parts = built(setting), [built(setting) for _ in range(5)]
    waiting = [[] for _ in range(5)]
    for i, (k, wait) in enumerate(rows):
        answers = [learner.decide(k, id=f"case {i}") for learner in (whole, parts[k])]
        assert answers[0].wants_label == answers[1].wants_label
        assert answers[0].prediction == answers[1].prediction
        assert repr(answers[0].threshold) == repr(answers[1].threshold)
        assert answers[0].uncertainty == answers[1].uncertainty
        if answers[0].wants_label:
            waiting[k].append((wait, i))
        for due, j in [one for one in waiting[k] if one[0] <= 0]:
            waiting[k].remove((due, j))
            for learner in (whole, parts[k]):
                learner.tell(f"case {j}", j / 7)
        waiting[k] = [(due - 1, j) for due, j in waiting[k]]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=150), SETTINGS)
def test_no_type_has_more_labels_than_its_bound(points, setting):
    learner = built(setting)
    for k in points:
        learner.decide(k)
    asked = [sum(one.x == k for one in learner.awaited.values()) for k in range(5)]
    most = theory.label_bound(
        np.bincount(points, minlength=5).tolist(),
        counted="type",
        threshold_scale=setting["scale"],
        **{name: setting[name] for name in ("label_cost", "noise_std", "delta")},
    )
    assert (np.array(asked) <= most).all()


def test_it_buys_less_than_algorithm_1_and_keeps_its_bound():
    points, labels, truth = stream(100, 20_000)
    paper = simulate(algorithm1(noise_std=0.1, delta=0.01, **SETTING), points, labels, truth).ledger
    ours = simulate(separate(), points, labels, truth).ledger
    arrivals = np.bincount(points).tolist()
    assert ours.labels < paper.labels
    assert ours.total_loss < paper.total_loss
    own = theory.upper_bound(arrivals, noise_std=0.1, delta=0.01, counted="type", **SETTING)
    assert ours.total_loss < own < theory.upper_bound(arrivals, noise_std=0.1, delta=0.01, **SETTING)


def test_it_is_stored_under_its_own_name():
    learner = separate()
    learner.learn("flu", 1.0)
    restored = Learner.restore(learner.snapshot())
    assert type(restored.belief) is SeparateTypes
    assert restored.decide("flu") == learner.decide("flu")
    assert learner.summary().belief["kind"] == "SeparateTypes"


def test_labels_counted_in_types_only_change_the_bound_downwards():
    arrivals = [1, 10, 1000, 50_000]
    own = theory.label_bound(arrivals, noise_std=0.1, delta=0.01, counted="type", **SETTING)
    everyone = theory.label_bound(arrivals, noise_std=0.1, delta=0.01, **SETTING)
    assert own.tolist() == [1.0, 1.0, 5.0, 115.0]
    assert (own <= everyone).all()


def test_a_loss_of_own_labels_is_no_printed_one():
    with pytest.raises(InvalidInput, match='form: expected "corrected"'):
        theory.upper_bound([5], noise_std=0.1, delta=0.01, counted="type", form="printed", **SETTING)
    with pytest.raises(InvalidInput, match="counted: expected"):
        theory.upper_bound([5], noise_std=0.1, delta=0.01, counted="both", **SETTING)
