"""Entries of a stream's log, as they are read by others."""

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

MOST_ENTRIES = 1000  # in one page


class EntryAnswer(Struct, frozen=True, omit_defaults=True):
    """One entry; `body` in base64 is there where JSON cannot hold the event."""

    stream: str
    seq: int
    at: str
    by: str
    kind: str
    id: str | None = None
    event: Any = None
    body: str | None = None


class EntryPage(Struct, frozen=True):
    """Entries in their order; `next` is the `after` of the next page, and null at the end."""

    entries: list[EntryAnswer]
    next: int | None
    as_of: int


class EntryQuery(Struct, frozen=True, forbid_unknown_fields=True, rename={"since": "from", "until": "to"}):
    """Which entries: behind number `after`, of a kind, by somebody, from a time to a time.

    `limit` is for JSON, which comes in pages; JSON lines and CSV come whole unless it is given. `format` says
    in which form, where no header does.
    """

    after: int = 0
    limit: int | None = None
    kind: str | None = None
    by: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    format: Literal["json", "lines", "csv"] | None = None
