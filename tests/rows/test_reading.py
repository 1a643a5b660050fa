"""One value is read as it is in a column of a table."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven.errors import InvalidInput
from breakeven.rows.reading import SPACES, read_value
from breakeven.tables.kinds import COLUMN_READERS, read_column

VALUES = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64) | st.floats() | st.text() | st.binary()
    | st.sampled_from(["NA", "1.5", " 2", "1e40", "true", "FALSE", "03", "-inf", "1,5", "?"])
    | st.text("0123456789+-.eE_ naifx\x1c\x85\u3000١ſ", max_size=8)
)  # fmt: skip


@given(VALUES, st.sampled_from(sorted(COLUMN_READERS)))
def test_a_value_alone_is_read_as_in_a_column(value, kind):
    values, bad = read_column(pl.Series([value]), kind)
    try:
        assert (read_value("x", value, kind, required=False), bad) == (values[0], None)
    except InvalidInput:
        assert bad == 0


READ = {
    "number": [(61, 61.0), ("61", 61.0), (" 6e1 ", 60.0), (Decimal("1.5"), 1.5), (np.float32(2.0), 2.0)],
    "truth": [(True, 1), ("FALSE", 0), (np.True_, 1), (0.0, 0), ("1", 1)],
    "whole": [(3, 3), ("3", 3), (3.0, 3), (np.int8(3), 3)],
    "text": [("3", "3"), (3, "3"), ("NA", "NA"), (np.str_("x"), "x")],
    "yes_no": [("Yes", 1), (" n ", 0), ("TRUE", 1), (False, 0), (1, 1), (0.0, 0)],
}
MISSING = {
    "number": [None, "", "n/a", float("nan"), pd.NA],
    "truth": [None, "?"],
    "whole": [None, "NA"],
    "text": [None, ""],
    "yes_no": [None, "n/a", float("nan")],
}
REFUSED = {
    "number": ["sixty", True, float("inf"), 1e300, 10**400, [1], b"1", "1,5"],
    "truth": ["yes", 2, [True]],
    "whole": [True, 0.5, Decimal("0.5"), "3.0", 2**63, 10**40, "x"],
    "text": [3.0, True, b"x", ["x"], {}],
    "yes_no": ["maybe", 2, 0.5, ["yes"]],
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
