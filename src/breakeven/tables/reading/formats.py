"""What a file is, told by its first bytes, and how text in it is parted into columns."""

import csv
import re

HEAD = 65_536  # bytes that say what a file is
PARQUET, GZIP = b"PAR1", b"\x1f\x8b"
FOREIGN = {
    rb"PK\x03\x04": ("an Excel or zip file", "save the table as CSV"),
    rb"\xd0\xcf\x11\xe0": ("an Excel file", "save the table as CSV"),
    rb"ARROW1\0\0": ("an Arrow file", "write it as Parquet"),
    rb"\x28\xb5\x2f\xfd|BZh[1-9]1AY|\xfd7zXZ": ("a compressed file", "unpack it, or compress it with gzip"),
    rb"\xff\xfe|\xfe\xff": ("text in UTF-16", "save it as UTF-8"),
    rb"\xef\xbb\xbf\s*\{": ("JSON lines with a byte order mark", "save it as UTF-8 without one"),
    rb"(\xef\xbb\xbf)?\s*\[\s*[\[{]": ("a JSON array", "write one object a line, as `jq -c '.[]'` does"),
    rb"[^\0]*\0": ("a binary file", "save the table as CSV"),
    rb"[^\n]*\r[^\n]*\Z": ("text whose lines end in a carriage return only", r"try `tr '\r' '\n'`"),
}


def head_of(path: str) -> bytes:
    """The first bytes of a file."""
    with open(path, "rb") as file:
        return file.read(HEAD)


def foreign(head: bytes) -> tuple[str, str] | None:
    r"""What a file is that we do not read, and what to do with it.

    >>> foreign(b"PK\x03\x04...")
    ('an Excel or zip file', 'save the table as CSV')
    """
    return next((words for begin, words in FOREIGN.items() if re.match(begin, head)), None)


def is_json(head: bytes) -> bool:
    """Whether it is an object a line, to all appearances."""
    return head.lstrip().startswith(b"{")


def header(path: str) -> tuple[str, list[str]]:
    """The separator that makes the most columns, and their names."""
    rows = {sign: _first_row(path, sign) for sign in ",\t;"}
    return max(rows.items(), key=lambda pair: len(pair[1]))


def _first_row(path: str, separator: str) -> list[str]:
    """The first row with anything in it; none where a field has no end."""
    with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        try:
            return next(filter(None, csv.reader(file, delimiter=separator)), [])
        except csv.Error:
            return []
