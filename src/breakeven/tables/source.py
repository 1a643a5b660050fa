"""A table to read: CSV, TSV, Parquet, JSON lines, standard input or a frame, in batches through polars.

The kind is told by what the file begins with, not by its name. Rows count from 1, a header left out.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from glob import escape
from pathlib import Path
from typing import IO, Any, NoReturn

import polars as pl

from breakeven.errors import BreakevenError
from breakeven.errors.expect import shown
from breakeven.tables.faults import bad_json, bad_text

BATCH = 250_000  # rows at a time
MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"]
MARK = b"PAR1"


class BadTable(BreakevenError, ValueError):
    """A table that cannot be used; the message names the file and, where it can, the row and the column.

    >>> issubclass(BadTable, ValueError)
    True
    """


class Source:
    """A table by name, its columns and their types; `text_numbers`: numbers in it are written as text.

    >>> Source("two rows", pl.LazyFrame({"age": [61, 43]})).columns
    ['age']
    """

    def __init__(
        self, name: str, lazy: pl.LazyFrame, *, text_numbers: bool = False, path: str | None = None
    ) -> None:
        self.name, self.text_numbers = name, text_numbers
        self._lazy, self._path = lazy, path
        with _Told(self):
            self.schema = lazy.collect_schema()

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in their order."""
        return self.schema.names()

    def sample(self, rows: int) -> pl.DataFrame:
        """The first rows."""
        with _Told(self):
            return self._lazy.head(rows).collect()

    def batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Some columns, a batch of rows after the other."""
        with _Told(self):
            yield from self._lazy.select(columns).collect_batches(chunk_size=BATCH, maintain_order=True)

    def refuse(
        self, expected: str, came: str, *, row: int | None = None, column: str | None = None, hint: str = ""
    ) -> NoReturn:
        """Say where in the table what was expected, and what came."""
        place = [self.name]
        place += [] if row is None else [f"row {row:,}"]
        place += [] if column is None else [f"column {shown(column)}"]
        raise BadTable(f"{', '.join(place)}: expected {expected}, got {came}" + (f"; {hint}" if hint else ""))

    def explain(self, error: Exception) -> NoReturn:
        """What polars could not read, in our words."""
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if self._path is None:
            self.refuse("a table that polars can read", first)
        head = _head(self._path)
        if head.startswith(MARK) or self._path.endswith(".parquet"):
            self.refuse("a whole Parquet file", f"one that may be cut short ({first})")
        if not head.strip():
            self.refuse("a table with a header and rows", "nothing: it is empty")
        found = bad_json(self._path) if _is_json(head) else bad_text(self._path, _separator(head))
        if found is not None:
            self.refuse(found.expected, found.came, row=found.row, column=found.column)
        self.refuse("a table of rows that all have the columns of the header", first)


class _Told:
    """Inside it what polars raises is told in our words."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, pl.exceptions.PolarsError):
            self._source.explain(error)


def open_table(path: str | Path) -> Source:
    """The table in a file, or on standard input for `-`.

    >>> open_table("/no/such.csv")
    Traceback (most recent call last):
    breakeven.tables.source.BadTable: /no/such.csv: expected a file, got none of that name
    """
    if str(path) == "-":
        return _scanned("standard input", _kept(sys.stdin.buffer))
    if not Path(path).exists():
        raise BadTable(f"{path}: expected a file, got none of that name")
    if Path(path).is_dir():
        raise BadTable(f"{path}: expected a file, got a folder")
    return _scanned(str(path), str(path))


def _kept(stream: IO[bytes]) -> str:
    """What comes, kept in a file as long as the program runs: a table may be longer than memory."""
    import atexit

    with tempfile.NamedTemporaryFile(prefix="breakeven-", delete=False) as file:
        shutil.copyfileobj(stream, file)
    atexit.register(os.unlink, file.name)
    return file.name


def _scanned(name: str, path: str) -> Source:
    head = _head(path)
    if head.startswith(MARK) or path.endswith(".parquet"):
        return Source(name, pl.scan_parquet(path, glob=False), path=path)
    if _is_json(head):
        return Source(name, pl.scan_ndjson(escape(path), infer_schema_length=None), path=path)
    if not head.strip():
        raise BadTable(f"{name}: expected a table with a header and rows, got nothing: it is empty")
    lazy = pl.scan_csv(
        path, separator=_separator(head), infer_schema=False, null_values=MISSING, glob=False
    )  # all as text: then we can say which row is no number
    return Source(name, lazy, text_numbers=True, path=path)


def _head(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(65_536)


def _is_json(head: bytes) -> bool:
    return head.lstrip().startswith(b"{")


def _separator(head: bytes) -> str:
    first = head.split(b"\n", 1)[0]
    return max(",\t;", key=lambda sign: first.count(sign.encode()))
