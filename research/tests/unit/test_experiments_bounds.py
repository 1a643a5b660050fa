"""The theorems beside measured losses: they bracket, and crossings are where they are said to be."""

import msgspec
import numpy as np
import pytest

from breakeven import Matern, SquaredExponential, theory
from breakeven_research.experiments.exhibits import bounds, theorem3
from breakeven_research.experiments.exhibits.bounds import bracket, crossed
from breakeven_research.experiments.runs.theory_runs import ALGORITHM_1, CLIPPED, SmoothRun, TypesRun


@pytest.fixture(scope="module")
def results():
    return [(job, job.run()) for job in bounds.jobs(2, rounds=1500, theorem3_rounds=(40, 120))]


@pytest.fixture(scope="module")
def section(results):
    return bounds.section(results)


@pytest.fixture(scope="module", params=bounds.SETTINGS, ids=str)
def one(request, results):
    return bracket(results, *request.param)


def test_corrected_theorem_1_holds_in_every_trial_and_round(one):
    assert (one.loss <= one.corrected).all()
    assert (one.clipped <= one.corrected).all()


def test_theorem_2_lies_below_the_measured_loss_here(one):
    assert (one.least[:, -1] < one.loss[:, -1]).all()


def test_bounds_are_those_of_the_arrivals(one, results):
    job, _ = next(pair for pair in results if pair[0] == one.job)
    t = one.rounds[-1]
    counts = np.bincount(job.stream().points, minlength=job.types)
    assert counts.sum() == t
    setting = {"label_cost": job.label_cost, "noise_std": 0.1, "delta": 0.01}
    assert one.corrected[0, -1] == theory.upper_bound(counts, **setting)
    assert one.printed[0, -1] == theory.upper_bound(counts, form="printed", **setting)
    assert one.least[0, -1] == theory.lower_bound(counts, label_cost=job.label_cost, noise_std=0.1)


def test_printed_theorem_1_is_crossed_exactly_in_the_rounds_named(one):
    above = crossed(one.rounds, one.loss[0], one.printed[0])
    assert above[0] == 1
    for t, loss, printed in zip(one.rounds, one.loss[0], one.printed[0], strict=True):
        assert (t in above) == (printed < loss)


def test_the_note_stands_where_the_mean_is_last_above_print(section):
    for chart in section.figures[0].charts:
        lines = {line.label: line for line in chart.lines}
        loss, printed = lines["Algorithm 1"], lines["Theorem 1, printed"]
        (note,) = chart.notes
        at = loss.x.index(note.x)
        assert note.y == loss.y[at] > printed.y[at]
        assert all(p >= m for p, m in zip(printed.y[at + 1 :], loss.y[at + 1 :], strict=True))
        assert f"{int(note.x):,}" in note.text


def test_without_a_crossing_there_is_no_note_and_the_text_says_never(one):
    high = one._replace(printed=one.loss + 1.0)
    assert bounds._notes(high) == []
    assert "never crosses" in bounds._printed_words(high)


def test_a_broken_corrected_bound_would_be_said(one):
    low = one._replace(corrected=one.loss - 1.0)
    assert bounds._corrected_words(low) == "It is above the corrected bound in 2 trials."


def test_clipping_never_costs_and_labels_stay(results):
    for job, curves in results:
        if isinstance(job, TypesRun):
            assert curves[CLIPPED].labels == curves[ALGORITHM_1].labels
            assert (np.array(curves[CLIPPED].errors) <= np.array(curves[ALGORITHM_1].errors) + 1e-9).all()


def test_the_failure_probability_is_stated_and_none_is_promised_at_one(section):
    text = " ".join(section.text)
    assert text.count("the corrected bound fails with probability 0.012 at most, at δ = 0.01") == 2
    assert "these arrivals do not react to labels; where they did, 0.12." in text
    assert "where they did, no promise is left: the chances that a type fails sum to 1" in text
    without_types = theory.failure_probability(1, 0.01)
    assert [row[-2:] for row in section.tables[0].rows] == [
        [without_types, theory.failure_probability(10, 0.01)],
        [without_types, 1.0],
    ]


def test_the_data_holds_every_point_drawn(section):
    figure = section.figures[0]
    drawn = [
        [chart.name, line.label, x, y]
        for chart in figure.charts
        for line in chart.lines
        for x, y in zip(line.x, line.y, strict=True)
    ]
    assert [row[:4] for row in figure.data.rows] == drawn


# -- Theorem 3 ---------------------------------------------------------------------------------


def test_the_function_has_the_norm_it_is_said_to_have():
    for kernel in theorem3.KERNELS:
        job = SmoothRun(kernel=kernel, dim=2, label_cost=1.0, rounds=30, seed=5, rkhs_norm=1.5)
        centres, weights = job.function()
        assert weights @ kernel(centres, centres) @ weights == pytest.approx(1.5**2)
        stream = job.stream()
        assert stream.truth == pytest.approx(kernel(stream.points, centres) @ weights)
        assert np.abs(stream.truth).max() <= 1.5


def test_noise_is_within_its_bound_and_points_within_the_cube():
    job = SmoothRun(kernel=SquaredExponential(0.5), dim=3, label_cost=1.0, rounds=500, seed=2)
    stream = job.stream()
    noise = np.abs(stream.labels - stream.truth)
    assert 0.45 < noise.max() <= 0.5
    assert 0 <= stream.points.min() < stream.points.max() <= 1


def test_a_longer_run_begins_as_the_shorter_one():
    short = SmoothRun(kernel=SquaredExponential(0.5), dim=1, label_cost=1.0, rounds=50, seed=2)
    long = msgspec.structs.replace(short, rounds=80)
    assert long.run()["Algorithm 2"].labels[49] == short.run()["Algorithm 2"].labels[-1]


def test_theorem_3_holds_in_every_row(section):
    table = section.tables[1]
    assert len(table.rows) == 2 * 3 * 2 * 2
    for row in (dict(zip(table.columns, row, strict=True)) for row in table.rows):
        assert 0 < row["labels measured"] <= row["labels allowed"] <= row["T"]
        assert 0 < row["loss measured"] <= row["loss allowed"]
        assert row["allowed / measured"] == row["loss allowed"] / row["loss measured"]


def test_the_bounds_are_the_librarys(section):
    row = dict(zip(section.tables[1].columns, section.tables[1].rows[0], strict=True))
    kernel, grid = SquaredExponential(0.5), np.linspace(0, 1, 64)[:, None]
    gains = theory.information_gain_bound(kernel(grid, grid), 41, noise_std=0.5)
    setting = {"dim": 1, "label_cost": 1.0, "noise_std": 0.5, "lengthscale": 0.5}
    assert row["labels allowed"] == theory.label_bound_se(40, **setting)
    assert row["loss allowed"] == theory.upper_bound_se(
        40, **setting, rkhs_norm=1.0, information_gain=lambda n: float(gains[n - 1]), delta=0.1
    )


def test_a_matern_bound_takes_its_lipschitz_constant():
    job = SmoothRun(kernel=Matern(2.5, 0.5), dim=1, label_cost=10.0, rounds=500, seed=0)
    lipschitz = theory.matern_lipschitz(2.5, 0.5)
    assert theorem3.labels_allowed(job) == theory.label_bound_matern(
        500, dim=1, label_cost=10.0, noise_std=0.5, lipschitz=lipschitz
    )


def test_vacuous_rows_are_counted(section):
    columns, rows = section.tables[1].columns, section.tables[1].rows
    allowed, trivial = columns.index("loss allowed"), columns.index("never labelling loses at most")
    vacuous = sum(row[allowed] >= row[trivial] for row in rows)
    assert any(f"In {vacuous} of {len(rows)} rows" in one for one in section.text)


def test_a_loss_above_the_bound_would_be_said(section):
    table = section.tables[1]
    column = table.columns.index("largest loss")
    broken = [[*row[:column], 1e12, *row[column + 1 :]] for row in table.rows]
    assert "does not stay within" in theorem3.sentences(msgspec.structs.replace(table, rows=broken))[0]
