"""A table to read: CSV, TSV, Parquet, JSON lines, standard input or a frame, in batches through polars.

The kind is told by what the file begins with, not by its name. Rows count from 1, a header left out.
"""

import gzip
import os
import shutil
import signal
import sys
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import IO, NoReturn

import polars as pl

from breakeven.errors import BreakevenError
from breakeven.tables.reading.faults import Fault, bad_header, bad_json, bad_text, cut_short
from breakeven.tables.reading.formats import GZIP, PARQUET, foreign, head_of, header, is_json

BATCH = 250_000  # rows at a time


class BadTable(BreakevenError, ValueError):
    """A table that cannot be used; the message names the file and, where it can, the row and the column.

    >>> issubclass(BadTable, ValueError)
    True
    """


class Source:
    """A table by name, its columns and their types; in a table of `text`, numbers are written as such.

    `find_fault` looks for what is wrong where polars cannot read it and says why. What is `kept` lives as
    long as the table.

    >>> Source("two rows", pl.LazyFrame({"age": [61, 43]})).columns
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
            yield from self._lazy.select(columns).collect_batches(chunk_size=BATCH, maintain_order=True)

    def empty_rows(self) -> list[int]:
        """The rows of a text file with nothing in any of their fields, such as empty lines."""
        nothing = pl.all_horizontal(pl.all().fill_null("").str.strip_chars() == "")
        with self.telling():
            found = self._lazy.select(pl.arg_where(nothing)).collect(engine="streaming")
        return (found.to_series() + 1).to_list()

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Inside it what polars raises is told in our words."""
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
        """Say where in the table what was expected, and what came."""
        _refuse(self.name, Fault(expected, came, row, column, hint))


# -- files -----------------------------------------------------------------------------------------------


def open_table(path: str | Path) -> Source:
    """The table in a file, or on standard input for `-`.

    >>> open_table("/no/such.csv")
    Traceback (most recent call last):
    breakeven.tables.reading.source.BadTable: /no/such.csv: expected a file, got none of that name
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


def _from_standard_input() -> Source:
    name = "standard input"
    if sys.stdin is None:
        _refuse(name, Fault("a table", "nothing: it is closed"))
    copy = _Copy(name, sys.stdin.buffer)
    if not os.path.getsize(copy.path):
        _refuse(name, Fault("a table with a header and rows", "nothing: it is empty, or was read before"))
    return _opened(name, copy.path, copy)


def _opened(name: str, path: str, kept: object = None) -> Source:
    head = head_of(path)
    if head.startswith(GZIP):
        with gzip.open(path) as unpacked:
            copy = _Copy(name, unpacked)
        return _opened(name, copy.path, copy)
    if head.startswith(PARQUET) or name.endswith(".parquet"):
        return Source(name, pl.scan_parquet(path, glob=False), find_fault=cut_short, kept=kept)
    if not head.strip():
        _refuse(name, Fault("a table with a header and rows", "nothing: it is empty"))
    other = foreign(head)
    if other is not None:
        _refuse(name, Fault("CSV, TSV, Parquet or JSON lines", other[0], hint=other[1]))
    if is_json(head):
        lazy = pl.scan_ndjson(escape(path), infer_schema_length=None)
        return Source(name, lazy, find_fault=lambda words: bad_json(path), kept=kept)
    separator, names = header(path)
    fault = bad_header(names)
    if fault is not None:
        _refuse(name, fault)
    lazy = pl.scan_csv(path, separator=separator, infer_schema=False, glob=False)  # we say what is no number
    return Source(name, lazy, text=True, find_fault=lambda words: bad_text(path, separator), kept=kept)


class _Copy:
    """What comes through a stream, on disk while somebody holds this: it may be longer than memory."""

    def __init__(self, name: str, stream: IO[bytes] | gzip.GzipFile) -> None:
        handle, self.path = tempfile.mkstemp(prefix="breakeven-")
        remove = weakref.finalize(self, Path(self.path).unlink, missing_ok=True)
        if hasattr(signal, "siginterrupt"):
            signal.siginterrupt(signal.SIGINT, True)  # polars has a read begin anew after Ctrl-C
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
