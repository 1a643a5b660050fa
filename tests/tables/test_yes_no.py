"""Tables of yes/no labels: declared, recognised from what was bought, refused, and their bill."""

import numpy as np
import polars as pl
import pytest

from breakeven import AveragedShares, TypeMeans, TypeShares, from_table
from breakeven.errors import BreakevenError, InvalidInput
from tests.tables.samples import bill_of, smooth

CASES = 400


def past(share=0.1, seed=0, types=4):
    random = np.random.default_rng(seed)
    kinds = random.integers(types, size=CASES)
    y = (random.random(CASES) < share * (kinds + 1.0) / 2.0).astype(int)
    return pl.DataFrame({"kind": [f"k{k}" for k in kinds], "y": y})


def bill(frame, **options):
    asked = {"label": "y", "type": "kind", "cost": 0.2, "sweep": False} | options
    return from_table(frame, **asked)


def test_declared_labels_are_answered_yes_or_no_from_the_start():
    outcome = bill(past(), labels="yes/no", miss_cost=2.0, false_alarm_cost=0.5)
    assert type(outcome.learner.belief) is TypeShares
    assert set(outcome.decisions["prediction"].unique()) <= {0.0, 1.0}
    assert outcome.decisions["probability"].is_between(0.0, 1.0).all()
    assert "a miss costs 2, a false alarm 0.5" in outcome.bill.facts
    assert "Answers are yes or no" in outcome.notes[1]
    assert outcome.own_row.total < min(outcome.rows[0].total, 1.3 * outcome.rows[1].total)


def test_the_bill_is_labels_plus_misses_plus_false_alarms():
    outcome = bill(past(0.4), labels="yes/no", miss_cost=2.0, false_alarm_cost=0.5)
    open_cases = outcome.decisions.filter(~pl.col("wants_label"))
    misses = ((open_cases["label"] == 1.0) & (open_cases["prediction"] == 0.0)).sum()
    alarms = ((open_cases["label"] == 0.0) & (open_cases["prediction"] == 1.0)).sum()
    total = 0.2 * outcome.own_row.labels + 2.0 * misses + 0.5 * alarms
    assert outcome.own_row.total == pytest.approx(total)
    assert f"Misses: {misses:,}; false alarms: {alarms:,}." in outcome.notes[1]


@pytest.mark.parametrize("role", [{"type": "kind"}, {"type": None}], ids=["types", "rows"])
@pytest.mark.parametrize("option", [{"noise_std": 0.3}, {"kernel": "se"}], ids=["noise", "kernel"])
def test_what_is_about_numbers_is_refused_beside_declared_labels(role, option):
    (name,) = option
    with pytest.raises(InvalidInput, match=f"{name}: expected none beside yes/no labels"):
        bill(past(), labels="yes/no", **role, **option)


@pytest.mark.parametrize("role", [{"type": "kind"}, {"type": None}], ids=["types", "rows"])
def test_labels_owned_may_tell_the_kind_before_the_first_case(role):
    frame = past().with_columns(a=pl.int_range(CASES) % 17)
    notes = bill(frame.tail(60), seed_labels=frame.head(100), **role).notes
    assert [one for one in notes if one.startswith("All labels owned from the start were 0 or 1: they count")]
    assert not [one for one in notes if "After case 0" in one]


WORDS = {
    "yes/no": ("yes", "no"),
    "Y/N": ("Y", " n"),
    "true/false": ("TRUE", "False"),
    "1/0": ("1", "0"),
}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize("labels", ["yes/no", None])
def test_words_say_the_same_as_ones_and_zeros(words, labels):
    frame = past()
    spoken = frame.with_columns(pl.col("y").replace_strict({1: words[0], 0: words[1]}).alias("y"))
    if words == ("1", "0"):
        spoken = spoken.with_columns(pl.col("y").cast(pl.Int64))
    assert bill(spoken, labels=labels).rows == bill(frame, labels=labels).rows


def test_they_are_recognised_from_labels_bought_and_that_is_said():
    outcome = bill(past())
    assert outcome.learner.belief.describe()["labels"] == "yes/no"
    assert any("all labels bought were 0 or 1" in note for note in outcome.notes)


def test_labels_in_words_are_told_of_in_words():
    spoken = past().with_columns(pl.col("y").replace_strict({1: "yes", 0: "no"}))
    (said,) = [note for note in bill(spoken).notes if "all labels bought were" in note]
    assert "were yes or no: answers are, too, from there on. Say `labels='yes/no'` to" in said


def test_what_is_not_bought_is_not_looked_at():
    """A third value in a label that nobody bought changes nothing but its own error."""
    outcome = bill(past())
    place = int(outcome.decisions.with_row_index().filter(~pl.col("wants_label"))["index"][0])
    y = past()["y"].to_list()
    y[place] = 5
    other = bill(past().with_columns(pl.Series("y", y)))
    assert other.decisions["wants_label"].equals(outcome.decisions["wants_label"])
    assert other.decisions["prediction"].equals(outcome.decisions["prediction"])


def test_a_third_value_that_was_bought_turns_them_into_numbers():
    y = past()["y"].to_list()
    y[30:] = [one + 2 for one in y[30:]]
    outcome = bill(past().with_columns(pl.Series("y", y)))
    assert type(outcome.learner.belief) is TypeMeans
    turned = [note for note in outcome.notes if "neither 0 nor 1" in note]
    assert len(turned) == 1
    assert outcome.run.turns[-1][1] == "numbers"
    assert outcome.decisions["label"][outcome.run.turns[-1][0] - 1] >= 2.0


def test_numbers_stay_numbers_where_that_is_declared():
    outcome = bill(past(), labels="numbers")
    assert type(outcome.learner.belief) is TypeMeans
    assert outcome.decisions["probability"].null_count() == CASES


@pytest.mark.parametrize("labels", ["yes/no", None])
def test_several_classes_are_refused_with_what_to_do(labels):
    frame = past().with_columns(pl.Series("y", ["yes", "no", "maybe", "no"] * (CASES // 4)))
    with pytest.raises(
        BreakevenError, match=r"row 3, column 'y': expected yes or no .*, got 'maybe'; .*is it this one"
    ):
        bill(frame, labels=labels)


def test_declared_labels_that_are_numbers_are_refused_by_row():
    frame = past().with_columns(pl.Series("y", [0.0, 1.0, 0.0, 0.5] * (CASES // 4)))
    with pytest.raises(
        BreakevenError, match=r"row 4, column 'y': expected yes or no .*, got 0.5; say `labels='n"
    ):
        bill(frame, labels="yes/no")


def test_an_unknown_kind_of_labels_is_refused():
    with pytest.raises(InvalidInput, match=r"^labels: expected "):
        bill(past(), labels="classes")


def test_all_labels_equal_work():
    outcome = bill(past().with_columns(pl.lit(0).alias("y")), labels="yes/no", cost=0.2)
    assert 0 < outcome.own_row.labels < CASES
    assert (outcome.decisions["probability"] > 0.0).all()


def test_owned_labels_count():
    owned = past(seed=3).head(50)
    outcome = bill(past(), labels="yes/no", seed_labels=owned)
    assert outcome.own_row.labels <= bill(past(), labels="yes/no").own_row.labels
    assert bill(past(), seed_labels=owned).learner.belief.describe()["labels"] == "yes/no"


def test_rows_read_later_are_read_as_the_table_was():
    frame = past().with_columns(pl.col("y").replace_strict({1: "yes", 0: "no"}).alias("y"))
    columns = bill(frame, labels="yes/no").columns
    assert [columns.label(word) for word in ("Yes", "n", True, 0)] == [1.0, 0.0, 1.0, 0.0]
    with pytest.raises(InvalidInput, match=r"^y: expected yes or no"):
        columns.label("maybe")


def test_rows_have_a_belief_for_yes_no_labels():
    frame = pl.DataFrame({"x": np.linspace(0.0, 1.0, 60), "y": [0, 1] * 30})
    asked = {"label": "y", "cost": 0.01, "sweep": False, "rule": "always"}
    outcome = from_table(frame, **asked)
    assert outcome.learner.belief.describe()["labels"] == "yes/no"
    assert type(from_table(frame, labels="yes/no", **asked).learner.belief) is AveragedShares


def test_labelling_no_one_answers_yes_or_no():
    frame = smooth(60).with_columns(y=pl.col("y") > 0.0)
    for costs in ({}, {"miss_cost": 5.0, "false_alarm_cost": 1.0}):
        notes = bill_of(frame, cost=0.1, labels="yes/no", **costs).notes
        assert notes[0].startswith("* Answers yes for everyone, or no for everyone, whichever costs less.")
        assert "Misses: " in notes[1]
