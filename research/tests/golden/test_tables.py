"""Small panels give the stored tables: the same labels bought, the same errors made."""

import json
from difflib import unified_diff

import pytest

from breakeven_research.datasets import MissingData
from tests.golden.regenerate import DATA, PANELS, TABLES, measured, path_of, text_of

NEAR = 1e-4  # a kernel fitted at every label carries the last bits of a CPU's own BLAS this far at worst


def differences(stored, now):
    """What differs, as a diff with one line for each method; empty where nothing does."""
    agreed = {
        trial: {method: near(stored, trial, method, ends) for method, ends in methods.items()}
        for trial, methods in now.items()
    }
    return "\n".join(
        unified_diff(
            text_of(stored).splitlines(), text_of(agreed).splitlines(), "stored", "now", lineterm="", n=0
        )
    )


def near(stored, trial, method, ends):
    """What is stored, where labels are the same and errors are near; else what there is now."""
    before = stored.get(trial, {}).get(method)
    return before if before is not None and close(before, ends) else ends


def close(before, ends):
    same = ends["labels"] == before["labels"]
    return same and ends["errors"] == pytest.approx(before["errors"], rel=NEAR)


@pytest.mark.parametrize(("problem", "recipe"), PANELS)
def test_a_small_panel_gives_its_stored_table(problem, recipe, monkeypatch):
    monkeypatch.setenv("BREAKEVEN_DATA", DATA)
    try:
        now = measured(problem, recipe)
    except MissingData as missing:
        pytest.skip(str(missing))
    found = differences(json.loads(path_of(problem, recipe).read_text()), now)
    if found:
        pytest.fail(
            f"{found}\nIf this is meant: python -m tests.golden.regenerate, and review the diff.",
            pytrace=False,
        )


def test_there_is_no_table_that_nothing_gives():
    assert {path.name for path in TABLES.iterdir()} == {path_of(*panel).name for panel in PANELS}


TABLE = {"trial 0": {"all": {"labels": 3, "errors": 1.23457}, "never": {"labels": 0, "errors": 9.5}}}


def changed(**ends):
    return {"trial 0": TABLE["trial 0"] | {"all": TABLE["trial 0"]["all"] | ends}}


def test_a_label_more_and_an_error_off_are_told_and_rounding_is_not():
    assert differences(TABLE, TABLE) == ""
    assert differences(TABLE, changed(errors=1.2346)) == ""
    assert '-  "all": {"labels": 3, "errors": 1.23457},\n+  "all": {"labels": 4,' in differences(
        TABLE, changed(labels=4)
    )
    assert '+  "all": {"labels": 3, "errors": 1.2351}' in differences(TABLE, changed(errors=1.2351))


def test_a_method_that_came_or_went_is_told():
    less = {"trial 0": {"never": TABLE["trial 0"]["never"]}}
    assert '-  "all"' in differences(TABLE, less)
    assert '+  "all"' in differences(less, TABLE)


def test_a_table_reads_back_as_it_was_written():
    assert json.loads(text_of(TABLE)) == TABLE
