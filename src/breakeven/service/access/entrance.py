"""Who calls, whichever way they say so: a token in a header, a proxy's word, or the cookie of a session.

A browser sends a cookie also for a page that somebody else made. So what changes something and comes with a
cookie, or with nothing at all, must come from a page of this service, as the browser says in its headers.
While there is no token, everybody on this machine is trusted; a name that is not this machine's is refused
then, as a page elsewhere could have it point here.
"""

from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from breakeven.errors.serving import NotAllowed, NotIdentified
from breakeven.service.access.callers import LOCAL, Caller
from breakeven.service.access.proxies import People, ProxyLogIn
from breakeven.service.access.sessions import Sessions, session_cookie
from breakeven.service.access.tokens import Tokens

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

    def caller(self, method: str, headers: CallHeaders) -> Caller:
        """Who calls; raises `NotIdentified` or `NotAllowed`."""
        header = headers.get(b"authorization")
        if header is not None:
            return self.tokens.caller(header)
        if self.proxy is not None and (person := headers.get(self.proxy.header)) is not None:
            if method not in SAFE_METHODS:
                check_own_page(headers, said=True)
            return self.people.caller(person)
        secret = session_cookie(headers.get(b"cookie"))
        if secret is not None and self.tokens.needed:
            if method not in SAFE_METHODS:
                check_own_page(headers, said=True)
            return self.sessions.caller(secret)
        caller = self.tokens.caller(None)
        if caller is LOCAL:
            if self.proxy is not None:
                name = self.proxy.header.decode()
                raise NotIdentified(f"{name}: expected who you are in this header, or a token, got neither")
            check_local_name(headers)
            if method not in SAFE_METHODS:
                check_own_page(headers, said=False)
        return caller

    def forget(self) -> None:
        """A token was changed: ask the store again."""
        self.tokens.forget()
        self.sessions.forget()
        self.people.forget()


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
    """Raise where this machine is called by a name that only somebody else's name server can have given."""
    name = host_name(headers)
    if "." in name and not is_local(name):
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
