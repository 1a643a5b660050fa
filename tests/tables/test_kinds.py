"""A value is read alike in every table, and in a row of its own."""

from decimal import Decimal

import msgspec
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven.errors import InvalidInput
from breakeven.tables.reading.columns import Columns, Feature
from breakeven.tables.reading.kinds import READERS, one, read
from tests.tables.samples import cases_in, cases_of

VALUES = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64) | st.floats() | st.text() | st.binary()
    | st.sampled_from(["NA", "1.5", " 2", "1e40", "true", "FALSE", "03", "-inf", "1,5", "?"])
)  # fmt: skip


@given(VALUES, st.sampled_from(sorted(READERS)))
def test_a_value_alone_is_read_as_in_a_column(value, kind):
    values, bad = read(pl.Series([value]), kind)
    try:
        assert (one("x", value, kind, required=False), bad) == (values[0], None)
    except InvalidInput:
        assert bad == 0


READ = {
    "number": [(61, 61.0), ("61", 61.0), (" 6e1 ", 60.0), (Decimal("1.5"), 1.5), (np.float32(2.0), 2.0)],
    "truth": [(True, 1), ("FALSE", 0), (np.True_, 1), (0.0, 0), ("1", 1)],
    "whole": [(3, 3), ("3", 3), (3.0, 3), (np.int8(3), 3)],
    "text": [("3", "3"), (3, "3"), ("NA", "NA"), (np.str_("x"), "x")],
}
MISSING = {
    "number": [None, "", "n/a", float("nan"), pd.NA],
    "truth": [None, "?"],
    "whole": [None, "NA"],
    "text": [None, ""],
}
REFUSED = {
    "number": ["sixty", True, float("inf"), 1e300, 10**400, [1], b"1", "1,5"],
    "truth": ["yes", 2, [True]],
    "whole": [True, 0.5, Decimal("0.5"), "3.0", 2**63, 10**40, "x"],
    "text": [3.0, True, b"x", ["x"], {}],
}


@pytest.mark.parametrize("kind", READERS)
def test_values_of_a_kind(kind):
    assert [(value, one("x", value, kind)) for value, _ in READ[kind]] == READ[kind]
    assert [one("x", value, kind, required=False) for value in MISSING[kind]] == [None] * len(MISSING[kind])
    for value in MISSING[kind] + REFUSED[kind]:
        with pytest.raises(InvalidInput, match="x: expected "):
            one("x", value, kind)
    for value in REFUSED[kind]:
        with pytest.raises(InvalidInput, match="x: expected "):
            one("x", value, kind, required=False)


# -- rows in production ----------------------------------------------------------------------------------


def test_rows_are_read_as_the_file_was(tmp_path):
    lines = "flag,sex,age,y\ntrue,f,1,1\nFalse,m,2,2\ntrue,f,4,3\n"
    columns = cases_in(tmp_path / "c.csv", lines, features=("flag", "sex", "age")).columns
    rows = [{"flag": True, "sex": "m", "age": 3}, {"flag": "True", "sex": "m", "age": "3"}]
    assert [columns.point(row).tolist() for row in rows] == [[1.0, 0.0, 1.0, 3.0]] * 2
    with pytest.raises(InvalidInput, match="sex: expected text or a whole number, got None"):
        columns.point({"flag": True, "sex": None, "age": 3})


def test_a_fill_stands_for_what_is_missing_only():
    frame = pl.DataFrame({"a": [1.0, None, 2.0], "old": [True, False, None], "y": [1.0, 2.0, 3.0]})
    columns = cases_of(frame, missing="mean")[0].columns
    assert columns.point({"a": None, "old": "n/a"}).tolist() == [1.5, 0.5]
    for row in ({"a": "sixty", "old": True}, {"a": True, "old": True}, {"a": 1.0, "old": 3}):
        with pytest.raises(InvalidInput, match=r"expected (a finite number|true or false), got"):
            columns.point(row)


@pytest.mark.parametrize(("text", "read"), [(True, "3"), (False, 3)])
def test_a_type_is_the_same_however_it_comes(tmp_path, text, read):
    if text:
        columns = cases_in(tmp_path / "c.csv", "k,y\n3,1\n4,2\n", type="k").columns
    else:
        columns = cases_of(pl.DataFrame({"k": [3, 4], "y": [1.0, 2.0]}), type="k")[0].columns
    assert columns.point({"k": 3}) == columns.point({"k": "3"}) == read
    with pytest.raises(InvalidInput, match=r"k: expected .* whole number.*, got None"):
        columns.point({"k": None})


def test_a_row_has_its_price():
    frame = pl.DataFrame({"a": [1, 2], "exam": [5, 6], "y": [1, 2]})
    columns = cases_of(frame, cost_column="exam")[0].columns
    assert (columns.price({"exam": "7.5"}), Columns("y").price({})) == (7.5, None)
    with pytest.raises(InvalidInput, match="row: expected a value for 'exam', got"):
        columns.price({"a": 1})
    for wrong in (0, -1.0, None, "much"):
        with pytest.raises(InvalidInput, match=r"exam: expected a (positive, )?finite number, got"):
            columns.price({"exam": wrong})


def test_columns_are_kept_as_they_are():
    features = (Feature("age", fill=3.0), Feature("sex", "text", ("f", "m")), Feature("old", "truth"))
    columns = Columns("y", features=features, cost="exam", label_kind="truth")
    assert msgspec.json.decode(msgspec.json.encode(columns), type=Columns) == columns
