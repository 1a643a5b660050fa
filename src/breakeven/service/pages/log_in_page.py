"""Logging in with a token, and out."""

import asyncio

from breakeven.errors.serving import NotIdentified
from breakeven.service.access.entrance import host_name, is_local
from breakeven.service.access.sessions import session_cookie, set_cookie
from breakeven.service.pages.page_calls import Elsewhere, Page, Visit

BEGUN = "/?begun=1"  # where a log-in leads to; whoever comes back from there got no cookie


async def log_in(visit: Visit) -> Page | Elsewhere:
    """Ask for a token; while there is none, nobody needs one."""
    if not visit.service.tokens.needed:
        return Elsewhere("/")
    return Page(
        "log_in.html",
        {"next": visit.query.get("next", ""), "begun": visit.query.get("next") == BEGUN, "wrong": False},
    )


async def begin_session(visit: Visit) -> Page | Elsewhere:
    """Take a token, and give a cookie."""
    wanted = visit.form.get("next", "")
    try:
        secret = await asyncio.to_thread(visit.service.entrance.sessions.begin, visit.form.get("token", ""))
    except NotIdentified:
        values = {"next": wanted, "begun": False, "wrong": True}
        return Page("log_in.html", values, 401)
    to = wanted if own_path(wanted) else BEGUN
    return Elsewhere(to, {"set-cookie": set_cookie(secret, secure=_secure(visit))})


async def end_session(visit: Visit) -> Elsewhere:
    """End the session, here and in the store."""
    secret = session_cookie(visit.headers.get(b"cookie"))
    if secret is not None:
        await asyncio.to_thread(visit.service.entrance.sessions.end, secret)
    return Elsewhere("/log-in", {"set-cookie": set_cookie("", secure=_secure(visit), seconds=0)})


def _secure(visit: Visit) -> bool:
    """Whether a browser is to send the cookie over encrypted connections alone: yes, but on this machine."""
    return not is_local(host_name(visit.headers))


def own_path(path: str) -> bool:
    r"""Whether this is a path of this service, and not the address of another.

    >>> own_path("/streams/a"), own_path("//evil.example"), own_path("https://evil.example"), own_path("/\\e")
    (True, False, False, False)
    """
    return (
        path.startswith("/")
        and not path.startswith("//")
        and "\\" not in path
        and path.isascii()
        and path.isprintable()
    )
