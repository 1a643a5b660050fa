"""The HTTP interface for reading: every path and every type of the OpenAPI document, as one page.

It is made by the server from the same table as the service itself, and needs no script.
"""

from functools import cache
from typing import Any

from markupsafe import Markup, escape
from msgspec import Struct
from msgspec.json import encode

from breakeven.service.openapi import document, schema_words
from breakeven.service.pages.rendering import Page, Visit


class ShownField(Struct, frozen=True):
    """A field of a type, or of a query: its name, what it may be, and what it is if left out."""

    name: str
    words: Markup
    default: str


class ShownType(Struct, frozen=True):
    """A type of the document."""

    name: str
    words: Markup
    fields: list[ShownField]


class ShownCall(Struct, frozen=True):
    """One method of one path."""

    id: str
    method: str
    path: str
    summary: Markup
    role: str
    parameters: list[ShownField]
    body: Markup
    answers: list[tuple[str, str, Markup]]  # a status, what it means, and what comes with it


async def docs(visit: Visit) -> Page:
    """The whole interface."""
    calls, types = described()
    return Page("docs.html", {"calls": calls, "types": types})


@cache
def described() -> tuple[list[ShownCall], list[ShownType]]:
    """Every call and every type."""
    found = document()
    calls = [
        _call(path, method, one)
        for path, methods in found["paths"].items()
        for method, one in methods.items()
    ]
    schemas = sorted(found["components"]["schemas"].items())
    return calls, [ShownType(name, _prose(one.get("description", "")), _fields(one)) for name, one in schemas]


def _call(path: str, method: str, one: dict[str, Any]) -> ShownCall:
    role = one.get("description", "Role: anybody.").removeprefix("Role: ").rstrip(".")
    parameters = [
        ShownField(p["name"], _words(p["schema"]), _default(p["schema"]))
        for p in one.get("parameters", ())
        if p["in"] == "query"  # those of the path are in the path
    ]
    body = one.get("requestBody", {})
    words = _content(body.get("content", {}))
    if words and not body["required"]:
        words += ", or nothing"
    answers = [
        (status, "" if status < "300" else said["description"], _content(said.get("content", {})))
        for status, said in one["responses"].items()
    ]
    id = one["operationId"]
    return ShownCall(id, method.upper(), path, _prose(one["summary"]), role, parameters, words, answers)


def _prose(words: str) -> Markup:
    """Words in which names stand between backticks.

    >>> _prose("`y` < 1")
    Markup('<code>y</code> &lt; 1')
    """
    parts = (
        Markup("<code>{}</code>").format(one) if place % 2 else escape(one)
        for place, one in enumerate(words.split("`"))
    )
    return Markup("").join(parts)


def _content(content: dict[str, Any]) -> Markup:
    """What a body may be, of each media type."""
    kinds = {media: _words(said["schema"]) for media, said in content.items()}
    return Markup(", or ").join(Markup("{} as {}").format(words, media) for media, words in kinds.items())


def _fields(schema: dict[str, Any]) -> list[ShownField]:
    required = schema.get("required", ())
    return [
        ShownField(name, _words(one), "" if name in required else _default(one))
        for name, one in schema.get("properties", {}).items()
    ]


def _default(schema: dict[str, Any]) -> str:
    return encode(schema["default"]).decode() if "default" in schema else ""


def _words(schema: dict[str, Any]) -> Markup:
    def link(name: str) -> str:
        return Markup('<a href="#type-{}">{}</a>').format(name, name)

    return Markup(schema_words(schema, link, lambda value: Markup("<code>{}</code>").format(escape(value))))
