"""What a column holds, and how it is read: a whole column, and a single value as a column of one.

A reader leaves null what it cannot read, so what was there before and is not there afterwards is a fault.
"""

from functools import lru_cache
from math import inf, nan
from typing import Any, Literal

import polars as pl

from breakeven.errors import expect

Kind = Literal["number", "truth", "whole", "text"]

LARGEST = 1e30  # size of a number: the squares of such numbers, and what is made of them, are finite
MOSTLY = 0.9  # part of the text in a column that must be numbers, for the rest to be faults
LOOKED_AT = 1_000  # values that say what text stands for
REMEMBERED = 10_000  # single values: a column of one takes polars a millisecond
MISSING = [
    "", "?", "na", "n/a", "#n/a", "#na", "#n/a n/a", "<na>", "nan", "-nan", "+nan", "1.#ind", "-1.#ind",
    "1.#qnan", "-1.#qnan", "null", "none",
]  # fmt: skip
TRUTHS = {"true": 1, "false": 0, "1": 1, "0": 0, "1.0": 1, "0.0": 0}
WORDS: dict[Kind, str] = {
    "number": "a finite number",
    "truth": "true or false",
    "whole": "a whole number of 64 bits",
    "text": "text or a whole number",
}


# -- what a column holds ---------------------------------------------------------------------------------


def of_dtype(dtype: pl.DataType) -> Kind | None:
    """What a column of such a type holds; None where we can make nothing of it.

    >>> of_dtype(pl.Int8()), of_dtype(pl.Boolean()), of_dtype(pl.Date())
    ('number', 'truth', None)
    """
    if dtype.is_numeric():
        return "number"
    if dtype == pl.Boolean:
        return "truth"
    return "text" if _is_text(dtype) else None


def of_text(column: pl.Series) -> Kind | None:
    """What text in a file stands for; None where all is missing. A comma may be meant for a point.

    >>> texts = ["1.5", "?", "inf"], ["True", "false"], ["1x"]
    >>> tuple(of_text(pl.Series(text)) for text in texts)
    ('number', 'truth', 'text')
    """
    words = column.filter(~_says_missing(column, "number").fill_null(True)).head(LOOKED_AT)
    words = words.str.strip_chars().str.to_lowercase()
    if words.is_empty():
        return None
    if words.is_in(["true", "false"]).all():
        return "truth"
    numbers = words.str.replace_all(",", "", literal=True).cast(pl.Float64, strict=False)
    return "number" if numbers.count() >= MOSTLY * len(words) else "text"


def _is_text(dtype: pl.DataType) -> bool:
    return dtype in (pl.String, pl.Categorical, pl.Enum)


# -- reading ---------------------------------------------------------------------------------------------


def read(column: pl.Series, kind: Kind) -> tuple[pl.Series, int | None]:
    """A column as values of a kind, null where one is missing, and the place of the first that is none.

    >>> values, bad = read(pl.Series(["1", " 2.5", "n/a", "x"]), "number")
    >>> values.to_list(), bad
    ([1.0, 2.5, None, None], 3)
    """
    values = READERS[kind](column)
    bad = column.is_not_null() & values.is_null()
    if bad.any():
        bad &= ~_says_missing(column, kind)
    return values, bad.arg_max() if bad.any() else None


def without_missing(column: pl.Series) -> pl.Series:
    """A column as it is, but for what says that it is missing."""
    missing = _says_missing(column, "text")
    return _where(~missing, column) if missing.any() else column


def one(name: str, value: Any, kind: Kind, *, required: bool = True) -> Any:
    """A single value, read as it would be in a column; None where it is missing and not `required`.

    >>> one("age", "61", "number"), one("age", "n/a", "number", required=False), one("ward", 3, "text")
    (61.0, None, '3')
    """
    if kind == "text" and type(value) is str and value:
        return value
    if kind == "number" and expect.is_number(value) and abs(number := _float(value)) <= LARGEST:
        return number
    try:
        known, bad = _alone(None if _is_na(value) else value, kind)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        known, bad = None, 0
    if bad is not None or (required and known is None):
        expect.refuse(name, complaint(value, kind)[0], value)
    return known


@lru_cache(REMEMBERED, typed=True)
def _alone(value: Any, kind: Kind) -> tuple[Any, int | None]:
    values, bad = read(pl.Series([value]), kind)
    return values[0], bad


def complaint(value: Any, kind: Kind) -> tuple[str, str]:
    """What was expected where this came instead, and a hint, if there is one."""
    if kind == "number" and LARGEST < abs(_float(value)) < inf:
        return f"a number of size {LARGEST:g} at most", "choose a larger unit"
    if kind == "number" and isinstance(value, str) and "," in value:
        return WORDS[kind], "write decimals with a point, and thousands without a sign"
    return WORDS[kind], ""


def _is_na(value: Any) -> bool:
    """Whether it is what pandas has for missing values; pandas is not imported to know."""
    return type(value).__name__ == "NAType"


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return nan
    except OverflowError:
        return inf


def _says_missing(column: pl.Series, kind: Kind) -> pl.Series:
    """Which values say that there is none; in text only the empty one does: NA may be Namibia."""
    if _is_text(column.dtype):
        words = column.cast(pl.String)
        return words == "" if kind == "text" else words.str.strip_chars().str.to_lowercase().is_in(MISSING)
    if column.dtype.is_float():
        return column.is_nan()
    return pl.repeat(False, len(column), eager=True)


def _numbers(column: pl.Series) -> pl.Series:
    if not column.dtype.is_numeric():
        column = _stripped(column)
    numbers = column.cast(pl.Float64, strict=False)
    return _where(numbers.abs() <= LARGEST, numbers)


def _truths(column: pl.Series) -> pl.Series:
    if column.dtype == pl.Boolean:
        return column.cast(pl.Int64)
    words = column.cast(pl.String) if column.dtype.is_numeric() else _stripped(column).str.to_lowercase()
    return words.replace_strict(TRUTHS, default=None, return_dtype=pl.Int64)


def _wholes(column: pl.Series) -> pl.Series:
    if not column.dtype.is_numeric():
        column = _stripped(column)
    wholes = column.cast(pl.Int64, strict=False)
    broken = column.dtype.is_float() or column.dtype.is_decimal()
    return _where(wholes == column.cast(pl.Float64), wholes) if broken else wholes


def _texts(column: pl.Series) -> pl.Series:
    text = column.cast(pl.String) if column.dtype.is_integer() else _text(column)
    return _where(text != "", text)


def _stripped(column: pl.Series) -> pl.Series:
    return _text(column).str.strip_chars()


def _text(column: pl.Series) -> pl.Series:
    """A column of text as such; any other has none."""
    if _is_text(column.dtype):
        return column.cast(pl.String)
    return pl.repeat(None, len(column), dtype=pl.String, eager=True)


def _where(condition: pl.Series, values: pl.Series) -> pl.Series:
    return pl.select(pl.when(condition).then(values)).to_series()


READERS = {"number": _numbers, "truth": _truths, "whole": _wholes, "text": _texts}
