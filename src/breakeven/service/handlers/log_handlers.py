"""The log over HTTP: entries as JSON in pages, or all of them as JSON lines or CSV, a part at a time."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from itertools import islice

import msgspec

from breakeven import wire
from breakeven.errors import InvalidInput, expect
from breakeven.errors.serving import WrongMedia
from breakeven.folding import EVENT_KINDS, event_of
from breakeven.service.calls import CSV_MEDIA, JSON_MEDIA, LINES_MEDIA, Call, Streamed
from breakeven.service.live_stream import LiveStream
from breakeven.store import LogEntry
from breakeven.store.export import EXPORT_COLUMNS, csv_line, csv_row, json_line
from breakeven.wire.log_pages import MOST_ENTRIES, EntryAnswer, EntryPage, EntryQuery

LINES_A_PART = 500
FORMATS = {"json": JSON_MEDIA, "lines": LINES_MEDIA, "csv": CSV_MEDIA}


async def entries(call: Call) -> EntryPage | Streamed:
    """Entries of a stream's log."""
    live, query = call.live, call.query
    after = expect.whole("after", query.after)
    limit = None if query.limit is None else expect.whole("limit", query.limit, least=1)
    await live.barrier()
    upto = live.written or live.store.last(live.number)
    media = wanted_media(call.accepts) if query.format is None else FORMATS[query.format]
    chosen = _chosen(live, query, after, upto)
    if media != JSON_MEDIA:
        form = csv_line if media == CSV_MEDIA else json_line
        some = chosen if limit is None else islice(chosen, limit)
        lines = (form(live.name, one, event_json) for one in some)
        head = csv_row(EXPORT_COLUMNS) if media == CSV_MEDIA else b""
        return Streamed(_parts(lines, head), media, {"content-disposition": "attachment"})
    limit = 100 if limit is None else expect.whole("limit", limit, most=MOST_ENTRIES)
    page = await asyncio.to_thread(lambda: list(islice(chosen, limit + 1)))
    more = len(page) > limit
    shown = [_answer(live.name, one) for one in page[:limit]]
    return EntryPage(shown, page[limit - 1].seq if more else None, upto)


def wanted_media(accepts: str) -> str:
    """Which of the three kinds an Accept header asks for; JSON unless it says otherwise."""
    kinds = [one.split(";")[0].strip() for one in accepts.split(",")]
    for kind in kinds:
        if kind in (JSON_MEDIA, "*/*", "application/*", ""):
            return JSON_MEDIA
        if kind in (LINES_MEDIA, CSV_MEDIA):
            return kind
    raise WrongMedia(f"Accept: expected {JSON_MEDIA}, {LINES_MEDIA} or {CSV_MEDIA}, got {accepts!r}")


def _chosen(live: LiveStream, query: EntryQuery, after: int, upto: int) -> Iterator[LogEntry]:
    since = None if query.since is None else query.since.timestamp()
    until = None if query.until is None else query.until.timestamp()
    for one in live.store.entries(live.number, after, upto):
        if (
            (query.kind is None or one.kind == query.kind)
            and (query.by is None or one.by == query.by)
            and (since is None or one.at >= since)
            and (until is None or one.at < until)
        ):
            yield one


async def _parts(lines: Iterator[bytes], head: bytes) -> AsyncGenerator[bytes, None]:
    """Lines in parts, each read in a thread: a slow reader holds nothing up."""
    if head:
        yield head
    while part := await asyncio.to_thread(lambda: b"".join(islice(lines, LINES_A_PART))):
        yield part


def event_json(entry: LogEntry) -> bytes | None:
    """An entry's event as JSON; None where it is no event of a learner, or has a point of bytes."""
    if entry.kind not in EVENT_KINDS:
        return None
    try:
        return wire.to_json(event_of(entry))
    except InvalidInput:
        return None


def _answer(name: str, entry: LogEntry) -> EntryAnswer:
    return msgspec.json.decode(json_line(name, entry, event_json), type=EntryAnswer)
