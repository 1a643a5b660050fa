"""Answers before the first fit, when the scale of a kernel or the noise of types is a placeholder."""

from math import inf, sqrt

import numpy as np
import pytest

from breakeven import (
    GaussianProcess,
    Labeller,
    Learner,
    Prior,
    SeparateTypes,
    Threshold,
    TypeMeans,
    Value,
    algorithm2,
    simulate,
)


def warming(**options):
    return algorithm2(2, label_cost=10.0, noise_std=1.5, **options)


def test_a_label_told_in_the_warmup_is_answered_by_itself():
    learner = warming()
    first = learner.decide([61.0, 27.4])
    assert first.prediction.std == inf
    told = learner.tell(first.id, 31.0)
    assert (told.mean, told.std) == (31.0, 1.5)
    assert told.interval(0.95) == pytest.approx((28.06, 33.94), abs=0.01)
    assert learner.predict([61.0, 27.4]) == told
    assert learner.predict_many([[61.0, 27.4]]) == [told]
    assert learner.decide([61.0, 27.4]).prediction == told


def test_labels_of_one_point_are_averaged_by_their_noise():
    labellers = {"nurse": Labeller(1.0, 2.0), "mri": Labeller(5.0, 1.0)}
    learner = Learner(GaussianProcess(1, 2.0, fit="after_warmup"), Threshold(), labellers=labellers, warmup=5)
    learner.learn([0.5], 10.0, labeller="nurse")
    learner.learn([0.5], 20.0, labeller="mri")
    found = learner.predict([0.5])
    assert found.mean == pytest.approx((10.0 / 4 + 20.0) / (1 / 4 + 1))
    assert found.std == pytest.approx(1 / sqrt(1 / 4 + 1))


def test_a_correction_and_a_withdrawal_count():
    learner = warming()
    for id, x in (("a", [0.0, 0.0]), ("b", [0.0, 0.0])):
        learner.decide(x, id=id)
    learner.tell("a", 31.0)
    learner.tell("b", 33.0)
    assert learner.predict([0.0, 0.0]).mean == 32.0
    learner.correct("a", 13.0)
    assert learner.predict([0.0, 0.0]).mean == 23.0
    learner.withdraw("b")
    assert learner.predict([0.0, 0.0]).mean == 13.0


def test_without_a_known_noise_a_label_says_nothing_of_its_own_error():
    learner = algorithm2(1, label_cost=1.0, noise_std=None)
    told = learner.tell(learner.decide([0.0]).id, 7.0)
    assert (told.mean, told.std) == (7.0, inf)


def test_a_given_kernel_answers_as_it_is():
    learner = warming(fit=None, warmup=3)
    told = learner.tell(learner.decide([0.0, 0.0]).id, 31.0)
    assert told.mean == pytest.approx(31.0 / (1 + 1.5**2))


def test_after_the_fit_the_kernel_answers():
    learner, random = warming(), np.random.default_rng(0)
    for x in random.random((10, 2)):
        told = learner.tell(learner.decide(x).id, float(20 + 10 * x[0]))
    assert learner.summary().warmup_left == 0
    assert told == learner.predict(x)
    assert 0.0 < learner.predict([0.5, 0.5]).std < inf


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_errors_of_a_warmup_are_those_of_its_labels_in_any_unit(unit):
    random = np.random.default_rng(1)
    X, truth = random.random((15, 3)), np.full(15, 400.0) * unit
    labels = truth + random.normal(size=15) * unit
    learner = algorithm2(3, label_cost=1.0, noise_std=1.0 * unit)
    assert simulate(learner, X[:14], labels[:14], truth[:14]).prediction.tolist() == labels[:14].tolist()


def test_the_first_label_of_a_process_with_a_prior_is_answered_near_it():
    belief = GaussianProcess(2, 1.5, mean="fit", fit="growing", prior=Prior())
    clinic = Learner(belief, Value(horizon=500), label_cost=20.0, error_cost=3.0)
    anna = clinic.decide([61.0, 27.4])
    assert clinic.decide([43.0, 22.1], force=False).prediction.interval(0.95) == (-inf, inf)
    assert clinic.tell(anna.id, 31.0).mean == pytest.approx(31.0)


def test_fits_elsewhere_leave_labels_as_answers_until_they_are_adopted():
    belief = GaussianProcess(1, 0.5, mean="fit", fit="growing", prior=Prior())
    learner = Learner(belief, Value(horizon=100), label_cost=1.0, fitting="outside")
    for x, y in ((0.0, 100.0), (1.0, 104.0), (2.0, 109.0)):
        assert learner.tell(learner.decide([x], force=True).id, y).mean == y
    restored = Learner.restore(learner.snapshot())
    assert restored.predict([1.0]) == learner.predict([1.0])


# -- points without labels of their own ------------------------------------------------------------

LABELS = [31.0, 34.0, 32.0, 33.0, 31.5]


def taught(labels, **options):
    """A process before its first fit, with labels at points far from one another and from the origin."""
    learner = algorithm2(1, label_cost=10.0, warmup=30, **options)
    for i, y in enumerate(labels):
        learner.learn([3.0 * i], y)
    return learner


@pytest.mark.parametrize("x", [100.0, 1.5, 2.9])  # far from all labels, between two, near one
@pytest.mark.parametrize("noise_std", [1.0, None])
def test_in_a_warmup_a_new_point_is_answered_by_the_labels_seen(x, noise_std):
    learner = taught(LABELS, noise_std=noise_std)
    found = learner.predict([x])
    n, spread = len(LABELS), np.std(LABELS, ddof=1)
    assert found.mean == pytest.approx(np.mean(LABELS))
    assert found.std == pytest.approx(spread * sqrt((1 + 1 / n) * (n - 1) / (n - 3)))
    low, high = found.interval(0.95)
    assert low < min(LABELS)
    assert max(LABELS) < high
    assert learner.predict_many([[x], [0.0]]) == [found, learner.predict([0.0])]
    assert learner.decide([x]).prediction == found
    assert Learner.restore(learner.snapshot()).predict([x]) == found


@pytest.mark.parametrize("labels", [[31.0], [31.0, 34.0], [31.0, 34.0, 32.0]])
def test_few_labels_say_where_answers_lie_and_not_how_far_off_they_are(labels):
    found = taught(labels, noise_std=1.0).predict([50.0])
    assert (found.mean, found.std) == (pytest.approx(np.mean(labels)), inf)


def test_equal_labels_are_no_proof_that_all_labels_are_equal():
    equal = [7.0] * 6
    assert taught(equal, noise_std=None).predict([50.0]).interval(0.95) == (-inf, inf)
    known = taught(equal, noise_std=2.0).predict([50.0])
    assert known.mean == 7.0
    assert known.std > 2.0


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("noise_std", [0.5, None])
def test_answers_before_a_fit_are_in_the_unit_of_the_labels(unit, noise_std):
    noise = None if noise_std is None else noise_std * unit
    one, other = taught(LABELS, noise_std=noise_std), taught([unit * y for y in LABELS], noise_std=noise)
    for x in (0.0, 1.5, 100.0):
        claimed, scaled = (found.predict([x]).interval(0.9, of="label") for found in (one, other))
        assert scaled == pytest.approx([unit * end for end in claimed], rel=1e-9)


def test_what_is_claimed_before_a_fit_holds_as_often_as_it_says():
    random, held, rounds = np.random.default_rng(5), {0.8: 0, 0.95: 0}, 400
    for _ in range(rounds):
        labels = random.normal(30.0, 4.0, 6)
        found = taught(labels[:5].tolist(), noise_std=None).predict([70.0])
        for level in held:
            low, high = found.interval(level, of="label")
            held[level] += low <= labels[5] <= high
    assert 0.8 <= held[0.8] / rounds < 0.93
    assert 0.92 <= held[0.95] / rounds <= 0.98


def test_awaited_labels_teach_nothing_and_late_ones_do():
    learner = taught(LABELS[:4], noise_std=1.0)
    asked = learner.decide([80.0])
    before = learner.predict([50.0])
    assert asked.prediction == before == learner.decide([60.0]).prediction
    learner.tell(asked.id, LABELS[4])
    late, told = learner.predict([50.0]), taught(LABELS, noise_std=1.0).predict([50.0])
    assert (late.mean, late.std) == (pytest.approx(told.mean), pytest.approx(told.std))
    learner.withdraw(asked.id)
    assert learner.predict([50.0]).mean == pytest.approx(before.mean)


def test_another_quantile_is_answered_from_the_spread_of_the_labels():
    belief = GaussianProcess(1, None, fit="after_warmup", level=0.9)
    for i, y in enumerate(LABELS):
        belief.learn(belief.point([3.0 * i]), y)
    found = belief.predict(belief.point([70.0]))
    assert found.mean == pytest.approx(found.interval(0.8, of="label")[1])
    assert found.centre == pytest.approx(np.mean(LABELS))


# -- types whose noise is not measured yet -----------------------------------------------------------


@pytest.mark.parametrize("belief", [TypeMeans, SeparateTypes])
@pytest.mark.parametrize("mean", [0.0, "fit"])
def test_before_their_noise_is_measured_labels_of_a_type_narrow_nothing(belief, mean):
    learner = Learner(belief(prior_mean=mean), Threshold(), label_cost=10.0, warmup=4)
    for y in (3100.0, 3300.0, 3200.0):
        told = learner.tell(learner.decide("flu").id, y)
        assert (
            told.std == learner.predict("flu").std == learner.decide("flu", force=False).prediction.std == inf
        )
    assert told.mean == 3200.0
    assert 20.0 < learner.tell(learner.decide("flu").id, 3200.0).std < 200.0


def test_a_prior_of_types_says_how_far_off_they_are_until_the_noise_is_measured():
    learner = Learner(TypeMeans(prior_std=500.0, level=0.9), Threshold(), label_cost=10.0, warmup=9)
    told = learner.tell(learner.decide("flu").id, 3100.0)
    assert told.std == learner.predict("cold").std == 500.0
    assert told.mean == pytest.approx(told.centre + 1.2816 * 500.0, rel=1e-3)
