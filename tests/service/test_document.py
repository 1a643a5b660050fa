"""Schemathesis makes calls of the OpenAPI document, right and wrong; answers are what the document says."""

import asyncio

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from breakeven.service.app import make_app
from breakeven.service.openapi import document
from breakeven.service.service import Service
from breakeven.testing import MemoryStore
from tests.service.samples import ALL_WANTED, PATIENTS

HERE = "http://127.0.0.1"
STREAMS = {"clinic": ALL_WANTED, "patients": PATIENTS}
KNOWN = {"stream": st.sampled_from([*STREAMS, "other"]), "id": st.sampled_from(["a", "b", "c", "nobody"])}
CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance,
]  # fmt: skip
MODES = {"right": GenerationMode.POSITIVE, "wrong": GenerationMode.NEGATIVE}
OPERATIONS = [
    (path, method, mode)
    for path, methods in document()["paths"].items()
    for method, said in methods.items()
    for mode in MODES
    if not path.endswith("/feed")  # whose answer has no end
    and (mode == "right" or "parameters" in said or "requestBody" in said)  # else nothing can be wrong
]


@pytest.fixture(scope="module")
def schema():
    return schemathesis.openapi.from_dict(document())


class Answering:
    """A service with two streams, one of which has requests, for many calls."""

    def __init__(self):
        self._loop = asyncio.new_event_loop()
        self._service = Service(MemoryStore(), beside=[])
        transport = httpx.ASGITransport(make_app(self._service), raise_app_exceptions=True)
        self._client = httpx.AsyncClient(transport=transport, base_url=HERE)
        self._run(self._service.start())

    def _run(self, work):
        return self._loop.run_until_complete(work)

    def _ask(self, method, path, **more):
        return self._run(self._client.request(method, path, **more))

    def prepare(self):
        """As many calls remove or close streams, make those again that are not there."""
        for name, config in STREAMS.items():
            if self._ask("PUT", f"/v1/streams/{name}", json=config).status_code == 201 and name == "clinic":
                for id in "abc":
                    self._ask("POST", "/v1/streams/clinic/arrivals", json={"row": "flu", "id": id})
                self._ask("POST", "/v1/streams/clinic/requests/a/label", json={"y": 1.0})

    def __call__(self, case):
        """The answer to a case of schemathesis, which speaks requests."""
        sent = requests.Request(**case.as_transport_kwargs(base_url=HERE)).prepare()
        return self._ask(sent.method, sent.url, headers=dict(sent.headers), content=sent.body)

    def stop(self):
        self._run(self._client.aclose())
        self._run(self._service.stop())
        self._run(self._loop.shutdown_default_executor())
        self._loop.close()


def walk(schema, path, method, mode, examples):
    operation, answering = schema[path][method.upper()], Answering()

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=MODES[mode]), st.data())
    def each(case, data):
        for name in case.path_parameters or {}:
            if mode == "right" or data.draw(st.booleans()):
                case.path_parameters[name] = data.draw(KNOWN[name])
        answering.prepare()
        case.validate_response(answering(case), checks=CHECKS)

    try:
        each()
    finally:
        answering.stop()


@pytest.mark.parametrize(("path", "method", "mode"), OPERATIONS)
def test_every_answer_is_one_that_the_document_tells_of(schema, path, method, mode):
    walk(schema, path, method, mode, examples=4)


@pytest.mark.slow
@pytest.mark.parametrize(("path", "method", "mode"), OPERATIONS)
def test_every_answer_is_one_that_the_document_tells_of_however_many(schema, path, method, mode):
    walk(schema, path, method, mode, examples=300)
