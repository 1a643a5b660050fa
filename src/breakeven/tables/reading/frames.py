"""A frame of polars or pandas as a source; pandas is never imported, only understood."""

from contextlib import suppress
from typing import Any

import polars as pl

from breakeven.errors import expect
from breakeven.tables.reading.faults import twice
from breakeven.tables.reading.source import BadTable, Source


def framed(name: str, frame: Any) -> Source:
    """The frame under a name for messages.

    >>> framed("the frame", pl.DataFrame({"age": [1]})).columns
    ['age']
    """
    if isinstance(frame, pl.LazyFrame):
        return Source(name, frame)
    if isinstance(frame, pl.DataFrame):
        return Source(name, frame.lazy())
    if hasattr(frame, "columns") and hasattr(frame, "iloc"):
        return Source(name, _of_pandas(name, frame).lazy())
    expect.refuse("df", "a frame of polars or pandas", frame)


def _of_pandas(name: str, frame: Any) -> pl.DataFrame:
    """By way of NumPy and lists: polars itself would need pyarrow for it."""
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
