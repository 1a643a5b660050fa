"""Calls made at random from the document of the service, right and wrong: none is answered with a 5xx."""

import asyncio
import json
import re

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from breakeven.service.app import make_app
from breakeven.service.openapi import document
from breakeven.service.service import Service
from breakeven.testing.memory_store import MemoryStore
from breakeven.wire.problems import Problem, error_of
from tests.service.samples import ALL_WANTED, PATIENTS

DOCUMENT = json.loads(json.dumps(document()))
SCHEMAS = DOCUMENT["components"]["schemas"]
OPERATIONS = [
    (path, method.upper(), operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
    if not path.endswith("/feed")
]
NAMES = [f"{method} {path}" for path, method, _ in OPERATIONS]
CALLS_EACH = 12  # of one operation, against one service
KNOWN = {"stream": ["clinic", "patients"], "id": ["a", "b", "c"]}

texts = st.one_of(st.sampled_from(["a", "b", "flu", "Threshold", "TypeMeans", "number"]), st.text(max_size=8))
numbers = st.one_of(
    st.integers(-3, 3),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([1e308]),
)
anything = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda some: st.lists(some, max_size=3) | st.dictionaries(texts, some, max_size=3),
    max_leaves=6,
)


def of_schema(schema, depth=0):
    """Values that a schema allows, as far as it says so."""
    if "$ref" in schema:
        return of_schema(SCHEMAS[schema["$ref"].rpartition("/")[2]], depth + 1)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema:
        return st.one_of([of_schema(one, depth) for one in schema["anyOf"]])
    kind = schema.get("type")
    if kind == "object":
        return of_object(schema, depth)
    if kind == "array":
        inner = schema.get("items") or {}
        if "prefixItems" in schema:
            return st.tuples(*(of_schema(one, depth) for one in schema["prefixItems"])).map(list)
        return st.lists(of_schema(inner, depth + 1), max_size=0 if depth > 6 else 3)
    return {
        "string": texts, "number": numbers, "integer": st.integers(-2, 10**6), "boolean": st.booleans(),
        "null": st.none(),
    }.get(kind, anything)  # fmt: skip


def of_object(schema, depth):
    fields = schema.get("properties")
    if fields is None:
        return st.dictionaries(
            texts, of_schema(schema.get("additionalProperties") or {}, depth + 1), max_size=3
        )
    needed = set(schema.get("required", ()))
    return st.fixed_dictionaries(
        {name: of_schema(one, depth + 1) for name, one in fields.items() if name in needed},
        optional={name: of_schema(one, depth + 1) for name, one in fields.items() if name not in needed},
    )


bodies_of_no_type = st.one_of(anything.map(lambda one: json.dumps(one).encode()), st.binary(max_size=40))
odd_headers = st.dictionaries(
    st.sampled_from(["accept", "content-type", "authorization", "cookie", "last-event-id", "content-length"]),
    st.one_of(
        st.sampled_from(
            ["application/json", "text/csv", "application/x-ndjson", "*/*", "Bearer be_a_b", "0"]
        ),
        st.binary(max_size=12).map(lambda one: re.sub(rb"[\r\n\0]", b"", one).strip()),
    ),
    max_size=2,
)


@st.composite
def calls(draw, path, method, operation):
    """A call of one operation: mostly right, or with a wrong body, query, header or path."""
    for name in re.findall(r"\{(\w+)\}", path):
        known = draw(st.sampled_from(KNOWN[name]) | st.text(min_size=1, max_size=6))
        path = path.replace(f"{{{name}}}", httpx.QueryParams({"": known}).__str__()[1:] or "x")
    query = {}
    for one in operation.get("parameters", ()):
        if one["in"] == "query" and draw(st.booleans()):
            query[one["name"]] = str(draw(of_schema(one["schema"]) | texts))
    headers, content = {"content-type": "application/json"}, None
    if "requestBody" in operation:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        right = of_schema(schema).map(lambda one: json.dumps(one).encode())
        content = draw(right | right | bodies_of_no_type)
    if draw(st.integers(0, 3)) == 0:
        headers |= draw(odd_headers)
    return method, path, query, headers, content


async def answered(sequence):
    """The answers of a service with two streams to some calls, one after the other."""
    service = Service(MemoryStore(), beside=[])
    transport = httpx.ASGITransport(make_app(service), raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        await service.start()
        try:
            for name, config in (("clinic", ALL_WANTED), ("patients", PATIENTS)):
                assert (await client.put(f"/v1/streams/{name}", json=config)).status_code == 201
            for id in "abc":
                await client.post("/v1/streams/clinic/arrivals", json={"row": "flu", "id": id})
            await client.post("/v1/streams/clinic/requests/a/label", json={"y": 1.0})
            found = []
            for method, path, query, headers, content in sequence:
                answer = await client.request(method, path, params=query, headers=headers, content=content)
                found.append((answer.status_code, answer.headers.get("content-type", ""), answer.content))
            return found
        finally:
            await service.stop()


def check(path, method, operation, sequence):
    for (status, media, content), call in zip(asyncio.run(answered(sequence)), sequence, strict=True):
        assert status < 500, (call, content)
        assert str(status) in operation["responses"] or status in (404, 405), (call, status, content)
        if status >= 400:
            assert media == "application/problem+json", (call, media)
            problem = Problem(**json.loads(content))
            assert problem.detail == str(error_of(problem))


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS, ids=NAMES)
def test_no_call_breaks_the_service(path, method, operation):
    @settings(max_examples=3, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(calls(path, method, operation), min_size=CALLS_EACH, max_size=CALLS_EACH))
    def walk(sequence):
        check(path, method, operation, sequence)

    walk()


@pytest.mark.slow
@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS, ids=NAMES)
def test_no_call_breaks_the_service_however_many(path, method, operation):
    @settings(max_examples=100, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(calls(path, method, operation), min_size=CALLS_EACH, max_size=CALLS_EACH))
    def walk(sequence):
        check(path, method, operation, sequence)

    walk()
