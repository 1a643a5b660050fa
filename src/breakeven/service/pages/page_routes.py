"""Every page, as one table. A part of a page is asked for by the script, which puts it in its place."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from breakeven.service.access.callers import CallerRole
from breakeven.service.pages import (
    board_page,
    desk_page,
    history_page,
    log_in_page,
    settings_page,
    streams_page,
)
from breakeven.service.pages.page_calls import Elsewhere, Page, Visit

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
    PageRoute("GET", "/log-in", log_in_page.log_in),
    PageRoute("POST", "/log-in", log_in_page.begin_session),
    PageRoute("POST", "/log-out", log_in_page.end_session),
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
    PageRoute("GET", "/tokens", settings_page.tokens, ("administer",)),
    PageRoute("POST", "/tokens", settings_page.add_token, ("administer",)),
    PageRoute("POST", "/tokens/revoke", settings_page.revoke_token, ("administer",)),
)
