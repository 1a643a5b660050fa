"""A frame of polars or pandas as a source; pandas is never imported, only understood."""

from typing import Any

import polars as pl

from breakeven.errors import expect
from breakeven.tables.source import Source


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
        return Source(name, _of_pandas(frame).lazy())
    expect.refuse("df", "a frame of polars or pandas", frame)


def _of_pandas(frame: Any) -> pl.DataFrame:
    """By way of NumPy and lists: polars itself would need pyarrow for it."""
    return pl.DataFrame({str(name): _column(frame[name]) for name in frame.columns}, strict=False)


def _column(series: Any) -> Any:
    if getattr(series.dtype, "kind", "O") in "iufbM" and hasattr(series.dtype, "itemsize"):
        values = series.to_numpy()
        if values.dtype.kind in "iufbM":
            return values
    values = zip(series.astype(object).tolist(), series.isna().tolist(), strict=True)
    return [None if missing else one for one, missing in values]
