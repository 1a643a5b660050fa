"""Sessions: whoever shows a good token to the page gets a cookie for twelve hours, and is known by it.

The store keeps a digest of the cookie, so a session can be ended; it ends with its token, too.
"""

import secrets
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie

from msgspec import Struct

from breakeven.errors.serving import NotIdentified
from breakeven.service.access.callers import Caller
from breakeven.service.access.tokens import BELIEVED, MOST_REMEMBERED, Tokens, caller_of, digest
from breakeven.service.clock import Clock
from breakeven.store import Store, StoredSession, StoredToken

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
