"""A table to read: a text file, Parquet, a workbook, a database, standard input or a frame, through polars.

The first bytes of a file say what it is, not its name. Where it cannot be read, the message names the first
row that is wrong. Rows count from 1; the header is row 0.
"""

import gzip
import os
import re
import signal
import sys
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

import polars as pl

from breakeven.errors import expect
from breakeven.errors.addresses import without_password
from breakeven.errors.expect import shown
from breakeven.tables import databases, workbooks
from breakeven.tables.faults import (
    Fault,
    OptionWords,
    as_argument,
    first_line,
    refuse_table,
    twice,
)
from breakeven.tables.text_files import (
    SEPARATORS,
    bad_header,
    bad_json,
    bad_text,
    check_encoding,
    converted,
    header,
    is_utf_8,
    undecodable,
)

ROWS_AT_ONCE = 250_000
FIRST_BYTES = 65_536  # that say what a file is
PARQUET_MARK, GZIP_MARK = b"PAR1", b"\x1f\x8b"
SAVED_SO, UTF_16 = "save the table as CSV", "text in UTF-16"
FOREIGN = {
    rb"PK\x03\x04": ("a zip file, or a workbook cut short", SAVED_SO),
    rb"ARROW1\0\0": ("an Arrow file", "write it as Parquet"),
    rb"\x28\xb5\x2f\xfd|BZh[1-9]1AY|\xfd7zXZ": ("a compressed file", "unpack it, or compress it with gzip"),
    rb"\xff\xfe|\xfe\xff": (UTF_16, "save it as UTF-8"),
    rb"\xef\xbb\xbf\s*\{": ("JSON lines with a byte order mark", "save it as UTF-8 without one"),
    rb"(\xef\xbb\xbf)?\s*\[\s*[\[{]": ("a JSON array", "write one object a line, as `jq -c '.[]'` does"),
    rb"[^\0]*\0": ("a binary file", SAVED_SO),
    rb"[^\n]*\r[^\n]*\Z": ("text whose lines end in a carriage return only", r"try `tr '\r' '\n'`"),
}


class Access(NamedTuple):
    """How to get at a table, beside its path; `option` is what an option is called in messages."""

    sheet: str | None = None
    query: str | None = None
    encoding: str | None = None
    option: OptionWords = as_argument

    @property
    def of_seeds(self) -> "Access":
        """How to get at labels already owned: their encoding is that of the table."""
        return self._replace(sheet=None, query=None)

    def refuse_others(self, name: str, kind: str, *used: str) -> None:
        """Refuse what this kind of table does not need."""
        for one in ("sheet", "query"):
            value = getattr(self, one)
            if value is not None and one not in used:
                refuse_table(name, Fault(f"no {one} for {kind}", shown(value)))


def head_of(path: str) -> bytes:
    """The first bytes of a file."""
    with open(path, "rb") as file:
        return file.read(FIRST_BYTES)


def foreign(head: bytes) -> tuple[str, str] | None:
    r"""The kind of a file that cannot be read here, and what to do with it; None for any other.

    >>> foreign(b"PK\x03\x04...")
    ('a zip file, or a workbook cut short', 'save the table as CSV')
    """
    return next((words for begin, words in FOREIGN.items() if re.match(begin, head)), None)


def is_json(head: bytes) -> bool:
    """Whether the file seems to hold JSON lines."""
    return head.lstrip().startswith(b"{")


def cut_short(words: str) -> Fault:
    """A Parquet file that polars cannot read, with its words."""
    return Fault("a whole Parquet file", f"one that may be cut short ({words})")


# -- the table ----------------------------------------------------------------------------------------


class TableSource:
    """A table by name, with its columns and their types; `text` says that text may stand for anything else.

    That is so in CSV, and not in a frame. Where polars cannot read the table, `find_fault` looks for the
    reason. `kept` lives as long as the table, `separator` parts the fields of a text file, and `option` is
    what an option is called in messages.

    >>> TableSource("two rows", pl.LazyFrame({"age": [61, 43]})).columns
    ['age']
    """

    def __init__(
        self,
        name: str,
        lazy: pl.LazyFrame,
        *,
        text: bool = False,
        separator: str | None = None,
        find_fault: Callable[[str], Fault | None] = lambda words: None,
        option: OptionWords = as_argument,
        kept: object = None,
    ) -> None:
        self.name, self.text, self.option, self._separator = name, text, option, separator
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
        """The rows with nothing in any of their fields, such as empty lines."""
        text = pl.selectors.string()
        nothing = pl.all_horizontal(
            pl.lit(True), (~text).is_null(), text.fill_null("").str.strip_chars() == ""
        )
        with self.telling():
            found = self._lazy.select(pl.arg_where(nothing)).collect(engine="streaming")
        return (found.to_series() + 1).to_list()

    def check_signs(self, some: pl.DataFrame | None = None) -> None:
        """Refuse a row of a text file whose fields another sign parts than those of the header.

        Looked at are `some` of the first rows, or all.
        """
        if self._separator is None or len(self.columns) < 2:
            return
        for sign in SEPARATORS.keys() - {self._separator}:
            first = pl.nth(0)
            other = (
                first.str.count_matches(sign, literal=True) == len(self.columns) - 1
            ) & pl.all_horizontal(pl.nth(range(1, len(self.columns))).is_null())
            with self.telling():
                looked_at = self._lazy if some is None else some.lazy()
                found = looked_at.select(first.alias("field"), other.alias("other")).with_row_index("row")
                rows = found.filter("other").head(1).collect(engine="streaming")
            if rows.height:
                came = f"{shown(rows['field'][0])}, parted by {SEPARATORS[sign]}"
                expected = f"fields parted by {SEPARATORS[self._separator]}, as in the header"
                self.refuse(expected, came, row=rows["row"][0] + 1)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Inside it, an error of polars becomes a `BadTable` that names the place."""
        try:
            yield
        except pl.exceptions.PolarsError as error:
            self._explain(error)

    def _explain(self, error: Exception) -> NoReturn:
        first = first_line(error)
        refuse_table(self.name, self._find_fault(first) or Fault("a table that can be read", first))

    def refuse_empty(self) -> NoReturn:
        """Say why there are no rows."""
        refuse_table(self.name, self._find_fault("") or Fault("rows below the header", "none"))

    def refuse(
        self, expected: str, came: str, *, row: int | None = None, column: str | None = None, hint: str = ""
    ) -> NoReturn:
        """Raise `BadTable`: where in the table, what was expected, and what came."""
        refuse_table(self.name, Fault(expected, came, row, column, hint))


# -- files -----------------------------------------------------------------------------------------------


def open_table(path: str | Path, access: Access = Access()) -> TableSource:  # noqa: B008  (a constant)
    """The table in a file, in a database by its address, or on standard input for `-`.

    >>> open_table("/no/such.csv")
    Traceback (most recent call last):
    breakeven.tables.faults.BadTable: /no/such.csv: expected a file, got none of that name
    """
    name = str(path)
    if access.encoding is not None:
        check_encoding(access.encoding)
    if databases.is_address(name):
        access.refuse_others(without_password(name), "a database", "query")
        called, frame = databases.read_database(name, access.query, access.option)
        return TableSource(called, frame.lazy(), text=True, option=access.option)
    if name == "-":
        return _from_standard_input(access)
    if not Path(path).exists():
        refuse_table(name, Fault("a file", "none of that name"))
    if Path(path).is_dir():
        refuse_table(name, Fault("a file", "a folder"))
    workbooks.check_owner_file(name)
    if Path(path).is_file():
        return _opened(name, name, access)
    with open(path, "rb") as pipe:
        copy = _Copy(name, _pieces(pipe))
    return _opened(name, copy.path, access, copy)


def _from_standard_input(access: Access) -> TableSource:
    name = "standard input"
    if sys.stdin is None:
        refuse_table(name, Fault("a table", "nothing: it is closed"))
    copy = _Copy(name, _pieces(sys.stdin.buffer))
    if not os.path.getsize(copy.path):
        refuse_table(
            name, Fault("a table with a header and rows", "nothing: it is empty, or was read before")
        )
    return _opened(name, copy.path, access, copy)


def _opened(name: str, path: str, access: Access, kept: object = None) -> TableSource:
    head = head_of(path)
    if head.startswith(GZIP_MARK):
        with gzip.open(path) as unpacked:
            copy = _Copy(name, _pieces(unpacked))
        return _opened(name, copy.path, access, copy)
    if head.startswith(PARQUET_MARK) or name.endswith(".parquet"):
        access.refuse_others(name, "a Parquet file")
        lazy = pl.scan_parquet(path, glob=False)
        return TableSource(name, lazy, find_fault=cut_short, option=access.option, kept=kept)
    if workbooks.is_workbook(head, path):
        access.refuse_others(name, "a workbook", "sheet")
        called, frame = workbooks.read_sheet(name, path, access.sheet, access.option)
        return TableSource(called, frame.lazy(), text=True, option=access.option)
    access.refuse_others(name, "a text file")
    if not is_utf_8(access.encoding):
        copy = _recoded(name, path, str(access.encoding))
        return _text_table(name, copy.path, access, copy)
    return _text_table(name, path, access, kept)


def _text_table(name: str, path: str, access: Access, kept: object) -> TableSource:
    head, option = head_of(path), access.option
    if not head.strip():
        refuse_table(name, Fault("a table with a header and rows", "nothing: it is empty"))
    other = foreign(head)
    if other is not None:
        hint = f"{other[1]}, or say {option('encoding', 'utf-16')}" if other[0] == UTF_16 else other[1]
        refuse_table(name, Fault("CSV, TSV, Parquet, JSON lines or Excel", other[0], hint=hint))
    if is_json(head):
        lazy = pl.scan_ndjson(escape(path), infer_schema_length=None)
        return TableSource(name, lazy, find_fault=lambda words: bad_json(path), option=option, kept=kept)
    found = header(path)
    fault = found if isinstance(found, Fault) else bad_header(found[1], option)
    if isinstance(found, Fault) or fault is not None:
        refuse_table(name, fault or Fault("a header", "none"))
    sign = found[0]
    return TableSource(
        name,
        pl.scan_csv(path, separator=sign, infer_schema=False, glob=False),  # we say what is no number
        text=True,
        separator=sign,
        find_fault=lambda words: bad_text(path, sign, option),
        option=option,
        kept=kept,
    )


def _recoded(name: str, path: str, encoding: str) -> "_Copy":
    """A copy of text in UTF-8."""
    with open(path, "rb") as file:
        try:
            return _Copy(name, converted(file, encoding))
        except UnicodeError as error:
            refuse_table(name, undecodable(error, encoding))


def _pieces(stream: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    return iter(lambda: stream.read(FIRST_BYTES), b"")


class _Copy:
    """A copy of a stream on disk, since it may be larger than memory; deleted with this object."""

    def __init__(self, name: str, pieces: Iterable[bytes]) -> None:
        handle, self.path = tempfile.mkstemp(prefix="breakeven-")
        remove = weakref.finalize(self, Path(self.path).unlink, missing_ok=True)
        if hasattr(signal, "siginterrupt"):
            signal.siginterrupt(signal.SIGINT, True)  # polars lets reads go on after Ctrl-C
        try:
            with open(handle, "wb") as file:
                for piece in pieces:
                    file.write(piece)
        except BaseException as error:
            remove()
            _refuse_copy(name, self.path, error)
            raise


def _refuse_copy(name: str, path: str, error: BaseException) -> None:
    if isinstance(error, EOFError | zlib.error | gzip.BadGzipFile):
        refuse_table(name, Fault("a whole gzip file", "one that is cut short or damaged"))
    if isinstance(error, OSError):
        refuse_table(name, Fault(f"room for a copy at {path}", f"{error.strerror}"))


# -- frames -------------------------------------------------------------------------------------------


def any_table(name: str, table: Any, access: Access) -> TableSource:
    """The table at a path or an address, or a frame under a name for messages."""
    if isinstance(table, str | Path):
        return open_table(table, access)
    access.refuse_others(name, "a frame")
    return framed(name, table)


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
    expect.refuse("df", "a frame of polars or pandas, or the path of a table", frame)


def _of_pandas(name: str, frame: Any) -> pl.DataFrame:
    """A pandas frame by way of NumPy and lists: polars itself would need pyarrow for it."""
    names = [str(one) for one in frame.columns]
    fault = twice(names)
    if fault is not None:
        refuse_table(name, fault)
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
