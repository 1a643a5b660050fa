"""Which endpoint answers a call: the table of routes as a tree of the parts of their paths.

A part in braces stands for any that is not empty. Parts are told apart as they were sent and read one by one,
so a name or an id may hold a slash, which stands in the path as %2F.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from starlette.types import ASGIApp, Scope


class PlacedRoute(NamedTuple):
    """One method of one path, and what answers it."""

    method: str
    path: str
    endpoint: ASGIApp

    @property
    def named_parts(self) -> dict[str, int]:
        """The places of the parts in braces, by their names."""
        return {part[1:-1]: place for place, part in enumerate(self.path.split("/")) if part[:1] == "{"}


class FoundRoute(NamedTuple):
    """What answers a call, and where the parts in braces stand in its path."""

    path: str
    endpoint: ASGIApp
    named_parts: tuple[tuple[str, int], ...]


class PathTree:
    """All routes, found part by part.

    >>> async def label(scope, receive, send): ...
    >>> tree = PathTree([PlacedRoute("POST", "/requests/{id}/label", label)])
    >>> parts = path_parts({"raw_path": b"/requests/a%2Fb/label"})
    >>> parts
    ['', 'requests', 'a/b', 'label']
    >>> tree.find("POST", parts).endpoint is label, tree.find("GET", parts), tree.methods(parts)
    (True, None, ['POST'])
    """

    def __init__(self, routes: Iterable[PlacedRoute]) -> None:
        self._root = _Branch()
        for route in routes:
            self._root.add(route)

    def find(self, method: str, parts: Sequence[str]) -> FoundRoute | None:
        """What answers this method of a path; None where nothing does."""
        return self._root.find(method, parts, 0)

    def methods(self, parts: Sequence[str]) -> list[str]:
        """Every method that a path has."""
        return sorted({method for end in self._root.ends(parts, 0) for method in end.routes})


def path_parts(scope: Scope) -> list[str]:
    """The path of a call, part by part."""
    raw: bytes | None = scope.get("raw_path")
    if raw is None:
        path: str = scope["path"]
        return path.split("/")
    parts = raw.decode("latin-1").split("/")
    return [unquote(part) for part in parts] if b"%" in raw else parts


class _Branch:
    """Where a path goes on from here, and what answers if it ends here."""

    __slots__ = ("fixed", "named", "routes")

    def __init__(self) -> None:
        self.fixed: dict[str, _Branch] = {}
        self.named: _Branch | None = None
        self.routes: dict[str, FoundRoute] = {}

    def add(self, route: PlacedRoute) -> None:
        branch = self
        for part in route.path.split("/"):
            if part[:1] != "{":
                branch = branch.fixed.setdefault(part, _Branch())
            else:
                branch.named = branch.named or _Branch()
                branch = branch.named
        found = FoundRoute(route.path, route.endpoint, tuple(route.named_parts.items()))
        branch.routes[route.method] = found
        if route.method == "GET":
            branch.routes.setdefault("HEAD", found)

    def find(self, method: str, parts: Sequence[str], place: int) -> FoundRoute | None:
        if place == len(parts):
            return self.routes.get(method)
        part = parts[place]
        inner = self.fixed.get(part)
        found = None if inner is None else inner.find(method, parts, place + 1)
        if found is None and part and self.named is not None:
            found = self.named.find(method, parts, place + 1)
        return found

    def ends(self, parts: Sequence[str], place: int) -> "list[_Branch]":
        if place == len(parts):
            return [self]
        inner = (self.fixed.get(parts[place]), self.named if parts[place] else None)
        return [end for branch in inner if branch is not None for end in branch.ends(parts, place + 1)]
