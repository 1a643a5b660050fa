"""Tokens, `be_<id>_<secret>`, and the sessions of pages that are begun with one.

Whoever has the token is who it names; whoever shows it to the page gets a cookie for twelve hours, and is
known by it. The store keeps digests alone. What was revoked or ended, in this process or in another, is
refused within a second; a session ends with its token, too.
"""

import secrets
from collections.abc import Sequence
from hashlib import sha256
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie

from msgspec import Struct

from breakeven.errors import expect
from breakeven.errors.serving import NotIdentified
from breakeven.service.access.callers import LOCAL, ROLES, Caller
from breakeven.service.clock import Clock
from breakeven.store import Store, StoredSession, StoredToken

TOKEN_MARK = "be"
BELIEVED = 1.0  # seconds in which the store is not asked again
MOST_REMEMBERED = 10_000  # callers


def new_token(
    name: str,
    roles: Sequence[str],
    streams: Sequence[str] | None,
    created: float,
    expires: float | None = None,
) -> tuple[str, StoredToken]:
    """A new token, and what the store keeps of it; the token itself is shown once and kept nowhere."""
    check_rights(name, roles, streams)
    id, secret = secrets.token_hex(6), secrets.token_hex(32)
    kept = StoredToken(
        id, name, digest(secret), " ".join(roles), " ".join(streams) if streams else None, created, expires
    )
    return f"{TOKEN_MARK}_{id}_{secret}", kept


def check_rights(name: str, roles: Sequence[str], streams: Sequence[str] | None) -> None:
    """Raise unless somebody of this name can have these roles, for these streams."""
    expect.name_of("name", name)
    for role in expect.rows("roles", roles):
        expect.one_of("role", role, ROLES)
    if not roles:
        expect.refuse("roles", "one at least of " + ", ".join(ROLES), "none", described=True)
    for stream in streams or ():
        if not stream or " " in stream:
            expect.refuse("streams", "names without spaces", stream)


class _Known(Struct, gc=False):
    """A caller as the store said it, and until when that is believed."""

    caller: Caller
    token: StoredToken
    until: float


class Tokens:
    """Who calls, by the header `Authorization: Bearer be_…`."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._known: dict[bytes, _Known] = {}
        self._needed, self._needed_until = True, 0.0

    @property
    def needed(self) -> bool:
        """Whether a token must be shown: yes, once there is one."""
        now = self._clock.steady()
        if now >= self._needed_until:
            self._needed, self._needed_until = bool(self._store.tokens()), now + BELIEVED
        return self._needed

    def caller(self, header: bytes | None) -> Caller:
        """Who calls; raises `NotIdentified` unless the token is good."""
        if header is None:
            if self.needed:
                raise _refused("none")
            return LOCAL
        known = self._known.get(header)
        if known is None or self._clock.steady() >= known.until:
            known = self._look_up(header)
        self.check(known.token)
        return known.caller

    def forget(self) -> None:
        """A token was changed: ask the store again."""
        self._known.clear()
        self._needed_until = 0.0

    def _look_up(self, header: bytes) -> _Known:
        self._known.pop(header, None)
        kind, _, word = header.decode("latin-1").partition(" ")
        if kind.lower() != "bearer":
            raise _refused("something else")
        token = self.good(word)
        known = _Known(caller_of(token), token, self._clock.steady() + BELIEVED)
        if len(self._known) >= MOST_REMEMBERED:
            self._known.clear()
        self._known[header] = known
        return known

    def good(self, word: str) -> StoredToken:
        """What the store has of a token, given as `be_<id>_<secret>`; raises unless it is good."""
        mark, _, rest = word.strip().partition("_")
        id, _, secret = rest.partition("_")
        if mark != TOKEN_MARK:
            raise _refused("something else")
        token = self._store.token(id) if id.isascii() and id.isalnum() else None
        good = compare_digest(b"" if token is None else token.hash, digest(secret))
        if token is None or not good:
            raise _refused("one that is not known here")
        self.check(token)
        return token

    def check(self, token: StoredToken) -> None:
        """Raise where a token was revoked or has expired."""
        if token.revoked is not None:
            raise _refused("one that was revoked")
        if token.expires is not None and token.expires <= self._clock.now():
            raise _refused("one that has expired")


def caller_of(token: StoredToken) -> Caller:
    """Whoever holds a token."""
    streams = None if token.streams is None else frozenset(token.streams.split())
    return Caller(token.name, frozenset(token.roles.split()), streams)


def digest(secret: str) -> bytes:
    """What is kept of a secret."""
    return sha256(secret.encode(errors="replace")).digest()


def _refused(came: str) -> NotIdentified:
    return NotIdentified(
        f"token: expected a good one in the header `Authorization: Bearer be_…`, got {came}; "
        "make one with `breakeven token add`"
    )


# -- sessions ---------------------------------------------------------------------------------------------

SESSION_COOKIE = "breakeven_session"
SESSION_SECONDS = 12 * 3600


class _KnownSession(Struct, gc=False):
    """A session as the store said it, and until when that is believed."""

    session: StoredSession
    token: StoredToken
    caller: Caller
    until: float


class Sessions:
    """Who calls, by a cookie."""

    def __init__(self, store: Store, tokens: Tokens, clock: Clock) -> None:
        self._store, self._tokens, self._clock = store, tokens, clock
        self._known: dict[str, _KnownSession] = {}

    def begin(self, word: str) -> str:
        """Log in with a token; returns what the cookie is to hold."""
        token, now = self._tokens.good(word), self._clock.now()
        self._store.end_sessions(now)
        secret = secrets.token_hex(32)
        self._store.add_session(StoredSession(digest(secret), token.id, now + SESSION_SECONDS))
        return secret

    def caller(self, secret: str) -> Caller:
        """Who has this cookie; raises `NotIdentified` where the session has ended, or its token."""
        known = self._known.get(secret)
        if known is None or self._clock.steady() >= known.until:
            known = self._look_up(secret)
        if known.session.expires <= self._clock.now():  # the store forgets it at the next log-in
            self._known.pop(secret, None)
            raise _ended()
        self._tokens.check(known.token)
        return known.caller

    def end(self, secret: str) -> None:
        """Log out."""
        self._known.pop(secret, None)
        self._store.end_session(digest(secret))

    def forget(self) -> None:
        """A token was changed: ask the store again."""
        self._known.clear()

    def _look_up(self, secret: str) -> _KnownSession:
        self._known.pop(secret, None)
        hashed = digest(secret)
        session = self._store.session(hashed)
        token = None if session is None else self._store.token(session.token)
        if session is None or token is None or not compare_digest(session.hash, hashed):
            raise _ended()
        known = _KnownSession(session, token, caller_of(token), self._clock.steady() + BELIEVED)
        if len(self._known) >= MOST_REMEMBERED:
            self._known.clear()
        self._known[secret] = known
        return known


def session_cookie(header: bytes | None) -> str | None:
    """What the cookie of a session holds; None where there is none.

    >>> session_cookie(b"other=1; breakeven_session=abc"), session_cookie(b"other=1"), session_cookie(None)
    ('abc', None, None)
    """
    if header is None:
        return None
    try:
        found = SimpleCookie(header.decode("latin-1")).get(SESSION_COOKIE)
    except CookieError:
        return None
    return None if found is None else found.value


def set_cookie(secret: str, *, secure: bool, seconds: int = SESSION_SECONDS) -> str:
    """The header `Set-Cookie` of a session; without seconds it takes the cookie away.

    >>> set_cookie("abc", secure=True)
    'breakeven_session=abc; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure'
    """
    ending = "; Secure" if secure else ""
    return f"{SESSION_COOKIE}={secret}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{ending}"


def _ended() -> NotIdentified:
    return NotIdentified("session: expected one that goes on, got one that has ended; log in again")
