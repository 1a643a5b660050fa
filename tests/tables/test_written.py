"""How a text file is written: its decimal sign, its encoding, the sign between its fields."""

import polars as pl
import pytest

from breakeven.errors import InvalidInput
from breakeven.tables import from_table
from breakeven.tables.cases import read_cases
from breakeven.tables.faults import BadTable, as_flag
from breakeven.tables.sources import Access, open_table
from tests.tables.samples import asked_for, cases_of

GERMAN = "Größe;Gewicht;y\n1,75;1.070,5;3\n1,62;62;4\n1,8;70,25;5\n"


def read(path, content, encoding=None, **options):
    """The cases of a text file, as the command line reads it."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_cases(open_table(path, Access(encoding=encoding, option=as_flag)), asked_for(**options))


# -- decimals --------------------------------------------------------------------------------------------


def test_a_decimal_comma_is_said_and_so_are_thousands(tmp_path):
    cases = read(tmp_path / "c.csv", GERMAN, decimal=",")
    assert cases.points.tolist() == [[1.75, 1070.5], [1.62, 62.0], [1.8, 70.25]]
    assert cases.columns.point({"Größe": "1,75", "Gewicht": "1.070,5"}).tolist() == [1.75, 1070.5]
    assert cases.columns.point({"Größe": 1.75, "Gewicht": 1070.5}).tolist() == [1.75, 1070.5]


def test_labels_and_costs_have_the_same_sign(tmp_path):
    text = "a;c;y\n1;1.000,5;2,5\n2;7;3,5\n"
    cases = read(tmp_path / "c.csv", text, decimal=",", cost_column="c")
    assert (cases.labels.tolist(), cases.costs.tolist()) == ([2.5, 3.5], [1000.5, 7.0])
    assert (cases.columns.label("4,5"), cases.columns.cost({"c": "1.000"})) == (4.5, 1000.0)


def test_text_in_a_frame_is_numbers_once_their_sign_is_said():
    frame = pl.DataFrame({"a": ["1,5", "2,5", "4"], "b": [1.0, 2.0, 4.0], "y": ["0,5", "1,5", "1"]})
    assert cases_of(frame, decimal=",")[0].points.tolist() == [[1.5, 1.0], [2.5, 2.0], [4.0, 4.0]]
    with pytest.raises(BadTable, match="write decimals with a point, or say `decimal=','`"):
        from_table(frame, label="y", cost=1.0)


DECIMALS = {
    "commas": ("a;y\n1,5;2\n2,5;3\n", {}, "got '1,5'; write decimals with a point, or say --decimal ,"),
    "thousands": (
        "a;y\n1,234.5;2\n2;3\n",
        {},
        "got '1,234.5'; write thousands without a sign, or say --decimal .",
    ),
    "either": (
        "a;y\n1,234;2\n2;3\n",
        {},
        "one way only, got '1,234'; it is 1234 or 1.234; say --decimal . or --decimal ,",
    ),
    "mixed": (
        "a;y\n1.5;2\n2,5;3\n",
        {},
        "row 2, column 'a': expected a finite number, with one decimal sign in the whole column, got '2,5'",
    ),
    "mixed, and one is said": (
        "a;y\n1,5;2\n2.5;3\n",
        {"decimal": ","},
        "row 2, column 'a': expected a finite number with ',' before its decimals, with one decimal sign in",
    ),
    "the other one is said": (
        "a;y\n1.5;2\n2.5;3\n",
        {"decimal": ","},
        "expected a finite number with ',' before its decimals, got '1.5'; if '.' can be the decimal sign, "
        "say --decimal .",
    ),
    "thousands in fours": ("a;y\n1.2345,5;2\n" + "2;3\n" * 20, {"decimal": ","}, "got '1.2345,5'"),
}


@pytest.mark.parametrize(("text", "options", "message"), DECIMALS.values(), ids=DECIMALS)
def test_a_number_that_could_mean_another_is_refused(tmp_path, text, options, message):
    with pytest.raises(BadTable) as refused:
        read(tmp_path / "c.csv", text, features=("a",), **options)
    assert message in str(refused.value)


# -- encodings -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "utf-8", "UTF8", "utf-8-sig"])
def test_text_is_converted_on_request(tmp_path, encoding):
    cases = read(tmp_path / "c.csv", GERMAN.encode(encoding), encoding, decimal=",")
    assert cases.columns.names == ["Größe", "Gewicht"]


def test_json_lines_are_converted_too(tmp_path):
    text = '{"Größe": 1, "y": 2}\n{"Größe": 3, "y": 4}\n'
    assert read(tmp_path / "c", text.encode("cp1252"), "cp1252").columns.names == ["Größe"]


ENCODINGS = {
    "in the header": (
        GERMAN.encode("cp1252"),
        None,
        r"header: expected text in UTF-8, got the bytes b'Gr\xf6\xdfe'; in cp1252 these say 'Größe': if that "
        "is right, say --encoding cp1252",
    ),
    "in a row": (
        "who,y\nMüller,1\n".encode("cp1252"),
        None,
        r"row 1, column 'who': expected text in UTF-8, got the bytes b'M\xfcller'; in cp1252 these say",
    ),
    "what cp1252 has not": (b"who,y\n\x81,1\n", None, "in latin-1 these say '\\x81': if that is right, say"),
    "UTF-16": (
        GERMAN.encode("utf-16"),
        None,
        "got text in UTF-16; save it as UTF-8, or say --encoding utf-16",
    ),
    "another one": (
        b"a,y\n\x81,2\n",
        "cp1252",
        r"expected text in cp1252, got the bytes b'\x81'; it is in another",
    ),
    "no mark": (b"a,y\n1,2\n", "utf-16", "expected text in utf-16, got UTF-16 stream does not start"),
}


@pytest.mark.parametrize(("content", "encoding", "message"), ENCODINGS.values(), ids=ENCODINGS)
def test_another_encoding_is_named_with_what_it_would_say(tmp_path, content, encoding, message):
    with pytest.raises(BadTable) as refused:
        read(tmp_path / "c.csv", content, encoding, type="who" if b"who" in content else None)
    assert message in str(refused.value)


@pytest.mark.parametrize("encoding", ["klingon", "hex", "a\0b"])
def test_what_is_no_encoding_is_refused(tmp_path, encoding):
    with pytest.raises(InvalidInput, match="encoding: expected an encoding such as 'utf-8', 'cp1252' or"):
        read(tmp_path / "c.csv", GERMAN, encoding)


def test_a_converted_copy_goes_with_its_table(tmp_path, monkeypatch):
    (tmp_path / "c.csv").write_bytes(GERMAN.encode("cp1252"))
    (tmp_path / "copies").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "copies"))
    table = open_table(tmp_path / "c.csv", Access(encoding="cp1252"))
    assert len(list((tmp_path / "copies").iterdir())) == 1
    del table
    assert list((tmp_path / "copies").iterdir()) == []


# -- the sign between fields -----------------------------------------------------------------------------

SIGNS = {
    "two in every row": (
        "a,b;y\n1,2;3\n2,3;4\n",
        "header: expected one sign between fields, got commas and semicolons, and either could be it",
    ),
    "another in a row": (
        "a;b;y\n1;2;3\n2,3,4\n",
        "row 2: expected fields parted by semicolons, as in the header, got '2,3,4', parted by commas",
    ),
    "another in all rows": (
        "a,b,y\n1;2;3\n2;3;4\n",
        "row 1: expected fields parted by commas, as in the header, got '1;2;3', parted by semicolons",
    ),
    "tabs": (
        "a,y\n1\t2\n2,3\n",
        "row 1: expected fields parted by commas, as in the header, got '1\\t2', parted by",
    ),
}


@pytest.mark.parametrize("missing", [None, "drop"])
@pytest.mark.parametrize(("text", "message"), SIGNS.values(), ids=SIGNS)
def test_two_signs_between_fields_are_refused(tmp_path, text, message, missing):
    with pytest.raises(BadTable) as refused:
        read(tmp_path / "c.csv", text, missing=missing)
    assert message in str(refused.value)


def test_a_name_may_hold_the_other_sign_where_rows_settle_it(tmp_path):
    assert read(tmp_path / "c.csv", "size, cm;b;y\n1;2;3\n2;3;4\n").columns.names == ["size, cm", "b"]
    text = "size, cm;weight, kg;y\n1,5;2;3\n2,5;3;4\n"
    assert read(tmp_path / "c.csv", text, decimal=",").columns.names == ["size, cm", "weight, kg"]
