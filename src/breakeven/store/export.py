"""Entries as text for other programs: JSON lines, or CSV that no spreadsheet takes for formulas."""

import base64
import csv
import io
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec

from breakeven.store.port import LogEntry

EXPORT_COLUMNS = ("stream", "seq", "at", "by", "kind", "id", "event", "body")
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")
ShowEvent = Callable[[LogEntry], bytes | None]
"""An entry's event as JSON, or None where JSON cannot hold it: then its bytes are shown in base64."""


def json_line(name: str, entry: LogEntry, show: ShowEvent) -> bytes:
    """One entry as a JSON object on a line; `name` is that of its stream."""
    document = _cells(name, entry)
    event = show(entry)
    if event is None:
        document["body"] = base64.b64encode(entry.body).decode()
    else:
        document["event"] = msgspec.Raw(event)
    return msgspec.json.encode(document) + b"\n"


def csv_line(name: str, entry: LogEntry, show: ShowEvent) -> bytes:
    """One entry as a line of CSV with the columns `EXPORT_COLUMNS`."""
    event = show(entry)
    body = base64.b64encode(entry.body).decode() if event is None else ""
    cells = [*_cells(name, entry).values(), "" if event is None else event.decode(), body]
    return csv_row([defused(cell) if isinstance(cell, str) else cell for cell in cells])


def csv_row(cells: Any) -> bytes:
    """Cells as a line of CSV, whose end is that of RFC 4180; both of its signs are quoted in a cell."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(cells)
    return line.getvalue().encode()


def defused(text: str) -> str:
    """Text that no spreadsheet takes for a formula: it would run what a stranger put into an id.

    Different texts stay different: one that looks defused already gets another apostrophe.

    >>> defused("=HYPERLINK(A1)"), defused("-1+1"), defused("Ann"), defused("'=7")
    ("'=HYPERLINK(A1)", "'-1+1", 'Ann', "''=7")
    """
    return f"'{text}" if text.lstrip("'").startswith(FORMULA_SIGNS) else text


def as_before_defusing(text: str) -> str:
    """The text that `defused` made this of.

    >>> as_before_defusing("'=7"), as_before_defusing("''=7"), as_before_defusing("'s Gravenhage")
    ('=7', "'=7", "'s Gravenhage")
    """
    return text[1:] if text.startswith("'") and text.lstrip("'").startswith(FORMULA_SIGNS) else text


def time_of(at: float) -> str:
    """A time as RFC 3339 writes it, in UTC; one that no calendar has stays a number.

    >>> time_of(1.5), time_of(1e18)
    ('1970-01-01T00:00:01.500000Z', '1000000000000000000.0')
    """
    try:
        return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return f"{at!r}" if abs(at) < 1e16 else f"{at:.1f}"


def _cells(name: str, entry: LogEntry) -> dict[str, Any]:
    return {
        "stream": name,
        "seq": entry.seq,
        "at": time_of(entry.at),
        "by": entry.by,
        "kind": entry.kind,
        "id": entry.id,
    }
