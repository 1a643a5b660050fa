"""The feed: that a stream's log goes on, and up to which entry; whoever hears it asks for what they show.

An event's id is the number of that entry, so whoever comes back with `Last-Event-ID` misses nothing.
"""

import asyncio
from collections.abc import AsyncGenerator

from breakeven.errors import BreakevenError
from breakeven.errors.serving import Malformed
from breakeven.service.calls import FEED_MEDIA, Call, Streamed
from breakeven.service.feeds import waited
from breakeven.service.live_stream import LiveStream

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
    stop_listening = live.subscribe(lambda *_: woken.set())
    try:
        with feeds.open(call.by, woken, ending):
            yield b"retry: 2000\n\n"
            quiet = 0
            while not feeds.ended and _may_listen(call, live):
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


def _may_listen(call: Call, live: LiveStream) -> bool:
    if call.service.streams.get(live.name) is not live:
        return False
    try:
        caller = call.service.entrance.caller("GET", call.headers)
        caller.check(FEED_ROLES, live.name)
    except BreakevenError:
        return False
    return True
