"""Workbooks of Excel: one sheet becomes a table. Needs fastexcel, which comes with the extra `tables`.

The first row of a sheet has the names of its columns. Cells that a formula filled have the value that Excel
saw last; cells that show an error are missing.
"""

import re
import zipfile
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from breakeven.errors import how_to_install
from breakeven.tables.faults import Fault, MissingReader, OptionWords, first_line, refuse_table, twice

if TYPE_CHECKING:
    from fastexcel import ExcelReader

ZIP_MARK, OLD_OFFICE_MARK = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
OWNER_FILE = "~$"  # how the name begins of what Excel puts beside a workbook that is open
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
INSIDE = re.compile(r"xl/workbook\.(xml|bin)|content\.xml")
NO_DAY = (date(1899, 12, 30), date(1899, 12, 31))  # that a time of day has
WHOLE_UP_TO = 2**53  # as floats, which all numbers of a workbook are


def is_workbook(head: bytes, path: str) -> bool:
    """Whether a file is a workbook, open or locked."""
    if head.startswith(OLD_OFFICE_MARK):
        return True
    return head.startswith(ZIP_MARK) and _holds_workbook(path)


def _holds_workbook(path: str) -> bool:
    try:
        with zipfile.ZipFile(path) as parts:
            return any(INSIDE.fullmatch(name) for name in parts.namelist())
    except (zipfile.BadZipFile, OSError):
        return False


def check_owner_file(name: str) -> None:
    """Refuse the file that Excel keeps beside a workbook as long as somebody has it open."""
    file = Path(name).name
    if file.startswith(OWNER_FILE):
        refuse_table(
            name, Fault("a workbook", "what Excel keeps beside one that is open", hint=f"read {file[2:]}")
        )


def read_sheet(name: str, path: str, sheet: str | None, option: OptionWords) -> tuple[str, pl.DataFrame]:
    """A sheet of a workbook by its name, or the only one with anything in it; and what to call it."""
    content = Path(path).read_bytes()
    if content.startswith(OLD_OFFICE_MARK) and ENCRYPTED in content:
        refuse_table(name, _locked())
    book = _opened_book(name, content)
    chosen = _chosen(name, book, sheet, option)
    called = f"{name}, sheet {chosen!r}" if len(book.sheet_names) > 1 else name
    names = _names(book, chosen)
    fault = twice(names) if names else Fault("a table with a header and rows", "an empty sheet")
    if fault is not None:
        refuse_table(called, fault)
    return called, _frame(book, chosen, names)


def _opened_book(name: str, content: bytes) -> "ExcelReader":
    try:
        import fastexcel
    except ImportError as error:
        words = f"{name}: fastexcel is needed to read Excel; {how_to_install('tables')}"
        raise MissingReader(words) from error
    try:
        return fastexcel.read_excel(content)
    except fastexcel.FastExcelError as error:
        words = first_line(error)
        if "password" in words.lower() or "encrypt" in words.lower():
            refuse_table(name, _locked())
        refuse_table(name, Fault("a whole workbook of Excel", f"one that cannot be read ({words})"))


def _locked() -> Fault:
    hint = "open it in Excel, take the password off and save it, or save the sheet as CSV"
    return Fault("a workbook that anyone can open", "one with a password", hint=hint)


def _chosen(name: str, book: "ExcelReader", sheet: str | None, option: OptionWords) -> str:
    known = list(book.sheet_names)
    if sheet is not None:
        if sheet not in known:
            near = get_close_matches(sheet, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(map(repr, known))}"
            refuse_table(name, Fault(f"a sheet {sheet!r}", "none of that name", hint=hint))
        return sheet
    used = [one for one in known if _names(book, one)]
    if len(used) > 1:
        ways = " or ".join(option("sheet", one) for one in used[:3])
        refuse_table(name, Fault("one sheet", f"{len(used)} with something in them", hint=f"say {ways}"))
    return used[0] if used else known[0]


def _names(book: "ExcelReader", sheet: str) -> list[str]:
    """The first row of a sheet, without the empty cells at its end; nothing where the sheet is empty."""
    loaded = book.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string")
    first = loaded.to_polars()
    if first.is_empty():
        return []
    names = ["" if one is None else str(one).strip() for one in first.row(0)]
    while names and not names[-1]:
        names.pop()
    return names


def _frame(book: "ExcelReader", sheet: str, names: list[str]) -> pl.DataFrame:
    """The rows below the names; numbers that are all whole are whole, and times of day have no date."""
    loaded = book.load_sheet(
        sheet, header_row=0, schema_sample_rows=None, use_columns=list(range(len(names)))
    )
    frame = loaded.to_polars()
    return pl.DataFrame([_plain(column).alias(one) for one, column in zip(names, frame, strict=True)])


def _plain(column: pl.Series) -> pl.Series:
    if column.dtype == pl.Float64:
        known = column.drop_nulls()
        whole = bool(((known == known.round()) & (known.abs() < WHOLE_UP_TO)).all())
        return column.cast(pl.Int64) if whole and len(known) else column
    if column.dtype.is_temporal() and column.dtype != pl.Duration and column.dtype != pl.Time:
        days: Any = column.drop_nulls().dt.date()
        return column.dt.time() if len(days) and days.is_in(list(NO_DAY)).all() else column
    return column
