"""Which column is what, and which values cannot be right."""

from datetime import timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

from breakeven.errors import InvalidInput
from breakeven.tables.cases import read_cases
from breakeven.tables.faults import BadTable
from breakeven.tables.sources import framed, open_table
from tests.tables.samples import cases_in, cases_of, run_of, smooth

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
    dates = ["seen (trend)", "seen (weekday, cos)", "seen (weekday, sin)"]
    assert cases.columns.names == ["age", "old", *dates]
    assert cases.ids.to_list() == ["Anna", "Ben", "Cleo", "Dora"]
    assert cases.costs.tolist() == [5.0, 6.0, 7.0, 8.0]


def test_it_is_said_which_columns_are_features_and_which_are_left_out(tmp_path):
    text = [f"t{i}" for i in range(8)]
    cases = cases_in(tmp_path / "c.csv", f"{','.join(text)},a,none,y\n{'x,' * 8}1,,2\n{'x,' * 8}2,,3\n")
    assert cases.notes == [
        "Features: a.",
        "Left out, being text: t0, t1, t2, t3, t4 and 3 more; name them with `features` to use them as "
        "categories.",
        "Left out, being neither numbers nor text: none.",
    ]


def test_a_column_without_a_name_is_an_index(tmp_path):
    path = tmp_path / "pandas.csv"
    frame = pd.DataFrame({"a": [1.0, 3.0], "y": [2.0, 4.0]})
    cases = cases_in(path, frame.to_csv())
    assert cases.points.tolist() == [[1.0], [3.0]]
    assert cases.notes[-1] == "Left out, having no name: a column taken for an index."
    assert cases_in(path, frame.to_csv(), id="").ids.to_list() == ["0", "1"]


@pytest.mark.parametrize("one", ["inf", "huh"])
def test_a_column_of_numbers_with_a_bad_one_is_refused(tmp_path, one):
    lines = "".join(f"{i},2\n" for i in range(20))
    with pytest.raises(
        BadTable, match=f"row 21, column 'a': expected a finite number, got '{one}'; leave it"
    ):
        cases_in(tmp_path / "c.csv", f"a,y\n{lines}{one},3\n")


@pytest.mark.parametrize("one", ["?", "n/a", "NA", "<NA>", "#N/A", "-nan", "NULL", " "])
def test_many_words_are_missing_among_numbers(tmp_path, one):
    cases = cases_in(tmp_path / "c.csv", f"a,y\n1,2\n{one},3\n4,{one}\n2,2\n", missing="drop")
    assert cases.points.tolist() == [[1.0], [2.0]]


def test_among_text_only_the_empty_one_is_missing(tmp_path):
    lines = "country,a,y\nNA,1,1\nDE,2,2\nNA,3,3\n"
    assert cases_in(tmp_path / "c.csv", lines, type="country").points.to_list() == ["NA", "DE", "NA"]
    assert cases_in(tmp_path / "c.csv", lines, features=("country",)).columns.dim == 2
    assert cases_in(
        tmp_path / "c.csv", "who,a,y\nNA,1,1\n,2,2\n", id="who", missing="drop"
    ).rows.tolist() == [1]


def test_numbers_may_come_late(tmp_path):
    cases = cases_in(tmp_path / "c.csv", "a,b,y\n" + ",1,2\n" * 1500 + "1,2,3\n2,3,4\n", missing="drop")
    assert (cases.columns.names, cases.rows.tolist()) == (["a", "b"], [1501, 1502])


def test_a_column_may_have_several_roles(tmp_path):
    lines = "n,a,y\n2,1,5\n1,3,6\n"
    both = cases_in(tmp_path / "c.csv", lines, id="n", order="n", features=("n", "a"), cost_column="n")
    assert (both.ids.to_list(), both.costs.tolist()) == (["1", "2"], [1.0, 2.0])
    assert both.points.tolist() == [[1.0, 3.0], [2.0, 1.0]]
    types = cases_in(tmp_path / "c.csv", lines, id="n", order="n", type="n", cost_column="n")
    assert types.points.to_list() == ["1", "2"]


def test_a_named_column_of_text_is_one_hot():
    cases, _ = cases_of(TABLE, features=("age", "sex"))
    assert cases.columns.names == ["age", "sex = f", "sex = m"]
    assert cases.points[0].tolist() == [30.0, 1.0, 0.0]
    assert cases.columns.point({"age": 61, "sex": "other"}).tolist() == [61.0, 0.0, 0.0]


def test_cases_come_in_the_order_asked_for():
    assert cases_of(TABLE, order="seen")[0].labels.tolist() == [2.0, 4.0, 1.0, 3.0]
    assert cases_of(TABLE, order="age")[0].labels.tolist() == [2.0, 1.0, 4.0, 3.0]


ORDERS = {
    "numbers": ["10", "9", "100"],
    "days": ["2024-02-01", "2024-01-31", "2024-10-01"],
    "times": ["2024-01-01 10:00:00.5", "2024-01-01T10:00:00", "2024-01-01 10:00:01"],
    "zones": ["2024-01-01T10:00:00+01:00", "2024-01-01T10:00:00+02:00", "2024-01-01T09:30:00Z"],
}


@pytest.mark.parametrize("keys", ORDERS.values(), ids=ORDERS)
def test_text_is_sorted_as_what_it_says(keys):
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0], "n": keys, "y": [1.0, 2.0, 3.0]})
    assert cases_of(frame, order="n")[0].labels.tolist() == [2.0, 1.0, 3.0]


BAD_ORDERS = {
    "a date of another form": (
        ["2024-01-31", "25/01/2024"],
        "row 2, column 'n': expected numbers or dates to",
    ),
    "words": (
        ["A1", "A2"],
        "row 1, column 'n': expected numbers or dates to sort by, got 'A1'; write dates as",
    ),
    "no number": (
        [1.0, float("nan")],
        "row 2, column 'n': expected something to sort by, got a missing value",
    ),
}


@pytest.mark.parametrize(("keys", "message"), BAD_ORDERS.values(), ids=BAD_ORDERS)
def test_what_cannot_be_sorted_is_refused(keys, message):
    with pytest.raises(BadTable, match=message):
        cases_of(pl.DataFrame({"a": [1.0, 2.0], "n": keys, "y": [1.0, 2.0]}), order="n")


def test_cases_know_which_row_they_were(tmp_path):
    cases = cases_in(tmp_path / "c.csv", "n,a,y\n3,1,2\n\n1,3,4\n2,,6\n4,5,6\n", order="n", missing="drop")
    assert cases.rows.tolist() == [3, 1, 5]
    assert cases.taken(np.array([2, 0, 1])).rows.tolist() == [5, 3, 1]
    assert cases.first(2).rows.tolist() == [3, 1]
    assert run_of(TABLE, order="age", features=("age",)).decisions.collect()["row"].to_list() == [2, 1, 4, 3]


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
        "'b'), the first here; choose `missing='drop'`, or `missing='mean'` for the mean of the past"
    )


def test_what_is_missing_in_one_role_may_be_there_in_another(tmp_path):
    with pytest.raises(BadTable, match="row 2, column 'n': expected no missing values, got 1 row with some"):
        cases_in(tmp_path / "c.csv", "a,n,y\n1,2,3\n2,NA,4\n", cost_column="n", id="n")


def test_rows_with_missing_values_can_be_dropped():
    cases, _ = cases_of(GAPS, missing="drop")
    assert cases.labels.tolist() == [2.0, 3.0]
    assert cases.notes[-1] == "3 of 5 rows have missing values and were left out."


def test_a_missing_value_can_stand_at_the_mean_of_the_past():
    cases, _ = cases_of(GAPS, missing="mean")
    assert cases.points.tolist() == [[1.0, 2.0], [3.0, 3.0], [2.0, 4.0], [8.0, 2.5]]
    assert cases.notes[1:] == [
        "2 missing values of 'a' stand at the mean of those before.",
        "1 missing value of 'b' stands at the mean of those before.",
        "1 of 5 rows has missing values and was left out.",
    ]
    row = {"a": None, "b": 7.0}
    assert cases.columns.point(row).tolist() == [4.0, 7.0]


def test_the_mean_of_the_past_does_not_see_the_future():
    later = GAPS.with_columns(pl.Series("a", [None, 1.0, 3.0, None, 1e6]))
    early = cases_of(GAPS, missing="mean")[0].points[:3]
    assert cases_of(later, missing="mean")[0].points[:3].tolist() == early.tolist()


def test_in_another_order_the_past_has_another_mean():
    cases, _ = cases_of(GAPS, missing="mean")
    taken = cases.taken(np.array([3, 2, 1, 0]))
    assert taken.points.tolist() == [[8.0, 4.0], [8.0, 4.0], [3.0, 3.0], [1.0, 2.0]]
    assert taken.labels.tolist() == [5.0, 4.0, 3.0, 2.0]


def test_a_missing_label_is_never_filled():
    frame = smooth(30).with_columns(pl.when(pl.col("a") > 1).then(None).otherwise(pl.col("y")).alias("y"))
    cases, _ = cases_of(frame, missing="mean")
    assert len(cases) == 30 - frame["y"].null_count() < 30


def test_a_missing_category_is_none_of_them():
    frame = TABLE.with_columns(pl.Series("sex", ["f", None, "f", "m"]))
    cases, _ = cases_of(frame, features=("sex",), missing="mean")
    assert cases.points.tolist() == [[1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    assert cases.columns.point({"sex": None}).tolist() == [0.0, 0.0]
    assert cases.notes[1:] == [
        "Categories are those of the whole table, known from the start: sex.",
        "1 missing value of 'sex' is of no category.",
    ]


def test_a_column_of_categories_has_one_at_least():
    frame = pl.DataFrame({"sex": pl.Series([None], dtype=pl.String), "y": [1.0]})
    with pytest.raises(BadTable, match="column 'sex': expected a category at least, got only missing values"):
        cases_of(frame, features=("sex",), missing="mean")


# -- what cannot be right --------------------------------------------------------------------------------

FAULTS = {
    "no such column": ({"label": "Y"}, "expected a column 'Y', got none of that name; did you mean 'y'?"),
    "nothing like it": ({"type": "weight"}, "got none of that name; there are 'age', 'sex', 'old', 'seen', "),
    "text for a label": (
        {"label": "name"},
        "row 1, column 'name': expected a finite number, got 'Anna'; labels are numbers, or yes and no",
    ),
    "the label a feature": ({"features": ("age", "y")}, "column 'y': expected features other than the label"),
    "the label a type": (
        {"type": "y"},
        "column 'y': expected a type other than the label, got the label itself",
    ),
    "the label a cost": ({"cost_column": "y"}, "column 'y': expected costs other than the label, got the"),
    "an id twice": (
        {"id": "sex", "features": ("age",)},
        "row 3, column 'sex': expected an id only once, got 'f' again",
    ),
    "a cost of nothing": (
        {"cost_column": "zero", "features": ("age",)},
        "row 2, column 'zero': expected a positive cost, got 0",
    ),
    "a constant feature": (
        {"features": ("age", "same")},
        "row 1, column 'same': expected a feature that varies, got 7.0 in every row; leave it out: "
        "`features=['age']`",
    ),
    "too large": (
        {"features": ("huge",)},
        "row 4, column 'huge': expected a number of size 1e+30 at most, got 1e+31; choose a larger unit",
    ),
    "too large a label": ({"label": "huge"}, "row 4, column 'huge': expected a number of size 1e+30 at most"),
    "the same in 53 bits": (
        {"features": ("age", "long")},
        "column 'long': expected a feature that varies, got 1.152921504606847e+18 in every row, once rounded",
    ),
}


@pytest.mark.parametrize(("options", "message"), FAULTS.values(), ids=FAULTS)
def test_what_cannot_be_right_names_row_and_column(options, message):
    more = {"zero": [1.0, 0.0, 1.0, 1.0], "same": [7.0] * 4, "huge": [1.0, 2.0, 3.0, 1e31]}
    more |= {"long": [2**60, 2**60, 2**60, 2**60 + 1]}
    with pytest.raises(BadTable) as refused:
        cases_of(TABLE.with_columns(**{name: pl.Series(values) for name, values in more.items()}), **options)
    assert message in str(refused.value)


USELESS = {
    "lists": [[1], [2]],
    "bytes": [b"a", b"b"],
    "times": [timedelta(1), timedelta(2)],
    "objects": pl.Series([object(), object()], dtype=pl.Object),
    "nested": [{"b": 1}, {"b": 2}],
    "nothing": [None, None],
}


@pytest.mark.parametrize("role", ["label", "type", "id", "cost_column", "features"])
@pytest.mark.parametrize("values", USELESS.values(), ids=USELESS)
def test_columns_that_we_can_make_nothing_of_are_refused(values, role):
    frame = pl.DataFrame({"odd": values, "a": [1.0, 2.0], "y": [1.0, 2.0]})
    with pytest.raises(BadTable, match=r"^the frame, column 'odd': expected numbers or text, got \w"):
        cases_of(frame, **{role: ("odd",) if role == "features" else "odd"})
    assert cases_of(frame)[0].columns.names == ["a"]


def test_a_type_is_whole_or_text():
    long = pl.DataFrame({"k": pl.Series([1, 2**63], dtype=pl.UInt64), "y": [1.0, 2.0]})
    with pytest.raises(BadTable, match="row 2, column 'k': expected a whole number of 64 bits, got 92233"):
        cases_of(long, type="k")
    with pytest.raises(
        BadTable, match=r"row 2, column 'k': expected a whole number of 64 bits, got 0\.5; types"
    ):
        cases_of(pl.DataFrame({"k": [1.0, 0.5], "y": [1.0, 2.0]}), type="k")


def test_a_frame_of_pandas_has_each_column_once():
    frame = pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "y", "y"])
    with pytest.raises(BadTable, match="the frame, column 'y': expected a column only once, got two of that"):
        cases_of(frame)


def test_a_number_that_polars_cannot_hold_is_not_taken_for_missing():
    frame = pd.DataFrame({"a": [1, 10**40, 3], "b": [1, 2, 3], "y": [1, 2, 3]})
    assert cases_of(frame, missing="drop")[0].columns.names == ["b"]


# -- labels already owned --------------------------------------------------------------------------------

OWNED = {
    "without a column": (smooth(3).drop("b"), "seeds: expected a column 'b', got none of that name"),
    "too large": (
        smooth(2).with_columns(y=pl.Series([1.0, 1e300])),
        "seeds, row 2, column 'y': expected a number of size 1e+30 at most, got 1e+300",
    ),
    "a gap": (
        smooth(2).with_columns(y=pl.Series([None, 1.0])),
        "seeds, row 1, column 'y': expected no missing",
    ),
}


@pytest.mark.parametrize(("owned", "message"), OWNED.values(), ids=OWNED)
def test_owned_labels_are_checked_as_the_table_is(owned, message):
    cases, options = cases_of(smooth(30))
    with pytest.raises(BadTable) as refused:
        read_cases(framed("seeds", owned), options, cases.columns)
    assert message in str(refused.value)


def test_owned_labels_are_read_as_the_table_was(tmp_path):
    frame, lines = pl.DataFrame({"k": [3, 4], "y": [1.0, 2.0]}), "k,y\n3,1\n4,2\n"
    text = cases_in(tmp_path / "c.csv", lines, type="k")
    whole, options = cases_of(frame, type="k")
    assert read_cases(framed("seeds", frame), options, text.columns).points.to_list() == ["3", "4"]
    owned = read_cases(open_table(tmp_path / "c.csv"), options, whole.columns)
    assert owned.points.to_list() == whole.points.to_list() == [3, 4]


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
    "no cost": ({"cost": None}, "cost: expected what a label costs, or a column that says so"),
    "two costs": ({"cost": 1.0, "cost_column": "price"}, "cost: expected none beside the costs in 'price'"),
    "a type and features": ({"type": "sex", "features": ("age",)}, "features: expected none beside a type"),
    "an unknown rule": ({"rule": "coin"}, "rule: expected one of 'value'"),
    "a negative cost": ({"cost": -1.0}, "cost: expected a positive, finite number"),
}


@pytest.mark.parametrize(("options", "message"), OPTIONS.values(), ids=OPTIONS)
def test_options_are_checked_before_anything_is_read(options, message):
    with pytest.raises(InvalidInput, match=message):
        cases_of(TABLE, **options)
