"""The server that `serving` puts under load: `python -m breakeven_research.bench.load_server ADDRESS HTTP`.

The service of breakeven, and beside it a path that does nothing at all, and one that says how many seconds of
CPU this process has used. It prints its port once it listens, and ends with whoever started it.
"""

import os
import sys
import threading
from time import process_time

import uvicorn
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from breakeven.service.app import make_app
from breakeven.service.server import socket
from breakeven.service.service import Service
from breakeven.store import open_store


class Plain:
    """A path that answers with one number."""

    def __init__(self, seconds: bool) -> None:
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the call and answer it."""
        await receive()
        body = repr(process_time()).encode() if self._seconds else b"0"
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def main(address: str, http: str) -> None:
    """Serve until standard input ends."""
    more = [Route("/empty", Plain(False), methods=["POST"]), Route("/cpu", Plain(True), methods=["POST"])]
    listening = socket("127.0.0.1", 0)
    print(listening.getsockname()[1], flush=True)
    app = make_app(Service(open_store(address, "create")), [*more])
    threading.Thread(target=_end_with_input, daemon=True).start()
    config = uvicorn.Config(app, log_level="error", access_log=False, server_header=False, http=http)
    uvicorn.Server(config).run([listening])


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
