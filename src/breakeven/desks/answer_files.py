"""Files of answers as people and spreadsheets write them: CSV or JSON lines.

A row that cannot be read is named and stops no other. Ids in CSV are shown so that no spreadsheet takes them
for formulas, and read back as they were.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from breakeven.desks.interface import SHOWN_LETTERS, DeskAnswer, UnreadableAnswer
from breakeven.errors import expect
from breakeven.store.export import as_before_defusing

DELIMITERS = ",;\t|"
SAID_SO = {"skipped": "skipped", "skip": "skipped", "deleted": "deleted"}
PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)

Row = dict[str, Any]
Line = tuple[int, Row | UnreadableAnswer]  # its number, from 1, and what stands there


class AnswersRead(NamedTuple):
    """What a file says: answers, the last of a person and a request; and what could not be read, and why.

    `named` are all labellers and ids that have a row, readable or not. Where a row does not even say its id,
    the file is `unsure`: it may be any.
    """

    answers: list[DeskAnswer]
    problems: list[str]
    named: set[tuple[str | None, str]]
    unsure: bool


def read_answers(name: str, content: bytes) -> AnswersRead:
    r"""All that a file of answers says; its name says its form.

    >>> read = read_answers("answers.csv", b"id;y\n7;38,9\n8;many\n")
    >>> read.answers[0].y, read.problems
    (38.9, ["answers.csv, line 3: expected a number as y, got 'many'"])
    """
    found: dict[tuple[str | None, str], DeskAnswer] = {}
    problems: list[str] = []
    named: set[tuple[str | None, str]] = set()
    unsure = False
    for number, row in read_lines(name, content):
        try:
            if isinstance(row, UnreadableAnswer):
                raise row
            key = _key(row, is_csv=name.endswith(".csv"))
        except UnreadableAnswer as error:
            unsure = True
            problems.append(f"{name}, line {number}: {error}")
            continue
        if key is None:
            continue
        try:
            one = _answer(key, row)
        except UnreadableAnswer as error:
            problems.append(f"{name}, line {number}: {error}")
            named.add(key)
            continue
        if one is not None:
            named.add(key)
            found[key] = one
    return AnswersRead(list(found.values()), problems, named, unsure)


def read_lines(name: str, content: bytes) -> Iterator[Line]:
    """The rows of a file, by column, each with its number; one that cannot be read says why."""
    try:
        text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        yield 1, UnreadableAnswer(f"expected text in UTF-8, got something else ({error.reason})")
        return
    yield from _csv_lines(text) if name.endswith(".csv") else _json_lines(text)


def ends_whole(content: bytes) -> bool:
    """Whether the last line has an end; one without may still be written."""
    return content.endswith((b"\n", b"\r", b"\n\0", b"\r\0"))


def _json_lines(text: str) -> Iterator[Line]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, msgspec.json.decode(line, type=Row)
            except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
                yield number, UnreadableAnswer(f"expected a JSON object, got {line[:SHOWN_LETTERS]!r}")


def _csv_lines(text: str) -> Iterator[Line]:
    lines = list(io.StringIO(text, newline=""))
    start = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    if start < len(lines) and lines[start].lower().startswith("sep="):  # which a spreadsheet reads, too
        start += 1
    if start >= len(lines):
        return
    delimiter, names = _header(lines[start])
    if "id" not in names:
        shown = lines[start].strip()[:SHOWN_LETTERS]
        yield start + 1, UnreadableAnswer(f"expected a header with a column id, got {shown!r}")
        return
    i = start + 1
    while i < len(lines):
        end, cells = _record(lines, i, delimiter, len(names))
        if cells is None:
            shown = lines[i].strip()[:SHOWN_LETTERS]
            yield i + 1, UnreadableAnswer(f"expected {len(names)} cells, every quote closed, got {shown!r}")
        elif any(cell.strip() for cell in cells):
            row: Row = dict(zip(names, cells, strict=False))
            if delimiter != "," and isinstance(row.get("y"), str):
                row["y"] = row["y"].replace(",", ".")  # a decimal comma
            yield i + 1, row
        i = end


def _header(line: str) -> tuple[str, list[str]]:
    """The sign between the cells, and the names of the columns."""
    names: list[str] = []
    for delimiter in DELIMITERS:
        cells = next(csv.reader([line], delimiter=delimiter), [])
        names = [cell.strip().lower() if cell.strip().lower() in KNOWN else cell for cell in cells]
        if "id" in names:
            return delimiter, names
    return ",", names


KNOWN = ("id", "y", "kind", "labeller")


def _record(lines: list[str], start: int, delimiter: str, most: int) -> tuple[int, list[str] | None]:
    """The cells of the row that begins at a line, and the line behind it; a quoted cell may have several.

    None stands for a row with too many cells or an open quote; the next line may well be another row.
    """
    end, is_open = start + 1, lines[start].count('"') % 2
    while is_open and end < len(lines):
        is_open ^= lines[end].count('"') % 2
        end += 1
    try:
        cells = next(csv.reader(lines[start:end], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return start + 1, None
    while len(cells) > most and not cells[-1].strip():
        cells.pop()
    return (end, cells) if len(cells) <= most else (start + 1, None)


def _key(row: Row, *, is_csv: bool) -> tuple[str | None, str] | None:
    """Who answers which request; None where nothing is filled in."""
    id, who = row.get("id"), _word(row.get("labeller"))
    if not isinstance(id, str | int) or isinstance(id, bool) or id == "":
        if all(_word(row.get(name)) is None for name in ("id", "y", "kind")):
            return None
        shown = repr(dict(row))[:SHOWN_LETTERS]
        raise UnreadableAnswer(f"expected a column id, and an id in it, got {shown}")
    return who, as_before_defusing(str(id)) if is_csv else str(id)


def _answer(key: tuple[str | None, str], row: Mapping[str, Any]) -> DeskAnswer | None:
    """One row; None where nothing is filled in."""
    (who, id), kind, y = key, _word(row.get("kind")), _word(row.get("y"))
    if kind is not None and kind not in (*SAID_SO, "told", "changed"):
        raise UnreadableAnswer(f"expected told, skipped or deleted, or no kind, got {kind[:SHOWN_LETTERS]!r}")
    if kind in SAID_SO:
        return DeskAnswer(id, None, "skipped" if SAID_SO[kind] == "skipped" else "deleted", who)
    if y is None:
        return None
    try:
        if not PLAIN_NUMBER.fullmatch(y):
            raise ValueError
        return DeskAnswer(id, expect.finite("y", float(y)), "told", who)
    except ValueError as error:
        raise UnreadableAnswer(f"expected a number as y, got {y[:SHOWN_LETTERS]!r}") from error


def _word(value: Any) -> str | None:
    return None if value is None or str(value).strip() == "" else str(value).strip()
