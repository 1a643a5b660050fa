"""`breakeven plan`: what to expect before there are data."""

import json

import pytest

from breakeven.cli import main
from breakeven.planning.plan import COST_FACTORS

TYPES = ("--types", "5", "--rounds", "500", "--cost", "2", "--noise-std", "0.5", "--trials", "2")
NUMBERS = ("--dim", "1", "--rounds", "60", "--cost", "2", "--noise-std", "0.3", "--trials", "2")


def plan(capsys, *words):
    code = main(["plan", *words])
    return code, *capsys.readouterr()


@pytest.mark.parametrize("words", [TYPES, NUMBERS, (*NUMBERS, "--kernel", "matern32")])
def test_it_prints_every_way_to_go_the_bounds_and_other_prices(capsys, words):
    code, out, err = plan(capsys, *words)
    assert (code, err) == (0, "")
    parts = [
        "label everyone",
        "label no one *",
        "at random, same money",
        "breakeven ",
        "the paper's threshold",
        "Errors are against labels, as in `breakeven simulate`",
        "What the paper proves",
        "measured",
        "at most",
        "a label costs  ",
    ]
    places = [out.index(f"\n{part}") if part == "breakeven " else out.index(part) for part in parts[:-1]]
    places.append(out.rindex(parts[-1]))
    assert places == sorted(places)
    assert "would" in out
    assert "a label, " in out
    assert all(len(line) <= 80 for line in out.splitlines())


@pytest.mark.parametrize("words", [TYPES, NUMBERS], ids=["types", "numbers"])
def test_what_was_measured_lies_within_what_is_proven(capsys, words):
    code, out, _ = plan(capsys, *words, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["against_f"]["labels"] == found["rows"][-1]["labels"] <= found["proven"]["labels"]
    assert found["against_f"]["high"] <= found["proven"]["total"]


def test_the_sweep_has_the_price_asked_about_and_those_of_simulate(capsys):
    found = json.loads(plan(capsys, *TYPES, "--json")[1])
    sweep, ours = found["sweep"], found["rows"][3]
    assert sweep["label_costs"] == [2.0 * factor for factor in sorted(COST_FACTORS)]
    asked = sweep["label_costs"].index(2.0)
    assert all(sweep[field][asked] == ours[field] for field in ("labels", "spend", "total"))


def test_one_stream_has_no_interval(capsys):
    found = json.loads(plan(capsys, *TYPES[:-1], "1", "--json")[1])
    assert all(row["low"] is row["high"] is None for row in found["rows"])
    assert "; one stream" in plan(capsys, *TYPES[:-1], "1")[1]


def test_money_is_money(capsys):
    plain = json.loads(plan(capsys, *TYPES, "--json")[1])
    words = [word if word != "2" else "20" for word in TYPES[:-1]] + ["2", "--error-cost", "10", "--json"]
    dear = json.loads(plan(capsys, *words)[1])
    for row, tenth in zip(dear["rows"], plain["rows"], strict=True):
        assert row["total"] == pytest.approx(10 * tenth["total"])
    assert dear["proven"]["total"] == pytest.approx(10 * plain["proven"]["total"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--types", "5", "--dim", "2"), "types, dim: expected one of the two, got 5, 2"),
        ((), "types, dim: expected one of the two, got None, None"),
        (("--types", "0"), "types: expected a whole number of at least 1, got 0"),
        (("--dim", "0"), "dim: expected a whole number of at least 1, got 0"),
        (("--dim", "101"), "dim: expected 100 at most: beyond these a process learns nothing, got 101"),
        (
            ("--types", "100000000000"),
            "types: expected 1,000,000 at most: what is known of each is held in memory, got 100000000000",
        ),
        (
            ("--types", "5", "--rounds", "100000000000"),
            "rounds: expected 10,000,000 at most: a stream is held in memory, got 100000000000",
        ),
        (
            ("--dim", "4", "--rounds", "2500001"),
            "rounds: expected 2,500,000 at most: a stream is held in memory, got 2500001",
        ),
    ],
)
def test_what_cannot_be_simulated_is_refused(capsys, words, message):
    code, out, err = plan(capsys, *TYPES[2:], *words)
    assert (code, out, err) == (2, "", f"breakeven: {message}\n")


def test_savings_are_against_the_cheapest_simple_way(capsys):
    found = json.loads(plan(capsys, *TYPES, "--json")[1])
    own = next(row for row in found["rows"] if row["name"] == "breakeven")
    least = min(row["total"] for row in found["rows"] if row["simple"])
    words = "You would save" if own["total"] < least else "would be cheaper: breakeven costs "
    assert words in found["headline"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--budget", "40"), "Budget: at most 40 in all"),
        (("--per", "10", "100"), "Budget: at most 10 in any 100 arrivals"),
        (("--audit", "0.05"), "Audit: 5% of what the rule declines is labelled at random"),
        (("--forgetting", "200"), "Forgetting: a label counts half after 200 arrivals"),
    ],
)
def test_every_limit_has_its_line_and_its_effect(capsys, words, line):
    plain = json.loads(plan(capsys, *TYPES, "--json")[1])
    limited = json.loads(plan(capsys, *TYPES, *words, "--json")[1])
    assert limited["rows"][3]["labels"] != plain["rows"][3]["labels"]
    assert line in plan(capsys, *TYPES, *words)[1].splitlines()


def test_labellers_have_their_own_costs_and_noise(capsys):
    words = ("--types", "5", "--rounds", "200", "--trials", "2")
    asked = ("--labeller", "nurse:0.5:1.0", "--labeller", "mri:5:0.1")
    found = json.loads(plan(capsys, *words, *asked, "--json")[1])
    names = [row["name"] for row in found["rows"]]
    assert names[:2] == ["label everyone: nurse", "label everyone: mri"]
    assert "Labellers: nurse 0.5 (noise 1), mri 5 (noise 0.1)" in plan(capsys, *words, *asked)[1]
    code, _, err = plan(capsys, *words, *asked, "--cost", "2")
    assert (code, err) == (2, "breakeven: cost: expected what a label costs, or labellers, got both\n")


def test_yes_no_labels_of_rows_have_a_plan_and_no_bounds(capsys):
    words = ("--dim", "1", "--share", "0.3", "--rounds", "30", "--cost", "0.3", "--trials", "1")
    code, out, err = plan(capsys, *words)
    assert (code, err) == (0, "")
    assert out.startswith("30 arrivals, 1 dimension, a label costs 0.3, 30% say yes; one stream\n")
    assert "For yes/no labels of rows of numbers the paper proves nothing." in out
    assert "at most" not in out
    assert "A miss counts" not in out
    assert json.loads(plan(capsys, *words, "--json")[1])["proven"] is None
    assert "A miss counts as 1.5 errors, a false alarm as 0.5." in " ".join(
        plan(capsys, *words, "--miss-cost", "3", "--false-alarm-cost", "1")[1].split()
    )


def test_rows_of_numbers_have_no_half_life(capsys):
    code, _, err = plan(capsys, *NUMBERS, "--forgetting", "50")
    assert (code, err) == (
        2,
        "breakeven: forgetting: expected none beside dim: the average of many models has no half-life, "
        "got 50.0\n",
    )
