"""A row becomes a point, a cost and a label; what cannot be right is refused by the name of its column."""

import subprocess
import sys

import msgspec
import polars as pl
import pytest

from breakeven.errors import InvalidInput
from breakeven.rows import Column, Columns, Feature
from breakeven.tables import from_table
from tests.tables.samples import cases_in, cases_of

SCORE, AGE = Column("y"), Feature("age")


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


def test_a_row_says_what_its_label_costs():
    frame = pl.DataFrame({"a": [1, 2], "exam": [5, 6], "y": [1, 2]})
    columns = cases_of(frame, cost_column="exam")[0].columns
    assert columns.cost({"exam": "7.5"}) == 7.5
    assert Columns(label_column=SCORE, features=(AGE,)).cost({}) is None
    with pytest.raises(InvalidInput, match="row: expected a value for 'exam', got"):
        columns.cost({"a": 1})
    for wrong in (0, -1.0, None, "much"):
        with pytest.raises(InvalidInput, match=r"exam: expected a (positive, )?finite number, got"):
            columns.cost({"exam": wrong})


def test_columns_are_kept_as_they_are():
    sex = Feature("sex", "text", categories=("f", "m"))
    features = (Feature("age", fill=3.0, unit="years", low=0.0, high=120.0), sex, Feature("old", "truth"))
    columns = Columns(label_column=Column("y", "truth"), features=features, cost_column=Column("exam"))
    assert msgspec.json.decode(msgspec.json.encode(columns), type=Columns) == columns


PRODUCTION = """
import sys
sys.modules["polars"] = None
from breakeven.rows import open_bill
columns, learner = open_bill("bill")
row = {"Gewicht": "1.070,5", "Raucher": "ja", "Gesehen": "31.12.2024 18:30", "Kosten": "7,5"}
print(repr((columns.point(row).tolist(), columns.cost(row), columns.label("1.234,5"))))
"""


def test_a_row_in_production_is_read_as_the_table_was_and_without_polars(tmp_path):
    """All that a bill keeps is enough, whatever the columns hold."""
    days = [f"{1 + i % 28:02}.{1 + i % 12:02}.{2023 + i % 2} {i % 24}:30" for i in range(40)]
    rows = [f"1.{i:03},5;{'ja' if i % 3 else 'nein'};{day};{i + 1},5;{i},25" for i, day in enumerate(days)]
    rows.append("1.070,5;ja;31.12.2024 18:30;7,5;1.234,5")
    text = "\n".join(["Gewicht;Raucher;Gesehen;Kosten;Wert", *rows])
    (tmp_path / "c.csv").write_text(text)
    options = {"label": "Wert", "cost_column": "Kosten", "decimal": ",", "sweep": False}
    outcome = from_table(tmp_path / "c.csv", **options)
    outcome.write(tmp_path / "bill")
    command = [sys.executable, "-c", PRODUCTION]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    cases = outcome.run.cases
    assert eval(done.stdout) == (cases.points[-1].tolist(), cases.costs[-1], cases.labels[-1])
    assert cases.columns.names[:3] == ["Gewicht", "Raucher", "Gesehen (trend)"]


# -- declared ranges -------------------------------------------------------------------------------------


def test_a_number_outside_its_range_is_refused_by_column_range_and_value():
    age, score = Feature("age", unit="years", low=0, high=120), Column("score", low=25)
    columns = Columns(label_column=score, features=(age,), cost_column=Column("exam", high=500))
    assert columns.point({"age": 120}).tolist() == [120.0]
    assert (columns.label(25), columns.cost({"exam": 500})) == (25.0, 500.0)
    with pytest.raises(InvalidInput, match=r"^age: expected a number from 0 to 120 years, got 121$"):
        columns.point({"age": 121})
    with pytest.raises(InvalidInput, match=r"^score: expected a number of at least 25, got '24.9'$"):
        columns.label("24.9")
    with pytest.raises(InvalidInput, match=r"^exam: expected a number of at most 500, got 501$"):
        columns.cost({"exam": 501})


def test_a_missing_number_is_in_every_range():
    assert Feature("age", low=0, high=120, fill=40.0).numbers(None) == [40.0]


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"low": 1, "high": 1}, "age: low, high: expected the lower number first, got 1, 1"),
        ({"low": float("nan")}, "age: low: expected a finite number, got nan"),
        (
            {"kind": "text", "low": 1},
            "age: low, high: expected a range only where there are numbers, got 'text'",
        ),
    ],
)
def test_a_range_that_cannot_be_is_refused(declared, message):
    with pytest.raises(InvalidInput, match=message):
        Feature("age", **declared)


def test_there_are_features_or_a_type_and_not_both():
    with pytest.raises(InvalidInput, match="columns: expected features or a type_column, got neither"):
        Columns(label_column=SCORE)
    with pytest.raises(InvalidInput, match="columns: expected features or a type_column, got both"):
        Columns(label_column=SCORE, features=(AGE,), type_column=Column("ward", "text"))
