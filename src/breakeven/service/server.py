"""The service in a process of its own: where it binds, what it writes down of each call, and how it stops.

It binds to this machine alone unless told otherwise, and to no other address before there is a token. Asked
to stop, it takes no more calls, answers those that it has, and writes what they are about.
"""

import asyncio
import gc
import os
import re
import secrets
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from socket import IPPROTO_TCP, SOCK_STREAM, TCP_NODELAY, create_server, getaddrinfo
from socket import socket as Socket  # noqa: N812  (a class)
from time import perf_counter
from typing import Any, Literal

import msgspec
import uvicorn
from msgspec import Struct
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from breakeven.errors import InvalidInput, expect
from breakeven.service.access import ProxyLogIn
from breakeven.service.access.entrance import is_local
from breakeven.service.app import make_app
from breakeven.service.clock import Clock
from breakeven.service.demonstration import Demonstration
from breakeven.service.pages.page_routes import page_routes
from breakeven.service.service import Service
from breakeven.service.setting_up import create_from_bill
from breakeven.service.watching import AlarmReceiver, AlarmWatch
from breakeven.store import Store, open_store
from breakeven.store.export import time_of

HttpParser = Literal["auto", "h11", "httptools"]
REQUEST_ID = b"x-request-id"
GOOD_REQUEST_ID = re.compile(rb"[\w.:/+=-]{1,100}", re.ASCII)


class CallLog:
    """An application whose calls are written down, each as a line of JSON; `write` gets the lines.

    A line says when, which, by whom, how it ended, how long it took, and its id: the caller's own, from the
    header `X-Request-ID`, or a new one; it is answered in the same header. Paths are written as the table of
    routes has them: neither ids of arrivals nor tokens come into the log.
    """

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
        path = scope.get("path_params", {})
        return {
            "at": time_of(self._clock.now()),
            "request": scope["request_id"],
            "method": scope["method"],
            "route": scope.get("route"),
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


# -- the process ------------------------------------------------------------------------------------------

SECONDS_TO_STOP = 10
SILENT_SECONDS = 30.0  # between two looks for connections on which nothing is asked
OBJECTS_BEFORE_COLLECTION = 20_000  # made, and not gone again
ALARM_SECRET = "BREAKEVEN_ALARM_SECRET"
STANDARD_ERROR = 2
HEAD_BEGINS = b"HTTP/"
MOST_HEAD_BYTES = 1 << 19  # of a call's headers: twice what is read at once, as a body may end in it


class ServeSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What `serve.toml` may say."""

    store: str = "sqlite:///breakeven.db"
    host: str = "127.0.0.1"
    port: int = 8765
    alarm_url: str | None = None
    person_header: str | None = None
    trusted_proxy: list[str] = []
    calls_a_second: float | None = None
    token_days: float | None = None  # after which a token is good no more, whatever it says itself
    call_log: str | None = None


def read_settings(path: Path) -> ServeSettings:
    """The settings in a file."""
    try:
        return msgspec.convert(tomllib.loads(path.read_text()), ServeSettings)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: expected settings of `breakeven serve`, got {error}") from error


def check_bind(store: Store, host: str, proxy: ProxyLogIn | None = None) -> None:
    """Raise where the world could reach a service that asks for no token, and believes no proxy."""
    if proxy is None and not is_local(host) and not any(one.revoked is None for one in store.tokens()):
        expect.refuse(
            "host",
            "127.0.0.1, this machine alone, while there is no token; make one with `breakeven token add`",
            host,
        )


def add_bills(store: Store, folders: list[Path], by: str) -> list[str]:
    """Make a stream of each bill's folder whose name is not taken; the names of those made."""
    there = {one.name for one in store.streams()}
    fresh = [one for one in folders if one.resolve().name not in there]
    return [create_from_bill(store, one, by=by).name for one in fresh]


def serve(
    settings: ServeSettings,
    folders: list[Path],
    by: str,
    begun: Callable[[str], object],
    *,
    demo: bool = False,
) -> None:
    """Serve until a signal says to stop; `begun` is called with the address once it listens."""
    proxy, receiver = proxy_log_in(settings), alarm_receiver(settings.alarm_url)
    port = expect.whole("port", settings.port, most=65_535)
    with ExitStack() as stack:
        store = stack.enter_context(closing(open_store(settings.store, "create")))
        check_bind(store, settings.host, proxy)
        service = Service(
            store, proxy=proxy, calls_a_second=settings.calls_a_second, token_days=settings.token_days
        )
        service.beside.append(AlarmWatch(receiver))
        if demo:
            service.beside.append(Demonstration())
        app: ASGIApp = make_app(service, page_routes(service))
        if settings.call_log is not None:
            app = CallLog(app, stack.enter_context(lines_to(settings.call_log)), service.clock)
        listening = stack.enter_context(closing(socket(settings.host, port)))
        add_bills(store, folders, by)
        host, bound = listening.getsockname()[:2]
        begun(f"http://[{host}]:{bound}" if ":" in host else f"http://{host}:{bound}")
        StoppingServer(app, service).run([listening])


@contextmanager
def lines_to(path: str) -> Iterator[Callable[[bytes], object]]:
    """Writes lines behind those of a file, which its owner alone may read; - is standard error."""
    if path == "-":
        yield lambda line: os.write(STANDARD_ERROR, line)
        return
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        yield lambda line: os.write(file, line)
    finally:
        os.close(file)


def proxy_log_in(settings: ServeSettings) -> ProxyLogIn | None:
    """Who is believed to say who calls; None is nobody."""
    if settings.person_header is None and not settings.trusted_proxy:
        return None
    return ProxyLogIn.of(settings.person_header or "", settings.trusted_proxy)


def alarm_receiver(url: str | None) -> AlarmReceiver | None:
    """Whoever is told of alarms; the secret is in the environment, which no list of processes shows."""
    if url is None:
        return None
    return AlarmReceiver(url, os.environ.get(ALARM_SECRET, ""), ALARM_SECRET)


class WholeAnswers(asyncio.Transport):
    """A connection on which the head of an answer waits for its body, so that both are sent at once.

    It waits until the loop's next turn at most: some answers have no body, or one that comes later.
    """

    def __init__(self, inner: asyncio.Transport) -> None:
        self._inner, self._head = inner, b""
        self._call_soon = asyncio.get_running_loop().call_soon

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send this, behind what waits for it."""
        if self._head:
            self._inner.write(self._head + data)
            self._head = b""
        elif data[:5] == HEAD_BEGINS:
            self._head = bytes(data)
            self._call_soon(self._let_go)
        else:
            self._inner.write(data)

    def _let_go(self) -> None:
        if self._head:
            self.write(b"")

    def close(self) -> None:
        """Send what waits, and close."""
        self._let_go()
        self._inner.close()

    def is_closing(self) -> bool:
        """Whether nothing more is sent."""
        return self._inner.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """What is known of the connection."""
        return self._inner.get_extra_info(name, default)

    def pause_reading(self) -> None:
        """Take no more for now."""
        self._inner.pause_reading()

    def resume_reading(self) -> None:
        """Take more again."""
        self._inner.resume_reading()


def bounded(parser: Any) -> Any:
    """A parser of HTTP whose connections send answers whole, and take headers up to a size."""

    class Parser(parser):  # type: ignore[misc]
        head_bytes = 0  # that came since the last call had all of its headers, or its body

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(WholeAnswers(transport))

        def data_received(self, data: bytes) -> None:
            last = self.cycle
            super().data_received(data)
            if self.cycle is not last or (last is not None and last.more_body):
                self.head_bytes = 0
                return
            self.head_bytes += len(data)
            if self.head_bytes > MOST_HEAD_BYTES:
                self.send_400_response("The headers are too large.")

    return Parser


class StoppingServer(uvicorn.Server):
    """A server that waits for nobody for ever.

    Asked to stop, it ends open feeds, for it waits until every answer has ended. Whoever is connected and
    does not come to the end of a call's headers is hung up on; bodies have a limit of their own.

    `http` names the parser of HTTP: the fastest that is there, unless it is named.
    """

    def __init__(self, app: ASGIApp, service: Service, http: HttpParser = "auto") -> None:
        config = uvicorn.Config(
            app,
            http=http,
            interface="asgi3",
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=SECONDS_TO_STOP,
            server_header=False,
            ws="none",
            proxy_headers=False,  # or anybody here could say that they come from the trusted proxy
        )
        config.load()
        config.http_protocol_class = bounded(config.http_protocol_class)
        super().__init__(config)
        self._service = service
        self._silent: dict[Any, Any] = {}  # connections without a call under way, with the last call of each
        self._looked = 0.0

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second: now and then look for those who say nothing."""
        if self._service.clock.steady() >= self._looked + SILENT_SECONDS:
            self._looked = self._service.clock.steady()
            self._hang_up()
        return await super().on_tick(counter)

    def _hang_up(self) -> None:
        """Close connections that were without a call at the last look, too, and had none between."""
        connections: set[Any] = set(self.server_state.connections)
        silent = {one: one.cycle for one in connections if one.cycle is None or one.cycle.response_complete}
        for one, last in silent.items():
            if one in self._silent and self._silent[one] is last:
                one.transport.close()
        self._silent = silent

    async def startup(self, sockets: list[Socket] | None = None) -> None:
        """Begin to listen, with a collector that seldom looks.

        What waits for the disk is looked at again and again otherwise, and so is every module.
        """
        await super().startup(sockets)
        gc.collect()
        gc.freeze()
        gc.set_threshold(OBJECTS_BEFORE_COLLECTION)

    async def shutdown(self, sockets: list[Socket] | None = None) -> None:
        """Answer what was asked, and stop."""
        self._service.feeds.end()
        await super().shutdown(sockets)


def socket(host: str, port: int) -> Socket:
    """A socket that listens; port 0 takes any that is free.

    What is written to its connections is sent at once: of an answer in parts the second would wait until the
    other side has confirmed the first, which takes it 40 ms.
    """
    family = getaddrinfo(host, port, type=SOCK_STREAM)[0][0]
    listening = create_server((host, port), family=family, backlog=2048)
    listening.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)  # which connections inherit
    return listening
