"""Who calls, what they may do, and how much of it: calls a second, and feeds that are open.

Roles: `send` brings arrivals, `label` answers requests, `watch` reads, `administer` does all of it and sets
streams up.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal

from msgspec import Struct

from breakeven.errors import BreakevenError, expect
from breakeven.errors.serving import NotAllowed, ServiceError, TooMany

CallerRole = Literal["send", "label", "watch", "administer"]
ROLES: tuple[CallerRole, ...] = ("send", "label", "watch", "administer")


class Caller(Struct, frozen=True):
    """A name for the log, roles, and the streams they hold for; None is all streams."""

    name: str
    roles: frozenset[str]
    streams: frozenset[str] | None = None

    def may(self, *roles: str) -> bool:
        """Whether they have one of these roles."""
        return "administer" in self.roles or not self.roles.isdisjoint(roles)

    def sees(self, stream: str) -> bool:
        """Whether their roles hold for this stream."""
        return self.streams is None or stream in self.streams

    def check(self, roles: tuple[str, ...], stream: str | None) -> None:
        """Raise unless they have one of these roles, for this stream where there is one.

        What administers the whole service, such as making tokens, is not for who has some streams alone.
        """
        if roles and not self.may(*roles):
            wanted = " or ".join(roles)
            had = ", ".join(sorted(self.roles)) or "none"
            raise NotAllowed(f"token: expected one with the role {wanted}, got {self.name!r} with {had}")
        if stream is not None and not self.sees(stream):
            raise NotAllowed(f"token: expected one for the stream {stream!r}, got one for others")
        if stream is None and roles == ("administer",) and self.streams is not None:
            raise NotAllowed("token: expected one for all streams, got one for some")

    def may_read(self, error: BreakevenError, stream: str | None) -> BreakevenError:
        """An error as it is told to them: why a stream cannot be used is for those who administer it."""
        if not isinstance(error, ServiceError) or error.why is None:
            return error
        if "administer" not in self.roles or (stream is not None and not self.sees(stream)):
            return error
        whole = type(error)(f"{error} ({type(error.why).__name__}: {error.why})")
        whole.retry_after = error.retry_after
        return whole


ANYBODY = Caller("anybody", frozenset())
LOCAL = Caller("local", frozenset(ROLES))  # on this machine, as long as there is no token


# -- how many calls ---------------------------------------------------------------------------------------

MOST_BUCKETS = 10_000


class CallRates:
    """At most `rate` calls a second by each caller over time; as many as `rate` may come at once.

    >>> time = [0.0]
    >>> rates = CallRates(2.0, lambda: time[0])
    >>> rates.check("ann"); rates.check("ann")
    >>> rates.check("ann")
    Traceback (most recent call last):
    breakeven.errors.serving.TooMany: calls: expected at most 2 a second of 'ann', got more; wait 0.5 s
    """

    def __init__(self, rate: float, steady: Callable[[], float]) -> None:
        self._rate, self._steady = expect.positive("calls_a_second", rate), steady
        self._most = max(self._rate, 1.0)
        self._buckets: dict[str, tuple[float, float]] = {}  # what is left, and when that was

    def check(self, name: str) -> None:
        """Count a call; raises `TooMany` where there were too many."""
        now = self._steady()
        left, at = self._buckets.get(name, (self._most, now))
        left = min(self._most, left + self._rate * (now - at))
        if left < 1.0:
            pause = (1.0 - left) / self._rate
            self._buckets[name] = left, now
            error = TooMany(
                f"calls: expected at most {self._rate:g} a second of {name!r}, got more; wait {pause:.2g} s"
            )
            error.retry_after = pause
            raise error
        if len(self._buckets) >= MOST_BUCKETS:
            self._buckets.clear()
        self._buckets[name] = left - 1.0, now


# -- open feeds -------------------------------------------------------------------------------------------

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
