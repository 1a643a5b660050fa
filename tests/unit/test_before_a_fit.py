"""Answers before the first fit of a Gaussian process, when the scale of its kernel is a placeholder."""

from math import inf, sqrt

import numpy as np
import pytest

from breakeven import GaussianProcess, Labeller, Learner, Prior, Threshold, Value, algorithm2, simulate


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
