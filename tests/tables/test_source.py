"""Every kind of table is told by its beginning and read alike."""

import io
import sys

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from breakeven.tables.cases import read_cases
from breakeven.tables.options import Options
from breakeven.tables.source import BadTable, open_table

FRAME = pl.DataFrame({"a": [1.0, 2.0, 4.0], "b": [1.0, 0.0, 1.0], "y": [0.5, 1.5, -2.0]})
KINDS = {
    "csv": lambda frame, path: frame.write_csv(path),
    "tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "semicolons": lambda frame, path: frame.write_csv(path, separator=";"),
    "parquet": lambda frame, path: frame.write_parquet(path),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
}


def read(path):
    return read_cases(open_table(path), Options(label="y", cost=1.0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["cases", "cases.txt", "a [b]*.data"])
def test_a_table_is_read_whatever_its_name(tmp_path, kind, name):
    KINDS[kind](FRAME, tmp_path / name)
    cases = read(tmp_path / name)
    assert cases.points.tolist() == FRAME.select("a", "b").to_numpy().tolist()
    assert cases.labels.tolist() == [0.5, 1.5, -2.0]
    assert cases.columns.names == ["a", "b"]


@pytest.mark.parametrize("kind", KINDS)
def test_standard_input_is_a_table_too(tmp_path, monkeypatch, kind):
    KINDS[kind](FRAME, tmp_path / "cases")
    stream = io.TextIOWrapper(io.BytesIO((tmp_path / "cases").read_bytes()))
    monkeypatch.setattr(sys, "stdin", stream)
    cases = read("-")
    assert (cases.name, cases.labels.tolist()) == ("standard input", [0.5, 1.5, -2.0])


def test_batches_are_in_order_and_whole(tmp_path, monkeypatch):
    frame = pl.DataFrame({"a": range(1000), "y": range(1000)})
    frame.write_csv(tmp_path / "long.csv")
    monkeypatch.setattr("breakeven.tables.source.BATCH", 64)
    batches = list(open_table(tmp_path / "long.csv").batches(["a", "y"]))
    assert len(batches) > 5
    assert_frame_equal(pl.concat(batches).cast(pl.Int64), frame)


def test_a_byte_order_mark_and_line_ends_of_windows_are_no_part_of_a_name(tmp_path):
    (tmp_path / "w.csv").write_bytes(b"\xef\xbb\xbfa,y\r\n1,2\r\n3,4\r\n")
    assert read(tmp_path / "w.csv").labels.tolist() == [2.0, 4.0]


BAD = {
    "nothing": (b"", "expected a table with a header and rows, got nothing: it is empty"),
    "blanks": (b" \n\n", "expected a table with a header and rows, got nothing: it is empty"),
    "a header": (b"a,y\n", "expected rows below the header, got none"),
    "too long a row": (b"a,y\n1,2\n3,4,5\n", "row 2: expected 2 fields, as in the header, got 3"),
    "no UTF-8": (b"a,y\n1,2\n3,\xff\n", r"row 2, column 'y': expected text in UTF-8, got the bytes b'\xff'"),
    "no JSON": (
        b'{"a": 1, "y": 2}\n{"a": 1,\n',
        """row 2: expected one JSON object a line, got b'{"a": 1,'""",
    ),
    "other JSON": (b'{"a": 1, "y": 2}\n[1]\n', "row 2: expected one JSON object a line, got b'[1]'"),
    "an infinite label": (b"a,y\n1,2\n3,inf\n", "row 2, column 'y': expected a finite number, got 'inf'"),
    "a comma for a point": (b'a,y\n1,2\n3,"4,5"\n', "row 2, column 'y': expected a finite number, got '4,5'"),
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD)
def test_a_table_that_is_none_says_where(tmp_path, content, message):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(BadTable) as refused:
        read(path)
    assert str(refused.value).startswith(f"{path}")
    assert message in str(refused.value)


@pytest.mark.parametrize("part", [0.3, 0.9])
def test_a_parquet_that_was_cut_is_named(tmp_path, part):
    path = tmp_path / "cut.parquet"
    pl.DataFrame({"a": range(5000), "y": range(5000)}).write_parquet(path)
    path.write_bytes(path.read_bytes()[: int(part * path.stat().st_size)])
    with pytest.raises(BadTable, match="expected a whole Parquet file, got one that may be cut short"):
        read(path)


def test_an_empty_parquet_is_named(tmp_path):
    (tmp_path / "empty.parquet").write_bytes(b"")
    with pytest.raises(BadTable, match="expected a whole Parquet file"):
        read(tmp_path / "empty.parquet")


def test_a_folder_is_no_table(tmp_path):
    with pytest.raises(BadTable, match="expected a file, got a folder"):
        read(tmp_path)
