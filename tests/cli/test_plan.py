"""`breakeven plan`: what to expect before there are data."""

import json

import pytest

from breakeven.cli import main

TYPES = ("--types", "5", "--rounds", "500", "--cost", "2", "--noise-std", "0.5", "--trials", "2")
NUMBERS = ("--dim", "1", "--rounds", "120", "--cost", "2", "--noise-std", "0.3", "--trials", "2")


def plan(capsys, *words):
    code = main(["plan", *words])
    return code, *capsys.readouterr()


@pytest.mark.parametrize("words", [TYPES, NUMBERS, (*NUMBERS, "--kernel", "matern32")])
def test_it_prints_both_rules_the_bounds_and_other_prices(capsys, words):
    code, out, err = plan(capsys, *words)
    assert (code, err) == (0, "")
    parts = [
        "breakeven ",
        "the paper's threshold",
        "label everyone",
        "What the paper proves",
        "a label costs  ",
    ]
    places = [out.index(part) for part in parts]
    assert places == sorted(places)
    assert all(len(line) <= 90 for line in out.splitlines())


@pytest.mark.parametrize("words", [TYPES, NUMBERS], ids=["types", "numbers"])
def test_what_was_measured_lies_within_what_is_proven(capsys, words):
    code, out, _ = plan(capsys, *words, "--json")
    found = json.loads(out)
    paper = found["rows"][1]
    assert code == 0
    assert paper["labels"] <= found["bounds"]["labels"]
    assert paper["high"] <= found["bounds"]["total"]
    assert [row["cost"] for row in found["sweep"]] == [0.5, 2.0, 8.0, 32.0, 128.0]


def test_money_is_money(capsys):
    plain = json.loads(plan(capsys, *TYPES, "--json")[1])
    words = [word if word != "2" else "20" for word in TYPES[:-1]] + ["2", "--error-cost", "10", "--json"]
    dear = json.loads(plan(capsys, *words)[1])
    assert dear["rows"][0]["total"] == pytest.approx(10 * plain["rows"][0]["total"])
    assert dear["bounds"]["total"] == pytest.approx(10 * plain["bounds"]["total"])


@pytest.mark.parametrize("words", [TYPES[2:], (*TYPES, "--dim", "2")], ids=["neither", "both"])
def test_types_or_numbers_it_must_be(capsys, words):
    code, out, err = plan(capsys, *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "types, dim: expected one of the two" in err
