"""Sections made from everything that was run show what they show from their own runs."""

import pytest

from breakeven_research.experiments.exhibits import bounds, rates, skew

JOBS = {
    skew: skew.jobs(2, rounds=300, branin_rounds=40),
    bounds: bounds.jobs(2, rounds=300, theorem3_rounds=(30, 120)),
    rates: rates.jobs(
        2, rounds=600, sweep_rounds=300, smooth_rounds=120, types=(5, 10), label_costs=(1.0, 10.0)
    ),
}


@pytest.fixture(scope="module")
def results():
    return {module: [(job, job.run()) for job in jobs] for module, jobs in JOBS.items()}


@pytest.mark.parametrize("module", JOBS, ids=lambda module: module.__name__)
def test_other_runs_and_repeated_ones_change_nothing(results, module):
    everything = [pair for found in results.values() for pair in found]
    assert module.section(everything) == module.section(results[module])


def test_the_shared_runs_are_the_same_jobs():
    shared = set(JOBS[bounds]) & set(JOBS[rates])
    assert len(shared) == 3 * 2  # three dimensions, two trials
    assert set(JOBS[bounds]) & set(JOBS[skew])
