"""Streams that Theorem 1 covers: other noise, an adversary, loans."""

import numpy as np
import pytest

from breakeven import Learner, Threshold, TypeMeans, theory
from breakeven_research.datasets import discrete_stream, loan_stream
from breakeven_research.experiments.exhibits import covered
from breakeven_research.experiments.runs.covered_runs import STREAMS, Adversary, CoveredRun


@pytest.fixture(scope="module")
def results():
    return [(job, job.run()) for job in covered.jobs(2, rounds=400)]


def test_every_stream_has_a_row_for_every_method(results):
    rows = covered.section(results).tables[0].rows
    assert [row[:2] for row in rows] == [
        [kind, method] for kind in STREAMS for method in ("Algorithm 1", "Separate types", "Value", "Never")
    ]


def test_the_loss_stays_below_theorem_1(results):
    section = covered.section(results)
    assert "above the corrected Theorem 1 in 0 of 24 runs" in section.text[1]
    assert all(row[9] < 1.0 for row in section.tables[0].rows if row[9] is not None)


def test_the_promise_depends_on_whether_arrivals_react(results):
    promised = {(row[0], row[1]): row[-1] for row in covered.section(results).tables[0].rows}
    alone, union = (theory.failure_probability(10, 0.01, arrivals_react=react) for react in (False, True))
    assert promised["in turn", "Algorithm 1"] == alone
    assert promised["reacting", "Algorithm 1"] == promised["in turn", "Separate types"] == union
    assert promised["in turn", "Value"] is None


def test_without_runs_there_is_no_section():
    assert covered.section([]) is None


@pytest.mark.parametrize("noise", ["normal", "uniform", "signs"])
def test_noise_of_every_kind_has_the_same_variance(noise):
    stream = discrete_stream(3, 20_000, seed=1, noise=noise)
    drawn = stream.labels - stream.truth
    assert drawn.std() == pytest.approx(0.1, rel=0.02)
    assert drawn.mean() == pytest.approx(0.0, abs=0.003)
    if noise == "signs":
        assert np.abs(drawn) == pytest.approx(0.1)


def test_in_turn_one_type_comes_after_the_other():
    stream = discrete_stream(4, 1000, seed=1, arrivals="in_turn")
    assert (np.diff(stream.points) >= 0).all()
    assert sorted(stream.points) == sorted(discrete_stream(4, 1000, seed=1).points)


def test_labels_of_loans_say_whether_they_default():
    stream = loan_stream(40_000, seed=3)
    assert set(stream.labels) == {0.0, 1.0}
    assert stream.labels.mean() == pytest.approx(0.08, abs=0.005)
    assert stream.truth.min() == pytest.approx(0.005, abs=0.001)
    assert stream.truth.max() == pytest.approx(0.63, abs=0.01)


def test_the_adversary_sends_what_is_most_wrong_and_would_not_be_labelled():
    stream = discrete_stream(3, 50, seed=1)
    learner = Learner(TypeMeans(0.1, 0.01), Threshold(), label_cost=10.0)
    labelled, errors, arrivals = Adversary(stream).meet(learner)
    assert labelled[:3].all()
    assert arrivals.sum() == 50
    means = np.array([Adversary(stream).means[k] for k in range(3)])
    told = [learner.belief.predict(k).mean for k in range(3)]
    assert errors[3] >= errors[:3].min()
    assert np.isfinite(told).all()
    assert (errors <= 1.0 + np.abs(means).max()).all()


def test_a_run_is_the_same_every_time():
    job = CoveredRun(arrivals="reacting", seed=1, rounds=80)
    assert job.run() == job.run()
