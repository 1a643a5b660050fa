"""Which column is what, and which values cannot be right."""

import numpy as np
import polars as pl
import pytest

from breakeven.errors import InvalidInput
from breakeven.tables.source import BadTable
from tests.tables.samples import cases_of, smooth

TABLE = pl.DataFrame(
    {
        "age": [30.0, 20.0, 50.0, 40.0],
        "sex": ["f", "m", "f", "m"],
        "old": [True, False, True, True],
        "seen": ["2024-03-01", "2024-01-01", "2024-04-01", "2024-02-01"],
        "price": [5.0, 6.0, 7.0, 8.0],
        "name": ["Anna", "Ben", "Cleo", "Dora"],
        "y": [1.0, 2.0, 3.0, 4.0],
    }
)


def test_features_are_all_other_numeric_columns_unless_named():
    cases, _ = cases_of(TABLE, cost_column="price", id="name")
    assert cases.columns.names == ["age", "old"]
    assert cases.ids.to_list() == ["Anna", "Ben", "Cleo", "Dora"]
    assert cases.costs.tolist() == [5.0, 6.0, 7.0, 8.0]


def test_a_named_column_of_text_is_one_hot():
    cases, _ = cases_of(TABLE, features=("age", "sex"))
    assert cases.columns.names == ["age", "sex = f", "sex = m"]
    assert cases.points[0].tolist() == [30.0, 1.0, 0.0]
    assert cases.columns.point({"age": 61, "sex": "other"}).tolist() == [61.0, 0.0, 0.0]


def test_cases_come_in_the_order_asked_for():
    assert cases_of(TABLE, order="seen")[0].labels.tolist() == [2.0, 4.0, 1.0, 3.0]
    assert cases_of(TABLE, order="age")[0].labels.tolist() == [2.0, 1.0, 4.0, 3.0]


def test_text_that_is_numbers_is_sorted_as_numbers():
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0], "n": ["10", "9", "100"], "y": [1.0, 2.0, 3.0]})
    assert cases_of(frame, order="n")[0].labels.tolist() == [2.0, 1.0, 3.0]


# -- missing values --------------------------------------------------------------------------------------

GAPS = pl.DataFrame(
    {
        "a": [None, 1.0, 3.0, None, 8.0],
        "b": [1.0, 2.0, 3.0, 4.0, float("nan")],
        "y": [1.0, 2.0, 3.0, 4.0, 5.0],
    }
)


def test_missing_values_are_refused_with_rows_and_columns_named():
    with pytest.raises(BadTable) as refused:
        cases_of(GAPS)
    assert str(refused.value) == (
        "the frame, row 1, column 'a': expected no missing values, got 3 rows with some (2 in 'a', 1 in "
        "'b'), the first here; choose --missing drop, or --missing mean for the mean of the past"
    )


def test_rows_with_missing_values_can_be_dropped():
    cases, _ = cases_of(GAPS, missing="drop")
    assert cases.labels.tolist() == [2.0, 3.0]
    assert cases.notes == ["3 of 5 rows have missing values and were left out."]


def test_a_missing_value_can_stand_at_the_mean_of_the_past():
    cases, _ = cases_of(GAPS, missing="mean")
    assert cases.points.tolist() == [[1.0, 2.0], [3.0, 3.0], [2.0, 4.0], [8.0, 2.5]]
    assert cases.notes[-1] == "1 of 5 rows have missing values and were left out."
    row = {"a": None, "b": 7.0}
    assert cases.columns.point(row).tolist() == [3.5, 7.0]


def test_the_mean_of_the_past_does_not_see_the_future():
    later = GAPS.with_columns(pl.Series("a", [None, 1.0, 3.0, None, 1e6]))
    early = cases_of(GAPS, missing="mean")[0].points[:3]
    assert cases_of(later, missing="mean")[0].points[:3].tolist() == early.tolist()


def test_a_missing_label_is_never_filled():
    frame = smooth(30).with_columns(pl.when(pl.col("a") > 1).then(None).otherwise(pl.col("y")).alias("y"))
    cases, _ = cases_of(frame, missing="mean")
    assert len(cases) == 30 - frame["y"].null_count() < 30


def test_a_missing_category_is_none_of_them():
    frame = TABLE.with_columns(pl.Series("sex", ["f", None, "f", "m"]))
    cases, _ = cases_of(frame, features=("sex",), missing="mean")
    assert cases.points.tolist() == [[1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]


# -- what cannot be right --------------------------------------------------------------------------------

FAULTS = {
    "no such column": ({"label": "Y"}, "expected a column 'Y', got none of that name; did you mean 'y'?"),
    "nothing like it": ({"type": "weight"}, "got none of that name; there are 'age', 'sex', 'old', 'seen', "),
    "text for a label": (
        {"label": "name"},
        "row 1, column 'name': expected a finite number, got 'Anna'; labels are numbers: write yes and no",
    ),
    "the label a feature": ({"features": ("age", "y")}, "column 'y': expected features other than the label"),
    "an id twice": (
        {"id": "sex", "features": ("age",)},
        "row 3, column 'sex': expected an id only once, got 'f' again",
    ),
    "a price of nothing": (
        {"cost_column": "zero", "features": ("age",)},
        "row 2, column 'zero': expected a positive price, got 0",
    ),
    "a constant feature": (
        {"features": ("age", "same")},
        "row 1, column 'same': expected a feature that varies, got 7.0 in every row; leave it out: "
        "--features 'age'",
    ),
    "too large": ({"features": ("huge",)}, "row 4, column 'huge': expected numbers of size 1e+100 at most"),
}


@pytest.mark.parametrize(("options", "message"), FAULTS.values(), ids=FAULTS)
def test_what_cannot_be_right_names_row_and_column(options, message):
    more = {"zero": [1.0, 0.0, 1.0, 1.0], "same": [7.0] * 4, "huge": [1.0, 2.0, 3.0, 1e200]}
    with pytest.raises(BadTable) as refused:
        cases_of(TABLE.with_columns(**{name: pl.Series(values) for name, values in more.items()}), **options)
    assert message in str(refused.value)


def test_a_thousand_columns_are_too_many_features():
    random = np.random.default_rng(0)
    frame = pl.DataFrame({f"c{i}": random.normal(size=5) for i in range(1000)} | {"y": range(5)})
    with pytest.raises(
        BadTable, match=r"expected 100 features at most, got 1,000, from column 'c0' to 'c999'"
    ):
        cases_of(frame)
    assert cases_of(frame, features=("c3", "c500"))[0].columns.names == ["c3", "c500"]


def test_a_category_of_their_own_each_is_too_many_features():
    frame = pl.DataFrame({"word": [f"w{i}" for i in range(200)], "y": range(200)})
    with pytest.raises(
        BadTable, match="column 'word': expected 100 features at most, a category each, got 200"
    ):
        cases_of(frame, features=("word",))


def test_a_row_without_a_needed_value_is_refused():
    cases, _ = cases_of(TABLE, features=("age",))
    with pytest.raises(InvalidInput, match="row: expected a value for 'age'"):
        cases.columns.point({"sex": "f"})


OPTIONS = {
    "no price": ({"cost": None}, "cost: expected what a label costs, or a column that says so"),
    "a type and features": ({"type": "sex", "features": ("age",)}, "features: expected none beside a type"),
    "an unknown rule": ({"rule": "coin"}, "rule: expected one of 'value'"),
    "a negative price": ({"cost": -1.0}, "cost: expected a positive, finite number"),
}


@pytest.mark.parametrize(("options", "message"), OPTIONS.values(), ids=OPTIONS)
def test_options_are_checked_before_anything_is_read(options, message):
    with pytest.raises(InvalidInput, match=message):
        cases_of(TABLE, **options)
