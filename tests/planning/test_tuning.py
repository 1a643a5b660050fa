"""λ: the best scale is the one of least mean loss, the largest of equals, over any streams."""

import numpy as np
import pytest

from breakeven import Always, Learner, Never, TypeMeans, algorithm1, planning
from breakeven.errors import InvalidInput
from breakeven.planning import Stream, Tuning, tune_threshold_scale

SCALES = (0.5, 1.0, 2.0, 4.0)
LABEL_COST = 0.05


def streams():
    return [types(rounds, seed) for seed, rounds in ((101, 200), (102, 300))]


def types(rounds, seed):
    """Five types of means in [0, 1), arriving evenly."""
    random = np.random.default_rng(seed)
    points = random.integers(5, size=rounds)
    truth = random.random(5)[points]
    return Stream(points, truth + 0.1 * random.standard_normal(rounds), truth, 0.1, "five types")


def learner_for(scale):
    return algorithm1(label_cost=LABEL_COST, noise_std=0.1, threshold_scale=scale)


def plain_loss(stream, scale):
    """The average loss of one run, counted round by round."""
    learner, loss = learner_for(scale), 0.0
    for x, y, f in zip(stream.points.tolist(), stream.labels, stream.truth, strict=True):
        decision = learner.decide(x)
        answer = decision.prediction.mean
        if decision.wants_label:
            answer = learner.tell(decision.id, y).mean
            loss += LABEL_COST
        loss += abs(f - answer)
    return loss / len(stream)


def test_the_best_scale_has_the_least_mean_loss():
    tuning = tune_threshold_scale(learner_for, streams(), SCALES)
    expected = {scale: np.mean([plain_loss(stream, scale) for stream in streams()]) for scale in SCALES}
    assert tuning.losses == pytest.approx(expected, rel=1e-12)
    assert tuning.best == min(expected, key=expected.get)
    assert SCALES[0] < tuning.best < SCALES[-1]


def test_the_grid_is_tried_unless_others_are_given():
    tuning = tune_threshold_scale(learner_for, streams()[:1])
    assert tuple(tuning.losses) == planning.tuning.SCALES
    assert planning.tuning.SCALES[0] == 2**-6
    assert planning.tuning.SCALES[-1] == 2**6


@pytest.mark.parametrize("rule", [Always(), Never()], ids=["always", "never"])
@pytest.mark.parametrize("scales", [(1.0, 2.0, 3.0), (3.0, 1.0, 2.0)], ids=str)
def test_of_equally_good_scales_the_largest_is_best(rule, scales):
    def indifferent(scale):
        return Learner(TypeMeans(0.1), rule, label_cost=1.0)

    tuning = tune_threshold_scale(indifferent, streams(), scales)
    assert len(set(tuning.losses.values())) == 1
    assert tuning.best == 3.0


def test_a_larger_scale_that_costs_more_is_not_best():
    assert Tuning({0.5: 1.0, 1.0: 1.0, 2.0: 1.1}).best == 1.0


def test_streams_may_come_from_a_generator():
    given = tune_threshold_scale(learner_for, (stream for stream in streams()), SCALES)
    assert given == tune_threshold_scale(learner_for, streams(), SCALES)


BAD = {
    "no streams": ([], SCALES, "streams and scales: expected one of each at least, got '?0 and 4"),
    "no scales": (streams(), (), "streams and scales: expected one of each at least, got '?2 and 0"),
    "a scale of 0": (streams(), (1.0, 0.0), r"scales\[1\]: expected a positive, finite number, got 0.0"),
    "a scale below": (streams(), (-1.0,), r"scales\[0\]: expected a positive, finite number, got -1.0"),
    "no list": (streams(), 1.0, "scales: expected a list, got 1.0"),
    "text": ("streams", SCALES, "streams: expected a list, got 'streams'"),
}


@pytest.mark.parametrize(("given", "scales", "message"), BAD.values(), ids=BAD)
def test_what_cannot_be_tuned_is_refused_before_anything_runs(given, scales, message):
    def never_made(scale):
        raise AssertionError("made a learner")

    with pytest.raises(InvalidInput, match=message):
        tune_threshold_scale(never_made, given, scales)
