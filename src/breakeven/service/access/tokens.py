"""Tokens, `be_<id>_<secret>`, and the sessions of pages that are begun with one.

Whoever has the token is who it names; whoever shows it to the page gets a cookie for twelve hours, and is
known by it. The store keeps digests alone. What was revoked or ended, in this process or in another, is
refused within a second; a session ends with its token, too.
"""

import re
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from hmac import compare_digest
from math import inf
from typing import Generic, TypeVar

from msgspec import Struct

from breakeven.errors import expect
from breakeven.errors.serving import NotIdentified
from breakeven.service.access.callers import LOCAL, ROLES, Caller
from breakeven.service.clock import Clock
from breakeven.store import Store, StoredSession, StoredToken, StoreError

TOKEN_MARK = "be"
SECONDS_OF_DAY = 86_400.0
BELIEVED = 0.75  # seconds, after which the store is asked again
WHILE_ASKING = 0.25  # seconds that others go on with what is known, while somebody asks
MOST_REMEMBERED = 10_000  # callers
USED_WITHIN = 3600.0  # seconds, to which it is known when a token was used last

TOKEN_FORM = re.compile(rb"(?i:bearer) +(be_[0-9a-f]{12}_[0-9a-f]{64})[ \t]*")

Asked = TypeVar("Asked")
Said = TypeVar("Said")


class AskStore(Exception):
    """What is known is not known any more, or not yet: ask in a thread, where nobody else waits for it."""


class _Believed(Struct, Generic[Said]):
    """What the store said, and until when that is believed."""

    said: Said
    until: float


class Hearsay(Generic[Asked, Said]):
    """What the store said of callers, believed for up to a second; `look_up` asks it."""

    def __init__(self, look_up: Callable[[Asked], Said], clock: Clock) -> None:
        self._look_up, self._clock = look_up, clock
        self._known: dict[Asked, _Believed[Said]] = {}

    def of(self, asked: Asked, *, ask: bool) -> Said:
        """What the store says; without `ask` what it said of late, or `AskStore`.

        Of many who come at once one is told to ask, and the others go on meanwhile.
        """
        now = self._clock.steady()
        if not ask:
            known = self._known.get(asked)
            if known is None or now >= known.until:
                if known is not None:
                    known.until = now + WHILE_ASKING
                raise AskStore
            return known.said
        try:
            said = self._look_up(asked)
        except BaseException:
            self._known.pop(asked, None)
            raise
        if len(self._known) >= MOST_REMEMBERED:
            self._known.clear()
        self._known[asked] = _Believed(said, now + BELIEVED)
        return said

    def forget(self, asked: Asked | None = None) -> None:
        """Something was changed: ask the store again, about one or about all."""
        if asked is None:
            self._known.clear()
        else:
            self._known.pop(asked, None)


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


class Tokens:
    """Who calls, by the header `Authorization: Bearer be_…`."""

    def __init__(self, store: Store, clock: Clock, longest_days: float | None = None) -> None:
        self._store, self._clock = store, clock
        days = None if longest_days is None else expect.positive("token_days", longest_days)
        self._longest = inf if days is None else SECONDS_OF_DAY * days
        self._holders: Hearsay[bytes, tuple[StoredToken, Caller]] = Hearsay(self._look_up, clock)
        self._any: Hearsay[str, bool] = Hearsay(lambda _: bool(store.tokens()), clock)

    def needed(self, *, ask: bool = True) -> bool:
        """Whether a token must be shown: yes, once there is one."""
        return self._any.of("any", ask=ask)

    def caller(self, header: bytes | None, *, ask: bool = True) -> Caller:
        """Who calls; raises `NotIdentified` unless the token is good."""
        if header is None:
            if self.needed(ask=ask):
                raise _refused("none")
            return LOCAL
        shown = TOKEN_FORM.fullmatch(header)
        if shown is None:
            known = header[:10].lower() == b"bearer " + TOKEN_MARK.encode() + b"_"
            raise _refused("one that is not known here" if known else "something else")
        token, caller = self._holders.of(shown[1], ask=ask)  # without what stands around it
        self.check(token)
        return caller

    def forget(self) -> None:
        """A token was changed: ask the store again."""
        self._holders.forget()
        self._any.forget()

    def _look_up(self, word: bytes) -> tuple[StoredToken, Caller]:
        token = self.good(word.decode())
        return token, caller_of(token)

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
        self.note_use(token)
        return token

    def note_use(self, token: StoredToken) -> None:
        """Have the store remember that a token is used, to the hour; where it cannot, that stops nobody."""
        now = self._clock.now()
        if token.used is None or abs(now - token.used) >= USED_WITHIN:
            with suppress(StoreError):
                self._store.use_token(token.id, now)

    def check(self, token: StoredToken) -> None:
        """Raise where a token was revoked or has expired."""
        if token.revoked is not None:
            raise _refused("one that was revoked")
        now = self._clock.now()
        if (token.expires is not None and token.expires <= now) or token.created + self._longest <= now:
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
COOKIE_FORM = re.compile(rb"(?:^|;)[ \t]*" + SESSION_COOKIE.encode() + rb"=([0-9a-f]{64})[ \t]*(?:;|$)")


class Sessions:
    """Who calls, by a cookie."""

    def __init__(self, store: Store, tokens: Tokens, clock: Clock) -> None:
        self._store, self._tokens, self._clock = store, tokens, clock
        self._holders: Hearsay[str, tuple[StoredSession, StoredToken, Caller]]
        self._holders = Hearsay(self._look_up, clock)

    def begin(self, word: str) -> str:
        """Log in with a token; returns what the cookie is to hold."""
        token, now = self._tokens.good(word), self._clock.now()
        self._store.end_sessions(now)
        secret = secrets.token_hex(32)
        self._store.add_session(StoredSession(digest(secret), token.id, now + SESSION_SECONDS))
        return secret

    def caller(self, secret: str, *, ask: bool = True) -> Caller:
        """Who has this cookie; raises `NotIdentified` where the session has ended, or its token."""
        session, token, caller = self._holders.of(secret, ask=ask)
        if session.expires <= self._clock.now():  # the store forgets it at the next log-in
            self._holders.forget(secret)
            raise _ended()
        self._tokens.check(token)
        return caller

    def end(self, secret: str) -> None:
        """Log out."""
        self._store.end_session(digest(secret))
        self._holders.forget(secret)

    def forget(self) -> None:
        """A token was changed: ask the store again."""
        self._holders.forget()

    def _look_up(self, secret: str) -> tuple[StoredSession, StoredToken, Caller]:
        hashed = digest(secret)
        session = self._store.session(hashed)
        token = None if session is None else self._store.token(session.token)
        if session is None or token is None or not compare_digest(session.hash, hashed):
            raise _ended()
        self._tokens.note_use(token)
        return session, token, caller_of(token)


def session_cookie(header: bytes | None) -> str | None:
    """What the cookie of a session holds; None where there is none.

    It is looked for in its fixed form: parsing any cookie can take time that grows faster than its size.

    >>> session_cookie(b"other=1; breakeven_session=" + 32 * b"a1") == 32 * "a1"
    True
    >>> session_cookie(b"other=1; breakeven_session=abc"), session_cookie(None)
    (None, None)
    """
    found = None if header is None else COOKIE_FORM.search(header)
    return None if found is None else found[1].decode()


def set_cookie(secret: str, *, secure: bool, seconds: int = SESSION_SECONDS) -> str:
    """The header `Set-Cookie` of a session; without seconds it takes the cookie away.

    >>> set_cookie("abc", secure=True)
    'breakeven_session=abc; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure'
    """
    ending = "; Secure" if secure else ""
    return f"{SESSION_COOKIE}={secret}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{ending}"


def _ended() -> NotIdentified:
    return NotIdentified("session: expected one that goes on, got one that has ended; log in again")
