"""What is wrong with a table, and where: the first row that is no UTF-8, no JSON, or has too many fields."""

import csv
from typing import NamedTuple

import msgspec

from breakeven.errors.expect import shown


class Fault(NamedTuple):
    """What is wrong, and where; the header is row 0."""

    expected: str
    came: str
    row: int | None = None
    column: str | None = None
    hint: str = ""

    def said_of(self, table: str) -> str:
        """The fault of a table in words.

        >>> Fault("a price", "0", 3, "cost").said_of("a.csv")
        "a.csv, row 3, column 'cost': expected a price, got 0"
        """
        place = [table]
        place += [] if self.row is None else [f"row {self.row:,}" if self.row else "header"]
        place += [] if self.column is None else [f"column {shown(self.column)}"]
        words = f"{', '.join(place)}: expected {self.expected}, got {self.came}"
        return f"{words}; {self.hint}" if self.hint else words


def bad_header(names: list[str]) -> Fault | None:
    """Names that are no text, or that a table has twice."""
    if not names:
        return Fault("the names of columns", "one without an end", 0)
    return _bad_letters(0, names, []) or twice(names)


def twice(names: list[str]) -> Fault | None:
    """The first name that is there already.

    >>> twice(["a", "y", "y"])
    Fault(expected='a column only once', came='two of that name', row=None, column='y', hint='')
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return Fault("a column only once", "two of that name", column=name)
        seen.add(name)
    return None


def bad_text(path: str, separator: str) -> Fault | None:
    """The first row of a CSV that is not UTF-8, is longer than the header, or has a quote without an end."""
    before, number = csv.field_size_limit(2**31 - 1), 0
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            rows = csv.reader(file, delimiter=separator, strict=True)
            header = next(filter(None, rows), [])
            for number, row in enumerate(rows, start=1):
                fault = _bad_letters(number, row, header) or _bad_length(number, row, header)
                if fault is not None:
                    return fault
    except csv.Error as error:
        return Fault("quotes in pairs around a field", str(error), number + 1)
    finally:
        csv.field_size_limit(before)
    return None


def _bad_letters(number: int, row: list[str], header: list[str]) -> Fault | None:
    for place, value in enumerate(row):
        if any("\udc80" <= letter <= "\udcff" for letter in value):
            name = header[place] if place < len(header) else None
            raw = value.encode(errors="surrogateescape")
            return Fault("text in UTF-8", f"the bytes {shown(raw)}", number, name)
    return None


def _bad_length(number: int, row: list[str], header: list[str]) -> Fault | None:
    if len(row) > len(header):
        return Fault(f"{len(header)} fields, as in the header", str(len(row)), number)
    return None


def bad_json(path: str) -> Fault | None:
    """The first row that is no JSON object."""
    with open(path, "rb") as file:
        lines = (line for line in file if line.strip())
        for number, line in enumerate(lines, start=1):
            try:
                msgspec.json.decode(line, type=dict)
            except (msgspec.DecodeError, UnicodeDecodeError):
                return Fault("one JSON object a line", shown(line.strip()), number)
    return None


def cut_short(words: str) -> Fault:
    """What a Parquet file is of which polars says so."""
    return Fault("a whole Parquet file", f"one that may be cut short ({words})")
