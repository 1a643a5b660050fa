"""The columns of a table that are needed, each read once for every role it has, in the order of arrival."""

from typing import NamedTuple

import numpy as np
import polars as pl

from breakeven.errors.expect import shown
from breakeven.tables.options import Options
from breakeven.tables.reading import kinds
from breakeven.tables.reading.columns import Columns
from breakeven.tables.reading.kinds import Kind
from breakeven.tables.reading.source import Source

LABEL, TYPE, COST = "\0label", "\0type", "\0cost"  # no columns of a table are called so
ORDER, ID, ROW = "\0order", "\0id", "\0row"

NO_LABEL = "labels are numbers: write yes and no as 1 and 0"
NO_TYPE = "types are text, or whole numbers: write any others as text"
NO_FEATURE = "leave it empty where it is missing, or choose other --features"
DATES = ("%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S%.f", "%+")


class Role(NamedTuple):
    """What a column is read for, and as which kind; as it is where that is None."""

    column: str
    kind: Kind | None = None
    hint: str = ""
    feature: bool = False


def roles_of(columns: Columns, options: Options) -> dict[str, Role]:
    """Every role that a column has, by the name of what is read for it; features keep theirs."""
    roles = {LABEL: Role(columns.label, columns.label_kind, NO_LABEL)}
    roles |= {one.name: Role(one.name, one.kind, NO_FEATURE, True) for one in columns.features}
    if columns.type is not None:
        roles[TYPE] = Role(columns.type, columns.type_kind, NO_TYPE)
    if options.cost_column is not None:
        roles[COST] = Role(options.cost_column, "number")
    if options.order is not None:
        roles[ORDER] = Role(options.order)
    if options.id is not None:
        roles[ID] = Role(options.id)
    return roles


def read(source: Source, roles: dict[str, Role]) -> pl.DataFrame:
    """What is read for each role, null where it is missing, and which row of the table each row is."""
    names = list(dict.fromkeys(role.column for role in roles.values()))
    batches, rows = [], 0
    for batch in source.batches(names):
        read = {name: _values(source, batch[role.column], role, rows) for name, role in roles.items()}
        index = np.arange(rows + 1, rows + 1 + batch.height, dtype=np.uint32)
        batches.append(pl.DataFrame({**read, ROW: index}))
        rows += batch.height
    frame = _without_empty_rows(source, pl.concat(batches, rechunk=True)) if batches else pl.DataFrame()
    if frame.height == 0:
        source.refuse_empty()
    return in_order(source, frame, roles[ORDER].column) if ORDER in roles else frame


def _values(source: Source, column: pl.Series, role: Role, before: int) -> pl.Series:
    if role.kind is None:
        return kinds.without_missing(column)
    values, bad = kinds.read(column, role.kind)
    if bad is None:
        return values
    expected, hint = kinds.complaint(column[bad], role.kind)
    source.refuse(
        expected, shown(column[bad]), row=before + bad + 1, column=role.column, hint=hint or role.hint
    )


def _without_empty_rows(source: Source, frame: pl.DataFrame) -> pl.DataFrame:
    """In a text file an empty line is no row; there is one only where all that is needed is missing."""
    nothing = pl.all_horizontal(pl.exclude(ROW).is_null())
    if not source.text or frame.filter(nothing).is_empty():
        return frame
    return frame.filter(~pl.col(ROW).is_in(source.empty_rows()))


# -- order -----------------------------------------------------------------------------------------------


def in_order(source: Source, frame: pl.DataFrame, column: str) -> pl.DataFrame:
    """The rows sorted by number or by time; equal ones as they are."""
    missing = frame[ORDER].is_null()
    if missing.any():
        row = frame.filter(missing)[ROW][0]
        source.refuse("something to sort by", "a missing value", row=row, column=column)
    key = frame[ORDER]
    if kinds.of_dtype(key.dtype) == "text":
        key, bad = _sortable(key.cast(pl.String))
        if bad is not None:
            source.refuse(
                "numbers or dates to sort by",
                shown(frame[ORDER][bad]),
                row=frame[ROW][bad],
                column=column,
                hint="write dates as 2024-01-31 or 2024-01-31T18:30:00",
            )
    return frame.with_columns(key.alias(ORDER)).sort(ORDER, maintain_order=True)


def _sortable(text: pl.Series) -> tuple[pl.Series, int | None]:
    """Text as numbers or, if all are written alike, as dates; and the place of the first that is neither."""
    key, _ = kinds.read(text, "number")
    dates = text.str.strip_chars().str.replace(" ", "T", literal=True)
    for form in DATES:
        if key.null_count():
            key = max(key, dates.str.to_datetime(form, time_unit="us", strict=False), key=pl.Series.count)
    return key, key.is_null().arg_max() if key.null_count() else None
