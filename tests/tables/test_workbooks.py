"""Workbooks of Excel: a sheet by its name, cells as Excel has them, and what cannot be opened."""

import io
import sys
import zipfile
from datetime import date, datetime, time

import polars as pl
import pytest
import xlsxwriter

from breakeven.tables import from_table
from breakeven.tables.cases import read_cases
from breakeven.tables.faults import BadTable, MissingReader, as_flag
from breakeven.tables.sources import Access, open_table
from breakeven.tables.workbooks import ENCRYPTED, OLD_OFFICE_MARK
from tests.tables.samples import asked_for

ROWS = [
    ["age", "seen", "at", "old", "code", "y"],
    [61, date(2024, 3, 1), time(6), True, "a", 1.5],
    [43, date(2024, 4, 1), time(12), False, 7, 2.5],
    [50, date(2025, 5, 1), time(18), True, "b", 4.0],
]


def workbook(path, **sheets):
    """A workbook with these rows in its sheets."""
    with xlsxwriter.Workbook(path) as book:
        forms = {date: book.add_format({"num_format": "yyyy-mm-dd"})}
        forms |= {time: book.add_format({"num_format": "hh:mm"})}
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for row, values in enumerate(rows):
                for column, value in enumerate(values):
                    form = forms.get(type(value))
                    write = sheet.write_datetime if form else sheet.write
                    write(row, column, value, *([form] if form else []))
    return path


def opened(path, sheet=None):
    return open_table(path, Access(sheet=sheet, option=as_flag))


def test_cells_are_what_excel_has_them_for(tmp_path):
    table = opened(workbook(tmp_path / "clinic.xlsx", March=ROWS))
    assert table.name == str(tmp_path / "clinic.xlsx")
    assert table.schema["age"] == pl.Int64  # so that an id is 61, not 61.0
    assert table.schema["at"] == pl.Time
    assert table.schema["old"] == pl.Boolean
    cases = read_cases(table, asked_for(features=("age", "seen", "at", "old")))
    assert cases.labels.tolist() == [1.5, 2.5, 4.0]
    assert cases.columns.names[:2] == ["age", "seen (trend)"]
    row = {"age": 61, "seen": date(2024, 3, 1), "at": time(6), "old": True}
    assert cases.columns.point(row).tolist() == cases.points[0].tolist()
    text = {"age": "61", "seen": "2024-03-01", "at": "06:00", "old": "true"}
    assert cases.columns.point(text).tolist() == cases.points[0].tolist()


def test_a_cell_of_text_among_numbers_is_named(tmp_path):
    rows = [["a", "y"], *([i, 2 * i] for i in range(30)), ["sixty", 3]]
    with pytest.raises(BadTable, match="row 31, column 'a': expected a finite number, got 'sixty'"):
        read_cases(opened(workbook(tmp_path / "c.xlsx", S=rows)), asked_for())


def test_empty_rows_and_columns_are_none(tmp_path):
    rows = [["a", "y", ""], [1, 2, ""], ["", "", ""], [3, 4, ""]]
    cases = read_cases(opened(workbook(tmp_path / "c.xlsx", S=rows)), asked_for())
    assert (cases.labels.tolist(), cases.rows.tolist()) == ([2.0, 4.0], [1, 3])


def test_a_sheet_is_chosen_by_name_and_an_empty_one_is_none(tmp_path):
    one = workbook(tmp_path / "one.xlsx", Empty=[], March=ROWS)
    assert opened(one).name == f"{one}, sheet 'March'"
    two = workbook(tmp_path / "two.xlsx", March=ROWS, April=[["z", "y"], [1, 2]])
    assert opened(two, "April").columns == ["z", "y"]
    with pytest.raises(BadTable, match=r"expected one sheet, got 2 .*; say --sheet March or --sheet April"):
        opened(two)
    with pytest.raises(
        BadTable, match="expected a sheet 'Marsh', got none of that name; did you mean 'March'"
    ):
        opened(two, "Marsh")
    with pytest.raises(BadTable, match="got none of that name; there are 'March', 'April'"):
        opened(two, "2024")


def test_a_sheet_needs_names_and_rows(tmp_path):
    with pytest.raises(BadTable, match="expected a table with a header and rows, got an empty sheet"):
        opened(workbook(tmp_path / "a.xlsx", S=[]))
    with pytest.raises(BadTable, match="expected rows below the header, got none"):
        read_cases(opened(workbook(tmp_path / "b.xlsx", S=[["a", "y"]])), asked_for())
    with pytest.raises(BadTable, match="column 'y': expected a column only once, got two of that name"):
        opened(workbook(tmp_path / "c.xlsx", S=[["a", "y", "y"], [1, 2, 3]]))


def locked(path):
    path.write_bytes(OLD_OFFICE_MARK + bytes(508) + ENCRYPTED + bytes(512))


def damaged(path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as parts:
        parts.writestr("xl/workbook.xml", "<nothing")
    path.write_bytes(content.getvalue())


def other_zip(path):
    with zipfile.ZipFile(path, "w") as parts:
        parts.writestr("cases.csv", "a,y\n1,2\n")


def old_garbage(path):
    path.write_bytes(OLD_OFFICE_MARK + bytes(600))


CLOSED = {
    "a password": (locked, "expected a workbook that anyone can open, got one with a password; open it in"),
    "damaged": (damaged, "expected a whole workbook of Excel, got one that cannot be read"),
    "another zip file": (other_zip, "got a zip file, or a workbook cut short; save the table as CSV"),
    "an old one": (old_garbage, "expected a whole workbook of Excel, got one that cannot be read"),
}


@pytest.mark.parametrize(("make", "message"), CLOSED.values(), ids=CLOSED)
def test_what_cannot_be_opened_is_said(tmp_path, make, message):
    make(tmp_path / "clinic.xlsx")
    with pytest.raises(BadTable) as refused:
        opened(tmp_path / "clinic.xlsx")
    assert message in str(refused.value)


def test_the_lock_beside_an_open_workbook_is_none(tmp_path):
    (tmp_path / "~$clinic.xlsx").write_bytes(b"\x03Ann" + bytes(160))
    with pytest.raises(BadTable, match=r"got what Excel keeps beside one that is open; read clinic.xlsx"):
        opened(tmp_path / "~$clinic.xlsx")


def test_without_fastexcel_it_says_what_to_install(tmp_path, monkeypatch):
    path = workbook(tmp_path / "clinic.xlsx", March=ROWS)
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(
        MissingReader, match=r"fastexcel is needed to read Excel; install it with `pip install"
    ):
        opened(path)


def test_python_reads_a_workbook_by_its_path(tmp_path):
    rows = [["a", "when", "y"]] + [[i % 7, date(2024, 1, 1 + i % 28), 2 * (i % 7)] for i in range(40)]
    path = workbook(tmp_path / "c.xlsx", S=rows, T=[["x"], [1]])
    outcome = from_table(path, sheet="S", label="y", cost=5.0, sweep=False)
    assert len(outcome.run.cases) == 40
    with pytest.raises(BadTable, match=r"say `sheet='S'` or `sheet='T'`"):
        from_table(path, label="y", cost=5.0)
    with pytest.raises(BadTable, match="the frame: expected no sheet for a frame, got 'S'"):
        from_table(pl.DataFrame({"a": [1], "y": [2]}), sheet="S", label="y", cost=5.0)


def test_dates_of_a_workbook_have_their_times(tmp_path):
    path = tmp_path / "c.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet, form = book.add_worksheet("S"), book.add_format({"num_format": "dd.mm.yyyy hh:mm"})
        sheet.write_row(0, 0, ["when", "y"])
        for row in range(1, 4):
            sheet.write_datetime(row, 0, datetime(2024, 1, row, 6 * row), form)
            sheet.write(row, 1, row)
    cases = read_cases(opened(path), asked_for())
    assert cases.points[:, 0].tolist() == [19723.25, 19724.5, 19725.75]
