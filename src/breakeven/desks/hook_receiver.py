"""Where a tool sends its messages: a small HTTP server beside a sync, so that no answer waits for a poll."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from breakeven.desks.interface import LabellingDesk, WrongSecret
from breakeven.errors import BreakevenError

logger = logging.getLogger(__name__)

MOST_BYTES = 1_000_000  # of a message

SLOWEST_PIECE = 30.0  # seconds until a sender that says nothing is hung up on


class HookServer(ThreadingHTTPServer):
    """Has a desk read the messages that are sent to it, and says so."""

    daemon_threads = True

    def __init__(self, place: tuple[str, int], desk: LabellingDesk, heard: threading.Event) -> None:
        self.desk, self.heard = desk, heard
        super().__init__(place, OneHook)

    def handle_error(self, *_: object) -> None:
        """Nobody waits for this answer any more."""
        logger.debug("a sender was gone before the answer", exc_info=True)


class OneHook(BaseHTTPRequestHandler):
    """One message: read by the desk, and answered by whether that went well."""

    server: HookServer
    timeout = SLOWEST_PIECE

    def log_message(self, format: str, *words: object) -> None:
        """Say what came, to who asks for that much."""
        logger.debug(format, *words)

    def do_POST(self) -> None:
        """A message came."""
        self.send_response(self._status())
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _status(self) -> int:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            return 411
        if len(length) > len(str(MOST_BYTES)) or int(length) > MOST_BYTES:
            self.close_connection = True
            return 413
        try:
            self.server.desk.read_hook(dict(self.headers), self.rfile.read(int(length)))
        except WrongSecret as error:
            logger.warning("%s", error)
            return 403
        except BreakevenError as error:
            logger.warning("%s", error)
            return 400
        except OSError as error:
            logger.warning("a message did not come whole: %s", error)
            self.close_connection = True
            return 408
        except Exception as error:
            logger.error("a message could not be read (%s: %s)", type(error).__name__, error)
            return 500
        self.server.heard.set()
        return 204


@contextmanager
def hooks_received(desk: LabellingDesk, host: str, port: int, heard: threading.Event) -> Iterator[int]:
    """Inside it, the desk reads messages sent to this address; `heard` is set by each. Gives the port."""
    server = HookServer((host, port), desk, heard)
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
