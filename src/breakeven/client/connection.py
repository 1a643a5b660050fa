"""How calls reach a service: the connection, how long a client tries, and a feed as it is read.

A connection that breaks, 429 and 503 pass; everything else is an answer. Pauses between tries grow and
are drawn at random, so that a thousand devices do not come back in the same moment.
"""

import random
import time
from collections.abc import Callable
from typing import Any

import httpx
from msgspec import Struct

from breakeven.client.described_calls import ClientCall, RawAnswer, refusal
from breakeven.errors import BreakevenError, expect
from breakeven.errors.serving import ServiceError, Unreachable
from breakeven.errors.statuses import ending_of

PASSING_STATUSES = (429, 503)  # statuses after which the same may be answered otherwise


class Patience(Struct, frozen=True, kw_only=True):
    """How often and how long to try, in seconds.

    The pause before try n is drawn from 0 to `first` · 2ⁿ⁻², at most `longest`; where the service says how
    long to wait, that comes on top. Whatever would end later than `seconds` after the first try is not tried.

    >>> Patience(tries=1)  # never again
    Patience(tries=1, first=0.1, longest=5.0, seconds=60.0)
    """

    tries: int = 10
    first: float = 0.1
    longest: float = 5.0
    seconds: float = 60.0

    def __post_init__(self) -> None:
        expect.whole("tries", self.tries, least=1)
        for name in ("first", "longest", "seconds"):
            expect.number(name, getattr(self, name), 0.0, 1e9)


class Attempts:
    """The tries of one call."""

    def __init__(
        self,
        patience: Patience,
        draw: Callable[[], float] = random.random,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._patience, self._draw, self._steady = patience, draw, steady
        self._made, self._began = 0, steady()

    def pause(self, error: BreakevenError) -> float:
        """After a try ended in this error: how many seconds to wait before the next; or the error again."""
        self._made += 1
        patience = self._patience
        if ending_of(error).status not in PASSING_STATUSES or self._made >= patience.tries:
            raise error
        ceiling = min(patience.longest, patience.first * 2.0 ** (self._made - 1))
        pause = (getattr(error, "retry_after", None) or 0.0) + ceiling * self._draw()
        if self._steady() + pause - self._began > patience.seconds:
            raise error
        return pause

    def succeeded(self) -> None:
        """Something came: whatever fails next fails for the first time."""
        self._made, self._began = 0, self._steady()


FEED_HEADERS = {"accept": "text/event-stream"}
SILENCE = 45.0  # seconds; the service gives a sign of life every 15


class FeedReader:
    """Takes lines, and gives the number of an entry where an event ends. `after` is the last one heard.

    >>> reader = FeedReader(None)
    >>> [reader.line(one) for one in ["retry: 2000", "", "id: 7", "event: changed", "data: {}", ""]]
    [None, None, None, None, None, 7]
    >>> reader.headers
    {'accept': 'text/event-stream', 'last-event-id': '7'}
    """

    def __init__(self, after: int | None) -> None:
        self.after = after
        self._id: int | None = None

    @property
    def headers(self) -> dict[str, str]:
        """What to send, so that nothing is missed."""
        return FEED_HEADERS if self.after is None else FEED_HEADERS | {"last-event-id": str(self.after)}

    def line(self, line: str) -> int | None:
        """Take a line; the number of an entry where it ends an event."""
        name, _, value = line.partition(":")
        if name == "id" and value.strip().isdecimal():
            self._id = int(value)
        if line or self._id is None:
            return None
        self.after, self._id = self._id, None
        return self.after

    def check(self, raw: RawAnswer) -> None:
        """Raise unless a feed was opened."""
        if raw.status != 200:
            raise refusal(raw)
        if not raw.headers.get("content-type", "").startswith(FEED_HEADERS["accept"]):
            raise ServiceError("url: expected a feed of breakeven, got something else; check the address")


CLIENT_HEADERS = {"content-type": "application/json", "accept": "application/json", "user-agent": "breakeven"}


class Connection:
    """Where calls go, and who sends them. What is shown of it has no token in it."""

    def __init__(self, url: str, token: str | None, seconds: float) -> None:
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            expect.refuse("url", "an address that begins with http:// or https://", url)
        self.url = url.rstrip("/")
        self._headers = dict(CLIENT_HEADERS)
        if token is not None:
            if not isinstance(token, str) or not token.isascii() or not token.isprintable():
                wanted = "be_…, as `breakeven token add` shows it"
                expect.refuse("token", wanted, "something else", described=True)
            self._headers["authorization"] = f"Bearer {token.strip()}"
        self._seconds = expect.positive("seconds", seconds)

    @property
    def settings(self) -> dict[str, Any]:
        """What a client of httpx is made with; a redirection is not followed, as it would get the token."""
        return {"headers": self._headers, "timeout": self._seconds, "follow_redirects": False}

    def request(self, call: ClientCall[Any]) -> dict[str, Any]:
        """A call as httpx takes it."""
        return {
            "method": call.method,
            "url": self.url + call.path,
            "params": call.query or None,
            "content": call.content,
        }

    def feed(self, path: str, reader: FeedReader) -> dict[str, Any]:
        """A feed as httpx takes it."""
        timeout = httpx.Timeout(self._seconds, read=SILENCE)
        return {"method": "GET", "url": self.url + path, "headers": reader.headers, "timeout": timeout}

    def broken(self, error: httpx.HTTPError | None) -> BreakevenError:
        """What a connection that broke is called."""
        reason = "it ended" if error is None else str(error) or type(error).__name__
        return Unreachable(f"{self.url}: expected the service of breakeven, got no answer ({reason})")


def raw_answer(response: httpx.Response, content: bytes) -> RawAnswer:
    """An answer of httpx as plain data."""
    return RawAnswer(response.status_code, {k.lower(): v for k, v in response.headers.items()}, content)
