"""The routes as an OpenAPI 3.1 document, and its types in words; types are described by msgspec.

`/openapi.json`, the page `/docs` and docs/http.md show the same document.
"""

import re
from collections.abc import Callable
from importlib import metadata
from typing import Any

import msgspec

from breakeven.errors.statuses import ENDINGS
from breakeven.service.calls import Raw
from breakeven.service.routes import SERVICE_ROUTES, ServiceRoute
from breakeven.wire.problems import PROBLEM_MEDIA, Problem

SCHEMAS_AT = "#/components/schemas/{name}"
ANY_CALL = (400, 503)  # what any call may be answered
ANY_GUARDED = (401, 403, 429)  # what a call that needs a role may be answered


def document() -> dict[str, Any]:
    """The whole document."""
    version = metadata.version("breakeven")
    types = [Problem]
    for route in SERVICE_ROUTES:
        types += [one for one in (_body_type(route), route.answer, route.query) if one is not None]
    schemas, components = msgspec.json.schema_components(types, ref_template=SCHEMAS_AT)
    found = dict(zip(map(str, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in SERVICE_ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, found, components)
    return {
        "openapi": "3.1.0",
        "info": {"title": "breakeven", "version": version},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _body_type(route: ServiceRoute) -> Any:
    return list.__class_getitem__(route.lines) if route.body is Raw else route.body


def _operation(route: ServiceRoute, found: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": operation_id(route),
        "summary": route.summary,
        "responses": _responses(route, found),
    }
    if route.roles:
        operation["security"] = [{"token": []}]
        operation["description"] = f"Role: {' or '.join(route.roles)}, or administer."
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in re.findall(r"\{(\w+)\}", route.path)
    ]
    if route.query is not None:
        parameters += _query_parameters(found[str(route.query)], components)
    if parameters:
        operation["parameters"] = parameters
    if route.body is not None:
        operation["requestBody"] = {"required": not route.empty_body, "content": _content(route, found)}
    return operation


def operation_id(route: ServiceRoute) -> str:
    """A name for an operation: that of its handler."""
    return route.handler.__name__


def _query_parameters(schema: dict[str, Any], components: dict[str, Any]) -> list[dict[str, Any]]:
    described = components[schema["$ref"].rpartition("/")[2]]
    return [
        {"name": name, "in": "query", "required": False, "schema": _plain(one)}
        for name, one in described["properties"].items()
    ]


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """A query has no null: what may be left out is left out."""
    choices = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    return choices[0] if len(choices) == 1 else schema


def _content(route: ServiceRoute, found: dict[str, Any]) -> dict[str, Any]:
    schema = found[str(_body_type(route))]
    text = {"schema": {"type": "string"}}
    return {media: {"schema": schema} if media.endswith("/json") else text for media in route.takes}


def _responses(route: ServiceRoute, found: dict[str, Any]) -> dict[str, Any]:
    done: dict[str, Any] = {"description": route.summary}
    if route.answer is not None:
        schema = found[str(route.answer)]
        done["content"] = {
            media: {"schema": schema} if media.endswith("/json") else {"schema": {"type": "string"}}
            for media in route.gives
        }
    elif route.success != 204:
        done["content"] = {media: {"schema": {"type": "string", "format": "binary"}} for media in route.gives}
    responses = {str(route.success): done}
    problem = {PROBLEM_MEDIA: {"schema": found[str(Problem)]}}
    for status in statuses_of(route):
        if status < 300:
            responses[str(status)] = done
        else:
            responses[str(status)] = {"description": title_of(status), "content": problem}
    return responses


def statuses_of(route: ServiceRoute) -> list[int]:
    """What a route may be answered with beside its success."""
    return sorted({*route.statuses, *ANY_CALL, *(ANY_GUARDED if route.roles else ())})


def title_of(status: int) -> str:
    """What a status means here."""
    titles = [one.title for one in ENDINGS.values() if one.status == status]
    return "; ".join(titles)


Worded = Callable[[str], str]
"""Makes of the name of a type, or of a value, what is shown: a link, or a mark around it."""


def schema_words(schema: dict[str, Any], named: Worded = str, quoted: Worded = str) -> str:
    """A schema in a few words.

    >>> schema_words({"type": "array", "items": {"$ref": "#/components/schemas/Arrival"}})
    'list of Arrival'
    """
    if "$ref" in schema:
        return named(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(schema_words(one, named, quoted) for one in schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(quoted(str(one)) for one in schema["enum"])
    inner = schema.get("items") or schema.get("additionalProperties")
    known = schema_words(inner, named, quoted) if isinstance(inner, dict) and inner else ""
    if schema.get("type") == "array":
        return f"list of {known}" if known else "list"
    if schema.get("type") == "object":
        return f"{known} by name" if known else "object"
    kind = str(schema.get("type", "anything"))
    return {"integer": "whole number", "boolean": "true or false"}.get(kind, kind)
