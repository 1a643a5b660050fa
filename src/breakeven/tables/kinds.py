"""What a column of a table holds, and how a whole column is read; one value is read by `breakeven.rows`.

What cannot be read becomes null. So a value that was there before reading and is null afterwards is a fault.
"""

import polars as pl

from breakeven.rows.reading import LARGEST_VALUE, MISSING_WORDS, TRUTH_WORDS, YES_NO_WORDS, Kind

NEARLY_ALL = 0.9  # part of the text in a column that must be numbers, for the rest to be faults
LOOKED_AT = 1_000  # values that say what text stands for


# -- what a column holds ---------------------------------------------------------------------------------


def of_dtype(dtype: pl.DataType) -> Kind | None:
    """What a column of this polars type holds; None if it cannot be used.

    >>> of_dtype(pl.Int8()), of_dtype(pl.Boolean()), of_dtype(pl.Date())
    ('number', 'truth', None)
    """
    if dtype.is_numeric():
        return "number"
    if dtype == pl.Boolean:
        return "truth"
    return "text" if _is_text(dtype) else None


def of_text(column: pl.Series) -> Kind | None:
    """What the text of a column holds; None where all is missing. A comma may be a decimal point.

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
    return "number" if numbers.count() >= NEARLY_ALL * len(words) else "text"


def says_yes_no(column: pl.Series) -> bool:
    """Whether the first words of a column of text are all yes and no.

    >>> says_yes_no(pl.Series(["Yes", "n", None])), says_yes_no(pl.Series(["yes", "maybe"]))
    (True, False)
    """
    words = column.filter(~_says_missing(column, "number").fill_null(True)).head(LOOKED_AT)
    return not words.is_empty() and _yes_nos(words).null_count() == 0


def _is_text(dtype: pl.DataType) -> bool:
    return dtype in (pl.String, pl.Categorical, pl.Enum)


# -- reading ---------------------------------------------------------------------------------------------


def read_column(column: pl.Series, kind: Kind) -> tuple[pl.Series, int | None]:
    """A column as values of a kind, null where one is missing, and the place of the first that is none.

    >>> values, bad = read_column(pl.Series(["1", " 2.5", "n/a", "x"]), "number")
    >>> values.to_list(), bad
    ([1.0, 2.5, None, None], 3)
    """
    values = COLUMN_READERS[kind](column)
    bad = column.is_not_null() & values.is_null()
    if bad.any():
        bad &= ~_says_missing(column, kind)
    return values, bad.arg_max() if bad.any() else None


def without_missing(column: pl.Series) -> pl.Series:
    """The column with null for every value that says that it is missing."""
    missing = _says_missing(column, "text")
    return _where(~missing, column) if missing.any() else column


def _says_missing(column: pl.Series, kind: Kind) -> pl.Series:
    """Which values stand for missing ones. In text only the empty value does: NA may be Namibia."""
    if _is_text(column.dtype):
        words = column.cast(pl.String)
        return (
            words == "" if kind == "text" else words.str.strip_chars().str.to_lowercase().is_in(MISSING_WORDS)
        )
    if column.dtype.is_float():
        return column.is_nan()
    return pl.repeat(False, len(column), eager=True)


def _numbers(column: pl.Series) -> pl.Series:
    if not column.dtype.is_numeric():
        column = _stripped(column)
    numbers = column.cast(pl.Float64, strict=False)
    return _where(numbers.abs() <= LARGEST_VALUE, numbers)


def _truths(column: pl.Series, known: dict[str, int] = TRUTH_WORDS) -> pl.Series:
    if column.dtype == pl.Boolean:
        return column.cast(pl.Int64)
    words = column.cast(pl.String) if column.dtype.is_numeric() else _stripped(column).str.to_lowercase()
    return words.replace_strict(known, default=None, return_dtype=pl.Int64)


def _yes_nos(column: pl.Series) -> pl.Series:
    return _truths(column, YES_NO_WORDS)


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
    """A column of text as it is; of any other column, nulls."""
    if _is_text(column.dtype):
        return column.cast(pl.String)
    return pl.repeat(None, len(column), dtype=pl.String, eager=True)


def _where(condition: pl.Series, values: pl.Series) -> pl.Series:
    return pl.select(pl.when(condition).then(values)).to_series()


COLUMN_READERS = {"number": _numbers, "truth": _truths, "whole": _wholes, "text": _texts, "yes_no": _yes_nos}
