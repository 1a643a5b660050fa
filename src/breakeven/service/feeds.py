"""Open feeds: how many there may be, and that all of them end when the service stops."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from breakeven.errors.serving import TooMany

MOST_FEEDS = 500
MOST_FEEDS_EACH = 50  # of one caller


class Feeds:
    """Counts feeds by who has them open, and wakes them when they are to end."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()
        self._waiting: set[asyncio.Event] = set()
        self.ended = False

    @property
    def count(self) -> int:
        """How many are open."""
        return self._open.total()

    def check_room(self, by: str) -> None:
        """Raise where as many are open as are allowed."""
        for came, most in ((self._open.total(), MOST_FEEDS), (self._open[by], MOST_FEEDS_EACH)):
            if came >= most:
                raise TooMany(f"feed: expected fewer than {most} open feeds, got {came}; close some")

    @contextmanager
    def open(self, by: str, *woken: asyncio.Event) -> Iterator[None]:
        """Count a feed meanwhile; the events it waits for are set when it is to end."""
        self._open[by] += 1
        self._waiting.update(woken)
        try:
            yield
        finally:
            self._waiting.difference_update(woken)
            self._open[by] -= 1
            if not self._open[by]:
                del self._open[by]

    def end(self) -> None:
        """The service stops: every feed ends."""
        self.ended = True
        for woken in self._waiting:
            woken.set()


async def waited(woken: asyncio.Event, seconds: float) -> bool:
    """Wait until something happens, or for so long; whether it happened."""
    with suppress(TimeoutError):
        await asyncio.wait_for(woken.wait(), seconds)
    return woken.is_set()
