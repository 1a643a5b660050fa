"""The routes as an ASGI application: finding a call's route, reading it, asking its handler, answering.

Whatever goes wrong is answered as a problem, in the library's own sentence; only a bug is logged with its
traceback, and its caller learns no more than that.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterable, Sequence
from traceback import format_exc
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from breakeven.errors import BreakevenError
from breakeven.errors.serving import (
    HeadTooLarge,
    Malformed,
    NotAllowed,
    NotIdentified,
    ServiceError,
    TooLarge,
    UnknownPlace,
    WrongMedia,
)
from breakeven.errors.statuses import ending_of
from breakeven.service.access import Caller
from breakeven.service.access.callers import ANYBODY
from breakeven.service.admission import ALWAYS_TAKEN, Admission, overloaded
from breakeven.service.calls import JSON_MEDIA, JSON_WRITER, Answer, Call, Raw, Streamed
from breakeven.service.edge_limits import MOST_FIELDS, MOST_HEAD_BYTES
from breakeven.service.openapi import document
from breakeven.service.paths import PathTree, PlacedRoute, path_parts
from breakeven.service.routes import SERVICE_ROUTES, ServiceRoute
from breakeven.service.service import Service
from breakeven.wire.problems import PROBLEM_MEDIA, problem_of

logger = logging.getLogger(__name__)

BODY_SECONDS = 60.0  # that a body may take to come
MOST_LENGTH_DIGITS = 18  # of a number of bytes: reading a longer one takes time, and Python refuses it
JSON_HEADER = (b"content-type", JSON_MEDIA.encode())
SAFE_HEADERS = [(b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store")]


def make_app(service: Service, more: Sequence[PlacedRoute] = ()) -> "App":
    """The application of a service; `more` are routes beside those of the table, such as pages."""
    described = PlacedRoute("GET", "/openapi.json", Fixed(JSON_WRITER.encode(document())))
    return App(service, [*placed(service, SERVICE_ROUTES), described, *more])


def placed(service: Service, routes: Iterable[ServiceRoute]) -> list[PlacedRoute]:
    """Routes of the table with what answers them."""
    return [PlacedRoute(one.method, one.path, Endpoint(service, one)) for one in routes]


class App:
    """All paths of a service, from its start to its stop."""

    def __init__(self, service: Service, routes: Sequence[PlacedRoute]) -> None:
        self._service, self._tree, self._proxy = service, PathTree(routes), service.entrance.proxy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call."""
        if scope["type"] != "http":
            await self._live(scope, receive, send)
            return
        try:
            check_head(scope)
            if self._proxy is not None:
                self._proxy.check((scope.get("client") or (None,))[0], scope["headers"])
        except BreakevenError as error:
            if isinstance(error, NotAllowed):
                self._service.entrance.note_refused(scope, error)
            await send_problem(send, error)
            return
        if "overloaded" in scope and scope["path"] not in ALWAYS_TAKEN:
            self._service.admission.refused += 1
            await send_problem(send, overloaded())
            return
        parts = path_parts(scope)
        found = self._tree.find(scope["method"], parts)
        if found is None:
            await self._refuse(scope, parts, send)
            return
        scope["route"] = found.path
        scope["path_params"] = {name: parts[place] for name, place in found.named_parts}
        await found.endpoint(scope, receive, send)

    async def _refuse(self, scope: Scope, parts: list[str], send: Send) -> None:
        """There is no such path, or it has no such method."""
        words = f"path: expected one of those in /openapi.json, got {scope['method']} {'/'.join(parts)}"
        problem, methods = problem_of(UnknownPlace(words)), self._tree.methods(parts)
        headers = [(b"content-type", PROBLEM_MEDIA.encode()), *SAFE_HEADERS]
        if methods:
            problem = msgspec.structs.replace(problem, status=405)
            headers.append((b"allow", ", ".join(methods).encode()))
        await send_bytes(send, problem.status, JSON_WRITER.encode(problem), headers)

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Start with the server, and stop with it."""
        if scope["type"] != "lifespan":  # a web socket
            await send({"type": "websocket.close"})
            return
        await receive()
        try:
            await self._service.start()
        except BaseException:
            await send({"type": "lifespan.startup.failed", "message": format_exc()})
            raise
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._service.stop()
        await send({"type": "lifespan.shutdown.complete"})


class Fixed:
    """A path whose answer is always the same JSON."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await send_bytes(send, 200, self._content, [JSON_HEADER, *SAFE_HEADERS])


class Endpoint:
    """One route as an application of its own."""

    def __init__(self, service: Service, route: ServiceRoute) -> None:
        self._service, self._route = service, route
        self._read: Callable[[bytes], Any] | None = None
        if route.body is not None and route.body is not Raw:
            self._read = msgspec.json.Decoder(route.body).decode

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            call = await self._call(scope, receive)
            call.refuse_erased()
            answer = await self._route.handler(call)
        except ClientDisconnect:  # whoever hung up gets no answer, and half a body changes nothing
            return
        except Exception as error:
            await send_problem(send, told_of(error, scope, self._service))
            return
        await self._send(answer, receive, send)

    # -- the call ------------------------------------------------------------------------------------

    async def _call(self, scope: Scope, receive: Receive) -> Call:
        route, headers = self._route, call_headers(scope)
        path = scope["path_params"]
        caller = await self._caller(scope, headers, path.get("stream"))
        query = (
            self._query(scope) if route.query is not None or (route.roles and scope["query_string"]) else None
        )
        body = None if route.body is None else await self._body(headers, receive)
        accepts = headers.get(b"accept", b"").decode("latin-1") if len(route.gives) > 1 else ""
        return Call(self._service, caller, path, query, body, accepts, headers)

    async def _caller(self, scope: Scope, headers: dict[bytes, bytes], stream: str | None) -> Caller:
        if not self._route.roles:
            return ANYBODY
        if self._service.compaction.since is not None:
            await self._service.compaction.wait()
        caller = await self._service.entrance.identify(self._route.method, headers)
        scope["caller"] = caller
        caller.check(self._route.roles, stream)
        if self._service.rates is not None:
            self._service.rates.check(caller.name)
        return caller

    def _query(self, scope: Scope) -> Any:
        """What is behind the question mark; a word that is not known here may be one that was mistyped."""
        given = fields_of(scope["query_string"], "query")
        if self._route.query is None:
            raise Malformed(f"query: expected none at this path, got {', '.join(given)!r}")
        try:
            return msgspec.convert(given, self._route.query, strict=False)
        except msgspec.ValidationError as error:
            raise Malformed(f"query: {error}") from error

    async def _body(self, headers: dict[bytes, bytes], receive: Receive) -> Any:
        route = self._route
        content = await read_all(receive, route.most_bytes, headers, self._service.admission)
        media = headers.get(b"content-type", b"").split(b";")[0].strip().lower().decode("latin-1")
        if self._read is None:
            return Raw(media, content)
        if not content and route.empty_body:
            return route.body()
        if media != JSON_MEDIA and media:
            raise WrongMedia(f"body: expected {JSON_MEDIA}, got {media!r}")
        try:
            return self._read(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Malformed(f"body: {error}") from error

    # -- the answer ------------------------------------------------------------------------------------

    async def _send(self, answer: Any, receive: Receive, send: Send) -> None:
        if isinstance(answer, Streamed):
            await _send_parts(answer, receive, send, self._service.admission)
            return
        status, media, more = self._route.success, JSON_HEADER, SAFE_HEADERS
        if type(answer) is Answer:
            status, body = answer.status, answer.body
            media = (b"content-type", answer.media.encode())
            more = more + [(name.encode(), text.encode("latin-1")) for name, text in answer.headers.items()]
        else:
            body = answer
        content = b"" if body is None else body if isinstance(body, bytes) else JSON_WRITER.encode(body)
        await send_bytes(send, status, content, [media, *more] if content else more)


def told_of(error: Exception, scope: Scope, service: Service) -> BreakevenError:
    """What a caller is told of an error; what an operator must know of it is in the log."""
    caller: Caller = scope.get("caller", ANYBODY)
    if isinstance(error, NotIdentified):
        service.entrance.note_refused(scope, error)
    if isinstance(error, BreakevenError) and ending_of(error).status != 500:
        return caller.may_read(error, scope["path_params"].get("stream"))
    id = scope.get("request_id") or secrets.token_hex(8)
    bug = None if isinstance(error, BreakevenError) else error
    logger.error(
        "%s %s by %r, request %s: %s", scope["method"], scope["route"], caller.name, id, error, exc_info=bug
    )
    if isinstance(error, BreakevenError):
        return caller.may_read(error, scope["path_params"].get("stream"))
    return ServiceError(f"something went wrong in the server; its log says what, under {id}")


async def send_bytes(send: Send, status: int, content: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    """Send an answer whole."""
    if status != 204:
        headers = [*headers, (b"content-length", b"%d" % len(content))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


async def send_problem(send: Send, error: BreakevenError) -> None:
    """Send what was refused, and why."""
    problem = problem_of(error)
    headers = [(b"content-type", PROBLEM_MEDIA.encode()), *SAFE_HEADERS]
    if problem.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send_bytes(send, problem.status, JSON_WRITER.encode(problem), headers + retry_headers(error))


def retry_headers(error: BreakevenError) -> list[tuple[bytes, bytes]]:
    """When to try again, where that makes sense."""
    after = getattr(error, "retry_after", None)
    return [] if after is None else [(b"retry-after", b"%d" % max(1, round(after)))]


async def _send_parts(answer: Streamed, receive: Receive, send: Send, admission: Admission) -> None:
    """Send an answer part by part, until it ends or nobody listens any more."""
    headers = [(b"content-type", answer.media.encode()), *SAFE_HEADERS]
    headers += [(name.encode(), text.encode("latin-1")) for name, text in answer.headers.items()]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    gone = asyncio.ensure_future(_hung_up(receive))
    try:
        while not gone.done():
            coming = asyncio.ensure_future(anext(answer.parts, None))
            with admission.aside():
                await asyncio.wait({coming, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                coming.cancel()
                await asyncio.wait({coming})
                break
            part = coming.result()
            if part is None:
                break
            await send({"type": "http.response.body", "body": part, "more_body": True})
    finally:
        gone.cancel()
        await answer.parts.aclose()
    await send({"type": "http.response.body", "body": b""})


async def _hung_up(receive: Receive) -> None:
    """Wait until the caller is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


def check_head(scope: Scope) -> None:
    """Raise where the address and the headers of a call are longer than is taken."""
    size = len(scope.get("raw_path") or b"") + len(scope["query_string"])
    for name, value in scope["headers"]:
        size += len(name) + len(value)
    if size > MOST_HEAD_BYTES:
        raise HeadTooLarge(
            f"headers: expected at most {MOST_HEAD_BYTES:,} bytes with the address, got {size:,}; send less"
        )


def fields_of(content: bytes, what: str) -> dict[str, str]:
    """The names and values of a query or a form."""
    try:
        pairs = parse_qsl(
            content.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS
        )
    except ValueError as error:
        raise Malformed(f"{what}: expected names and values of text, got {error}") from error
    return dict(pairs)


def call_headers(scope: Scope) -> dict[bytes, bytes]:
    """The headers of a call by their names, which are in small letters."""
    found: dict[bytes, bytes] = dict(scope["headers"])
    return found


async def read_all(receive: Receive, most: int, headers: dict[bytes, bytes], admission: Admission) -> bytes:
    """The whole body, unless it is too large, does not end, or its sender hangs up."""
    length = headers.get(b"content-length", b"0").lstrip(b"0")
    if length.isdigit() and (len(length) > MOST_LENGTH_DIGITS or int(length) > most):
        raise _too_large(most)
    try:
        with admission.aside():
            async with asyncio.timeout(BODY_SECONDS):
                return await _parts_of(receive, most)
    except TimeoutError as error:
        raise Malformed(f"body: expected all of it within {BODY_SECONDS:g} seconds, got a part") from error


async def _parts_of(receive: Receive, most: int) -> bytes:
    parts, size, more = list[bytes](), 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise _too_large(most)
        more = message.get("more_body", False)
    return b"".join(parts)


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"body: expected at most {most:,} bytes, got more; send it in parts")
