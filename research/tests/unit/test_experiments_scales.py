"""λ: runs over a grid, with the published scale in it, also on streams that are not reported on."""

import os
from pathlib import Path

import numpy as np
import pytest

from breakeven import algorithm1, algorithm2
from breakeven.planning.tuning import SCALES
from breakeven_research.datasets import MissingData
from breakeven_research.experiments import run
from breakeven_research.experiments.runs.jobs import HELD_OUT_TRIALS, ScaleJob, grid_jobs, grid_of
from breakeven_research.experiments.runs.problems import HELD_OUT, PROBLEMS, RECIPES, problem_named

SHARED = Path(__file__).parents[4] / "shared" / "data"


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
            assert set(SCALES) <= set(job.scales)
