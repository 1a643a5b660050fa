"""Access: logging in with a token, and out; tokens that are made and revoked."""

from breakeven.errors import BreakevenError, InvalidInput, expect
from breakeven.errors.serving import NotIdentified
from breakeven.service.access import ROLES, new_token
from breakeven.service.access.entrance import host_name, is_local
from breakeven.service.access.tokens import session_cookie, set_cookie
from breakeven.service.pages.rendering import Elsewhere, Page, Visit, flag, number, text
from breakeven.service.waiting import ask_store
from breakeven.store import StoredToken

A_DAY = 86_400.0
SHOWN_CHANGES = 50  # the last ones
BEGUN = "/?begun=1"  # where a log-in leads to; whoever comes back from there got no cookie


async def log_in(visit: Visit) -> Page | Elsewhere:
    """Ask for a token; while there is none, nobody needs one."""
    if not await visit.service.entrance.token_needed():
        return Elsewhere("/")
    return Page(
        "log_in.html",
        {"next": visit.query.get("next", ""), "begun": visit.query.get("next") == BEGUN, "wrong": False},
    )


async def begin_session(visit: Visit) -> Page | Elsewhere:
    """Take a token, and give a cookie."""
    wanted = visit.form.get("next", "")
    try:
        secret = await ask_store(visit.service.entrance.sessions.begin, visit.form.get("token", ""))
    except NotIdentified as error:
        visit.service.entrance.note_refused(visit.scope, error, visit.form.get("token", "") or "nothing")
        values = {"next": wanted, "begun": False, "wrong": True}
        return Page("log_in.html", values, 401)
    to = wanted if own_path(wanted) else BEGUN
    return Elsewhere(to, {"set-cookie": set_cookie(secret, secure=_secure(visit))})


async def end_session(visit: Visit) -> Elsewhere:
    """End the session, here and in the store."""
    secret = session_cookie(visit.headers.get(b"cookie"))
    if secret is not None:
        await ask_store(visit.service.entrance.sessions.end, secret)
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


# -- tokens --------------------------------------------------------------------------------------------


async def tokens(visit: Visit) -> Page:
    """Who may use the service."""
    return await _tokens(visit)


async def _tokens(visit: Visit, new: str = "", problem: str = "", status: int = 200) -> Page:
    store, names = visit.service.store, list(visit.service.streams)
    found, trail = await ask_store(lambda: (store.tokens(), store.trail()))
    values = {
        "tokens": found,
        "new": new,
        "problem": problem,
        "roles": ROLES,
        "names": names,
        "trail": trail[: -SHOWN_CHANGES - 1 : -1],
    }
    return Page("tokens.html", values, status)


async def add_token(visit: Visit) -> Page:
    """Make a token, and show it this once."""
    form, now = visit.form, visit.service.clock.now()
    try:
        days = number(form, "days")
        expires = None if days is None else now + A_DAY * expect.positive("days", days)
        roles = [one for one in ROLES if flag(form, f"role_{one}")]
        streams = form.get("streams", "").split() or None
        if ("administer" not in roles or streams) and not await visit.service.entrance.token_needed():
            raise InvalidInput(
                "first token: expected one that administers all streams, or nobody could make others"
            )
        word, kept = new_token(text(form, "name"), roles, streams, now, expires)
        await ask_store(_keep, visit, kept)
    except BreakevenError as error:
        return await _tokens(visit, problem=str(error), status=422)
    visit.service.entrance.forget()
    return await _tokens(visit, new=word)


def _keep(visit: Visit, token: StoredToken) -> None:
    visit.service.store.add_token(token, by=visit.caller.name)


async def revoke_token(visit: Visit) -> Elsewhere:
    """Say that a token is good no more; sessions and feeds of it end."""
    store, now = visit.service.store, visit.service.clock.now()
    id, by = visit.form.get("id", ""), visit.caller.name
    await ask_store(lambda: store.revoke_token(id, now, by=by))
    visit.service.entrance.forget()
    return Elsewhere("/tokens")
