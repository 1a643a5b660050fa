"""One value is read as it is in a column of a table."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven.errors import InvalidInput
from breakeven.rows.reading import SPACES, Writing, read_value
from breakeven.tables.kinds import COLUMN_READERS, read_column

VALUES = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64) | st.floats() | st.text() | st.binary()
    | st.sampled_from(["NA", "1.5", " 2", "1e40", "true", "FALSE", "03", "-inf", "1,5", "?"])
    | st.text("0123456789+-.eE_ naifx\x1c\x85\u3000١ſ", max_size=8)
    | st.text("0123456789+-.,'’ e\xa0\u202f", max_size=9)
    | st.from_regex(r"[0-9]{1,2}[./-][0-9]{1,2}[./-](20)?[0-9]{2}( [0-9]{1,2}:[0-9]{2})?", fullmatch=True)
    | st.dates() | st.datetimes() | st.times()
    | st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))]))
)  # fmt: skip
WRITINGS = st.builds(Writing, st.sampled_from([None, ".", ","]), st.sampled_from([None, "ymd", "dmy", "mdy"]))


@given(VALUES, st.sampled_from(sorted(COLUMN_READERS)), WRITINGS)
def test_a_value_alone_is_read_as_in_a_column(value, kind, writing):
    values, bad = read_column(pl.Series([value]), kind, writing)
    try:
        assert (read_value("x", value, kind, writing, required=False), bad) == (values[0], None)
    except InvalidInput:
        assert bad == 0


READ = {
    "number": [(61, 61.0), ("61", 61.0), (" 6e1 ", 60.0), (Decimal("1.5"), 1.5), (np.float32(2.0), 2.0)],
    "truth": [(True, 1), ("FALSE", 0), (np.True_, 1), (0.0, 0), ("1", 1)],
    "whole": [(3, 3), ("3", 3), (3.0, 3), (np.int8(3), 3)],
    "text": [("3", "3"), (3, "3"), ("NA", "NA"), (np.str_("x"), "x")],
    "yes_no": [("Yes", 1), (" n ", 0), ("TRUE", 1), (False, 0), (1, 1), (0.0, 0), ("Ja", 1), ("nein", 0)],
    "time": [
        ("1970-01-02", 1.0),
        (" 2 Jan 1970 ", 1.0),
        ("January 2, 1970 6:00 pm", 1.75),
        (date(1970, 1, 2), 1.0),
        (datetime(1970, 1, 2, 12, tzinfo=UTC), 1.5),
        ("1970-01-02T12:00:00+06:00", 1.25),
        (time(6), 0.25),
        (pd.Timestamp("1970-01-02"), 1.0),
        (np.datetime64("1970-01-02T06"), 1.25),
    ],
}
MISSING = {
    "number": [None, "", "n/a", float("nan"), pd.NA],
    "truth": [None, "?"],
    "whole": [None, "NA"],
    "text": [None, ""],
    "yes_no": [None, "n/a", float("nan")],
    "time": [None, "", "n/a", pd.NaT],
}
REFUSED = {
    "number": ["sixty", True, float("inf"), 1e300, 10**400, [1], b"1", "1,5"],
    "truth": ["yes", 2, [True]],
    "whole": [True, 0.5, Decimal("0.5"), "3.0", 2**63, 10**40, "x"],
    "text": [3.0, True, b"x", ["x"], {}],
    "yes_no": ["maybe", 2, 0.5, ["yes"]],
    "time": ["soon", 5, 1.5, True, "2024-02-30", "25:00", "13:00 pm", "03/04/2024", "2024-01/02"],
}


@pytest.mark.parametrize("kind", COLUMN_READERS)
def test_values_of_a_kind(kind):
    assert [(value, read_value("x", value, kind)) for value, _ in READ[kind]] == READ[kind]
    assert [read_value("x", value, kind, required=False) for value in MISSING[kind]] == [None] * len(
        MISSING[kind]
    )
    for value in MISSING[kind] + REFUSED[kind]:
        with pytest.raises(InvalidInput, match="x: expected "):
            read_value("x", value, kind)
    for value in REFUSED[kind]:
        with pytest.raises(InvalidInput, match="x: expected "):
            read_value("x", value, kind, required=False)


def test_spaces_are_those_that_a_column_is_stripped_of():
    letters = [chr(code) for code in range(0x3001) if not 0xD800 <= code < 0xE000]
    stripped = pl.Series(letters).str.strip_chars()
    assert {letter for letter, left in zip(letters, stripped, strict=True) if not left} == set(SPACES)


def test_a_hint_is_given_where_there_is_one():
    with pytest.raises(InvalidInput, match=r"age: expected a finite number \(write decimals with a point"):
        read_value("age", "1,5", "number")
    with pytest.raises(
        InvalidInput, match=r"age: expected a number of size 1e\+30 at most \(choose a larger"
    ):
        read_value("age", 1e40, "number")


NUMBERS = {
    (".", "1,234.5"): 1234.5,
    (".", "1,234,567"): 1_234_567.0,
    (".", "1'234.5"): 1234.5,
    (",", "1.234,5"): 1234.5,
    (",", "1 234,5"): 1234.5,
    (",", "1\u202f234\u202f567,5"): 1_234_567.5,
    (",", "-,5e1"): -5.0,
    (",", "1.234"): 1234.0,
}


@pytest.mark.parametrize(("written", "number"), NUMBERS.items(), ids=map(repr, NUMBERS))
def test_numbers_are_read_with_the_decimal_sign_that_was_said(written, number):
    sign, text = written
    assert read_value("x", text, "number", Writing(decimal=sign)) == number


@pytest.mark.parametrize(
    "written", [(",", "1.5"), (".", "1,5"), (",", "1.234.56"), (".", "1,234 567"), (",", "12.34,5")]
)
def test_a_number_with_the_other_sign_is_refused(written):
    sign, text = written
    with pytest.raises(InvalidInput, match=f"x: expected a finite number with '{sign}' before its decimals"):
        read_value("x", text, "number", Writing(decimal=sign))


DATES = {("dmy", "3.4.2024"): date(2024, 4, 3), ("dmy", "03/04/24"): date(2024, 4, 3)} | {
    ("mdy", "03/04/1999"): date(1999, 3, 4),
    ("mdy", "3-4-99"): date(1999, 3, 4),
    ("ymd", "2024/4/3"): date(2024, 4, 3),
}


@pytest.mark.parametrize(("written", "day"), DATES.items(), ids=map(repr, DATES))
def test_dates_are_read_in_the_order_that_was_said(written, day):
    order, text = written
    assert read_value("x", text, "time", Writing(dates=order)) == (day - date(1970, 1, 1)).days


@pytest.mark.parametrize(("order", "example"), [("dmy", "31.01.2024"), ("mdy", "01/31/2024")])
def test_a_date_of_another_order_is_refused_with_an_example(order, example):
    with pytest.raises(InvalidInput, match=f"x: expected a date or a time such as {example} .*, got '2024-"):
        read_value("x", "2024-01-31", "time", Writing(dates=order))
