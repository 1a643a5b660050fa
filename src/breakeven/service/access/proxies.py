"""People whom a proxy has logged in: it says who they are in a header, and the store says what they may do.

Only the named peer is believed. The header from anybody else is refused, and so are two of them: whoever
could add one would be whom they like.
"""

from ipaddress import ip_address

from msgspec import Struct

from breakeven.errors import InvalidInput, expect
from breakeven.errors.serving import NotAllowed, NotIdentified
from breakeven.service.access.callers import Caller
from breakeven.service.access.tokens import BELIEVED, MOST_REMEMBERED
from breakeven.service.clock import Clock
from breakeven.store import Store

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
        self._store, self._clock = store, clock
        self._known: dict[bytes, tuple[Caller, float]] = {}

    def caller(self, name: bytes) -> Caller:
        """The person of this name; raises `NotIdentified` where nobody said what they may do."""
        known = self._known.get(name)
        if known is None or self._clock.steady() >= known[1]:
            known = self._look_up(name)
        return known[0]

    def forget(self) -> None:
        """A person was changed: ask the store again."""
        self._known.clear()

    def _look_up(self, name: bytes) -> tuple[Caller, float]:
        self._known.pop(name, None)
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
        known = Caller(person.name, frozenset(person.roles.split()), streams), self._clock.steady() + BELIEVED
        if len(self._known) >= MOST_REMEMBERED:
            self._known.clear()
        self._known[name] = known
        return known
