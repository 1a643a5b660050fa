"""Tables that are text: which sign parts their fields, how they are encoded, and the first bad row."""

import codecs
import csv
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import IO

import msgspec

from breakeven.errors import expect
from breakeven.errors.expect import shown
from breakeven.tables.faults import Fault, OptionWords, as_argument, twice

SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons"}
LIKELY_ENCODINGS = ("cp1252", "latin-1")  # of text that is not UTF-8; the second one reads anything
ROWS_COMPARED = 200  # whose fields are counted where two signs may part them
LETTERS_AT_ONCE = 1 << 20


# -- the sign between fields -----------------------------------------------------------------------------


def header(path: str) -> tuple[str, list[str]] | Fault:
    """The sign that parts the fields of a text file, and the names of its columns.

    Where the header could be parted by two signs, it is the one that parts all rows alike.
    """
    rows = {sign: _first_rows(path, sign) for sign in SEPARATORS}
    parted = {sign: some for sign, some in rows.items() if len(some[0]) > 1}
    if len(parted) > 1:
        even = [sign for sign, some in parted.items() if len({len(row) for row in some}) == 1]
        if len(even) > 1:
            return _two_signs(even)
        parted = {sign: parted[sign] for sign in even} or parted
    sign, some = max((parted or rows).items(), key=lambda pair: len(pair[1][0]))
    return sign, some[0]


def _first_rows(path: str, sign: str) -> list[list[str]]:
    """The first rows with anything in them, the header among them; an empty one where a field has no end."""
    with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        try:
            return list(islice(filter(None, csv.reader(file, delimiter=sign)), ROWS_COMPARED)) or [[]]
        except csv.Error:
            return [_first_row(path, sign)]


def _first_row(path: str, sign: str) -> list[str]:
    with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        try:
            return next(filter(None, csv.reader(file, delimiter=sign)), [])
        except csv.Error:
            return []


def _two_signs(signs: list[str]) -> Fault:
    both = " and ".join(SEPARATORS[sign] for sign in signs)
    return Fault(
        "one sign between fields",
        f"{both}, and either could be it",
        0,
        hint="write the table with one of them, or put quotes around fields that hold the other",
    )


def bad_header(names: list[str], option: OptionWords = as_argument) -> Fault | None:
    """Names that are no text, or that a table has twice."""
    if not names:
        return Fault("the names of columns", "one without an end", 0)
    return _bad_letters(0, names, [], option) or twice(names)


# -- the encoding ----------------------------------------------------------------------------------------


def check_encoding(encoding: str) -> None:
    """Refuse what is not the name of an encoding of text.

    >>> check_encoding("latin1")
    >>> check_encoding("klingon")
    Traceback (most recent call last):
    breakeven.errors.InvalidInput: encoding: expected an encoding such as 'utf-8', 'cp1252' or 'utf-16', got \
'klingon'
    """
    try:
        "a".encode(encoding)
    except (LookupError, ValueError):
        expect.refuse("encoding", "an encoding such as 'utf-8', 'cp1252' or 'utf-16'", encoding)


def is_utf_8(encoding: str | None) -> bool:
    """Whether text is read as it is.

    >>> is_utf_8(None), is_utf_8("UTF8"), is_utf_8("cp1252")
    (True, True, False)
    """
    return encoding is None or codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")


def converted(source: IO[bytes], encoding: str) -> Iterator[bytes]:
    """Text in some encoding as UTF-8, piece by piece."""
    pieces = iter(lambda: source.read(LETTERS_AT_ONCE), b"")
    for piece in codecs.iterdecode(pieces, encoding):
        yield piece.encode()


def undecodable(error: UnicodeError, encoding: str) -> Fault:
    """Bytes that an encoding does not have, or text that does not begin as its encoding asks for."""
    came = str(error)
    if isinstance(error, UnicodeDecodeError):
        came = f"the bytes {shown(error.object[error.start : error.end])}"
    return Fault(f"text in {encoding}", came, hint="it is in another encoding")


def _bad_letters(number: int, row: list[str], header: list[str], option: OptionWords) -> Fault | None:
    for place, value in enumerate(row):
        if any("\udc80" <= letter <= "\udcff" for letter in value):
            name = header[place] if place < len(header) else None
            raw = value.encode(errors="surrogateescape")
            return Fault("text in UTF-8", f"the bytes {shown(raw)}", number, name, _in_words(raw, option))
    return None


def _in_words(raw: bytes, option: OptionWords) -> str:
    r"""What the bytes say in a likely encoding.

    >>> _in_words(b"M\xfcller", as_argument)
    "in cp1252 these say 'Müller': if that is right, say `encoding='cp1252'`"
    """
    for encoding in LIKELY_ENCODINGS:
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        return f"in {encoding} these say {shown(text)}: if that is right, say {option('encoding', encoding)}"
    return ""


# -- the first row that is wrong -------------------------------------------------------------------------


def bad_text(path: str, separator: str, option: OptionWords = as_argument) -> Fault | None:
    """The first row of a CSV that is not UTF-8, is longer than the header, or has a quote without an end."""
    number = 0
    with _any_length(), open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        try:
            rows = csv.reader(file, delimiter=separator, strict=True)
            header = next(filter(None, rows), [])
            for number, row in enumerate(rows, start=1):
                fault = _bad_letters(number, row, header, option) or _bad_length(number, row, header)
                if fault is not None:
                    return fault
        except csv.Error as error:
            return Fault("quotes in pairs around a field", str(error), number + 1)
    return None


@contextmanager
def _any_length() -> Iterator[None]:
    """Inside it, a field may be of any length."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


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
