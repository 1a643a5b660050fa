"""Between described calls and httpx: addresses, headers, answers, and connections that break."""

from typing import Any

import httpx

from breakeven.client.described_calls import ClientCall, RawAnswer
from breakeven.client.listening import SILENCE, FeedReader
from breakeven.errors import BreakevenError, expect
from breakeven.errors.serving import Unreachable

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
