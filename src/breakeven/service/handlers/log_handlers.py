"""The log over HTTP: entries as JSON in pages, or whole as JSON lines or CSV; and its feed.

The feed says that the log goes on, and up to which entry; whoever hears it asks for what they show. The
id of an event is the number of that entry, so whoever comes back with `Last-Event-ID` misses nothing.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from datetime import UTC, datetime
from itertools import islice

import msgspec

from breakeven import wire
from breakeven.errors import BreakevenError, InvalidInput, expect
from breakeven.errors.serving import Malformed, WrongMedia
from breakeven.folding import EVENT_KINDS, event_of
from breakeven.service.access.callers import waited
from breakeven.service.calls import CSV_MEDIA, FEED_MEDIA, JSON_MEDIA, LINES_MEDIA, Call, Streamed
from breakeven.service.live_stream import LiveStream
from breakeven.service.waiting import ask_store
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
    upto = live.written or await ask_store(live.store.last, live.number)
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
    since, until = _seconds(query.since), _seconds(query.until)
    for one in live.store.entries(live.number, after, upto):
        if (
            (query.kind is None or one.kind == query.kind)
            and (query.by is None or one.by == query.by)
            and (since is None or one.at >= since)
            and (until is None or one.at < until)
        ):
            yield one


def _seconds(time: datetime | None) -> float | None:
    """A time in seconds since 1970; one that does not say where it is of is UTC."""
    if time is None:
        return None
    return (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp()


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


# -- the feed ---------------------------------------------------------------------------------------------

PAUSE = 0.5  # seconds between two events
LOOKED_AFTER = 1.0  # seconds after which it is asked again whether the caller may listen
SIGN_OF_LIFE = 15  # in how many of those looks something is sent, so that nothing on the way hangs up
MOST_DIGITS = 18  # of the number of an entry
FEED_ROLES = ("watch", "label")


async def feed(call: Call) -> Streamed:
    """Changes of a stream's log."""
    live = call.live
    call.service.feeds.check_room(call.by)
    return Streamed(changes(call, live, _heard_before(call)), FEED_MEDIA, {"x-accel-buffering": "no"})


def _heard_before(call: Call) -> int | None:
    last = call.headers.get(b"last-event-id", b"")
    if last and not (last.isdigit() and len(last) <= MOST_DIGITS):
        raise Malformed(
            f"Last-Event-ID: expected the number of an entry, got {last[:40].decode('latin-1')!r}"
        )
    return int(last) if last else None


async def changes(call: Call, live: LiveStream, heard: int | None) -> AsyncGenerator[bytes, None]:
    """An event for each change behind `heard`, until caller or stream are gone, or the service stops."""
    feeds, woken, ending = call.service.feeds, asyncio.Event(), asyncio.Event()
    stop_listening = live.to_disk.subscribe(lambda _: woken.set())
    try:
        with feeds.open(call.by, woken, ending):
            yield b"retry: 2000\n\n"
            quiet = 0
            while not feeds.ended and await _may_listen(call, live):
                if live.written != heard:
                    heard = live.written
                    yield b'id: %d\nevent: changed\ndata: {"entry": %d}\n\n' % (heard, heard)
                    await waited(ending, PAUSE)
                    quiet = 0
                    continue
                woken.clear()
                quiet += not await waited(woken, LOOKED_AFTER)
                if quiet == SIGN_OF_LIFE:
                    yield b": nothing new\n\n"
                    quiet = 0
    finally:
        stop_listening()


async def _may_listen(call: Call, live: LiveStream) -> bool:
    if call.service.streams.get(live.name) is not live:
        return False
    try:
        caller = await call.service.entrance.identify("GET", call.headers)
        caller.check(FEED_ROLES, live.name)
    except BreakevenError:
        return False
    return True
