"""Measured exponents: recovered exactly where they are known, and computed from the losses drawn."""

from fractions import Fraction

import numpy as np
import pytest

from breakeven_research.experiments.exhibits import rates
from breakeven_research.experiments.exhibits.rates import (
    Growth,
    along,
    beside_bound,
    exponent,
    measured,
    spaced,
)
from breakeven_research.experiments.runs.theory_runs import SmoothRun
from breakeven_research.experiments.runs.trials import Curve


@pytest.fixture(scope="module")
def results():
    small = {"rounds": 4000, "sweep_rounds": 1000, "smooth_rounds": 300}
    return [(job, job.run()) for job in rates.jobs(2, **small, types=(5, 20), label_costs=(1.0, 10.0, 100.0))]


@pytest.fixture(scope="module")
def section(results):
    return rates.section(results)


@pytest.mark.parametrize("power", [1 / 3, 2 / 3, 0.8, 1.0])
def test_the_exponent_of_a_power_is_recovered(power):
    at = [100.0, 1000.0, 5000.0, 1e6]
    assert exponent(at, 7.5 * np.array(at) ** power) == pytest.approx(power, abs=1e-12)


def test_the_exponent_of_a_run_is_recovered_at_its_rounds():
    rounds = list(range(1, 10_001))
    curve = Curve(rounds, [0] * len(rounds), (3 * np.array(rounds) ** 0.7).tolist())
    at, losses = along([(curve, 10.0)])
    assert at[0] == 100
    assert at[-1] == 10_000
    assert exponent(at, losses[0]) == pytest.approx(0.7, abs=1e-12)


def test_labels_count_at_their_price():
    curve = Curve([100, 1000], [1, 10], [0.0, 0.0])
    assert along([(curve, 7.0)])[1].tolist() == [[7.0, 70.0]]


def test_the_standard_error_is_that_of_the_slopes():
    at = [1.0, 10.0]
    growth = Growth("", "T", at, np.array([[1.0, 10.0], [1.0, 10.0**0.5]]), Fraction(2, 3))
    mean, error = measured(growth)
    assert mean == pytest.approx(0.75)
    assert error == pytest.approx(0.25)


def test_rounds_are_picked_by_equal_factors():
    picked = np.arange(1, 10_001)[spaced(np.arange(1, 10_001), 100, 21)]
    factors = picked[1:] / picked[:-1]
    assert len(picked) == 21
    assert factors == pytest.approx(np.full(20, 100 ** (1 / 20)), rel=0.02)


def test_sweeps_vary_one_thing_each(results):
    jobs = [job for job, _ in results if isinstance(job, rates.TypesRate)]
    assert {(j.types, j.label_cost, j.rounds) for j in jobs if j.sweep == "T"} == {(10, 10.0, 4000)}
    assert {(j.types, j.label_cost) for j in jobs if j.sweep == "K"} == {(5, 10.0), (20, 10.0)}
    assert {(j.types, j.label_cost) for j in jobs if j.sweep == "B"} == {(10, 1.0), (10, 10.0), (10, 100.0)}
    assert {j.dim for j, _ in results if isinstance(j, SmoothRun)} == {1, 2, 3}


def test_losses_of_a_sweep_are_the_runs_totals(results):
    growth = rates.across(results, "B", "label_cost")
    for job, curves in results:
        if isinstance(job, rates.TypesRate) and job.sweep == "B":
            found = growth.losses[job.seed, growth.at.index(job.label_cost)]
            assert found == curves["Algorithm 1"].total_loss(job.label_cost)


def test_the_loss_stays_below_the_bound_it_is_compared_with(section):
    rows = section.tables[0].rows
    assert all(0 < row[-1] < 1 for row in rows[:3])
    assert all(row[-2:] == [None, None] for row in rows[3:])


def test_the_bounds_exponent_is_over_the_same_range(results):
    growth = rates.in_rounds(results)
    assert len(growth.allowed) == len(growth.at)
    assert beside_bound(growth)[0] == exponent(growth.at, np.array(growth.allowed))


def test_the_theory_is_that_of_the_paper(section):
    assert [row[7] for row in section.tables[0].rows] == [2 / 3, 1 / 3, 1 / 3, 3 / 4, 4 / 5, 5 / 6]


def test_the_loss_grows_in_all_of_them(section):
    assert all(row[5] > 0.1 for row in section.tables[0].rows)


def test_the_charts_are_measured_lines_with_dashed_slopes(section):
    charts = {chart.name: chart for chart in section.figures[0].charts}
    assert list(charts) == ["T", "K", "B", "gp"]
    for chart in charts.values():
        for line, reference in zip(chart.lines[::2], chart.lines[1::2], strict=True):
            assert (line.kind, reference.kind) == ("line", "dashed")
            assert reference.y[0] == pytest.approx(line.y[0])
            slope = Fraction(reference.label.removeprefix("slope "))
            assert exponent(reference.x, np.array(reference.y)) == pytest.approx(float(slope), abs=1e-9)


def test_the_text_says_what_an_upper_bound_is(section):
    assert "a smaller measured exponent is no contradiction" in section.text[0]
    above = sum(row[5] > row[7] for row in section.tables[0].rows)
    assert section.text[1].startswith(f"{above} of 6 exponents are measured above")


def test_the_same_job_gives_the_same_curves(results):
    for job, curves in results[::6]:
        assert job.run() == curves
