"""Every page, as one table; how one is asked for and sent, and the headers that keep it safe.

A part of a page is asked for by the script, which puts it in its place. Nothing in a page may load from
elsewhere, run as an inline script or be shown in a frame. Whoever is not known is sent to the log-in; what is
refused is a page of its own, in the library's own sentence.
"""

import asyncio
from collections.abc import Awaitable, Callable

from msgspec import Struct
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from breakeven.errors import BreakevenError
from breakeven.errors.serving import NotAllowed, NotIdentified, WrongMedia
from breakeven.service.access.callers import ANYBODY, Caller, CallerRole
from breakeven.service.access.entrance import check_own_page
from breakeven.service.app import call_headers, fields_of, read_all, retry_headers, send_bytes, told_of
from breakeven.service.edge_limits import MOST_FORM_BYTES, MOST_HEAD_BYTES, MOST_LOG_IN_BYTES
from breakeven.service.pages import (
    access_page,
    board_page,
    desk_page,
    docs_page,
    history_page,
    settings_page,
    streams_page,
)
from breakeven.service.pages.rendering import (
    STATIC_MEDIA,
    Elsewhere,
    Page,
    Visit,
    address,
    rendered,
    static_file,
)
from breakeven.service.paths import PlacedRoute
from breakeven.service.service import Service
from breakeven.wire.problems import problem_of

PageMaker = Callable[[Visit], Awaitable[Page | Elsewhere]]

ONE = "/streams/{stream}"
ANY_ROLE: tuple[CallerRole, ...] = ("watch", "label", "send")


class PageRoute(Struct, frozen=True):
    """One method of one path, who may ask for it (anybody without roles), and who makes it."""

    method: str
    path: str
    maker: PageMaker
    roles: tuple[CallerRole, ...] = ()
    part: bool = False


PAGE_ROUTES = (
    PageRoute("GET", "/log-in", access_page.log_in),
    PageRoute("POST", "/log-in", access_page.begin_session),
    PageRoute("POST", "/log-out", access_page.end_session),
    PageRoute("GET", "/docs", docs_page.docs),
    PageRoute("GET", "/", streams_page.streams, ANY_ROLE),
    PageRoute("GET", "/new-stream", streams_page.new_stream, ("administer",)),
    PageRoute("POST", "/new-stream", streams_page.create_stream, ("administer",)),
    PageRoute("GET", f"{ONE}/desk", desk_page.desk, ("label",)),
    PageRoute("POST", f"{ONE}/desk/next", desk_page.next_request, ("label",), part=True),
    PageRoute("POST", f"{ONE}/desk/hold", desk_page.hold, ("label",), part=True),
    PageRoute("POST", f"{ONE}/desk/give-back", desk_page.give_back, ("label",), part=True),
    PageRoute("POST", f"{ONE}/desk/skip", desk_page.skip, ("label",), part=True),
    PageRoute("POST", f"{ONE}/desk/withdraw", desk_page.withdraw, ("label",), part=True),
    PageRoute("POST", f"{ONE}/desk/undo", desk_page.undo, ("label",), part=True),
    PageRoute("POST", f"{ONE}/desk/tell", desk_page.tell, ("label",), part=True),
    PageRoute("GET", f"{ONE}/board", board_page.board, ("watch",)),
    PageRoute("GET", f"{ONE}/board/now", board_page.board_now, ("watch",), part=True),
    PageRoute("GET", f"{ONE}/history", history_page.history, ("watch",)),
    PageRoute("GET", f"{ONE}/history/case", history_page.case, ("watch",)),
    PageRoute("POST", f"{ONE}/history/case", history_page.correct, ("label",)),
    PageRoute("GET", f"{ONE}/settings", settings_page.settings, ("administer",)),
    PageRoute("POST", f"{ONE}/settings", settings_page.change, ("administer",)),
    PageRoute("GET", f"{ONE}/labels", settings_page.labels, ("label",)),
    PageRoute("POST", f"{ONE}/labels", settings_page.send_labels, ("label",)),
    PageRoute("GET", "/tokens", access_page.tokens, ("administer",)),
    PageRoute("POST", "/tokens", access_page.add_token, ("administer",)),
    PageRoute("POST", "/tokens/revoke", access_page.revoke_token, ("administer",)),
)


# -- how one is asked for and sent ------------------------------------------------------------------------

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
PAGE_HEADERS = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
FOR_EVER = "public, max-age=31536000, immutable"
FORM_MEDIA = "application/x-www-form-urlencoded"

MadePage = tuple[int, bytes, list[tuple[bytes, bytes]]]
"""A status, the page as bytes, and its headers."""


def page_routes(service: Service) -> list[PlacedRoute]:
    """Every page, and the files that they use, for `make_app`."""
    pages = [PlacedRoute(one.method, one.path, PageEndpoint(service, one)) for one in PAGE_ROUTES]
    return [*pages, *(PlacedRoute("GET", f"/static/{name}", _Static(name)) for name in STATIC_MEDIA)]


class PageEndpoint:
    """One page as an application of its own."""

    def __init__(self, service: Service, route: PageRoute) -> None:
        self._service, self._route = service, route

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one visit."""
        headers, stream = call_headers(scope), scope["path_params"].get("stream")
        caller = ANYBODY
        try:
            if self._route.roles:
                if self._service.compaction.since is not None:
                    await self._service.compaction.wait()
                caller = scope["caller"] = await self._service.entrance.identify(self._route.method, headers)
                caller.check(self._route.roles, stream)
                self._count(caller.name)
            elif self._route.method != "GET":
                check_own_page(headers, said=False)
                self._count(f"somebody at {self._service.entrance.address(scope)}")
            query = fields_of(scope["query_string"], "query")
            form = await self._form(headers, receive)
            visit = Visit(self._service, caller, scope["path_params"], query, form, headers, scope)
            made = await self._made(await self._route.maker(visit), caller, stream)
        except ClientDisconnect:
            return
        except Exception as error:
            told = told_of(error, scope, self._service)
            answer: Page | Elsewhere = refusal(told, part=self._route.part)
            if isinstance(told, NotIdentified) and self._route.method == "GET" and not self._route.part:
                answer = self._to_log_in(scope)
            made = await self._made(answer, caller, stream)
        await send_bytes(send, *made)

    def _count(self, name: str) -> None:
        """Count a visit as any other call; who logs in is counted by where they come from."""
        if self._service.rates is not None:
            self._service.rates.check(name)

    async def _form(self, headers: dict[bytes, bytes], receive: Receive) -> dict[str, str]:
        if self._route.method == "GET":
            return {}
        most = MOST_FORM_BYTES if self._route.roles else MOST_LOG_IN_BYTES
        content = await read_all(receive, most, headers, self._service.admission)
        media = headers.get(b"content-type", b"").split(b";")[0].strip().lower().decode("latin-1")
        if content and media != FORM_MEDIA:
            raise WrongMedia(f"form: expected {FORM_MEDIA}, got {media!r}")
        if len(content) > MOST_HEAD_BYTES:  # a megabyte in percent signs takes a tenth of a second
            return await asyncio.to_thread(fields_of, content, "form")
        return fields_of(content, "form")

    def _to_log_in(self, scope: Scope) -> Elsewhere:
        wanted = scope["raw_path"].decode("latin-1") + (
            "?" + scope["query_string"].decode("latin-1") if scope["query_string"] else ""
        )
        return Elsewhere(address("log-in", next=None if wanted == "/" else wanted))

    async def _made(self, answer: Page | Elsewhere, caller: Caller, stream: str | None) -> MadePage:
        if isinstance(answer, Elsewhere):
            return 303, b"", _encoded(PAGE_HEADERS | {"location": answer.to} | answer.headers)
        values = {
            "caller": caller,
            "stream": stream,
            "now": self._service.clock.now(),
            "tokens_needed": await self._service.entrance.token_needed(),
        }
        content = rendered(answer.template, values | answer.values)
        return answer.status, content, _encoded(PAGE_HEADERS | answer.headers)


class _Static(Struct, frozen=True):
    """A file that every page uses."""

    name: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {
            "content-type": STATIC_MEDIA[self.name],
            "cache-control": FOR_EVER,
            "x-content-type-options": "nosniff",
        }
        await send_bytes(send, 200, static_file(self.name), _encoded(headers))


def refusal(error: BreakevenError, *, part: bool) -> Page:
    """A page that says what was refused, and why; or the part of one."""
    problem = problem_of(error)
    known = not isinstance(error, NotIdentified)
    allowed = not isinstance(error, NotAllowed)
    values = {"problem": problem, "known": known, "allowed": allowed, "stream": None}
    headers = {name.decode(): text.decode() for name, text in retry_headers(error)}
    return Page("refused_part.html" if part else "refused.html", values, problem.status, headers)


def _encoded(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), text.encode("latin-1")) for name, text in headers.items()]
