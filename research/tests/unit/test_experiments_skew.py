"""Uneven arrivals: what is averaged, what is compared, and that the same seeds give the same numbers."""

import numpy as np
import pytest

from breakeven_research.experiments.exhibits import skew
from breakeven_research.experiments.runs.theory_runs import TypesRun
from breakeven_research.experiments.runs.trials import Curve, average


@pytest.fixture(scope="module")
def results():
    return [(job, job.run()) for job in skew.jobs(2, rounds=1000, branin_rounds=150)]


def made_up(loss_by_arrivals):
    """Results of two trials each, whose average loss after one round is given."""
    found = []
    for arrivals, losses in loss_by_arrivals.items():
        for seed, loss in enumerate(losses):
            job = TypesRun(types=10, label_cost=10.0, rounds=1, seed=seed, arrivals=arrivals)
            found.append((job, {"Algorithm 1": Curve([1], [0], [loss])}))
            branin = skew.BraninRun(arrivals=arrivals, rounds=1, seed=seed)
            found.append((branin, {"Algorithm 2": Curve([1], [0], [loss])}))
    return found


def test_each_algorithm_runs_under_each_pattern(results):
    assert len(results) == 2 * 3 * 2
    assert len({job for job, _ in results}) == len(results)


def test_the_same_job_gives_the_same_curves(results):
    for job, curves in results[::4]:
        assert job.run() == curves


def test_uneven_arrivals_of_types_cost_less(results):
    rows = {(row[0], row[1]): row for row in skew.section(results).tables[0].rows}
    even, lopsided, one = (rows["Algorithm 1", words][4] for words in ("uniform", "lopsided", "one type"))
    assert one < lopsided < even
    assert rows["Algorithm 1", "one type"][6] == one / even


def test_the_table_agrees_with_the_last_point_drawn(results):
    section = skew.section(results)
    lines = [line for chart in section.figures[0].charts for line in chart.lines]
    for line, row in zip(lines, section.tables[0].rows, strict=True):
        assert line.label == row[1]
        assert line.y[-1] == pytest.approx(row[4], rel=1e-12)
        assert line.high[-1] - line.y[-1] == pytest.approx(row[5], rel=1e-9)


def test_ratios_are_computed():
    losses = {"uniform": [4.0, 4.0], "lopsided": [2.0, 4.0], "one_type": [1.0, 1.0]}
    text = skew.section(made_up(losses)).text
    assert any(
        "0.75 times as much under lopsided" in one and "the more uneven, the cheaper" in one for one in text
    )


def test_a_dearer_uneven_pattern_is_not_called_cheaper():
    losses = {"uniform": [1.0, 1.0], "lopsided": [2.0, 2.0], "one_type": [0.5, 0.5]}
    text = skew.section(made_up(losses)).text
    assert any("not always cheaper" in one for one in text)
    assert not any("the more uneven, the cheaper" in one for one in text)


def test_a_band_is_196_standard_errors_of_the_trials_there_were():
    found = average(np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]))
    error = np.sqrt(2.5 / 5)
    assert found.error == pytest.approx([error])
    assert found.low == pytest.approx([2 - 1.96 * error])
    assert found.high == pytest.approx([2 + 1.96 * error])


def test_one_trial_has_no_band():
    one = [(job, job.run()) for job in skew.jobs(1, rounds=50, branin_rounds=20)]
    section = skew.section(one)
    assert all(line.low is None for chart in section.figures[0].charts for line in chart.lines)
    assert all(row[5] is None for row in section.tables[0].rows)
