"""What is no feature unless it is named: constants, row numbers, ids, text; and words for yes and no."""

import numpy as np
import polars as pl
import pytest

from breakeven.tables.cases import read_cases
from breakeven.tables.faults import BadTable, as_flag
from breakeven.tables.sources import Access, open_table
from tests.tables.samples import asked_for, cases_in, cases_of, smooth

ROWS = 40
RANDOM = np.random.default_rng(0)


def notes_of(path, frame, **options):
    """What is said of a CSV, as the command line says it."""
    frame.write_csv(path)
    return read_cases(open_table(path, Access(option=as_flag)), asked_for(**options)).notes


IDS = {
    "an id of seventeen digits": ("who", [10**17 + 7919 * i for i in range(ROWS)]),
    "row numbers": ("n", range(1, ROWS + 1)),
    "row numbers from 0": ("n", range(ROWS)),
    "shuffled row numbers": ("n", RANDOM.permutation(ROWS).tolist()),
    "called an id": ("patient_id", RANDOM.permutation(range(3000, 3000 + 7 * ROWS, 7)).tolist()),
    "called an id in another way": ("CaseID", RANDOM.permutation(range(3000, 3000 + 7 * ROWS, 7)).tolist()),
}


@pytest.mark.parametrize(("name", "values"), IDS.values(), ids=IDS)
@pytest.mark.parametrize("text", [True, False], ids=["a file", "a frame"])
def test_row_numbers_and_ids_are_left_out_with_a_note(tmp_path, name, values, text):
    frame = smooth(ROWS).with_columns(pl.Series(name, list(values)))
    said = f"Left out, being row numbers or ids: {name}; name them with"
    notes = notes_of(tmp_path / "c.csv", frame) if text else cases_of(frame)[0].notes
    assert notes[:2] == [
        "Features: a, b.",
        f"{said} {'--features' if text else '`features`'} to use them all the same.",
    ]


def test_who_names_an_id_gets_it():
    frame = smooth(ROWS).with_columns(pl.Series("n", range(ROWS)))
    assert cases_of(frame, features=("a", "n"))[0].columns.names == ["a", "n"]


KEPT = {
    "numbers that come twice": ("n", [i // 2 for i in range(ROWS)]),
    "measurements": ("weight", RANDOM.permutation(range(3000, 3000 + 7 * ROWS, 7)).tolist()),
    "fractions": ("id", [i + 0.5 for i in range(ROWS)]),
    "bids": ("bid", RANDOM.permutation(range(3000, 3000 + 7 * ROWS, 7)).tolist()),
}


@pytest.mark.parametrize(("name", "values"), KEPT.values(), ids=KEPT)
def test_other_numbers_are_kept(tmp_path, name, values):
    notes = notes_of(tmp_path / "c.csv", smooth(ROWS).with_columns(pl.Series(name, list(values))))
    assert notes == [f"Features: a, b, {name}."]


def test_row_numbers_are_kept_where_there_is_nothing_else():
    cases, _ = cases_of(pl.DataFrame({"age": range(ROWS), "y": RANDOM.normal(size=ROWS)}))
    assert cases.columns.names == ["age"]


def test_constants_are_left_out_with_a_note(tmp_path):
    frame = smooth(ROWS).with_columns(unit=pl.lit(3.0), old=pl.lit(True))
    assert notes_of(tmp_path / "c.csv", frame) == [
        "Features: a, b.",
        "Left out, being the same in every row: unit, old.",
    ]


def test_a_constant_with_gaps_is_no_reason_to_refuse_a_table(tmp_path):
    cases = cases_in(tmp_path / "c.csv", "a,b,y\n1,5,2\n2,,3\n3,5,1\n")
    assert (cases.columns.names, len(cases)) == (["a"], 3)


def test_what_becomes_constant_once_rows_are_dropped_is_left_out_too(tmp_path):
    cases = cases_in(tmp_path / "c.csv", "a,b,y\n1,5,2\n2,6,\n3,5,1\n", missing="drop")
    assert cases.columns.names == ["a"]
    assert "Left out, being the same in every row: b." in cases.notes


def test_a_table_of_constants_has_no_feature():
    frame = pl.DataFrame({"a": [1, 1, 1], "y": [1.0, 2.0, 3.0]})
    words = (
        r"column 'a': expected a feature that varies, got 1.0 in every row; name others with `features`, or"
    )
    with pytest.raises(BadTable, match=words):
        cases_of(frame)
    with pytest.raises(
        BadTable, match=r"expected a feature at least, got none; name columns with `features`"
    ):
        cases_of(frame, features=[])


# -- text ------------------------------------------------------------------------------------------------


def test_text_is_offered_as_what_it_could_be(tmp_path):
    frame = smooth(60).with_columns(
        pl.Series("sex", ["f", "m"] * 30),
        pl.Series("the ward", [f"w{i % 25}" for i in range(60)]),
        pl.Series("name", [f"n{i}" for i in range(60)]),
    )
    assert notes_of(tmp_path / "c.csv", frame)[1:] == [
        "Left out, being text: sex; name them with --features to use them as categories.",
        "Left out, being text of many values: the ward; to learn of every value by itself say "
        "--type 'the ward'.",
        "Left out, being another text in every row: name; if that is the id of a case, say --id name.",
    ]


def test_too_many_categories_are_offered_as_a_type(tmp_path):
    frame = smooth(300).with_columns(pl.Series("the ward", [f"w{i % 150}" for i in range(300)]))
    with pytest.raises(
        BadTable, match="got 150 categories; leave it out, or let it be the type: --type 'the ward'"
    ):
        notes_of(tmp_path / "c.csv", frame, features=("the ward", "a"))


WORDS = {
    "yes and no": ["yes", "No"],
    "letters": ["Y", "n"],
    "German": ["ja", "nein"],
    "French": ["oui", "non"],
    "German Excel": ["WAHR", "FALSCH"],
    "true and false": ["true", "False"],
}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize("text", [True, False], ids=["a file", "a frame"])
def test_words_for_yes_and_no_are_features(tmp_path, words, text):
    frame = smooth(20).with_columns(pl.Series("smoker", words * 10))
    frame.write_csv(tmp_path / "c.csv")
    cases = read_cases(open_table(tmp_path / "c.csv"), asked_for()) if text else cases_of(frame)[0]
    assert cases.columns.names == ["a", "b", "smoker"]
    assert cases.points[:2, 2].tolist() == [1.0, 0.0]
    assert cases.columns.point({"a": 0, "b": 0, "smoker": words[0].upper()})[-1] == 1.0
    assert cases.columns.point({"a": 0, "b": 0, "smoker": False})[-1] == 0.0
