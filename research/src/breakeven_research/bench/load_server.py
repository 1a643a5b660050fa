"""The server that `serving` puts under load: `python -m breakeven_research.bench.load_server ADDRESS HTTP`.

The service of breakeven as `breakeven serve` runs it, and in it a route whose handler does nothing: its calls
come in through the same server, are found in the same table, and their callers are identified, counted and
checked as any other's; the body is read and not decoded, and the answer is empty. Another route says how many
seconds of CPU this process has used. It prints its port once it listens, and ends with whoever started it.
"""

import os
import sys
import threading
from time import process_time
from typing import cast

from breakeven.service.app import make_app, placed
from breakeven.service.calls import Call, Raw
from breakeven.service.pages.page_routes import page_routes
from breakeven.service.routes import STREAM, ServiceRoute
from breakeven.service.server import HttpParser, StoppingServer, socket
from breakeven.service.service import Service
from breakeven.store import open_store


async def nothing(call: Call) -> None:
    """Do nothing."""


async def cpu(call: Call) -> float:
    """How many seconds of CPU this process has used."""
    return process_time()


ROUTES = (
    ServiceRoute(
        method="POST",
        path=f"{STREAM}/empty",
        summary="Nothing.",
        handler=nothing,
        roles=("send",),
        body=Raw,
    ),
    ServiceRoute(method="POST", path="/cpu", summary="Seconds of CPU.", handler=cpu, roles=("watch",)),
)


def main(address: str, http: str) -> None:
    """Serve until standard input ends."""
    listening = socket("127.0.0.1", 0)
    print(listening.getsockname()[1], flush=True)
    service = Service(open_store(address, "create"))
    app = make_app(service, [*page_routes(service), *placed(service, ROUTES)])
    threading.Thread(target=_end_with_input, daemon=True).start()
    StoppingServer(app, service, cast(HttpParser, http)).run([listening])


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
