"""Answers that keep within declared limits, as Theorem 1 asks of them."""

import numpy as np
import pytest

from breakeven import Audit, GaussianProcess, Learner, Threshold, TypeMeans, algorithm1, simulate
from breakeven.errors import InvalidInput


def learner(**options):
    return Learner(
        TypeMeans(noise_std=0.5), Threshold(), label_cost=2.0, answers_within=(0.0, 1.0), **options
    )


def test_every_answer_keeps_within_the_limits_and_nothing_else_changes():
    one = learner()
    first = one.decide("flu")
    assert one.tell(first.id, 1.7).mean == 1.0
    assert one.predict("flu").mean == 1.0
    assert [found.mean for found in one.predict_many(["flu", "cold"])] == [1.0, 0.0]
    assert one.decide("flu").prediction.mean == 1.0
    assert one.decide_many(["flu"])[0].prediction.mean == 1.0
    one.correct(first.id, -0.4)
    assert one.predict("flu").mean == 0.0
    assert one.belief.predict("flu").mean == -0.4
    one.correct(first.id, 0.3)
    assert one.predict("flu").mean == 0.3


def test_a_replay_is_the_clipped_replay_of_a_learner_without_limits():
    random = np.random.default_rng(0)
    points, truth = random.integers(5, size=400), random.random(400)
    labels = truth + random.normal(size=400)
    free = Learner(TypeMeans(noise_std=0.5), Threshold(), label_cost=2.0)
    free, kept = (simulate(each, points, labels, truth) for each in (free, learner()))
    assert (kept.wants_label == free.wants_label).all()
    assert (kept.prediction == np.clip(free.prediction, 0.0, 1.0)).all()
    assert (kept.prediction != free.prediction).any()


def test_a_gaussian_process_keeps_within_its_limits():
    one = Learner(GaussianProcess(1, 0.1), Threshold(), label_cost=1.0, answers_within=(-1.0, 0.5))
    told = one.tell(one.decide([0.0], force=True).id, 2.0)
    assert (told.mean, told.std) == (0.5, pytest.approx(one.belief.predict(one.belief.point([0.0])).std))


def test_limits_are_stored_and_an_audit_sees_what_was_answered():
    one = Learner(
        TypeMeans(0.5), Audit(Threshold(5.0), 0.5, bound=3.0), label_cost=2.0, answers_within=(0.0, 1.0)
    )
    log = [one.created]
    one.listen(log.append)
    for i in range(60):
        decision = one.decide("flu")
        if decision.wants_label:
            one.tell(decision.id, 1.5 + i % 2)
    audited = [event for event in log if getattr(event, "predicted", None) is not None]
    assert audited
    assert {event.predicted for event in audited} == {1.0}
    restored, folded = Learner.restore(one.snapshot()), Learner.fold(log)
    assert restored.answers_within == folded.answers_within == (0.0, 1.0)
    assert folded.snapshot() == one.snapshot()


def test_without_limits_the_configuration_says_nothing_of_them():
    free = algorithm1(label_cost=1.0, noise_std=0.1)
    assert free.answers_within is None
    assert "answers_within" not in free.config()


@pytest.mark.parametrize("limits", [(1.0, 0.0), (0.0, 0.0), (0.0,), "ab", (0.0, float("nan")), 3.0])
def test_limits_that_are_none_are_refused(limits):
    with pytest.raises(InvalidInput, match="answers_within"):
        Learner(TypeMeans(0.5), Threshold(), label_cost=2.0, answers_within=limits)
