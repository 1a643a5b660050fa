"""Where a text file is no table: the first row that is no UTF-8, no JSON, or has too many fields."""

import csv
from itertools import islice
from typing import NamedTuple

import msgspec

from breakeven.errors.expect import shown


class Fault(NamedTuple):
    """What is wrong, and where."""

    expected: str
    came: str
    row: int
    column: str | None = None


def bad_text(path: str, separator: str) -> Fault | None:
    """The first row of a CSV that is not UTF-8, or longer than the header."""
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        rows = csv.reader(file, delimiter=separator)
        header = next(rows, [])
        try:
            for number, row in enumerate(rows, start=1):
                fault = _bad_row(number, row, header)
                if fault is not None:
                    return fault
        except csv.Error as error:
            return Fault("fields that can be read", str(error), number)
    return None


def _bad_row(number: int, row: list[str], header: list[str]) -> Fault | None:
    for place, value in enumerate(row):
        if any("\udc80" <= letter <= "\udcff" for letter in value):
            name = header[place] if place < len(header) else None
            raw = value.encode(errors="surrogateescape")
            return Fault("text in UTF-8", f"the bytes {shown(raw)}", number, name)
    if len(row) > len(header):
        return Fault(f"{len(header)} fields, as in the header", str(len(row)), number)
    return None


def bad_json(path: str) -> Fault | None:
    """The first row that is no JSON object."""
    with open(path, "rb") as file:
        lines = (line for line in file if line.strip())
        for number, line in enumerate(islice(lines, None), start=1):
            try:
                msgspec.json.decode(line, type=dict)
            except (msgspec.DecodeError, UnicodeDecodeError):
                return Fault("one JSON object a line", shown(line.strip()), number)
    return None
