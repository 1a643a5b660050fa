"""Rivals on a stream of numbers: what they cost, worked out by hand or by the slow way."""

import numpy as np
import pytest

from breakeven import Always, Learner, Never, TypeMeans
from breakeven.values import Prediction
from breakeven_research.datasets import MissingData
from breakeven_research.datasets.real_streams import TABLES, read_table, shuffled
from breakeven_research.experiments.runs import rivals
from breakeven_research.experiments.runs.rivals import (
    ALL,
    MARK,
    NONE,
    best_rivals,
    decided,
    extremes,
    first_labels,
    least_losses,
    real_streams,
    score,
)


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def linear(rounds=60, seed=0):
    random = np.random.default_rng(seed)
    points = random.normal(size=(rounds, 2))
    return points, points @ [2.0, -1.0] + 5.0 + 0.1 * random.normal(size=rounds)


def test_quarters_sum_what_was_bought_and_missed():
    labels = np.arange(8.0)
    asked = [True, False] * 4
    curve = decided(asked, labels + 1.0, labels)
    assert (curve.rounds, curve.labels, curve.errors) == ([2, 4, 6, 8], [1, 2, 3, 4], [1.0, 2.0, 3.0, 4.0])
    assert curve.average_loss(label_cost=3.0)[-1] == (4 * 3.0 + 4.0) / 8


def test_coverage_counts_unlabelled_arrivals_alone():
    labels = np.array([0.0, 0.0, 0.0, 9.0])
    intervals = {95: np.tile([-1.0, 1.0], (4, 1))}
    marks = decided([True, False, True, False], labels, labels, intervals).marks
    assert marks == {"cover95": 0.5, "cover95-2": 1.0, "cover95-4": 0.0}


def test_a_learner_is_scored_as_a_bill_counts():
    types, labels = [0, 0, 1, 1], np.array([1.0, 3.0, 5.0, 5.0])
    everyone = score(Learner(TypeMeans(0.1), Always(), label_cost=1.0), types, labels)
    assert (everyone.labels[-1], everyone.errors[-1], everyone.marks) == (4, 0.0, {})
    nobody = score(
        Learner(TypeMeans(0.1, prior_mean=2.0, prior_std=1.0), Never(), label_cost=1.0), types, labels
    )
    assert (nobody.labels[-1], nobody.errors[-1]) == (0, 1.0 + 1.0 + 3.0 + 3.0)
    low, high = Prediction(2.0, 1.0, 0.1).interval(0.95, of="label")
    assert nobody.marks["cover95"] == np.mean((low <= labels) & (labels <= high))


def test_label_all_costs_the_price_and_the_mark_the_least_of_any_constant():
    labels = np.array([1.0, 2.0, 10.0])
    found = extremes(labels)
    assert found[ALL].average_loss(7.0)[-1] == 7.0
    assert found[NONE].average_loss(7.0)[-1] == pytest.approx(13.0 / 3)
    assert found[MARK].errors[-1] == min(np.abs(labels - one).sum() for one in np.linspace(0, 10, 101))


def test_explore_then_commit_with_the_median_by_hand():
    points, labels = linear()
    curves = first_labels(points, labels, ["median"])
    for n in (1, 6, 50):
        assert curves[f"median-{n}"].labels[-1] == n
        assert curves[f"median-{n}"].errors[-1] == pytest.approx(
            np.abs(labels[n:] - np.median(labels[:n])).sum()
        )


def test_regressors_learn_a_line_and_standardise_by_what_they_know():
    points, labels = linear()
    plain, scaled = (first_labels(points * [1.0, by], labels, ["ridge"]) for by in (1.0, 1e6))
    assert plain["ridge-20"].errors[-1] == pytest.approx(scaled["ridge-20"].errors[-1])
    assert (
        plain["ridge-50"].errors[-1] / 10
        < 0.2
        < first_labels(points, labels, ["median"])["median-50"].errors[-1]
    )


def test_answers_to_yes_or_no_are_yes_or_no():
    random = np.random.default_rng(1)
    points = random.normal(size=(80, 1))
    labels = (points[:, 0] > 1.0) * 1.0
    for kind in ("ridge", "forest", "boosting"):
        errors = np.array(first_labels(points, labels, [kind])[f"{kind}-40"].errors)
        assert (errors == np.rint(errors)).all()


def test_the_best_number_in_hindsight_is_priced_anew_at_every_price():
    points, labels = linear()
    curves = first_labels(points, labels, ["ridge", "median"])
    for cost in (0.01, 1.0, 100.0):
        losses = least_losses(curves, cost)
        slow = {
            kind: min(
                (cost * curve.labels[-1] + curve.errors[-1]) / len(labels)
                for name, curve in curves.items()
                if name.startswith(kind)
            )
            for kind in ("ridge", "median")
        }
        assert losses == pytest.approx(slow)
        assert list(losses.values()) == sorted(losses.values())


def test_rivals_are_worked_out_once(monkeypatch, own_cache):
    points, labels = linear(30)
    found = best_rivals(points, labels, [1.0, 10.0], mark=True)
    assert set(found[1.0]) == {ALL, NONE, MARK, "median", "ridge", "forest", "boosting"}
    monkeypatch.setattr(rivals, "first_labels", None)
    assert best_rivals(points, labels, [10.0], mark=True) == {10.0: found[10.0]}
    assert len(list((own_cache / "breakeven" / "rivals").iterdir())) == 1


# -- the real ones -------------------------------------------------------------------------------------------


def whole(name):
    try:
        return read_table(name)
    except MissingData as missing:
        pytest.skip(str(missing))


ROWS = {"airfoil": 1503, "concrete": 1030, "ccpp": 9568, "turbine": 7384, "abalone": 4177}


@pytest.mark.parametrize("name", TABLES)
def test_real_tables_have_the_rows_they_are_known_for(name):
    assert len(whole(name)) == ROWS[name]


def test_a_shuffle_is_its_seeds():
    frame = whole("concrete")
    one, again, other = shuffled("concrete", 1), shuffled("concrete", 1), shuffled("concrete", 2)
    assert one.equals(again)
    assert not one.equals(other)
    assert len(one.join(frame, on=frame.columns, how="semi")) == len(one) == 600


def test_real_streams_come_as_numbers_with_a_column_for_each_category():
    whole("abalone")
    found = {name: (points.shape, labels.shape) for name, points, labels in real_streams(["abalone"], 2)}
    assert found == {"abalone-0": ((600, 10), (600,)), "abalone-1": ((600, 10), (600,))}


def test_the_turbine_also_runs_in_the_order_of_time():
    frame = whole("turbine")
    (*_, (name, points, labels)) = real_streams(["turbine"], 1)
    assert (name, points.shape[1], "CO" in frame.columns) == ("turbine-in-time", 9, False)
    assert labels.tolist() == frame["NOX"].to_list()[::5]
