"""Tokens: `be_<id>_<secret>`, of which the store keeps a digest of the secret alone.

Whoever has the token is who it names. A token that was revoked, in this process or in another, is refused
within a second.
"""

import secrets
from collections.abc import Sequence
from hashlib import sha256
from hmac import compare_digest

from msgspec import Struct

from breakeven.errors import expect
from breakeven.errors.serving import NotIdentified
from breakeven.service.access.callers import LOCAL, ROLES, Caller
from breakeven.service.clock import Clock
from breakeven.store import Store, StoredToken

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
