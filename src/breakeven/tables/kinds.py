"""What a column of a table holds, and how a whole column is read; one value is read by `breakeven.rows`.

What cannot be read becomes null. So a value that was there before reading and is null afterwards is a fault.
"""

import re
from collections.abc import Callable

import polars as pl

from breakeven.rows.reading import (
    LARGEST_VALUE,
    MISSING_WORDS,
    NUMBER_FORMS,
    PLAIN_WRITING,
    THOUSANDS_SIGNS,
    TRUTH_WORDS,
    YES_NO_WORDS,
    DecimalSign,
    Kind,
    Writing,
)
from breakeven.rows.times import DATE_ORDERS, MICROSECONDS_A_DAY, DateOrder, days_of

NEARLY_ALL = 0.9  # part of the text in a column that must be numbers, for the rest to be faults
LOOKED_AT = 1_000  # values that say what text stands for
ROWS_TO_JUDGE = 20  # before a column is taken for row numbers or ids
LEAST_LONG_ID = 10**12  # whole numbers that are all different and as long as this are no measurements
ID_NAME = re.compile(r"(^|[^a-z])(id|ids|uuid|guid|index|idx|key|nr|rownum|row number)$|[a-z]I[Dd]$")


# -- what a column holds ---------------------------------------------------------------------------------


def of_dtype(dtype: pl.DataType) -> Kind | None:
    """What a column of this polars type holds; None if it cannot be used.

    >>> of_dtype(pl.Int8()), of_dtype(pl.Boolean()), of_dtype(pl.Date()), of_dtype(pl.Duration())
    ('number', 'truth', 'time', None)
    """
    if dtype.is_numeric():
        return "number"
    if dtype == pl.Boolean:
        return "truth"
    if dtype in (pl.Date, pl.Datetime, pl.Time):
        return "time"
    return "text" if is_text(dtype) else None


def of_text(column: pl.Series) -> Kind | None:
    """What the text of a column holds; None where all is missing. A comma may be a decimal point.

    >>> texts = ["1.5", "?", "inf"], ["True", "false"], ["1x"], ["No", "yes"], ["31.1.2024"]
    >>> tuple(of_text(pl.Series(text)) for text in texts)
    ('number', 'truth', 'text', 'yes_no', 'time')
    """
    found = words_of(column)
    words = found.str.to_lowercase()
    if words.is_empty():
        return None
    if words.is_in(["true", "false"]).all():
        return "truth"
    signs = "|".join(f"({form})" for form in NUMBER_FORMS.values())
    numbers = words.cast(pl.Float64, strict=False).is_not_null() | words.str.contains(f"^({signs})$")
    if numbers.sum() >= NEARLY_ALL * len(words):
        return "number"
    if says_yes_no(words):
        return "yes_no"
    moments = max(_times_of_text(found, order).count() for order in DATE_ORDERS)
    return "time" if moments >= NEARLY_ALL * len(words) else "text"


def words_of(column: pl.Series, first: int | None = LOOKED_AT) -> pl.Series:
    """The first words of a column of text that do not stand for a missing value; all of them for None."""
    text = column.cast(pl.String)
    known = text.filter(~_says_missing(text, "number").fill_null(True))
    return (known if first is None else known.head(first)).str.strip_chars()


def says_yes_no(column: pl.Series) -> bool:
    """Whether the first words of a column of text are all yes and no.

    >>> says_yes_no(pl.Series(["Yes", "n", None])), says_yes_no(pl.Series(["yes", "maybe"]))
    (True, False)
    """
    words = words_of(column)
    return not words.is_empty() and _yes_nos(words, PLAIN_WRITING).null_count() == 0


def decimal_signs(column: pl.Series) -> list[DecimalSign]:
    """The decimal signs with which every number in a column of text can be read; none where they are mixed.

    >>> columns = ["1,5", "2"], ["1.5"], ["1,500"], ["1.5", "2,5"]
    >>> [decimal_signs(pl.Series(column)) for column in columns]
    [[','], ['.'], ['.', ','], []]
    """
    words = words_of(column, None)
    like_numbers = words.filter(words.str.contains(r"^[+-]?[0-9.,][0-9., '’\xa0\u2009\u202f]*$"))
    return [sign for sign, form in NUMBER_FORMS.items() if like_numbers.str.contains(f"^({form})$").all()]


def date_orders(words: pl.Series) -> list[DateOrder]:
    """The orders of day, month and year with which most words can be read, several where that is a tie.

    >>> columns = ["2024-01-31"], ["31/1/2024", "1/2/2024"], ["1/2/2024"], ["1.2.2024"]
    >>> [date_orders(pl.Series(column)) for column in columns]
    [['ymd'], ['dmy'], ['dmy', 'mdy'], ['dmy']]
    """
    counts = {order: _times_of_text(words, order).count() for order in DATE_ORDERS}
    most = max(counts.values())
    if counts["ymd"] == most:  # which can be read in no other way, but for names of months
        return ["ymd"]
    return [order for order, count in counts.items() if count == most]


def names_rows(column: pl.Series) -> bool:
    """Whether the first values of a column of numbers seem to number or to name the rows.

    They are whole, all different, and one after the other, or very long, or called an id.

    >>> columns = range(30), [10**17 + 7, 10**17 + 9], [3, 1, 2], [0.5, 1.5]
    >>> [names_rows(pl.Series("n", list(column))) for column in columns]
    [True, True, False, False]
    """
    whole = sorted(_whole_numbers(column))
    if len(whole) < 2 or len(set(whole)) < len(whole):
        return False
    if whole[0] >= LEAST_LONG_ID:
        return True
    if len(whole) < ROWS_TO_JUDGE:
        return False
    name = re.sub(r"[_\s-]+", " ", column.name.strip())
    called = ID_NAME.search(name) is not None or ID_NAME.search(name.lower()) is not None
    return called or whole[-1] - whole[0] == len(whole) - 1


def _whole_numbers(column: pl.Series) -> list[int]:
    """The column as whole numbers, if there is one in every row; else nothing."""
    if column.dtype.is_integer():
        return [] if column.null_count() else column.to_list()
    if not is_text(column.dtype):
        return []
    words = column.cast(pl.String).str.strip_chars()
    whole = words.str.contains("^[0-9]{1,36}$").fill_null(False).all()
    return [int(word) for word in words] if whole else []


def all_differ(column: pl.Series) -> bool:
    """Whether no text comes twice among the first values of a column, of which there are enough to judge."""
    return len(column) >= ROWS_TO_JUDGE and column.n_unique() == len(column)


def is_text(dtype: pl.DataType) -> bool:
    """Whether a column of this type holds text."""
    return dtype in (pl.String, pl.Categorical, pl.Enum)


# -- reading ---------------------------------------------------------------------------------------------


def read_column(
    column: pl.Series, kind: Kind, writing: Writing = PLAIN_WRITING
) -> tuple[pl.Series, int | None]:
    """A column as values of a kind, null where one is missing, and the place of the first that is none.

    >>> values, bad = read_column(pl.Series(["1", " 2.5", "n/a", "x"]), "number")
    >>> values.to_list(), bad
    ([1.0, 2.5, None, None], 3)
    """
    values = COLUMN_READERS[kind](column, writing)
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
    if is_text(column.dtype):
        words = column.cast(pl.String)
        return (
            words == "" if kind == "text" else words.str.strip_chars().str.to_lowercase().is_in(MISSING_WORDS)
        )
    if column.dtype.is_float():
        return column.is_nan()
    return pl.repeat(False, len(column), eager=True)


def _numbers(column: pl.Series, writing: Writing) -> pl.Series:
    if not column.dtype.is_numeric():
        column = _plain_numbers(_stripped(column), writing.decimal)
    numbers = column.cast(pl.Float64, strict=False)
    return _where(numbers.abs() <= LARGEST_VALUE, numbers)


def _plain_numbers(words: pl.Series, sign: DecimalSign | None) -> pl.Series:
    """Words as numbers that have a point and no thousands; null where they do not have that decimal sign."""
    if sign is None:
        return words
    numbers = _where(words.str.contains(f"^({NUMBER_FORMS[sign]})$"), words)
    for one in THOUSANDS_SIGNS[sign]:
        numbers = numbers.str.replace_all(one, "", literal=True)
    return numbers.str.replace(sign, ".", literal=True)


def _truths(column: pl.Series, writing: Writing, known: dict[str, int] = TRUTH_WORDS) -> pl.Series:
    if column.dtype == pl.Boolean:
        return column.cast(pl.Int64)
    words = column.cast(pl.String) if column.dtype.is_numeric() else _stripped(column).str.to_lowercase()
    return words.replace_strict(known, default=None, return_dtype=pl.Int64)


def _yes_nos(column: pl.Series, writing: Writing) -> pl.Series:
    return _truths(column, writing, YES_NO_WORDS)


def _wholes(column: pl.Series, writing: Writing) -> pl.Series:
    if not column.dtype.is_numeric():
        column = _stripped(column)
    wholes = column.cast(pl.Int64, strict=False)
    broken = column.dtype.is_float() or column.dtype.is_decimal()
    return _where(wholes == column.cast(pl.Float64), wholes) if broken else wholes


def _times(column: pl.Series, writing: Writing) -> pl.Series:
    """Moments in days; whole microseconds until the last division, as `rows.times` has it."""
    if not column.dtype.is_temporal() or column.dtype == pl.Duration:
        return _times_of_text(_text(column), writing.dates)
    if column.dtype == pl.Time:
        micros = column.cast(pl.Int64) // 1_000
    else:
        if isinstance(column.dtype, pl.Datetime) and column.dtype.time_zone is not None:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        micros = column.cast(pl.Datetime("us")).cast(pl.Int64)
    days = micros.fill_null(0).to_numpy() / MICROSECONDS_A_DAY  # polars divides otherwise, by a last digit
    return _where(micros.is_not_null(), pl.Series(days))


def _times_of_text(words: pl.Series, order: DateOrder | None) -> pl.Series:
    """Every word is read once, however often it comes, and as a single value is."""
    different = words.unique().drop_nulls()
    days = pl.Series([days_of(word, order) for word in different], dtype=pl.Float64)
    return words.replace_strict(different, days, default=None, return_dtype=pl.Float64)


def _texts(column: pl.Series, writing: Writing) -> pl.Series:
    text = column.cast(pl.String) if column.dtype.is_integer() else _text(column)
    return _where(text != "", text)


def _stripped(column: pl.Series) -> pl.Series:
    return _text(column).str.strip_chars()


def _text(column: pl.Series) -> pl.Series:
    """A column of text as it is; of any other column, nulls."""
    if is_text(column.dtype):
        return column.cast(pl.String)
    return pl.repeat(None, len(column), dtype=pl.String, eager=True)


def _where(condition: pl.Series, values: pl.Series) -> pl.Series:
    return pl.select(pl.when(condition).then(values)).to_series()


COLUMN_READERS: dict[Kind, Callable[[pl.Series, Writing], pl.Series]] = {
    "number": _numbers,
    "truth": _truths,
    "whole": _wholes,
    "text": _texts,
    "yes_no": _yes_nos,
    "time": _times,
}
