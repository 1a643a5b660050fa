"""The service in a process of its own: where it binds, what it writes down of each call, and how it stops.

It binds to this machine alone unless told otherwise, and to no other address before there is a token. Asked
to stop, it takes no more calls, answers those that it has, and writes what they are about. It stops by itself
where nothing can be written any more.
"""

import gc
import os
import re
import secrets
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from signal import SIGINT
from socket import IPPROTO_TCP, SOCK_STREAM, TCP_NODELAY, create_server, getaddrinfo
from socket import socket as Socket  # noqa: N812  (a class)
from time import perf_counter
from types import FrameType
from typing import Any, Literal

import msgspec
import uvicorn
from msgspec import Struct
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from breakeven.errors import InvalidInput, expect
from breakeven.service.access import ProxyLogIn
from breakeven.service.access.entrance import is_local
from breakeven.service.admission import shedding
from breakeven.service.app import make_app
from breakeven.service.connections import bounded
from breakeven.service.demonstration import Demonstration
from breakeven.service.edge_limits import MOST_HEAD_BYTES
from breakeven.service.pages.page_routes import page_routes
from breakeven.service.service import Service
from breakeven.service.setting_up import create_from_bill
from breakeven.service.watching import AlarmReceiver, AlarmWatch
from breakeven.store import Store, open_store
from breakeven.store.export import time_of

LogLevel = Literal["debug", "info", "warning", "error"]
HttpParser = Literal["auto", "h11", "httptools"]
REQUEST_ID = b"x-request-id"
GOOD_REQUEST_ID = re.compile(rb"[\w.:/+=-]{1,100}", re.ASCII)


class CallLog:
    """An application whose calls are written down, each as a line of JSON; `write` gets the lines.

    A line says when, which, by whom and from where, how it ended, how long it took, and its id: the caller's
    own, from the header `X-Request-ID`, or a new one; it is answered in the same header. Paths are written as
    the table of routes has them: neither ids of arrivals nor tokens come into the log.
    """

    def __init__(self, app: ASGIApp, write: Callable[[bytes], object], service: Service) -> None:
        self._app, self._write, self._service = app, write, service

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
        path, caller = scope.get("path_params", {}), scope.get("caller")
        return {
            "at": time_of(self._service.clock.now()),
            "request": scope["request_id"],
            "method": scope["method"],
            "route": scope.get("route"),
            "stream": path.get("stream"),
            "by": None if caller is None else caller.name,
            "address": self._service.entrance.shown_address(scope),
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
    log_level: LogLevel = "warning"


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
            app = CallLog(app, stack.enter_context(lines_to(settings.call_log)), service)
        listening = stack.enter_context(closing(socket(settings.host, port)))
        add_bills(store, folders, by)
        host, bound = listening.getsockname()[:2]
        begun(f"http://[{host}]:{bound}" if ":" in host else f"http://{host}:{bound}")
        StoppingServer(app, service).run([listening])
        if service.fault is not None:
            raise service.fault


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
            log_config=None,  # its messages go where ours go
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=SECONDS_TO_STOP,
            server_header=False,
            ws="none",
            h11_max_incomplete_event_size=2 * MOST_HEAD_BYTES,  # the connection's own limit comes first
            proxy_headers=False,  # or anybody here could say that they come from the trusted proxy
        )
        config.load()
        config.http_protocol_class = shedding(bounded(config.http_protocol_class), service.admission)
        super().__init__(config)
        self._service = service
        service.admission.tasks = self.server_state.tasks
        self._silent: dict[Any, Any] = {}  # connections without a call under way, with the last call of each
        self._looked = 0.0

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Asked to stop: end as a program that has done its work, and not by the signal."""
        if self.should_exit and sig == SIGINT:
            self.force_exit = True
        self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second: look how much there is to do, and now and then for those who say nothing."""
        self._service.admission.look()
        if self._service.clock.steady() >= self._looked + SILENT_SECONDS:
            self._looked = self._service.clock.steady()
            self._hang_up()
        return await super().on_tick(counter) or self._service.fault is not None

    def _hang_up(self) -> None:
        """Close connections that were without a call at the last look, too, and had none between."""
        connections: set[Any] = set(self.server_state.connections)
        silent = {
            one: (one.cycle, one.refusals)
            for one in connections
            if one.cycle is None or one.cycle.response_complete
        }
        for one, last in silent.items():
            if self._silent.get(one) == last:
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
