"""A table to read: CSV, TSV, Parquet, JSON lines, standard input or a frame, in batches through polars.

The first bytes of a file say what it is, not its name. Where it cannot be read, the message names the first
row that is wrong. Rows count from 1; the header is row 0.
"""

import csv
import gzip
import os
import re
import shutil
import signal
import sys
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

import msgspec
import polars as pl

from breakeven.errors import BreakevenError, expect
from breakeven.errors.expect import shown

ROWS_AT_ONCE = 250_000
FIRST_BYTES = 65_536  # that say what a file is
PARQUET_MARK, GZIP_MARK = b"PAR1", b"\x1f\x8b"
FOREIGN = {
    rb"PK\x03\x04": ("an Excel or zip file", "save the table as CSV"),
    rb"\xd0\xcf\x11\xe0": ("an Excel file", "save the table as CSV"),
    rb"ARROW1\0\0": ("an Arrow file", "write it as Parquet"),
    rb"\x28\xb5\x2f\xfd|BZh[1-9]1AY|\xfd7zXZ": ("a compressed file", "unpack it, or compress it with gzip"),
    rb"\xff\xfe|\xfe\xff": ("text in UTF-16", "save it as UTF-8"),
    rb"\xef\xbb\xbf\s*\{": ("JSON lines with a byte order mark", "save it as UTF-8 without one"),
    rb"(\xef\xbb\xbf)?\s*\[\s*[\[{]": ("a JSON array", "write one object a line, as `jq -c '.[]'` does"),
    rb"[^\0]*\0": ("a binary file", "save the table as CSV"),
    rb"[^\n]*\r[^\n]*\Z": ("text whose lines end in a carriage return only", r"try `tr '\r' '\n'`"),
}


def head_of(path: str) -> bytes:
    """The first bytes of a file."""
    with open(path, "rb") as file:
        return file.read(FIRST_BYTES)


def foreign(head: bytes) -> tuple[str, str] | None:
    r"""The kind of a file that cannot be read here, and what to do with it; None for any other.

    >>> foreign(b"PK\x03\x04...")
    ('an Excel or zip file', 'save the table as CSV')
    """
    return next((words for begin, words in FOREIGN.items() if re.match(begin, head)), None)


def is_json(head: bytes) -> bool:
    """Whether the file seems to hold JSON lines."""
    return head.lstrip().startswith(b"{")


def header(path: str) -> tuple[str, list[str]]:
    """The separator that makes the most columns, and their names."""
    rows = {sign: _first_row(path, sign) for sign in ",\t;"}
    return max(rows.items(), key=lambda pair: len(pair[1]))


def _first_row(path: str, separator: str) -> list[str]:
    """The first row with anything in it; none where a field has no end."""
    with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        try:
            return next(filter(None, csv.reader(file, delimiter=separator)), [])
        except csv.Error:
            return []


# -- what is wrong, and where ---------------------------------------------------------------------------


class Fault(NamedTuple):
    """What is wrong, and where; the header is row 0."""

    expected: str
    came: str
    row: int | None = None
    column: str | None = None
    hint: str = ""

    def said_of(self, table: str) -> str:
        """The fault of a table in words.

        >>> Fault("a cost", "0", 3, "cost").said_of("a.csv")
        "a.csv, row 3, column 'cost': expected a cost, got 0"
        """
        place = [table]
        place += [] if self.row is None else [f"row {self.row:,}" if self.row else "header"]
        place += [] if self.column is None else [f"column {shown(self.column)}"]
        words = f"{', '.join(place)}: expected {self.expected}, got {self.came}"
        return f"{words}; {self.hint}" if self.hint else words


def bad_header(names: list[str]) -> Fault | None:
    """Names that are no text, or that a table has twice."""
    if not names:
        return Fault("the names of columns", "one without an end", 0)
    return _bad_letters(0, names, []) or twice(names)


def twice(names: list[str]) -> Fault | None:
    """The first name that is there already.

    >>> twice(["a", "y", "y"])
    Fault(expected='a column only once', came='two of that name', row=None, column='y', hint='')
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return Fault("a column only once", "two of that name", column=name)
        seen.add(name)
    return None


def bad_text(path: str, separator: str) -> Fault | None:
    """The first row of a CSV that is not UTF-8, is longer than the header, or has a quote without an end."""
    before, number = csv.field_size_limit(2**31 - 1), 0
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            rows = csv.reader(file, delimiter=separator, strict=True)
            header = next(filter(None, rows), [])
            for number, row in enumerate(rows, start=1):
                fault = _bad_letters(number, row, header) or _bad_length(number, row, header)
                if fault is not None:
                    return fault
    except csv.Error as error:
        return Fault("quotes in pairs around a field", str(error), number + 1)
    finally:
        csv.field_size_limit(before)
    return None


def _bad_letters(number: int, row: list[str], header: list[str]) -> Fault | None:
    for place, value in enumerate(row):
        if any("\udc80" <= letter <= "\udcff" for letter in value):
            name = header[place] if place < len(header) else None
            raw = value.encode(errors="surrogateescape")
            return Fault("text in UTF-8", f"the bytes {shown(raw)}", number, name)
    return None


def _bad_length(number: int, row: list[str], header: list[str]) -> Fault | None:
    if len(row) > len(header):
        return Fault(f"{len(header)} fields, as in the header", str(len(row)), number)
    return None


def bad_json(path: str) -> Fault | None:
    """The first row that is no JSON object."""
    with open(path, "rb") as file:
        lines = (line for line in file if line.strip())
        for number, line in enumerate(lines, start=1):
            try:
                msgspec.json.decode(line, type=dict)
            except (msgspec.DecodeError, UnicodeDecodeError):
                return Fault("one JSON object a line", shown(line.strip()), number)
    return None


def cut_short(words: str) -> Fault:
    """A Parquet file that polars cannot read, with its words."""
    return Fault("a whole Parquet file", f"one that may be cut short ({words})")


# -- the table ----------------------------------------------------------------------------------------


class BadTable(BreakevenError, ValueError):
    """A table that cannot be used; the message names the file and, where it can, the row and the column.

    >>> issubclass(BadTable, ValueError)
    True
    """


class TableSource:
    """A table by name, with its columns and their types; `text` says that all values are text, as in CSV.

    Where polars cannot read the table, `find_fault` looks for the reason. `kept` lives as long as the table.

    >>> TableSource("two rows", pl.LazyFrame({"age": [61, 43]})).columns
    ['age']
    """

    def __init__(
        self,
        name: str,
        lazy: pl.LazyFrame,
        *,
        text: bool = False,
        find_fault: Callable[[str], Fault | None] = lambda words: None,
        kept: object = None,
    ) -> None:
        self.name, self.text = name, text
        self._lazy, self._find_fault, self._kept = lazy, find_fault, kept
        with self.telling():
            self.schema = lazy.collect_schema()

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in their order."""
        return self.schema.names()

    def sample(self, rows: int) -> pl.DataFrame:
        """The first rows."""
        with self.telling():
            return self._lazy.head(rows).collect()

    def batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Some columns, a batch of rows after the other."""
        with self.telling():
            yield from self._lazy.select(columns).collect_batches(
                chunk_size=ROWS_AT_ONCE, maintain_order=True
            )

    def empty_rows(self) -> list[int]:
        """The rows of a text file with nothing in any of their fields, such as empty lines."""
        nothing = pl.all_horizontal(pl.all().fill_null("").str.strip_chars() == "")
        with self.telling():
            found = self._lazy.select(pl.arg_where(nothing)).collect(engine="streaming")
        return (found.to_series() + 1).to_list()

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Inside it, an error of polars becomes a `BadTable` that names the place."""
        try:
            yield
        except pl.exceptions.PolarsError as error:
            self._explain(error)

    def _explain(self, error: Exception) -> NoReturn:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        _refuse(self.name, self._find_fault(first) or Fault("a table that can be read", first))

    def refuse_empty(self) -> NoReturn:
        """Say why there are no rows."""
        _refuse(self.name, self._find_fault("") or Fault("rows below the header", "none"))

    def refuse(
        self, expected: str, came: str, *, row: int | None = None, column: str | None = None, hint: str = ""
    ) -> NoReturn:
        """Raise `BadTable`: where in the table, what was expected, and what came."""
        _refuse(self.name, Fault(expected, came, row, column, hint))


# -- files -----------------------------------------------------------------------------------------------


def open_table(path: str | Path) -> TableSource:
    """The table in a file, or on standard input for `-`.

    >>> open_table("/no/such.csv")
    Traceback (most recent call last):
    breakeven.tables.sources.BadTable: /no/such.csv: expected a file, got none of that name
    """
    name = str(path)
    if name == "-":
        return _from_standard_input()
    if not Path(path).exists():
        _refuse(name, Fault("a file", "none of that name"))
    if Path(path).is_dir():
        _refuse(name, Fault("a file", "a folder"))
    if Path(path).is_file():
        return _opened(name, name)
    with open(path, "rb") as pipe:
        copy = _Copy(name, pipe)
    return _opened(name, copy.path, copy)


def _from_standard_input() -> TableSource:
    name = "standard input"
    if sys.stdin is None:
        _refuse(name, Fault("a table", "nothing: it is closed"))
    copy = _Copy(name, sys.stdin.buffer)
    if not os.path.getsize(copy.path):
        _refuse(name, Fault("a table with a header and rows", "nothing: it is empty, or was read before"))
    return _opened(name, copy.path, copy)


def _opened(name: str, path: str, kept: object = None) -> TableSource:
    head = head_of(path)
    if head.startswith(GZIP_MARK):
        with gzip.open(path) as unpacked:
            copy = _Copy(name, unpacked)
        return _opened(name, copy.path, copy)
    if head.startswith(PARQUET_MARK) or name.endswith(".parquet"):
        return TableSource(name, pl.scan_parquet(path, glob=False), find_fault=cut_short, kept=kept)
    if not head.strip():
        _refuse(name, Fault("a table with a header and rows", "nothing: it is empty"))
    other = foreign(head)
    if other is not None:
        _refuse(name, Fault("CSV, TSV, Parquet or JSON lines", other[0], hint=other[1]))
    if is_json(head):
        lazy = pl.scan_ndjson(escape(path), infer_schema_length=None)
        return TableSource(name, lazy, find_fault=lambda words: bad_json(path), kept=kept)
    separator, names = header(path)
    fault = bad_header(names)
    if fault is not None:
        _refuse(name, fault)
    lazy = pl.scan_csv(path, separator=separator, infer_schema=False, glob=False)  # we say what is no number
    return TableSource(name, lazy, text=True, find_fault=lambda words: bad_text(path, separator), kept=kept)


class _Copy:
    """A copy of a stream on disk, since it may be larger than memory; deleted with this object."""

    def __init__(self, name: str, stream: IO[bytes] | gzip.GzipFile) -> None:
        handle, self.path = tempfile.mkstemp(prefix="breakeven-")
        remove = weakref.finalize(self, Path(self.path).unlink, missing_ok=True)
        if hasattr(signal, "siginterrupt"):
            signal.siginterrupt(signal.SIGINT, True)  # polars lets reads go on after Ctrl-C
        try:
            with open(handle, "wb") as file:
                shutil.copyfileobj(stream, file)
        except BaseException as error:
            remove()
            _refuse_copy(name, self.path, error)
            raise


def _refuse_copy(name: str, path: str, error: BaseException) -> None:
    if isinstance(error, EOFError | zlib.error | gzip.BadGzipFile):
        _refuse(name, Fault("a whole gzip file", "one that is cut short or damaged"))
    if isinstance(error, OSError):
        _refuse(name, Fault(f"room for a copy at {path}", f"{error.strerror}"))


def _refuse(name: str, fault: Fault) -> NoReturn:
    raise BadTable(fault.said_of(name))


# -- frames -------------------------------------------------------------------------------------------


def framed(name: str, frame: Any) -> TableSource:
    """The frame under a name for messages.

    >>> framed("the frame", pl.DataFrame({"age": [1]})).columns
    ['age']
    """
    if isinstance(frame, pl.LazyFrame):
        return TableSource(name, frame)
    if isinstance(frame, pl.DataFrame):
        return TableSource(name, frame.lazy())
    if hasattr(frame, "columns") and hasattr(frame, "iloc"):
        return TableSource(name, _of_pandas(name, frame).lazy())
    expect.refuse("df", "a frame of polars or pandas", frame)


def _of_pandas(name: str, frame: Any) -> pl.DataFrame:
    """A pandas frame by way of NumPy and lists: polars itself would need pyarrow for it."""
    names = [str(one) for one in frame.columns]
    fault = twice(names)
    if fault is not None:
        raise BadTable(fault.said_of(name))
    return pl.DataFrame({one: _column(frame.iloc[:, place]) for place, one in enumerate(names)})


def _column(series: Any) -> pl.Series:
    if getattr(series.dtype, "kind", "O") in "iufbM" and hasattr(series.dtype, "itemsize"):
        values = series.to_numpy()
        if values.dtype.kind in "iufbM":
            return pl.Series(values)
    some = zip(series.astype(object).tolist(), series.isna().tolist(), strict=True)
    values = [None if missing else one for one, missing in some]
    with suppress(TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        mixed = pl.Series(values, strict=False)  # as text, if they have nothing else in common
        if mixed.null_count() == values.count(None):
            return mixed
    return pl.Series(values, dtype=pl.Object)
