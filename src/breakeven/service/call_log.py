"""One line of JSON for each call: when, which, by whom, how it ended, how long it took, and its id.

The id is the caller's own, from the header `X-Request-ID`, or a new one; it is answered in the same header.
Paths are written as the table of routes has them: neither ids of arrivals nor tokens come into the log.
"""

import re
import secrets
from collections.abc import Callable
from time import perf_counter
from typing import Any

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from breakeven.service.clock import Clock
from breakeven.store.export import time_of

REQUEST_ID = b"x-request-id"
GOOD_REQUEST_ID = re.compile(rb"[\w.:/+=-]{1,100}", re.ASCII)


class CallLog:
    """An application whose calls are written down; `write` gets the lines."""

    def __init__(self, app: ASGIApp, write: Callable[[bytes], object], clock: Clock | None = None) -> None:
        self._app, self._write, self._clock = app, write, clock or Clock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a call happen, and write it down once it has ended."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, id, status = perf_counter(), request_id(scope), 0
        scope["request_id"] = id.decode()

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], (REQUEST_ID, id)]}
            await send(message)

        try:
            await self._app(scope, receive, sent)
        finally:
            self._write(msgspec.json.encode(self._line(scope, status, perf_counter() - began)) + b"\n")

    def _line(self, scope: Scope, status: int, seconds: float) -> dict[str, Any]:
        route, path = scope.get("route"), scope.get("path_params", {})
        return {
            "at": time_of(self._clock.now()),
            "request": scope["request_id"],
            "method": scope["method"],
            "route": getattr(route, "path", None),
            "stream": path.get("stream"),
            "by": scope.get("called_by"),
            "status": status,
            "seconds": round(seconds, 6),
        }


def request_id(scope: Scope) -> bytes:
    """The id of a call: the caller's own where it is a good one."""
    given = [value for name, value in scope["headers"] if name == REQUEST_ID]
    if len(given) == 1 and GOOD_REQUEST_ID.fullmatch(given[0]):
        return bytes(given[0])
    return secrets.token_hex(8).encode()
