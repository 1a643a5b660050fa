"""The bill, what it is compared with, and the folder it is written to."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from breakeven.errors import InvalidInput
from breakeven.files import UnwritableFolder
from breakeven.rows import open_bill, save_bill
from breakeven.tables.faults import BadTable
from breakeven.values import Labeller
from breakeven.values.amounts import amount
from tests.tables.samples import bill_of, smooth, typed

# -- rows ------------------------------------------------------------------------------------------------


def test_everyone_and_no_one_are_priced_without_a_model(outcome):
    labels = smooth(100)["y"].to_numpy()
    everyone, no_one, *_ = outcome.rows
    assert (everyone.labels, everyone.spend, everyone.mean_error, everyone.total) == (100, 50.0, 0.0, 50.0)
    assert (no_one.labels, no_one.spend) == (0, 0.0)
    assert no_one.mean_error == pytest.approx(np.abs(labels - np.median(labels)).mean())


def test_rows_add_up(outcome):
    for row in outcome.rows:
        assert row.total == pytest.approx(row.spend + 100 * row.mean_error)
        unlabelled = 100 - row.labels
        assert unlabelled * (row.unasked_error or 0.0) == pytest.approx(100 * row.mean_error)


def test_errors_are_in_money_where_a_unit_of_error_has_its_price():
    row = bill_of(smooth(80), cost=2.0, error_cost=4.0).own_row
    assert row.total == pytest.approx(row.spend + 4.0 * 80 * row.mean_error)


@pytest.mark.parametrize("prices", [{"cost": 0.3}, {"cost_column": "price"}], ids=["one", "a column"])
def test_who_labels_everyone_saves_nothing_to_the_last_digit(prices):
    frame = typed(1200).with_columns(pl.Series("price", np.random.default_rng(0).uniform(0.1, 0.7, 1200)))
    outcome = bill_of(frame, type="kind", rule="always", **prices)
    everyone, ours = outcome.rows[0], outcome.own_row
    assert (ours.spend, ours.total) == (everyone.spend, everyone.total)
    assert outcome.headline == "You would have saved nothing: labelling everyone costs the same"
    assert prices != {"cost": 0.3} or ours.spend == 360.0


def test_rows_are_read_off_the_decisions_once(outcome, monkeypatch):
    before = outcome.rows
    monkeypatch.setattr("breakeven.tables.outcome.row_of", None)
    assert outcome.rows == before


def test_trials_are_means_with_an_interval(outcome):
    trials = outcome.trials
    assert [row.name for row in trials] == [row.name for row in outcome.rows]
    assert all(row.low <= row.total <= row.high for row in trials[2:])
    assert trials[0].low is None


def test_notes_say_that_noise_is_fitted_and_not_known(outcome):
    assert "The noise of labels is not known: fitted to the labels bought" in outcome.notes[1]
    assert "known only afterwards" in outcome.notes[0]
    assert not any("would give" in one for one in outcome.notes)


def test_ways_with_names_of_their_own_are_explained(outcome):
    for row in outcome.more:
        assert any(one.startswith(f"`{row.name}` labels where") for one in outcome.notes), row.name


# -- the sentence ----------------------------------------------------------------------------------------


def test_savings_are_against_the_cheapest_simple_way(outcome):
    simple = [row for row in outcome.rows if row.simple]
    assert [row.name for row in simple] == ["label everyone", "label no one *", "at random, same money"]
    least = min(simple, key=lambda row: row.total)
    assert outcome.comparison.saved == least.total - outcome.own_row.total
    assert outcome.comparison.than == least.plain_name
    assert outcome.headline == outcome.bill.headline == outcome.summary()["headline"]


@pytest.mark.parametrize("cost", [0.01, 0.3, 5.0, 40.0])
def test_no_simple_way_contradicts_the_headline(cost):
    outcome = bill_of(smooth(60), cost=cost)
    least = min(row.total for row in outcome.rows if row.simple)
    if outcome.headline.startswith("You would have saved nothing"):
        assert outcome.own_row.total == pytest.approx(least)
    elif outcome.headline.startswith("You would have saved"):
        assert outcome.own_row.total < least
    else:
        assert "would have been cheaper: breakeven costs " in outcome.headline
        assert outcome.own_row.total > least


def test_money_and_errors_have_their_units():
    outcome = bill_of(smooth(60), cost=0.3, currency="EUR", unit="points", sweep=True)
    assert " EUR (" in outcome.headline
    assert all(" EUR a label, " in one for one in outcome.break_even)
    assert " points over all cases and " in outcome.bill.lead
    assert "label `y` in points" in outcome.bill.facts
    summary = outcome.summary()
    assert (summary["options"].currency, summary["options"].unit) == ("EUR", "points")


# -- what else can be asked ------------------------------------------------------------------------------


def test_a_budget_is_kept_and_has_its_lines():
    outcome = bill_of(smooth(100), cost=0.3, budget=3.0)
    assert 0.0 < outcome.own_row.spend <= 3.0
    assert "a budget of 3" in outcome.bill.facts
    assert f"Of the budget of 3, {amount(outcome.own_row.spend)} was spent." in outcome.notes


def test_a_limit_per_stretch_is_kept_and_has_its_lines():
    outcome = bill_of(smooth(100), cost=0.3, per=(1.0, 20))
    spent = outcome.decisions["wants_label"].cast(pl.Float64).rolling_sum(20, min_samples=1) * 0.3
    assert spent.max() <= 1.0
    assert "at most 1 in any 20 cases" in outcome.bill.facts


def test_an_audit_says_how_wrong_answers_are_where_nobody_asked():
    outcome = bill_of(smooth(100), cost=0.5, audit=0.2)
    report = outcome.summary()["audit"]
    assert report.audited == (outcome.decisions["reason"] == "audited").sum() > 0
    assert report.absolute.low <= outcome.own_row.unasked_error <= report.absolute.high
    assert any(one.startswith(f"Audit: {report.audited} of ") for one in outcome.notes)
    assert "20% of what is declined is audited" in outcome.bill.facts


@pytest.mark.parametrize(
    "options",
    [{"type": "kind", "noise_std": 0.5}, {"kernel": "matern52", "features": ["x"]}],
    ids=["types", "kernel"],
)
def test_labels_are_forgotten_where_that_is_asked(options):
    frame = typed(80).with_columns(x=pl.int_range(80).cast(pl.Float64) % 7)
    if "features" in options:
        frame = frame.drop("kind")
    outcome = bill_of(frame, cost=0.5, forgetting=15.0, **options)
    belief = outcome.run.learner.belief
    assert getattr(belief, "numbers", belief).forgetting == 15.0
    assert "a label counts half after 15 cases" in outcome.bill.facts


@pytest.mark.parametrize(
    ("moves", "said"), [(0.5, "By what the labels show, one counts half after "), (0.0, "The labels do not ")]
)
def test_a_half_life_may_be_left_to_the_labels(moves, said):
    random = np.random.default_rng(3)
    x = random.random(90)
    y = np.sin(6.0 * x) + moves * random.normal(size=90).cumsum() + 0.1 * random.normal(size=90)
    frame = pl.DataFrame({"x": x, "y": y})
    outcome = bill_of(frame, cost=0.05, kernel="matern52", forgetting="fit", labels="numbers")
    assert outcome.learner.belief.forgetting == "fit"
    assert "labels say how fast they grow old" in outcome.bill.facts
    assert any(one.startswith(said) for one in outcome.notes)
    assert (outcome.learner.belief.describe()["half_life"] is None) == (moves == 0.0)


def test_the_half_life_of_types_must_be_given():
    with pytest.raises(InvalidInput, match="forgetting: expected a number beside a type"):
        bill_of(typed(40), type="kind", cost=0.5, forgetting="fit")


def test_labellers_are_asked_by_what_they_cost_and_know():
    given = {"nurse": Labeller(0.05, 0.5), "mri": Labeller(2.0, 0.05)}
    outcome = bill_of(smooth(100), labeller=given)
    asked = outcome.decisions.filter("wants_label")
    assert set(asked["labeller"]) <= {"nurse", "mri"}
    costs = asked["labeller"].replace_strict({"nurse": 0.05, "mri": 2.0}, return_dtype=pl.Float64)
    assert outcome.own_row.spend == pytest.approx(costs.sum())
    assert asked["error"].sum() > 0.0
    assert [row.name for row in outcome.rows if row.name.startswith("label everyone")] == [
        "label everyone: nurse", "label everyone: mri",
    ]  # fmt: skip
    words = bill_of(smooth(100), labeller=["nurse:0.05:0.5", "mri:2:0.05"])
    assert words.rows == outcome.rows


# -- over time -------------------------------------------------------------------------------------------


def changed():
    """Types whose labels all move by 3 in the middle."""
    random = np.random.default_rng(0)
    kind = random.integers(0, 4, 800)
    return pl.DataFrame(
        {"kind": kind, "y": kind + 3.0 * (np.arange(800) >= 400) + 0.3 * random.standard_normal(800)}
    )


def test_a_belief_that_was_refuted_is_the_first_thing_said_and_marked_where_it_was_found():
    outcome = bill_of(changed(), type="kind", cost=1.0, noise_std=0.3, check=0.1)
    assert outcome.run.refuted
    last = outcome.run.refuted[-1]
    assert 400 < last.round <= 800
    assert f"at case {last.round:,}: " in outcome.warnings[0]
    assert outcome.bill.warnings == outcome.summary()["warnings"] == outcome.warnings
    over_time = outcome.bill.sections[0]
    assert over_time.title == "Over time"
    for figure in over_time.figures:
        assert [mark.x for mark in figure.charts[0].marks] == [one.round for one in outcome.run.refuted]
    assert outcome.summary()["refuted"][-1]["case"] == last.round


def test_a_belief_that_holds_is_no_warning(outcome):
    assert (outcome.run.refuted, outcome.warnings) == ([], [])


def test_stretches_add_up_to_the_stream(outcome):
    found = pl.DataFrame(outcome.summary()["stretches"])
    decided = outcome.decisions
    assert (found["cases"].sum(), found["from case"][0], found["to case"][-1]) == (100, 1, 100)
    assert found["labels bought"].sum() == decided["wants_label"].sum()
    first = decided.head(found["cases"][0]).filter(~pl.col("wants_label"))
    assert found["error where nobody asked"][0] == pytest.approx(first["error"].mean())
    inside = (decided["normal_score"].abs() <= 1.959964).tail(found["cases"][-1])
    assert found["95% intervals held"][-1] == pytest.approx(inside.mean())


# -- the folder ------------------------------------------------------------------------------------------


def test_a_folder_goes_on_where_the_run_ended(tmp_path, outcome):
    outcome.write(tmp_path)
    columns, learner = open_bill(tmp_path)
    point = columns.point({"a": 0.3, "b": -1.0, "other": "x"})
    ours = outcome.learner
    assert columns == outcome.columns
    assert learner.predict(point) == ours.predict(point)
    assert learner.decide(point, id="next").prediction == ours.predict(point)
    assert learner.tell("next", 0.1).mean != ours.predict(point).mean
    assert pl.read_parquet(tmp_path / "decisions.parquet").equals(outcome.decisions)


def test_a_learner_can_be_kept_in_its_folder(tmp_path, outcome):
    outcome.write(tmp_path)
    columns, learner = open_bill(tmp_path)
    decision = learner.decide(columns.point({"a": 2.0, "b": 2.0}), id="late", force=True)
    save_bill(tmp_path, learner)
    _, again = open_bill(tmp_path)
    assert again.awaited[decision.id].cost == 0.5
    assert again.tell("late", 1.0) == learner.tell("late", 1.0)


def test_a_bill_that_fails_in_the_middle_leaves_the_one_before_it_whole(tmp_path, outcome):
    outcome.write(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fail(bill, folder):
        assert not (folder / "summary.json").exists()
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        outcome.write(tmp_path, fail)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert open_bill(tmp_path)[1].rounds == outcome.learner.rounds


def test_the_summary_says_everything_but_the_decisions(tmp_path, outcome):
    outcome.write(tmp_path)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["whole"] is True
    assert [row["name"] for row in summary["rows"]] == [row.name for row in outcome.rows]
    assert summary["options"]["rule"] == "value"
    assert json.loads((tmp_path / "columns.json").read_text())["features"][0]["name"] == "a"


@pytest.mark.parametrize("folder", ["bill", "deep/er/bill", "."])
def test_the_configuration_opens_the_folder_as_it_was_named(tmp_path, monkeypatch, outcome, folder):
    monkeypatch.chdir(tmp_path)
    outcome.write(folder)
    assert repr(folder) in outcome.bill.configuration


def test_a_folder_with_a_summary_of_something_else_is_left_alone(tmp_path, outcome):
    (tmp_path / "summary.json").write_text('{"loss": 0.25}')
    with pytest.raises(UnwritableFolder, match=r"got one whose summary\.json is something else; choose"):
        outcome.write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["summary.json"]


def test_what_polars_cannot_write_names_the_file(tmp_path, monkeypatch, outcome):
    def fail(frame, path):
        raise pl.exceptions.ComputeError("No space left\non device")

    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", fail)
    with pytest.raises(
        UnwritableFolder, match=r"could not write decisions\.parquet \(No space left on device\)$"
    ):
        outcome.write(tmp_path)
    assert not list(tmp_path.iterdir())


# -- frames ----------------------------------------------------------------------------------------------


def test_pandas_and_polars_give_the_same():
    frame = smooth(80).with_columns(pl.Series("sex", ["f", "m"] * 40))
    ours = bill_of(frame, cost=0.5, features=["a", "b", "sex"])
    theirs = bill_of(pd.DataFrame(frame.to_dict(as_series=False)), cost=0.5, features=["a", "b", "sex"])
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
    outcome = bill_of(frame, cost=1.0, features=["n", "c", "t"], order="d", missing="mean")
    assert len(outcome.run.cases) == 3
    assert outcome.run.cases.columns.names == ["n", "c = u", "c = v", "t = x"]


def test_what_is_no_frame_is_refused():
    with pytest.raises(InvalidInput, match="df: expected a frame of polars or pandas, or the path of"):
        bill_of([[1.0, 2.0]], cost=1.0)


def test_a_name_alone_is_one_feature():
    frame = smooth(40).rename({"a": "ab"}).with_columns(pl.Series("a", range(40)))
    assert bill_of(frame, cost=0.5, features="ab").run.cases.columns.names == ["ab"]


@pytest.mark.parametrize(
    ("trials", "message"),
    [
        (1, "trials: expected 0, or 2 at least: one order has no interval, got 1"),
        (-1, "trials: expected a whole number of at least 0, got -1"),
    ],
)
def test_one_trial_or_fewer_than_none_are_refused(trials, message):
    with pytest.raises(InvalidInput, match=message):
        bill_of(smooth(40), cost=0.5, trials=trials)


def test_owned_labels_are_not_those_of_the_cases():
    frame = smooth(60).with_columns(pl.int_range(60).alias("case"))
    with pytest.raises(BadTable, match=r"seed labels, row 1, column 'case': expected labels of other"):
        bill_of(frame, cost=1.0, id="case", seed_labels=frame.tail(5))


def test_seed_labels_come_from_a_frame_too():
    outcome = bill_of(typed(), cost=2.0, type="kind", seed_labels=typed(50, seed=1))
    assert outcome.run.noise_from == "pooled within types from 50 labels already owned"
