"""A folder of Parquet files, read part by part: which files, in which order, and whether they fit together.

All schemas are looked at before the first row is decided. A part is at most `ROWS_A_PART` rows of one file.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import polars as pl
from msgspec import Struct

from breakeven.errors.expect import Array, shown
from breakeven.tables import kinds
from breakeven.tables.backfill.backfill_options import BackfillOptions
from breakeven.tables.faults import Fault, as_flag, first_line, refuse_table
from breakeven.tables.sources import cut_short

ROWS_A_PART = 2_000_000  # decided on in one go, and in one file of decisions
LARGEST_NUMBER = 1e100


class ArchiveFile(Struct, frozen=True):
    """A file: its name, its rows and its bytes."""

    name: str
    rows: int
    bytes: int


class Part(NamedTuple):
    """Some rows of a file, `start` of them being before; `number` counts the parts of the file from 0."""

    file: ArchiveFile
    number: int
    start: int
    rows: int

    @property
    def name(self) -> str:
        """What its decisions are called."""
        stem = self.file.name.removesuffix(".parquet")
        return f"{stem}.parquet" if self.file.rows <= ROWS_A_PART else f"{stem}.{self.number:04d}.parquet"


class PartRows(NamedTuple):
    """The rows of a part as columns, in order; `rows` has their numbers where some moved or were left out."""

    points: Any
    labels: Array
    keys: pl.Series | None
    ids: pl.Series | None
    rows: pl.Series | None
    dropped: int


class Archive:
    """The files of a folder, checked against the options."""

    def __init__(self, options: BackfillOptions) -> None:
        self._options, self.folder = options, Path(options.folder)
        self.files = self._listed()
        self.schema = self._checked_schema()
        if options.order is not None:
            self.files = self._sorted(options.order)
        self._check_names()

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(one.rows for one in self.files)

    def parts(self) -> Iterator[Part]:
        """All parts, in order."""
        for file in self.files:
            count = max(-(-file.rows // ROWS_A_PART), 1)
            ends = [file.rows * i // count for i in range(count + 1)]
            for number in range(count):
                yield Part(file, number, ends[number], ends[number + 1] - ends[number])

    # -- files -----------------------------------------------------------------------------------

    def _listed(self) -> list[ArchiveFile]:
        if not self.folder.is_dir():
            refuse_table(str(self.folder), Fault("a folder of Parquet files", "none of that name"))
        paths = sorted(self.folder.glob("*.parquet"))
        if not paths:
            refuse_table(str(self.folder), Fault("a folder of Parquet files", "one without any"))
        return [ArchiveFile(path.name, self._rows_in(path), path.stat().st_size) for path in paths]

    def _check_names(self) -> None:
        """Raise where the decisions on two files would have one name."""
        names: dict[str, str] = {}
        for part in self.parts():
            other = names.setdefault(part.name, part.file.name)
            if other != part.file.name:
                came = f"decisions on {other} and {part.file.name} that are both called {part.name}"
                refuse_table(str(self.folder), Fault("names that differ", came, hint="rename one of them"))

    def _rows_in(self, path: Path) -> int:
        return int(self._read(path, pl.scan_parquet(path, glob=False).select(pl.len())).item())

    def _read(self, path: Path, lazy: pl.LazyFrame) -> pl.DataFrame:
        try:
            return lazy.collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            refuse_table(str(path), cut_short(first_line(error)))

    def _checked_schema(self) -> dict[str, pl.DataType]:
        """The types of the columns that are read, which are the same in all files."""
        first: dict[str, pl.DataType] = {}
        for file in self.files:
            path = self.folder / file.name
            schema = self._schema(path)
            for name in self._options.columns:
                if name not in schema:
                    known = ", ".join(schema) or "none"
                    refuse_table(str(path), Fault(f"a column {shown(name)}", f"the columns {known}"))
                if name not in first:
                    self._check_kind(path, name, schema[name])
                    first[name] = schema[name]
                elif schema[name] != first[name]:
                    came = f"{schema[name]}, and {first[name]} in {self.files[0].name}"
                    refuse_table(str(path), Fault("one type in all files", came, column=name))
        return first

    def _schema(self, path: Path) -> dict[str, pl.DataType]:
        try:
            return dict(pl.read_parquet_schema(path))
        except (pl.exceptions.PolarsError, OSError) as error:
            refuse_table(str(path), cut_short(first_line(error)))

    def _check_kind(self, path: Path, name: str, dtype: pl.DataType) -> None:
        options, kind = self._options, kinds.of_dtype(dtype)
        if name in (options.label, *(options.features or ())) and kind not in ("number", "truth"):
            refuse_table(str(path), Fault("numbers", str(dtype), column=name))
        if name in (options.type, options.key) and not (dtype.is_integer() or kind in ("text", "truth")):
            refuse_table(str(path), Fault("whole numbers or text", str(dtype), column=name))

    def _sorted(self, order: str) -> list[ArchiveFile]:
        """The files by the first of their values; files whose values overlap are refused."""
        ends = []
        for file in self.files:
            path = self.folder / file.name
            by = pl.col(order)
            ends_of = (by.min().alias("low"), by.max().alias("high"), by.null_count().alias("missing"))
            found = self._read(path, pl.scan_parquet(path, glob=False).select(ends_of))
            low, high, missing = found.row(0)
            if missing:
                refuse_table(
                    str(path), Fault("a value in every row", f"{missing:,} rows without", column=order)
                )
            if file.rows:
                ends.append((low, high, file))
        ends.sort(key=lambda one: (one[0], one[2].name))
        for (_, high, before), (low, _, file) in pairwise(ends):
            if low < high:
                came = f"{shown(low)}, and {before.name} goes up to {shown(high)}"
                hint = "sort the archive before, or leave out " + as_flag("order")
                fault = Fault("files that follow one another", came, column=order, hint=hint)
                refuse_table(str(self.folder / file.name), fault)
        return [file for _, _, file in ends]

    # -- rows ------------------------------------------------------------------------------------

    def read(self, part: Part) -> PartRows:
        """The rows of a part, checked; with an order its whole file is sorted first."""
        path, options = self.folder / part.file.name, self._options
        lazy = pl.scan_parquet(path, glob=False).select(options.columns)
        if options.order is not None or options.drop_missing:
            lazy = lazy.with_row_index("\0row", 1)
        if options.order is not None:
            lazy = lazy.sort(options.order, maintain_order=True)
        frame = self._read(path, lazy.slice(part.start, part.rows))
        return self._columns(path, part, frame)

    def first(self, rows: int) -> PartRows:
        """The first rows of the archive, or fewer where the first file has fewer."""
        file = next((one for one in self.files if one.rows), None)
        if file is None:
            refuse_table(str(self.folder), Fault("rows", "none in any file"))
        return self.read(Part(file, 0, 0, min(rows, file.rows)))

    def _columns(self, path: Path, part: Part, frame: pl.DataFrame) -> PartRows:
        options, height = self._options, frame.height
        needed = [name for name in options.columns if name != options.id]
        if any(_missing(frame[name]) for name in needed):
            frame = self._without_missing(path, part, frame, needed)
        labels = frame[options.label].cast(pl.Float64).to_numpy()
        self._check_finite(path, part, frame, options.label, labels)
        return PartRows(
            points=self._types(frame) if options.type is not None else self._rows(path, part, frame),
            labels=labels,
            keys=None if options.key is None else _plain(frame[options.key]),
            ids=None if options.id is None else frame[options.id],
            rows=frame["\0row"] if "\0row" in frame.columns else None,
            dropped=height - frame.height,
        )

    def _types(self, frame: pl.DataFrame) -> Any:
        assert self._options.type is not None
        types = _plain(frame[self._options.type])
        return types.to_numpy() if types.dtype.is_integer() else types.to_list()

    def _rows(self, path: Path, part: Part, frame: pl.DataFrame) -> Array:
        columns = []
        for name in self._options.features or ():
            column = frame[name].cast(pl.Float64).to_numpy()
            self._check_finite(path, part, frame, name, column)
            columns.append(column)
        return np.ascontiguousarray(np.stack(columns, axis=1))

    def _without_missing(
        self, path: Path, part: Part, frame: pl.DataFrame, needed: Sequence[str]
    ) -> pl.DataFrame:
        if self._options.drop_missing:
            floats = [name for name in needed if frame.schema[name].is_float()]
            return frame.with_columns(pl.col(floats).fill_nan(None)).drop_nulls(needed)
        name = next(name for name in needed if _missing(frame[name]))
        column = frame[name]
        gone = column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()
        hint = f"say {as_flag('drop_missing')} to leave such rows out"
        self._refuse(path, part, frame, name, int(gone.arg_max() or 0), "a value", "none", hint)

    def _check_finite(self, path: Path, part: Part, frame: pl.DataFrame, name: str, values: Array) -> None:
        if values.dot(values) < LARGEST_NUMBER:  # false for NaN, too; nearly always enough
            return
        bad = ~(np.abs(values) < np.sqrt(LARGEST_NUMBER))
        if bad.any():
            place = int(bad.argmax())
            self._refuse(path, part, frame, name, place, "a finite number", f"{values[place]:g}")

    def _refuse(
        self,
        path: Path,
        part: Part,
        frame: pl.DataFrame,
        name: str,
        place: int,
        expected: str,
        came: str,
        hint: str = "",
    ) -> NoReturn:
        row = frame["\0row"][place] if "\0row" in frame.columns else part.start + place + 1
        refuse_table(str(path), Fault(expected, came, row=int(row), column=name, hint=hint))


def _missing(column: pl.Series) -> bool:
    return column.null_count() > 0 or (column.dtype.is_float() and bool(column.is_nan().any()))


def _plain(column: pl.Series) -> pl.Series:
    """Types and keys as whole numbers or text."""
    return column if column.dtype.is_integer() else column.cast(pl.String)
