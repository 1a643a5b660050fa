"""Dates and times: features of their own, or the order; what can be read in two ways is refused."""

from datetime import UTC, date, datetime, time, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

from breakeven.tables import from_table
from breakeven.tables.cases import read_cases
from breakeven.tables.faults import BadTable, as_flag
from breakeven.tables.sources import Access, framed, open_table
from tests.tables.samples import asked_for, cases_in, cases_of

START = datetime(2023, 1, 1)


def lines(dates):
    """A text file with a date, a number and a label in every row."""
    return "seen;a;y\n" + "".join(f"{one};{i * i % 11};{i}\n" for i, one in enumerate(dates))


def days(count, step=1, form="%Y-%m-%d"):
    return [(START + timedelta(days=step * i)).strftime(form) for i in range(count)]


# -- features --------------------------------------------------------------------------------------------

PARTS = {
    "a few days": (days(5), ("trend",)),
    "some weeks": (days(30), ("trend", "weekday")),
    "two years": (days(40, 20), ("trend", "season", "weekday")),
    "hours of a day": ([f"2024-01-01 {hour:02}:30" for hour in range(20)], ("hour",)),
    "always the same weekday": (days(20, 7), ("trend",)),
    "times of day": ([f"{hour}:30" for hour in range(20)], ("hour",)),
}


@pytest.mark.parametrize(("dates", "parts"), PARTS.values(), ids=PARTS)
def test_of_a_date_is_used_what_can_say_something(tmp_path, dates, parts):
    cases = cases_in(tmp_path / "c.csv", lines(dates))
    assert cases.columns.features[0].parts == parts
    assert cases.notes[:2] == ["Features: seen, a.", f"Of the dates in seen: {', '.join(parts)}."]


def test_the_numbers_of_a_date(tmp_path):
    cases = cases_in(
        tmp_path / "c.csv", lines([f"{one} 18:00" for one in days(400)[::2]] + ["2024-02-05 6:00"])
    )
    names = [name.removeprefix("seen ") for name in cases.columns.names[:7]]
    circles = [f"({part}, {wave})" for part in ("season", "weekday", "hour") for wave in ("cos", "sin")]
    assert names == ["(trend)", *circles]
    trend, season, _, *week, hour, _ = cases.points[0][:7]
    assert trend == (START - datetime(1970, 1, 1)).days + 0.75
    assert season > 0.99  # the year has just begun
    assert week == pytest.approx([np.cos(2 * np.pi * 6 / 7), np.sin(2 * np.pi * 6 / 7)])  # a Sunday
    assert hour == pytest.approx(0.0)


WRITTEN = {
    "dots": ("%d.%m.%Y", None),
    "slashes, the day first": ("%d/%m/%Y", None),
    "slashes, the month first": ("%m/%d/%Y", None),
    "with times": ("%d.%m.%Y %H:%M", None),
    "with halves of a day": ("%m/%d/%Y %I:%M:%S %p", None),
    "names of months": ("%d %b %Y", None),
    "American names": ("%B %d, %Y", None),
    "two digits of a year": ("%d.%m.%y", None),
    "the year first": ("%Y/%m/%d", None),
    "said": ("%d-%m-%Y", "dmy"),
}


@pytest.mark.parametrize(("form", "said"), WRITTEN.values(), ids=WRITTEN)
def test_dates_are_read_as_they_are_written_and_so_is_a_row(tmp_path, form, said):
    cases = cases_in(tmp_path / "c.csv", lines(days(60, form=form)), dates=said)
    first, last = START, START + timedelta(days=59)
    assert cases.points[[0, -1], 0].tolist() == [(one - datetime(1970, 1, 1)).days for one in (first, last)]
    row = {"seen": last.strftime(form), "a": "3"}
    assert cases.columns.point(row)[:-1].tolist() == cases.points[-1][:-1].tolist()
    assert cases.columns.point({"seen": last.date(), "a": 3}).tolist() == cases.columns.point(row).tolist()


def test_every_kind_of_frame_has_the_same_dates(tmp_path):
    moments = [START + timedelta(days=3 * i, hours=i) for i in range(40)]
    frame = pl.DataFrame({"seen": moments, "a": [i * i % 11 for i in range(40)], "y": range(40)})
    zone = frame.with_columns(pl.col("seen").dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo"))
    text = frame.with_columns(pl.col("seen").dt.strftime("%d.%m.%Y %H:%M"))
    frame.write_parquet(tmp_path / "c.parquet")
    frame.with_columns(pl.col("seen").dt.strftime("%Y-%m-%dT%H:%M")).write_ndjson(tmp_path / "c.jsonl")
    pandas = pd.DataFrame({"seen": moments, "a": frame["a"].to_list(), "y": range(40)})
    found = [cases_of(some)[0] for some in (frame, zone, text, pandas)]
    found += [read_cases(open_table(tmp_path / name), asked_for()) for name in ("c.parquet", "c.jsonl")]
    for one in found[1:]:
        assert one.points.tolist() == found[0].points.tolist()
    row = {"seen": moments[7].replace(tzinfo=UTC), "a": 5}
    for one in found:
        assert one.columns.point(row).tolist() == found[0].points[7].tolist()


def test_a_missing_date_stands_at_the_mean_of_the_past(tmp_path):
    text = "seen,a,y\n2024-01-01,1,1\n2024-01-03,3,2\n,2,3\n2024-02-01,2,3\n"
    with pytest.raises(BadTable, match="row 3, column 'seen': expected no missing values"):
        cases_in(tmp_path / "c.csv", text)
    cases = cases_in(tmp_path / "c.csv", text, missing="mean")
    assert cases.points[2, 0] == np.mean(cases.points[:2, 0])
    assert cases.columns.point({"seen": None, "a": 1})[0] == np.mean(cases.points[[0, 1, 3], 0])


def test_a_date_that_is_none_is_named(tmp_path):
    text = lines([*days(30), "2024-02-30"])
    with pytest.raises(
        BadTable, match="row 31, column 'seen': expected a date or a time such as 2024-01-31 or"
    ):
        cases_in(tmp_path / "c.csv", text)


def test_a_constant_date_is_left_out_and_said_as_a_date(tmp_path):
    cases = cases_in(tmp_path / "c.csv", lines(["2024-01-31"] * 9))
    assert cases.notes == ["Features: a.", "Left out, being the same in every row: seen."]
    with pytest.raises(
        BadTable, match="expected a feature that varies, got 2024-01-31 in every row; leave it"
    ):
        cases_in(tmp_path / "c.csv", lines(["2024-01-31"] * 9), features=("seen", "a"))


def test_a_date_can_be_a_type_where_it_is_text_only(tmp_path):
    assert cases_in(tmp_path / "c.csv", lines(days(5)), type="seen").points.to_list() == days(5)
    frame = pl.DataFrame({"seen": [date(2024, 1, 1), date(2024, 1, 2)], "y": [1.0, 2.0]})
    with pytest.raises(BadTable, match="column 'seen': expected numbers or text, got Date; types are text"):
        cases_of(frame, type="seen")


# -- two readings ----------------------------------------------------------------------------------------

EITHER = [f"{1 + i % 12:02}/{1 + 5 * i % 12:02}/2024" for i in range(30)]
TWO_READINGS = "got '02/06/2024', which is 2 June 2024 or 6 February 2024; say --dates dmy or --dates mdy"


def read(path, text, **options):
    path.write_text(text)
    return read_cases(open_table(path, Access(option=as_flag)), asked_for(**options))


@pytest.mark.parametrize(
    "role", [{}, {"features": ("seen",)}, {"order": "seen"}], ids=["free", "named", "order"]
)
def test_dates_with_two_readings_are_refused_by_naming_both(tmp_path, role):
    with pytest.raises(
        BadTable, match=r"c.csv, column 'seen': expected dates that can be read in one"
    ) as refused:
        read(tmp_path / "c.csv", lines(EITHER), **role)
    assert TWO_READINGS in str(refused.value)


def test_in_python_the_option_is_an_argument():
    frame = pl.DataFrame({"seen": EITHER, "y": range(30)})
    with pytest.raises(BadTable, match="say `dates='dmy'` or `dates='mdy'`"):
        from_table(frame, label="y", cost=1.0)


def test_who_says_which_reading_gets_it(tmp_path):
    found = [read(tmp_path / "c.csv", lines(EITHER), dates=order) for order in ("dmy", "mdy")]
    assert [one.points[1, 0] - 19723 for one in found] == [153.0, 36.0]  # days since 1 January 2024
    assert [one.columns.point({"seen": "02/06/2024", "a": 1})[0] - 19723 for one in found] == [153.0, 36.0]
    ordered = read(tmp_path / "c.csv", lines(EITHER), order="seen", dates="mdy")
    assert ordered.labels[:2].tolist() == [0.0, 12.0]


def test_one_late_date_settles_the_reading_of_all(tmp_path):
    many = [EITHER[i % 30] for i in range(1500)]
    cases = read(tmp_path / "c.csv", lines([*many, "31/01/2024"]))
    assert cases.columns.features[0].writing.dates == "dmy"
    assert cases.points[-1, 0] - 19723 == 30.0


def test_the_other_reading_is_a_fault(tmp_path):
    with pytest.raises(
        BadTable, match=r"row 2, column 'seen': expected a date or a time such as 31.01.2024 or"
    ):
        read(tmp_path / "c.csv", lines(["31/01/2024", "01/31/2024", *["01/02/2024"] * 20, "30/01/2024"]))
    with pytest.raises(BadTable, match="such as 01/31/2024 or 01/31/2024 18:30, got '31/01/2024'"):
        read(tmp_path / "c.csv", lines(["31/01/2024", *["01/02/2024"] * 20]), dates="mdy")


# -- order -----------------------------------------------------------------------------------------------

ORDERS = {
    "dots": ["02.01.2024", "01.02.2023", "31.12.2024"],
    "slashes": ["31/01/2024", "01/02/2023", "02/02/2024"],
    "names": ["2 Jan 2024", "1 Feb 2023", "31 Dec 2024"],
    "times of day": ["11:30", "9:15", "18:00"],
    "dates": [date(2024, 1, 2), date(2023, 2, 1), date(2024, 12, 31)],
    "times": [time(11, 30), time(9, 15), time(18)],
}


@pytest.mark.parametrize("keys", ORDERS.values(), ids=ORDERS)
def test_rows_are_sorted_by_dates_of_any_form(keys):
    frame = pl.DataFrame({"a": [1.0, 2.0, 4.0], "n": keys, "y": [1.0, 2.0, 3.0]})
    cases = read_cases(framed("the frame", frame), asked_for(order="n"))
    assert (cases.labels.tolist(), cases.columns.names) == ([2.0, 1.0, 3.0], ["a"])
