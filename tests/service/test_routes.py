"""The table of routes: what it says is what is answered, and the document made of it holds together."""

import json
import re

import pytest

from breakeven.errors.statuses import ENDINGS
from breakeven.service.openapi import document, operation_id
from breakeven.service.routes import SERVICE_ROUTES
from breakeven.wire.problems import Problem, error_of, problem_of
from tests.service.samples import ALL_WANTED, TYPES

IDS = [f"{one.method} {one.path}" for one in SERVICE_ROUTES]


def test_each_route_is_there_once():
    assert len(set(IDS)) == len(IDS)
    names = [operation_id(one) for one in SERVICE_ROUTES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("route", SERVICE_ROUTES, ids=IDS)
def test_a_route_says_all_about_itself(route):
    assert route.summary.endswith(".")
    assert (route.answer is not None) or route.success == 204 or route.gives != ("application/json",)
    assert {one for one in route.statuses if one >= 400} <= {one.status for one in ENDINGS.values()}
    if route.stream_scoped and route.success != 201:
        assert 404 in route.statuses
    if route.body is not None:
        assert 415 in route.statuses


@pytest.mark.parametrize("route", SERVICE_ROUTES, ids=IDS)
def test_a_route_answers_with_a_status_that_it_names(clinic, route):
    """An unknown stream, and a body that is of no type at all."""
    path = route.path.format(stream="nobody", id="a") if "{" in route.path else route.path
    for content in (b"", b"{", b'{"nonsense": 1}', b"[]", b"null", b"3"):
        call = clinic.client.request(
            route.method, path, content=content, headers={"content-type": "application/json"}
        )
        answer = clinic.run(call)
        named = {*route.statuses, route.success, 400, 401, 403, 503}
        assert answer.status_code in named, (content, answer.text)
        if answer.status_code >= 400 and "json" in answer.headers["content-type"]:
            problem = answer.json()
            assert problem["status"] == answer.status_code
            assert problem["detail"]


def test_the_document_refers_to_what_is_there():
    found = document()
    schemas = found["components"]["schemas"]
    references = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(found)))
    assert references <= schemas.keys()
    assert {one.path for one in SERVICE_ROUTES} == found["paths"].keys()
    assert found["openapi"] == "3.1.0"


@pytest.mark.parametrize("kind", ENDINGS, ids=lambda one: one.__name__)
def test_an_error_comes_back_in_its_own_class(kind):
    problem = problem_of(kind("something"))
    assert type(error_of(problem)) is kind
    assert str(error_of(problem)) == "something"


def test_an_unknown_problem_is_an_error_of_ours():
    assert str(error_of(Problem("urn:other", "", 500, "what"))) == "what"


def test_an_id_may_hold_a_slash(served):
    served("PUT", "", ALL_WANTED, status=201)
    for id, path in (("a/b", "a%2Fb"), ("a%2Fb", "a%252Fb"), ("x/y/label", "x%2fy%2Flabel"), ("/", "%2F")):
        served("POST", "arrivals", {"row": "flu", "id": id})
        assert served("GET", f"arrivals/{path}")["decision"]["id"] == id
        assert served("POST", f"requests/{path}/label", {"y": 1.0})["id"] == id
    served("GET", "arrivals/a/b", status=404)
    served("DELETE", "arrivals/a%2Fb", status=405)
    served("GET", "/v1/streams/a%2Fb/summary", status=404)
    assert "without /" in served("PUT", "/v1/streams/a%2Fb", TYPES, status=422)["detail"]


def test_a_path_without_this_method_says_which_it_has(served):
    served("PUT", "", TYPES, status=201)
    refused = served.run(served.client.request("PUT", "/v1/streams/clinic/arrivals"))
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
    assert served.run(served.client.request("HEAD", "/v1/streams/clinic/summary")).status_code == 200
    for path in (
        "/v1/streams/clinic/",
        "/v1/streams//summary",
        "/v1//streams",
        "/v1/streams/clinic/requests//label",
    ):
        assert "expected one of those in /openapi.json" in served("GET", path, status=404)["detail"]
