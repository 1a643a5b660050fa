"""λ: the best of a grid is the one of least mean loss, and it is looked for on streams not reported on."""

import os
from pathlib import Path

import numpy as np
import pytest

from breakeven import Always, Learner, Never, TypeMeans, algorithm1, algorithm2
from breakeven.datasets import MissingData, discrete_stream
from breakeven.errors import InvalidInput
from breakeven.experiments import run, tune_threshold_scale
from breakeven.experiments.runs.problem import HELD_OUT, RECIPES
from breakeven.experiments.runs.problems import PROBLEMS, problem_named
from breakeven.experiments.runs.scale_job import GRID, HELD_OUT_TRIALS, ScaleJob, Tuning, grid_jobs, grid_of

SHARED = Path(__file__).parents[3] / "shared" / "data"
SCALES = (0.5, 1.0, 2.0, 4.0)
LABEL_COST = 0.05


def streams():
    return [discrete_stream(5, rounds, seed=seed) for seed, rounds in ((101, 200), (102, 300))]


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


# -- tuning ---------------------------------------------------------------------------------------------


def test_the_best_scale_has_the_least_mean_loss():
    tuning = tune_threshold_scale(learner_for, streams(), SCALES)
    expected = {scale: np.mean([plain_loss(stream, scale) for stream in streams()]) for scale in SCALES}
    assert tuning.losses == pytest.approx(expected, rel=1e-12)
    assert tuning.best == min(expected, key=expected.get)
    assert SCALES[0] < tuning.best < SCALES[-1]


def test_the_grid_is_tried_unless_others_are_given():
    tuning = tune_threshold_scale(learner_for, streams()[:1])
    assert tuple(tuning.losses) == GRID
    assert GRID[0] == 2**-6
    assert GRID[-1] == 2**6


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


# -- the job --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("recipe", "clock"), [("text", "type"), ("figures", "stream")])
def test_a_job_on_types_is_algorithm_1_at_every_scale(recipe, clock):
    job = ScaleJob("discrete-k10-uniform", recipe, 100.0, trial=1, scales=(0.25, 2.0), rounds=400)
    stream = problem_named("discrete-k10-uniform").stream(recipe, 1).first(400)
    by_hand = {
        repr(scale): run(
            algorithm1(label_cost=100.0, noise_std=0.1, delta=0.01, threshold_scale=scale, clock=clock),
            stream,
        )
        for scale in (0.25, 2.0)
    }
    assert job.run() == by_hand
    assert by_hand["0.25"] != by_hand["2.0"]


def test_a_job_on_a_function_is_algorithm_2_at_every_scale():
    job = ScaleJob("branin", "text", 10.0, trial=3, scales=(0.5, 4.0), rounds=60)
    stream = problem_named("branin").stream("text", 3).first(60)
    by_hand = {
        repr(scale): run(algorithm2(2, label_cost=10.0, noise_std=5.0, threshold_scale=scale, seed=3), stream)
        for scale in (0.5, 4.0)
    }
    assert job.run() == by_hand
    assert by_hand["0.5"] != by_hand["4.0"]


# -- held out -------------------------------------------------------------------------------------------


@pytest.fixture
def stream_of(monkeypatch):
    """The stream of a trial; skips where its data file is missing."""
    monkeypatch.setenv("BREAKEVEN_DATA", os.environ.get("BREAKEVEN_DATA", str(SHARED)))

    def stream(problem, recipe, trial):
        try:
            return problem.stream(recipe, trial)
        except MissingData as missing:
            pytest.skip(str(missing))

    return stream


def trials_of(problem, recipe):
    """The trials of a grid: reported, and held out."""
    jobs = grid_jobs(problem, problem.prices[0], recipe, problem.trials)
    numbers = [job.trial for job in jobs]
    return [n for n in numbers if n < HELD_OUT], [n for n in numbers if n >= HELD_OUT]


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_held_out_streams_have_other_points_and_share_no_label_with_the_reported_ones(
    problem, recipe, stream_of
):
    reported, held_out = trials_of(problem, recipe)
    assert (len(reported), len(held_out)) == (problem.trials, HELD_OUT_TRIALS)
    shown = [stream_of(problem, recipe, trial) for trial in reported]
    seen = np.concatenate([stream.labels for stream in shown])
    for trial in held_out:
        stream = stream_of(problem, recipe, trial)
        assert not np.isin(stream.labels, seen).any()
        assert not any(np.array_equal(stream.points, one.points) for one in shown)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_the_grid_holds_the_published_scale(problem):
    for price in problem.prices:
        for job in grid_jobs(problem, price, "text", 1):
            assert job.scales == grid_of(price)
            assert price.scale in job.scales
            assert set(GRID) <= set(job.scales)
