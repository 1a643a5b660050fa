"""A run as pictures and words, and the program that goes on from it."""

import numpy as np
import polars as pl
import pytest

from breakeven.rows import open_bill
from breakeven.tables import pictures, story
from breakeven.tables.billing import first_rows
from breakeven.tables.continuation import configuration
from breakeven.values.amounts import amount
from tests.tables.samples import bill_of, run_of, smooth, typed

OVER_TIME = ("labels-bought-over-time", "error-where-nobody-asked-over-time", "95-intervals-held-over-time")
COSTS = np.random.default_rng(1).lognormal(-1.0, 0.8, 80)


@pytest.fixture(scope="module")
def run():
    return run_of(smooth(150), cost=0.5)


@pytest.fixture(scope="module")
def unbought():
    return run_of(smooth(80), cost=0.5, rule="never")


def charts_of(run, **how):
    figures = [figure for section in story.sections(run, **how) for figure in section.figures]
    return {chart.name: chart for figure in figures for chart in figure.charts}


def words_of(run):
    return " ".join(words for section in story.sections(run) for words in section.text)


def lines_of(chart):
    return {line.kind: line for line in chart.lines}


def test_an_audit_says_of_which_cases_it_knows_nothing():
    short = run_of(smooth(120), cost=0.2, budget=2.0, per=(0.4, 10), audit=0.1)
    audit = short.learner.ledger.audit
    said = next(words for words in story.about_limits(short) if words.startswith("Audit: "))
    assert audit.stopped_at is not None
    assert f"Audit: {audit.audited} of {audit.covers} cases that the rule declined" in said
    assert f"From case {audit.stopped_at} on no audit could be paid, so it says nothing of the rest." in said
    rich = next(words for words in story.about_limits(run_of(smooth(60), cost=0.2, audit=0.1)))
    assert "says nothing" not in rich


# -- what the bill is about ------------------------------------------------------------------------------


def test_facts_say_what_the_bill_is_about(run):
    assert story.facts(run) == ["150 cases", "label `y`", "0.5 a label", "being wrong by 1 costs 1"]


def test_facts_say_where_costs_come_from():
    run = run_of(typed(30).with_columns(price=2.0), type="kind", cost=None, cost_column="price")
    assert "costs from `price`, on average 2 a label" in story.facts(run)


def test_noise_is_spoken_of_only_where_labels_were_bought(run, unbought):
    assert "fitted to the labels bought" in story.about_errors(run)
    assert "standard deviation" not in story.about_errors(unbought)


def test_an_average_says_what_it_averages_and_how_little_it_knows_of_the_noise(run):
    (said,) = story.about_belief(run)
    assert said.startswith(
        f"Predictions are the average of {run.learner.belief.describe()['members']} models"
    )
    assert "% of the weight says that the features tell nothing." in said
    low, high = run.learner.belief.describe()["noise_between"]
    assert low < 0.1 < high
    words = f"(as far as the labels tell), its standard deviation is between {amount(low)} and {amount(high)}"
    assert words in story.about_errors(run)
    process = run_of(smooth(80), cost=0.5, kernel="se")
    assert story.about_belief(process) == []
    assert story.about_errors(process).endswith("The noise of labels is not known.")
    given = run_of(smooth(80), cost=0.5, noise_std=0.1)
    assert "The noise of labels was given: a standard deviation of 0.1." in story.about_errors(given)


def test_the_noise_of_types_is_told_with_how_far_it_is_known():
    typed_run = run_of(typed(), type="kind", cost=2.0)
    low, high = typed_run.learner.belief.describe()["noise_between"]
    assert 0.8 * low < 0.5 < 1.25 * high
    words = f"its standard deviation is between {amount(low)} and {amount(high)}"
    assert words in story.about_errors(typed_run)


@pytest.mark.parametrize("share", [0.0, 0.2], ids=["all equal", "mostly equal"])
def test_labels_that_are_mostly_one_value_have_exceptions_and_no_noise(share):
    random = np.random.default_rng(0)
    losses = np.where(random.random(80) < share, random.lognormal(2.0, 1.0, 80), 3.0)
    run = run_of(smooth(80).with_columns(y=pl.Series(losses)), cost=2.0)
    (said,) = story.about_belief(run)
    assert said.startswith("Most labels bought are 3: predictions say how likely a label is an exception")
    assert "standard deviation" not in story.about_errors(run)
    assert set(charts_of(run)) >= {"money", "bought"}


def test_labels_that_were_all_yes_are_said_so():
    (said,) = story.about_belief(run_of(smooth(40).with_columns(y=pl.lit("yes")), cost=2.0))
    assert said.startswith("Most labels bought are yes: predictions")


def test_before_the_first_fit_the_belief_says_nothing(unbought):
    assert story.about_belief(unbought) == []


EXACT = "every label exactly"


@pytest.mark.parametrize("cost", [0.5, 500.0], ids=["many are bought", "few are bought"])
def test_a_feature_that_gives_the_label_away_is_named(cost):
    frame = smooth(80).with_columns(copy=32.0 - 1.8 * pl.col("y"))
    (said,) = [one for one in bill_of(frame, cost=cost).warnings if EXACT in one]
    assert said.startswith("`copy` gives every label exactly, as far as 80 labels show: a feature that")
    spoilt = frame.with_columns(copy=pl.when(pl.int_range(pl.len()) > 0).then("copy").otherwise("a"))
    assert not [one for one in bill_of(spoilt, cost=cost).warnings if EXACT in one]
    outcome = bill_of(frame.tail(60), cost=cost, rule="never", seed_labels=frame.head(20))
    assert "as far as 80 labels show" in " ".join(outcome.warnings)
    assert outcome.bill.warnings == outcome.summary()["warnings"] == outcome.warnings
    outcome = bill_of(frame.tail(60), cost=cost, rule="never", seed_labels=spoilt.head(20))
    assert EXACT not in " ".join(outcome.warnings)


@pytest.mark.parametrize("role", [{"features": ["a", "grade"]}, {"type": "grade"}], ids=["category", "type"])
def test_a_text_column_that_gives_the_label_away_is_named(role):
    grades = pl.Series(["poor", "fair", "good"] * 20)
    labels = grades.replace_strict({"poor": 3.0, "fair": 1.0, "good": 2.0})
    frame = smooth(60).with_columns(grade=grades, y=labels)
    (said,) = [one for one in bill_of(frame, cost=0.5, **role).warnings if EXACT in one]
    assert said.startswith("`grade` gives every label exactly, as far as 60 labels show")
    once = frame.with_columns(y=pl.when(pl.int_range(pl.len()) == 30).then(2.5).otherwise("y"))
    assert not [one for one in bill_of(once, cost=0.5, **role).warnings if EXACT in one]


# -- charts ----------------------------------------------------------------------------------------------


def test_charts_are_thinned_and_keep_the_last_case(monkeypatch):
    monkeypatch.setattr(pictures, "MOST_POINTS", 30)
    charts = charts_of(run_of(smooth(200), cost=0.5))
    assert set(charts) == {"money", *OVER_TIME, "bought", "predicted", "calibration"}
    assert all(sum(len(line.x) for line in chart.lines) <= 30 for chart in charts.values())
    assert {line.x[-1] for line in charts["money"].lines} == {200.0}


def test_money_ends_at_the_bill(run):
    total, everyone, no_one, spend = charts_of(run)["money"].lines
    ledger = run.learner.ledger
    error = run.decisions.collect()["error"].sum()
    assert spend.y[-1] == pytest.approx(ledger.label_spend)
    assert total.y[-1] == pytest.approx(ledger.label_spend + error)
    assert everyone.y[-1] == 75.0
    assert no_one.y[-1] == pytest.approx(first_rows(run.cases, run.options)[-1].total)


def test_money_over_time_ends_at_the_bill_of_labellers_too():
    asked = run_of(smooth(40), cost=None, labeller=["nurse:0.2:0.5", "mri:1:0.1"])
    everyone = charts_of(asked)["money"].lines[1]
    cheapest = first_rows(asked.cases, asked.options)[0]
    assert (everyone.label, everyone.y[-1]) == (cheapest.name, pytest.approx(cheapest.total))


def test_a_short_stream_is_not_cut():
    words = "The stream is too short to be cut into stretches: all 20 cases are one."
    assert words in words_of(run_of(smooth(20), cost=0.5))


def test_errors_are_those_of_unlabelled_cases(run):
    (means,) = charts_of(run)["error-where-nobody-asked-over-time"].lines
    unlabelled = run.decisions.collect().filter(~pl.col("wants_label"))
    assert np.mean(means.y) == pytest.approx(unlabelled["error"].mean(), rel=0.3)
    assert all(low <= y <= high for low, y, high in zip(means.low, means.y, means.high, strict=True))


def test_where_everything_is_labelled_there_are_no_errors():
    run = run_of(typed(60), type="kind", rule="always")
    assert "error-where-nobody-asked-over-time" not in charts_of(run)
    assert {"money", "labels-bought-over-time", "bought"} <= set(charts_of(run))


@pytest.mark.parametrize(
    ("rule", "limit", "words"),
    [
        ("value", "its cost", "one that would save more than it costs"),
        ("threshold", "threshold", "its uncertainty lies above the threshold"),
        ("variable", "limit", "above a limit that moves with every answer"),
        ("random", None, "drawn at random, whatever its uncertainty"),
        ("always", None, "Everything was labelled"),
    ],
)
def test_every_rule_says_what_it_went_by_and_draws_no_limit_it_has_not(rule, limit, words):
    run = run_of(smooth(80), cost=0.5, rule=rule)
    drawn = lines_of(charts_of(run)["bought"])
    assert (drawn["reference"].label if "reference" in drawn else None) == limit
    assert words in words_of(run)


def test_who_never_asks_has_nothing_to_draw_but_errors(unbought):
    assert set(charts_of(unbought)) == {"money", *OVER_TIME[:2], "predicted"}
    said = words_of(unbought)
    assert "Nothing was labelled" in said
    assert "80 cases came before anything was known; intervals of theirs are left out." in said


def test_where_costs_differ_savings_are_per_cost():
    frame = smooth(80).with_columns(price=pl.Series(COSTS))
    run = run_of(frame, cost=None, cost_column="price", features=("a", "b"), check=0.0)
    drawn = lines_of(charts_of(run)["bought"])
    assert set(drawn["reference"].y) == {1.0}
    assert min(drawn["crosses"].y) > 1.0 > max(drawn["dots"].y)


def test_cases_of_which_nothing_was_known_are_counted_not_drawn():
    run = run_of(smooth(80), cost=0.5, rule="threshold")
    known = run.decisions.collect()["uncertainty"].is_not_null()
    drawn = lines_of(charts_of(run)["bought"])
    assert known.sum() < 80
    assert len(drawn["dots"].x) + len(drawn["crosses"].x) == known.sum()
    assert f"Not drawn: {80 - known.sum()} cases of which nothing was known yet" in words_of(run)


def test_all_that_is_one_rules_has_its_name(run):
    charts = charts_of(run)
    assert all("breakeven" in [line.label for line in chart.lines] for chart in charts.values())


def test_intervals_are_judged_by_what_they_held():
    assert pictures._verdict(0.0, 400).endswith("0.0% of the labels, fewer than promised: predictions are "
                                                 "less sure than they say.")  # fmt: skip
    assert pictures._verdict(1.0, 400).endswith("predictions are surer than they say.")
    assert pictures._verdict(1.0, 4).endswith("about as many as promised.")


def test_calibration_counts_the_intervals_of_the_predictions(run):
    rows = run.decisions.collect().filter(~pl.col("wants_label"))
    chart = charts_of(run)["calibration"]
    held = chart.lines[0].y[chart.lines[0].x.index(0.8)]
    assert held == pytest.approx((rows["normal_score"].abs() <= 1.2815516).mean())


def test_tables_beside_charts_are_short_whatever_the_run():
    for rows in (30, 300):
        sections = story.sections(run_of(typed(rows), type="kind", cost=2.0))
        tables = [figure.data for section in sections for figure in section.figures if figure.data.rows]
        assert [table.name for table in tables] == ["money", "labels-bought-over-time", "calibration"]
        assert all(len(table.rows) <= 30 for table in tables)
        assert tables[0].columns == ["case", "spent on labels", "total", "label everyone", "label no one *"]


def test_labels_that_are_all_alike_have_a_story():
    assert set(charts_of(run_of(smooth(60).with_columns(y=pl.lit(5.0)), cost=0.5))) >= {"money", "predicted"}


# -- what is not told ------------------------------------------------------------------------------------


def test_no_ids_and_no_features_are_in_the_story_unless_ids_are_asked_for():
    frame = smooth(60).with_columns(who=pl.Series([f"secret-{i}" for i in range(60)]))
    outcome = bill_of(frame, cost=0.5, id="who")
    assert "secret" not in str(outcome.bill)
    assert f"{frame['a'][3]}" not in str(outcome.bill)
    outcome.ids = True
    assert all(f"secret-{i}" in str(outcome.bill) for i in range(5, 60))


# -- the program to copy ---------------------------------------------------------------------------------


def started(text):
    scope = {}
    exec(compile(text, "configuration", "exec"), scope)
    return scope


def test_the_program_runs_as_it_is_and_keeps_what_it_learns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = bill_of(smooth(60), cost=0.1)
    outcome.write("some/bill")
    program = started(outcome.bill.configuration)
    decision = program["decide"]({"a": 9.0, "b": -9.0})
    assert decision.reason == "worth_it"
    program["tell"](decision.id, 1.0)
    _, again = open_bill("some/bill")
    assert (again.rounds, again.rule.horizon, len(again.awaited)) == (61, 120, 0)


def test_the_program_reads_ids_and_costs_from_the_row(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = typed(60).with_columns(price=2.0, who=pl.int_range(60))
    outcome = bill_of(frame, type="kind", cost_column="price", id="who")
    outcome.write("bill")
    decision = started(outcome.bill.configuration)["decide"]({"kind": "new", "price": 7.0, "who": 1000})
    assert (decision.id, decision.cost) == ("1000", 7.0)


def test_the_same_run_again_has_all_that_was_asked(run):
    assert "# the same run again: breakeven.from_table(table, label='y', cost=0.5)" in configuration(
        run, "bill"
    )
    other = run_of(typed(40), type="kind", seeds=typed(50, seed=1), rule="random", chance=0.25)
    asked = "(table, label='y', cost=1.0, type='kind', rule='random', chance=0.25, seed_labels=owned)"
    assert asked in configuration(other, "bill", seeds=True)


def test_a_horizon_still_to_come_is_kept():
    assert "reprice" not in configuration(run_of(typed(40), type="kind", horizon=500), "bill")


def test_odd_names_do_not_break_the_program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    odd = 'a "quoted"\n\'\'\' """ name'
    outcome = bill_of(typed(40).rename({"kind": odd}), cost=1.0, type=odd)
    outcome.write("it's a folder")
    assert started(outcome.bill.configuration)["decide"]({odd: "t1"}).id == "41"
