"""Write the reference of the HTTP interface from the table of routes: `python docs/http_page.py`."""

import re
from pathlib import Path
from typing import Any

import msgspec

from breakeven.errors.statuses import ENDINGS
from breakeven.service.calls import Raw
from breakeven.service.openapi import document, schema_words, statuses_of
from breakeven.service.routes import SERVICE_ROUTES, ServiceRoute

HERE = Path(__file__).parent
HEAD = """# The HTTP interface

Every path, as `breakeven serve` answers it. This page is made by `python docs/http_page.py` from the same
table as the service itself. A service shows the same at `/docs`, and at `/openapi.json` for programs.

- Bodies are JSON unless said otherwise. Times are RFC 3339, in UTC. An infinite number is `null`.
- A token goes into the header `Authorization: Bearer be_…`; `breakeven token add` makes one. As long as there
  is none, anybody on the same machine may do everything.
- Roles are `send`, `label`, `watch` and `administer`; who may administer may do everything.
- **An answer is sent after its entry is on disk.** Repeating a call is harmless: an arrival is known by its
  `id`, a label by that of its request. An arrival without an id is taken, and is not safe to send again.
- An id in a path is percent-encoded: `ward 3/bed 7` is `ward%203%2Fbed%207`. A body that its sender does not
  finish changes nothing. A query that a path does not know is refused.
- Reads say in `as_of` which entry of the log they are of. Lists come in pages: `next` is what to ask for
  `after`.
- What is refused is `application/problem+json`: `type` names the class of the error, `detail` says what was
  expected, what came and what to do.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD, _problems(), "## All paths\n", _overview()]
    parts += [_route(one) for one in SERVICE_ROUTES]
    parts += ["## Types\n", *_types()]
    return "\n".join(parts).rstrip() + "\n"


def _problems() -> str:
    rows = [
        f"| {ending.status} | `{kind.__name__}` | {ending.title} |"
        for kind, ending in sorted(ENDINGS.items(), key=lambda one: (one[1].status, one[0].__name__))
    ]
    return (
        "## Problems\n\n| status | `type`, behind `urn:breakeven:` | means |\n|---|---|---|\n"
        + "\n".join(rows)
        + "\n"
    )


def _overview() -> str:
    rows = [
        f"| {one.method} | [`{one.path}`](#{_anchor(one)}) | {_roles(one)} | {one.summary} |"
        for one in SERVICE_ROUTES
    ]
    return "| method | path | role | |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"


def _anchor(route: ServiceRoute) -> str:
    return re.sub(r"[^\w\s-]", "", f"{route.method} {route.path}".lower()).replace(" ", "-")


def _roles(route: ServiceRoute) -> str:
    return ", ".join(route.roles) or "anybody"


def _route(route: ServiceRoute) -> str:
    lines = [f"## {route.method} {route.path}\n", f"{route.summary}\n", f"- role: {_roles(route)}"]
    if route.query is not None:
        lines.append(f"- query: {_name(route.query)}")
    if route.body is Raw:
        lines.append(
            f"- body: a list of {_name(route.lines)}, as {', '.join(f'`{one}`' for one in route.takes)}"
        )
    elif route.body is not None:
        lines.append(f"- body: {_name(route.body)}" + (", or nothing" if route.empty_body else ""))
    answer = "nothing" if route.success == 204 else "bytes" if route.answer is None else _name(route.answer)
    more = "" if len(route.gives) == 1 else f", as {_kinds(route.gives)}"
    lines.append(f"- answer: {route.success}, {answer}{more}")
    refused = [str(one) for one in statuses_of(route) if one >= 400]
    lines.append(f"- refused with: {', '.join(refused)}")
    return "\n".join(lines) + "\n"


def _kinds(media: tuple[str, ...]) -> str:
    return ", ".join(f"`{one}`" for one in media)


def _name(kind: Any) -> str:
    """A type with a link to its description; a union of one and many is said so."""
    found = re.findall(r"[A-Z]\w+", str(kind).replace("breakeven.wire.", ""))
    first = found[-1] if not isinstance(kind, type) else kind.__name__
    link = f"[`{first}`](#{first.lower()})"
    return f"{link}, or a list of them" if "list[" in str(kind) else link


def _types() -> list[str]:
    return [_type(name, one) for name, one in sorted(document()["components"]["schemas"].items())]


def _type(name: str, schema: dict[str, Any]) -> str:
    lines = [
        f"### {name}\n",
        f"{schema.get('description', '')}\n",
        "| field | type | default |",
        "|---|---|---|",
    ]
    required = schema.get("required", ())
    for field, one in schema.get("properties", {}).items():
        default = "" if field in required else f"`{msgspec.json.encode(one.get('default')).decode()}`"
        lines.append(f"| `{field}` | {_words(one)} | {default} |")
    return "\n".join(lines) + "\n"


def _words(schema: dict[str, Any]) -> str:
    return schema_words(schema, lambda name: f"[{name}](#{name.lower()})", lambda value: f"`{value}`")


if __name__ == "__main__":
    (HERE / "http.md").write_text(page())
