"""The bill, what it is compared with, and the folder it is written to."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import breakeven
from breakeven.errors import InvalidInput
from breakeven.tables import TableLearner, from_table, story
from breakeven.tables.learner import UnreadableBill
from breakeven.tables.others import FACTORS
from tests.tables.samples import run_of, smooth, typed


@pytest.fixture(scope="module")
def outcome():
    return from_table(smooth(150), label="y", cost=0.5, compare=True, sweep=True, trials=3)


# -- rows ------------------------------------------------------------------------------------------------


def test_everyone_and_no_one_are_priced_without_a_model(outcome):
    labels = smooth(150)["y"].to_numpy()
    everyone, no_one, *_ = outcome.rows
    assert (everyone.labels, everyone.spend, everyone.mean_error, everyone.saved) == (150, 75.0, 0.0, 0.0)
    assert (no_one.labels, no_one.spend) == (0, 0.0)
    assert no_one.mean_error == pytest.approx(np.abs(labels - labels.mean()).mean())


def test_rows_add_up(outcome):
    for row in outcome.rows:
        assert row.total == pytest.approx(row.spend + 150 * row.mean_error)
        assert row.saved == pytest.approx(75.0 - row.total)


def test_errors_are_in_money_where_a_unit_of_error_has_its_price():
    row = from_table(smooth(80), label="y", cost=2.0, error_cost=4.0).rows[2]
    assert row.total == pytest.approx(row.spend + 4.0 * 80 * row.mean_error)


def test_random_and_variable_label_about_as_many(outcome):
    names = [row.name for row in outcome.rows]
    ours = outcome.rows[2].labels
    assert names[2:] == [
        "breakeven", "the paper's threshold", "random, equal spend", "variable, equal spend"
    ]  # fmt: skip
    assert outcome.rows[4].labels == pytest.approx(ours, abs=3 * ours**0.5)


def test_the_sweep_has_the_bill_itself_in_it(outcome):
    sweep, ours = outcome.sweep, outcome.rows[2]
    place = sweep.at(0.5)
    assert sweep.prices == [0.5 * factor for factor in FACTORS]
    assert (sweep.labels[place], sweep.total[place], sweep.saved[place]) == (
        ours.labels,
        ours.total,
        ours.saved,
    )
    assert sweep.labels[0] >= sweep.labels[-1]


def test_prices_at_which_a_process_would_take_far_longer_are_left_out(monkeypatch):
    monkeypatch.setattr("breakeven.tables.others.ENOUGH", 10)
    monkeypatch.setattr("breakeven.tables.others.MORE", 1)
    sweep = from_table(smooth(150), label="y", cost=0.2, sweep=True).sweep
    assert sweep.prices[0] == pytest.approx(0.2)
    assert len(sweep.prices) == len(sweep.total) < len(FACTORS)


def test_trials_are_means_with_an_interval(outcome):
    trials = outcome.trials
    assert [row.name for row in trials] == [row.name for row in outcome.rows]
    assert all(row.low <= row.total <= row.high for row in trials[2:])
    assert trials[0].low is None


def test_notes_say_what_noise_alone_makes(outcome):
    assert "Label noise alone, of a standard deviation of 0.1" in outcome.notes[0]
    assert "known only afterwards" in outcome.notes[1]


# -- the story -------------------------------------------------------------------------------------------


def test_charts_are_thinned(monkeypatch):
    monkeypatch.setattr(story, "MOST", 30)
    run = run_of(smooth(200))
    for section in story.sections(run):
        for figure in section.figures:
            for chart in figure.charts:
                assert sum(len(line.x) for line in chart.lines if line.label != "as promised") <= 30


def test_the_story_is_of_worth_against_price_where_the_rule_says_so(outcome):
    titles = [section.title for section in outcome.bill.sections]
    assert titles == [
        "Spend and error over time",
        "Which labels were bought",
        "Predictions of what was not labelled",
        "Calibration of the intervals",
    ]
    (chart,) = outcome.bill.sections[1].figures[0].charts
    assert chart.y_label == "what a label would save"
    other = from_table(smooth(80), label="y", cost=0.5, rule="threshold")
    (chart,) = other.bill.sections[1].figures[0].charts
    assert chart.y_label == "its uncertainty"
    assert {line.kind for line in chart.lines} == {"dots", "crosses", "dashed"}


@pytest.mark.parametrize("rule", ["always", "never", "random", "variable"])
def test_every_rule_has_a_story(rule):
    bill = from_table(smooth(40), label="y", cost=0.5, rule=rule).bill
    assert len(bill.sections) >= 2
    assert bill.chosen_row.name == bill.chosen


def test_no_ids_and_no_features_are_in_the_story():
    frame = smooth(60).with_columns(pl.Series("who", [f"secret-{i}" for i in range(60)]))
    said = str(from_table(frame, label="y", cost=0.5, id="who").bill)
    assert "secret" not in said
    assert f"{frame['a'][3]}" not in said


# -- the folder ------------------------------------------------------------------------------------------


def test_a_folder_goes_on_where_the_run_ended(tmp_path, outcome):
    outcome.write(tmp_path)
    learner, row = TableLearner.open(tmp_path), {"a": 0.3, "b": -1.0, "other": "x"}
    ours = outcome.learner
    assert learner.predict(row) == ours.predict(row)
    assert learner.decide(row, id="next").prediction == ours.predict(row)
    assert learner.tell("next", 0.1).mean != ours.predict(row).mean
    assert pl.read_parquet(tmp_path / "decisions.parquet").equals(outcome.decisions)


def test_a_learner_can_be_kept_in_its_folder(tmp_path, outcome):
    outcome.write(tmp_path)
    learner, row = TableLearner.open(tmp_path), {"a": 2.0, "b": 2.0}
    decision = learner.decide(row, id="late", force=True)
    learner.save(tmp_path)
    again = TableLearner.open(tmp_path)
    assert again.learner.pending[decision.id].cost == 0.5
    assert again.tell("late", 1.0) == learner.tell("late", 1.0)


def test_the_summary_is_written_last_and_goes_first(tmp_path, outcome):
    outcome.write(tmp_path)

    def fail(bill, folder):
        assert not (folder / "summary.json").exists()
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        outcome.write(tmp_path, fail)
    with pytest.raises(UnreadableBill, match="expected a folder that `breakeven simulate` has finished"):
        TableLearner.open(tmp_path)


def test_the_summary_says_everything_but_the_decisions(tmp_path, outcome):
    outcome.write(tmp_path)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["whole"] is True
    assert [row["name"] for row in summary["rows"]] == [row.name for row in outcome.rows]
    assert summary["options"]["rule"] == "value"
    assert summary["columns"]["features"][0]["name"] == "a"


def test_the_configuration_can_be_run(tmp_path, monkeypatch, outcome):
    monkeypatch.chdir(tmp_path)
    outcome.write("bill")
    text = outcome.bill.configuration
    exec(compile(text.replace("…", "0.5").replace('"0.5"', '"x"'), "configuration", "exec"), {})
    assert "breakeven.from_table(table, label='y', cost=0.5)" in text


# -- frames ----------------------------------------------------------------------------------------------


def test_pandas_and_polars_give_the_same():
    frame = smooth(80).with_columns(pl.Series("sex", ["f", "m"] * 40))
    ours = breakeven.from_table(frame, label="y", cost=0.5, features=["a", "b", "sex"])
    theirs = breakeven.from_table(
        pd.DataFrame(frame.to_dict(as_series=False)), label="y", cost=0.5, features=["a", "b", "sex"]
    )
    assert theirs.decisions.equals(ours.decisions)


def test_pandas_types_of_all_kinds_are_understood():
    frame = pd.DataFrame(
        {
            "n": pd.array([1, 2, None, 4], dtype="Int64"),
            "c": pd.Categorical(["u", "v", "u", "v"]),
            "d": pd.date_range("2024", periods=4),
            "t": pd.array(["x", None, "x", "y"], dtype="string"),
            "y": [1.0, 2.0, 3.0, np.nan],
        }
    )
    outcome = from_table(frame, label="y", cost=1.0, features=["n", "c", "t"], order="d", missing="mean")
    assert len(outcome.run.cases) == 3
    assert outcome.run.cases.columns.names == ["n", "c = u", "c = v", "t = x"]


def test_what_is_no_frame_is_refused():
    with pytest.raises(InvalidInput, match="df: expected a frame of polars or pandas, got"):
        from_table([[1.0, 2.0]], label="y", cost=1.0)


def test_seed_labels_come_from_a_frame_too():
    outcome = from_table(typed(), label="y", cost=2.0, type="kind", seed_labels=typed(50, seed=1))
    assert outcome.run.noise.words == "pooled within types from 50 labels already owned"
