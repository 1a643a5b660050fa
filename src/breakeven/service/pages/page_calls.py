"""What the maker of a page gets and gives: a visit, and a page, a part of one, or a way to another."""

from typing import Any
from urllib.parse import quote

from msgspec import Struct

from breakeven.service.access import Caller
from breakeven.service.access.entrance import CallHeaders
from breakeven.service.calls import Call
from breakeven.service.live_stream import LiveStream
from breakeven.service.service import Service


class Visit(Struct, frozen=True):
    """Somebody asks for a page: who, with which words in the path, in the query and in a form."""

    service: Service
    caller: Caller
    path: dict[str, str]
    query: dict[str, str]
    form: dict[str, str]
    headers: CallHeaders = {}

    @property
    def live(self) -> LiveStream:
        """The stream in the path."""
        return self.service.stream(self.path["stream"])

    def call(self, body: Any = None, query: Any = None, **path: str) -> Call:
        """The same visitor calling a route of the service."""
        return Call(self.service, self.caller, self.path | path, query, body, "", self.headers)


class Page(Struct, frozen=True):
    """A template and what goes into it."""

    template: str
    values: dict[str, Any] = {}
    status: int = 200
    headers: dict[str, str] = {}


class Elsewhere(Struct, frozen=True):
    """Go on at another page."""

    to: str
    headers: dict[str, str] = {}


def address(*parts: str, **query: str | int | None) -> str:
    """A path of these parts, each of which may hold any signs.

    >>> address("streams", "a b/c", "history", id="x&y", after=None)
    '/streams/a%20b%2Fc/history?id=x%26y'
    """
    asked = "&".join(f"{name}={quote(str(one), safe='')}" for name, one in query.items() if one is not None)
    return "/" + "/".join(quote(part, safe="") for part in parts) + (f"?{asked}" if asked else "")
