"""A feed as it is read, line by line: the numbers of the entries up to which the log goes on."""

from breakeven.client.described_calls import RawAnswer, refusal
from breakeven.errors.serving import ServiceError

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
