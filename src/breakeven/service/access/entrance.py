"""Who calls, whichever way they say so: a token in a header, a proxy's word, or the cookie of a session.

A proxy that logs people in names them in a header, and the store says what they may do. Only the named peer
is believed. The header from anybody else is refused, and so are two of them: whoever could add one would be
whom they like. A browser sends a cookie also for a page that somebody else made. So what changes something
and comes with a cookie, or with nothing at all, must come from a page of this service, as the browser says in
its headers. While there is no token, everybody on this machine is trusted; a name that is not this machine's
is refused then, as a page elsewhere could have it point here.
"""

import logging
import re
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from msgspec import Struct
from starlette.types import Scope

from breakeven.errors import BreakevenError, InvalidInput, expect
from breakeven.errors.serving import NotAllowed, NotIdentified
from breakeven.service.access.callers import LOCAL, Caller
from breakeven.service.access.tokens import AskStore, Hearsay, Sessions, Tokens, session_cookie
from breakeven.service.clock import Clock
from breakeven.service.waiting import ask_store
from breakeven.store import Store

logger = logging.getLogger(__name__)

TOKEN_ID = re.compile(r"be_([0-9a-f]{12})_")
MOST_NAME_BYTES = 4 * expect.LONGEST_NAME + 1  # one more than the longest that can be known
SHOWN_OF_ADDRESS = 100  # letters
HEADER_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


class ProxyLogIn(Struct, frozen=True):
    """The header in which a proxy names people, in small letters, and the addresses of those believed."""

    header: bytes
    peers: frozenset[str]

    @classmethod
    def of(cls, header: str, peers: list[str]) -> "ProxyLogIn":
        """From what a command was given.

        >>> ProxyLogIn.of("X-Forwarded-User", ["10.0.0.5"]).header
        b'x-forwarded-user'
        """
        name = header.strip().lower()
        if not name or not set(name) <= HEADER_LETTERS or name in ("authorization", "cookie", "host"):
            expect.refuse("--person-header", "the name of a header, such as X-Forwarded-User", header)
        if not peers:
            came = "none"
            expect.refuse(
                "--trusted-proxy", "the address of the proxy beside --person-header", came, described=True
            )
        return cls(name.encode(), frozenset(map(_address, peers)))

    def check(self, peer: str | None, headers: list[tuple[bytes, bytes]]) -> None:
        """Raise where somebody else than the proxy, or two voices, say who calls."""
        named = sum(name.lower() == self.header for name, _ in headers)
        if named and (peer is None or _plain_address(peer) not in self.peers):
            raise NotAllowed(
                f"{self.header.decode()}: expected this header from a trusted proxy alone, "
                f"got it from {peer or 'somebody'}"
            )
        if named > 1:
            raise NotAllowed(f"{self.header.decode()}: expected this header once, got it {named} times")


def _address(text: str) -> str:
    try:
        return str(ip_address(text.strip()))
    except ValueError as error:
        raise InvalidInput(f"--trusted-proxy: expected an address such as 10.0.0.5, got {text!r}") from error


def _plain_address(peer: str) -> str:
    """An address as it is compared: IPv4 in IPv6 is IPv4.

    >>> _plain_address("::ffff:10.0.0.5"), _plain_address("testclient")
    ('10.0.0.5', 'testclient')
    """
    try:
        found = ip_address(peer)
    except ValueError:
        return peer
    return str(getattr(found, "ipv4_mapped", None) or found)


class People:
    """Who calls, by the name that a proxy vouches for."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._known: Hearsay[bytes, Caller] = Hearsay(self._look_up, clock)

    def caller(self, name: bytes, *, ask: bool = True) -> Caller:
        """The person of this name; raises `NotIdentified` where nobody said what they may do."""
        return self._known.of(name.strip()[:MOST_NAME_BYTES], ask=ask)

    def forget(self) -> None:
        """A person was changed: ask the store again."""
        self._known.forget()

    def _look_up(self, name: bytes) -> Caller:
        try:
            text = name.decode().strip()
        except UnicodeDecodeError:
            text = ""
        person = self._store.person(text) if text and "\0" not in text else None
        if person is None:
            raise NotIdentified(
                f"person: expected one that `breakeven person add` made known, got {text or name!r}"
            )
        streams = None if person.streams is None else frozenset(person.streams.split())
        return Caller(person.name, frozenset(person.roles.split()), streams)


# -- the entrance -----------------------------------------------------------------------------------------

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
SAME_ORIGIN = b"same-origin"
LOCALHOST = "localhost"

CallHeaders = dict[bytes, bytes]


class Entrance:
    """Identifies whoever calls."""

    def __init__(
        self, tokens: Tokens, sessions: Sessions, people: People, proxy: ProxyLogIn | None = None
    ) -> None:
        self.tokens, self.sessions, self.people, self.proxy = tokens, sessions, people, proxy

    async def identify(self, method: str, headers: CallHeaders) -> Caller:
        """Who calls; raises `NotIdentified` or `NotAllowed`. The store is asked in a thread."""
        try:
            return self.caller(method, headers, ask=False)
        except AskStore:
            return await ask_store(self.caller, method, headers)

    async def token_needed(self) -> bool:
        """Whether a token must be shown."""
        try:
            return self.tokens.needed(ask=False)
        except AskStore:
            return await ask_store(self.tokens.needed)

    def caller(self, method: str, headers: CallHeaders, *, ask: bool = True) -> Caller:
        """The same, by asking the store; without `ask` by what it said of late, or `AskStore`."""
        header = headers.get(b"authorization")
        if header is not None:
            return self.tokens.caller(header, ask=ask)
        if self.proxy is not None and (person := headers.get(self.proxy.header)) is not None:
            if method not in SAFE_METHODS:
                check_own_page(headers, said=True)
            return self.people.caller(person, ask=ask)
        secret = session_cookie(headers.get(b"cookie"))
        if secret is not None and self.tokens.needed(ask=ask):
            if method not in SAFE_METHODS:
                check_own_page(headers, said=True)
            return self.sessions.caller(secret, ask=ask)
        caller = self.tokens.caller(None, ask=ask)
        if caller is LOCAL:
            if self.proxy is not None:
                name = self.proxy.header.decode()
                raise NotIdentified(f"{name}: expected who you are in this header, or a token, got neither")
            check_local_name(headers)
            if method not in SAFE_METHODS:
                check_own_page(headers, said=False)
        return caller

    def address(self, scope: Scope) -> str:
        """Where a call comes from: the trusted proxy says so, or else it is the peer."""
        peer: str = (scope.get("client") or ("somebody",))[0]
        said = _forwarded_for(scope)
        believed = said and self.proxy is not None and _plain_address(peer) in self.proxy.peers
        return said if believed else peer

    def shown_address(self, scope: Scope) -> str:
        """The same for the log, with what a peer says that is not believed."""
        address, said = self.address(scope), _forwarded_for(scope)
        return f"{address} (which says for {said!r})" if said and said != address else address

    def note_refused(self, scope: Scope, error: BreakevenError, shown: str = "") -> None:
        """Write to the log that somebody was not let in, who did not come with empty hands.

        `shown` is a token as it came; of one that can be a token of ours its id is written, never its secret.
        """
        headers = dict(scope["headers"])
        shown = shown or headers.get(b"authorization", b"").decode("latin-1")
        if (
            shown
            or isinstance(error, NotAllowed)
            or (self.proxy is not None and self.proxy.header in headers)
        ):
            id = TOKEN_ID.search(shown)
            which = "" if id is None else f", token {id[1]}"
            logger.warning("refused, from %s%s: %s", self.shown_address(scope), which, error)

    def forget(self) -> None:
        """A token was changed: ask the store again."""
        self.tokens.forget()
        self.sessions.forget()
        self.people.forget()


def _forwarded_for(scope: Scope) -> str:
    """The address that the nearest proxy added to a call; empty if none did."""
    said = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
    return said[-1].decode("latin-1").split(",")[-1].strip()[-SHOWN_OF_ADDRESS:] if said else ""


def check_own_page(headers: CallHeaders, *, said: bool) -> None:
    """Raise where a page of somebody else sends this; with `said`, also where no header says who does."""
    site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
    if site is not None:
        good = site == SAME_ORIGIN
    elif origin is not None:
        good = _place_of(origin) == headers.get(b"host")
    else:
        good = not said
    if not good:
        came = (site or origin or b"nothing").decode("latin-1")
        raise NotAllowed(
            "page: expected a call from a page of this service (`Sec-Fetch-Site: same-origin`), "
            f"got one from {came}"
        )


def _place_of(origin: bytes) -> bytes | None:
    """The host and port in an origin; None where it is no origin."""
    try:
        return urlsplit(origin.decode("latin-1")).netloc.encode("latin-1")
    except ValueError:
        return None


def check_local_name(headers: CallHeaders) -> None:
    """Raise where this machine is called by another name than its own, which any name server can give it.

    No browser leaves the name out, so a call without one comes from no page.
    """
    name = host_name(headers)
    if b"host" in headers and not is_local(name):
        raise NotAllowed(
            f"Host: expected localhost or 127.0.0.1 while there is no token, got {name!r}; "
            "make a token with `breakeven token add`"
        )


def host_name(headers: CallHeaders) -> str:
    """The name that the caller has for this machine, without a port.

    >>> host_name({b"host": b"[::1]:8765"}), host_name({b"host": b"example.org"})
    ('::1', 'example.org')
    """
    return _name_in(headers.get(b"host", b""))


@lru_cache(maxsize=128)
def _name_in(host: bytes) -> str:
    try:
        return urlsplit("//" + host.decode("latin-1")).hostname or ""
    except ValueError:
        return ""


@lru_cache(maxsize=128)
def is_local(host: str) -> bool:
    """Whether an address is reached from this machine alone.

    >>> is_local("127.0.0.1"), is_local("localhost"), is_local("0.0.0.0"), is_local("::1")
    (True, True, False, True)
    """
    if host == LOCALHOST:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
