"""Every kind of table is told by its beginning and read alike."""

import gzip
import io
import os
import shutil
import signal
import subprocess
import sys
import threading
from time import sleep

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from breakeven.tables.cases import read_cases
from breakeven.tables.faults import BadTable
from breakeven.tables.options import Options
from breakeven.tables.sources import open_table

FRAME = pl.DataFrame({"a": [1.0, 2.0, 4.0], "b": [1.0, 0.0, 1.0], "y": [0.5, 1.5, -2.0]})
KINDS = {
    "csv": lambda frame, path: frame.write_csv(path),
    "tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "semicolons": lambda frame, path: frame.write_csv(path, separator=";"),
    "parquet": lambda frame, path: frame.write_parquet(path),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
    "gzip": lambda frame, path: path.write_bytes(gzip.compress(frame.write_csv(separator=";").encode())),
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


def test_a_pipe_is_read_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=("a,y\n1,2\n3,4\n",), daemon=True)
    writer.start()
    assert read(tmp_path / "pipe").labels.tolist() == [2.0, 4.0]
    writer.join()


def test_standard_input_may_be_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(BadTable, match="standard input: expected a table, got nothing: it is closed"):
        read("-")


def test_standard_input_is_read_only_once(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,y\n1,2\n3,4\n")))
    read("-")
    with pytest.raises(BadTable, match="got nothing: it is empty, or was read before"):
        read("-")


class Broken(io.BytesIO):
    """A stream that ends otherwise than it should."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def read(self, size=-1):
        raise self.error


BROKEN = {
    "interrupted": (KeyboardInterrupt("now"), KeyboardInterrupt, "now"),
    "a full disk": (
        OSError(28, "No space left on device"),
        BadTable,
        "expected room for a copy at .*, got No",
    ),
}


@pytest.mark.parametrize(("error", "told", "message"), BROKEN.values(), ids=BROKEN)
def test_a_copy_that_is_not_whole_goes(tmp_path, monkeypatch, error, told, message):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Broken(error)))
    with pytest.raises(told, match=message):
        read("-")
    assert list(tmp_path.iterdir()) == []


def test_a_copy_goes_with_its_table(tmp_path, monkeypatch):
    KINDS["gzip"](FRAME, tmp_path / "cases")
    (tmp_path / "copies").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "copies"))
    table = open_table(tmp_path / "cases")
    assert len(list((tmp_path / "copies").iterdir())) == 1
    del table
    assert list((tmp_path / "copies").iterdir()) == []


def test_ctrl_c_is_heard_while_standard_input_is_read(tmp_path):
    command = [
        sys.executable,
        "-c",
        "from breakeven.tables.sources import open_table; open_table('-')",
    ]
    streams = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **streams, env={**os.environ, "TMPDIR": str(tmp_path)}) as reading:
        reading.stdin.write(bytes(shutil.COPY_BUFSIZE))
        reading.stdin.flush()
        while not any(path.stat().st_size for path in tmp_path.iterdir()):
            sleep(0.1)
        sleep(0.5)  # by now it waits for more
        reading.send_signal(signal.SIGINT)
        reading.wait(60)
        assert reading.stderr.read().endswith(b"KeyboardInterrupt\n")
    assert list(tmp_path.iterdir()) == []


def test_batches_are_in_order_and_whole(tmp_path, monkeypatch):
    frame = pl.DataFrame({"a": range(1000), "y": range(1000)})
    frame.write_csv(tmp_path / "long.csv")
    monkeypatch.setattr("breakeven.tables.sources.ROWS_AT_ONCE", 64)
    batches = list(open_table(tmp_path / "long.csv").batches(["a", "y"]))
    assert len(batches) > 5
    assert_frame_equal(pl.concat(batches).cast(pl.Int64), frame)


def test_a_byte_order_mark_and_line_ends_of_windows_are_no_part_of_a_name(tmp_path):
    (tmp_path / "w.csv").write_bytes(b"\xef\xbb\xbfa,y\r\n1,2\r\n3,4\r\n")
    assert read(tmp_path / "w.csv").labels.tolist() == [2.0, 4.0]


def test_separators_in_quotes_part_nothing(tmp_path):
    (tmp_path / "q.csv").write_text('"x,z,w";b;y\n1;2;3\n2;3;4\n')
    assert read(tmp_path / "q.csv").columns.names == ["x,z,w", "b"]


@pytest.mark.parametrize("empty", ["\n", "\r\n", ",\n", "  ,\n"])
def test_empty_lines_are_no_rows(tmp_path, empty):
    (tmp_path / "e.csv").write_text(f"a,y\n1,2\n{empty}3,4\n{empty}{empty}")
    cases = read(tmp_path / "e.csv")
    assert (cases.labels.tolist(), cases.rows.tolist()) == ([2.0, 4.0], [1, 3])


def test_a_line_with_anything_in_it_is_a_row(tmp_path):
    (tmp_path / "e.csv").write_text("who,a,y\nx,1,2\nz,,\n")
    with pytest.raises(BadTable, match=r"row 2, column 'a': expected no missing values, got 1 row with some"):
        read(tmp_path / "e.csv")


BAD = {
    "nothing": (b"", "expected a table with a header and rows, got nothing: it is empty"),
    "blanks": (b" \n\n", "expected a table with a header and rows, got nothing: it is empty"),
    "a header": (b"a,y\n", "expected rows below the header, got none"),
    "a header and blanks": (b"a,y\n\n", "expected rows below the header, got none"),
    "no end to the first row": (b'a,y\n1,"2\n3,4', "row 1: expected quotes in pairs around a field"),
    "too long a row": (b"a,y\n1,2\n3,4,5\n", "row 2: expected 2 fields, as in the header, got 3"),
    "no UTF-8": (b"a,y\n1,2\n3,\xff\n", r"row 2, column 'y': expected text in UTF-8, got the bytes b'\xff'"),
    "no JSON": (
        b'{"a": 1, "y": 2}\n{"a": 1,\n',
        """row 2: expected one JSON object a line, got b'{"a": 1,'""",
    ),
    "other JSON": (b'{"a": 1, "y": 2}\n[1]\n', "row 2: expected one JSON object a line, got b'[1]'"),
    "an infinite label": (b"a,y\n1,2\n3,inf\n", "row 2, column 'y': expected a finite number, got 'inf'"),
    "a comma for a point": (
        b'a,y\n1,2\n3,"4,5"\n',
        "row 2, column 'y': expected a finite number, got '4,5'; write decimals with a point",
    ),
    "commas for points": (b"a;y\n1,5;2\n2,5;3\n", "row 1, column 'a': expected a finite number, got '1,5'"),
    "a column twice": (b"a,y,y\n1,2,3\n", "column 'y': expected a column only once, got two of that name"),
    "no UTF-8 in the header": (b"\xff,y\n1,2\n", r"header: expected text in UTF-8, got the bytes b'\xff'"),
    "a quote without an end": (
        b'a,b,y\n1,2,3\n4,"5,6\n7,8,9\n',
        "row 2: expected quotes in pairs around a field, got unexpected end of data",
    ),
    "a long field": (
        b"a,y\n" + b"x" * 200_000 + b",1\n1,2,3\n",
        "row 2: expected 2 fields, as in the header, got 3",
    ),
    "a name without an end": (b"x" * 200_000 + b",y\n1,2\n", "header: expected the names of columns"),
    "a JSON array": (b'[\n  {"a": 1, "y": 2}]', "got a JSON array; write one object a line, as `jq"),
    "a mark before JSON": (b'\xef\xbb\xbf{"a": 1, "y": 2}\n', "got JSON lines with a byte order mark; save"),
    "UTF-16": (
        "a,y\n1,2\n".encode("utf-16"),
        "got text in UTF-16; save it as UTF-8, or say `encoding='utf-16'`",
    ),
    "zeros": ("a,y\n1,2\n".encode("utf-16-le"), "got a binary file; save the table as CSV"),
    "old line ends": (b"a,y\r1,2\r3,4\r", "got text whose lines end in a carriage return only; try `tr"),
    "zip": (b"PK\x03\x04\0\0", "got a zip file, or a workbook cut short; save the table as CSV"),
    "Arrow": (b"ARROW1\0\0", "got an Arrow file; write it as Parquet"),
    "zstd": (b"\x28\xb5\x2f\xfd\0", "got a compressed file; unpack it, or compress it with gzip"),
    "half of a gzip": (
        gzip.compress(os.urandom(10_000))[:5_000],
        "expected a whole gzip file, got one that is cut short or damaged",
    ),
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
