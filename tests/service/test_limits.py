"""Proxies that log people in, how often somebody may call, and bodies that do not end."""

import asyncio
import socket as sockets

import pytest

from breakeven.errors import InvalidInput
from breakeven.service import app as application
from breakeven.service.access import CallRates, ProxyLogIn, new_token
from breakeven.service.access.entrance import People
from breakeven.service.admission import Admission
from breakeven.service.app import make_app
from breakeven.service.connections import WholeAnswers
from breakeven.service.pages.page_routes import page_routes
from breakeven.service.server import ServeSettings, check_bind, proxy_log_in, socket
from breakeven.store import StoredPerson
from tests.service.samples import ALL_WANTED, TYPES

HEADER = "x-forwarded-user"


@pytest.fixture
def behind(serving, address, clock):
    """A service behind a proxy at 127.0.0.1, where the test's client is; ann labels, root administers."""
    proxy = ProxyLogIn.of("X-Forwarded-User", ["127.0.0.1"])
    with serving(proxy=proxy) as served:
        served.store.keep_person(StoredPerson("ann", "label watch", "clinic"), 0.0, by="root")
        served.store.keep_person(StoredPerson("root", "administer"), 0.0, by="root")
        served("PUT", "", TYPES, status=201, headers=as_person("root"))
        yield served


def as_person(name, **more):
    return {HEADER: name, "sec-fetch-site": "same-origin"} | more


def test_a_person_is_who_the_proxy_says(behind):
    assert behind("GET", "summary", headers=as_person("ann"))["name"] == "clinic"
    problem = behind("POST", "arrivals", {"row": "flu"}, headers=as_person("ann"), status=403)
    assert "expected one with the role send, got 'ann'" in problem["detail"]
    assert "got 'eve'" in behind("GET", "summary", headers=as_person("eve"), status=401)["detail"]
    behind("POST", "arrivals", {"row": "flu", "id": "a"}, headers=as_person("root"))
    assert behind("GET", "arrivals/a", headers=as_person("ann"))["sender"] == "root"


def test_nobody_is_trusted_without_a_name(behind):
    problem = behind("GET", "summary", status=401)
    assert "x-forwarded-user: expected who you are in this header, or a token" in problem["detail"]
    for name in (b"", b"\xff\xfe", b"ann\x00", b"Ann", b" "):
        behind("GET", "summary", status=401, headers={HEADER: name})


def test_a_person_who_is_removed_is_refused_within_a_second(behind, clock):
    behind("GET", "summary", headers=as_person("ann"))
    behind.store.drop_person("ann", 0.0, by="root")
    clock.go_on(1.0)
    behind("GET", "summary", headers=as_person("ann"), status=401)


def test_pages_of_others_cannot_use_a_log_in(behind):
    for site in ({}, {"sec-fetch-site": "cross-site"}, {"origin": "http://evil.example"}):
        behind("POST", "arrivals", {"row": "flu"}, headers={HEADER: "root"} | site, status=403)


@pytest.mark.parametrize("header", [HEADER, "X-Forwarded-USER"])
def test_only_the_proxy_is_believed(serving, header):
    with serving(proxy=ProxyLogIn.of("X-Forwarded-User", ["10.0.0.5"])) as served:
        served.store.keep_person(StoredPerson("root", "administer"), 0.0, by="root")
        problem = served("GET", "/v1/streams", headers={header: "root"}, status=403)
        assert "expected this header from a trusted proxy alone, got it from 127.0.0.1" in problem["detail"]
        served("GET", "/healthz", headers={header: "root"}, status=403)
        spoofed = {header: "root", "x-forwarded-for": "10.0.0.5", "forwarded": "for=10.0.0.5"}
        served("GET", "/v1/streams", headers=spoofed, status=403)


def test_two_names_are_none(behind):
    call = behind.client.get("/v1/streams", headers=[(HEADER, "ann"), (HEADER, "root")])
    answer = behind.run(call)
    assert (answer.status_code, answer.json()["detail"]) == (
        403,
        "x-forwarded-user: expected this header once, got it 2 times",
    )


def test_without_a_proxy_the_header_says_nothing(clinic):
    clinic.store.keep_person(StoredPerson("ann", "watch"), 0.0, by="root")
    clinic("POST", "arrivals", {"row": "flu", "id": "a"}, headers={HEADER: "ann"})
    assert clinic("GET", "arrivals/a")["sender"] == "local"


@pytest.mark.parametrize(
    ("header", "peers", "words"),
    [
        ("", ["10.0.0.5"], "--person-header: expected the name of a header"),
        ("Authorization", ["10.0.0.5"], "--person-header: expected the name of a header"),
        ("X User", ["10.0.0.5"], "--person-header: expected the name of a header"),
        ("X-User", [], "--trusted-proxy: expected the address of the proxy"),
        ("X-User", ["proxy"], "--trusted-proxy: expected an address such as 10.0.0.5, got 'proxy'"),
    ],
    ids=["none", "token", "space", "nobody", "name"],
)
def test_half_a_proxy_is_refused(header, peers, words):
    with pytest.raises(InvalidInput, match=words):
        ProxyLogIn.of(header, peers)


def test_a_service_behind_a_proxy_may_listen_everywhere(served):
    with pytest.raises(InvalidInput, match=r"host: expected 127\.0\.0\.1, this machine alone"):
        check_bind(served.store, "0.0.0.0")
    settings = ServeSettings(person_header="X-User", trusted_proxy=["10.0.0.5"])
    check_bind(served.store, "0.0.0.0", proxy_log_in(settings))
    assert proxy_log_in(ServeSettings()) is None


def test_people_forgets(served, clock):
    people = People(served.store, clock)
    served.store.keep_person(StoredPerson("ann", "watch"), 0.0, by="root")
    assert people.caller(b"ann").roles == {"watch"}
    served.store.keep_person(StoredPerson("ann", "send", "clinic"), 0.0, by="root")
    people.forget()
    assert (people.caller(b"ann").roles, people.caller(b"ann").streams) == ({"send"}, {"clinic"})


# -- how often, and how slowly ---------------------------------------------------------------------------


def test_a_caller_who_calls_too_often_is_told_when_to_come_back(serving, clock):
    with serving(calls_a_second=5.0) as served:
        served("PUT", "", TYPES, status=201)
        for _ in range(4):
            served("GET", "summary")
        call = served.client.get("/v1/streams/clinic/summary")
        answer = served.run(call)
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
        assert "at most 5 a second of 'local', got more; wait 0.2 s" in answer.json()["detail"]
        served("GET", "/healthz")
        clock.go_on(0.2)
        served("GET", "summary")
        served("GET", "summary", status=429)


def test_pages_and_log_ins_are_calls_too(serving, clock):
    with serving(calls_a_second=2.0) as served:
        served.client._transport.app = make_app(served.service, page_routes(served.service))
        served("PUT", "", TYPES, status=201)
        served("GET", "/streams/clinic/board")
        assert "at most 2 a second of" in served("GET", "/streams/clinic/board", status=429).text
        clock.go_on(10.0)
        word, kept = new_token("ann", ["watch"], None, clock.now())
        served.store.add_token(kept, by="root")
        served.service.tokens.forget()
        for _ in range(2):
            served("POST", "/log-in", data={"token": "be_wrong_one"}, status=401)
        served("POST", "/log-in", data={"token": word}, status=429)
        clock.go_on(0.5)
        served("POST", "/log-in", data={"token": word}, status=303)


def test_nobody_logs_in_more_often_by_saying_that_they_come_from_elsewhere(serving, clock):
    with serving(calls_a_second=2.0) as served:
        served.client._transport.app = make_app(served.service, page_routes(served.service))
        served.store.add_token(new_token("ann", ["watch"], None, clock.now())[1], by="root")
        served.service.tokens.forget()
        for number, status in enumerate((401, 401, 429)):
            said = {"x-forwarded-for": f"203.0.113.{number}"}
            served("POST", "/log-in", data={"token": "be_wrong_one"}, headers=said, status=status)


def test_each_caller_has_a_rate_of_their_own(clock):
    rates = CallRates(0.5, clock.steady)
    rates.check("ann")
    rates.check("ben")
    for _ in range(3):
        with pytest.raises(application.BreakevenError, match="of 'ann', got more; wait 2 s"):
            rates.check("ann")


def test_a_body_that_does_not_end_is_given_up(monkeypatch):
    monkeypatch.setattr(application, "BODY_SECONDS", 0.01)
    parts = [{"type": "http.request", "body": b"[", "more_body": True}]
    admission, waiting = Admission(), []

    async def receive():
        waiting.append(admission.waiting)  # for a body: that is no work
        if parts:
            return parts.pop()
        await asyncio.sleep(60)

    with pytest.raises(application.Malformed, match=r"expected all of it within 0\.01 seconds, got a part"):
        asyncio.run(application.read_all(receive, 1000, {}, admission))
    assert (waiting, admission.waiting) == ([1, 1], 0)


@pytest.mark.parametrize("first", [[], [{"type": "http.request", "body": b"id,y\na,12", "more_body": True}]])
def test_half_a_body_changes_nothing_and_nobody_is_answered(served, first):
    served("PUT", "", ALL_WANTED, status=201)
    served("POST", "arrivals", {"row": "flu", "id": "a"})
    messages, sent = [*first, {"type": "http.disconnect"}], []

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/streams/clinic/labels",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-type", b"text/csv")],
    }
    served.run(served.app(scope, receive, send))
    assert sent == []
    assert served("GET", "requests")["open"] == 1


def test_a_body_of_which_nothing_comes_is_given_up(monkeypatch):
    monkeypatch.setattr(application, "BODY_SECONDS", 0.01)

    async def receive():
        await asyncio.sleep(60)

    with pytest.raises(application.Malformed, match=r"expected all of it within 0\.01 seconds"):
        asyncio.run(application.read_all(receive, 1000, {}, Admission()))


def test_an_answer_in_two_parts_is_sent_at_once():
    with (
        socket("127.0.0.1", 0) as listening,
        sockets.create_connection(listening.getsockname()),
        listening.accept()[0] as connection,
    ):
        assert connection.getsockopt(sockets.IPPROTO_TCP, sockets.TCP_NODELAY)


class Wire:
    """A connection that keeps what it was given to send."""

    def __init__(self):
        self.sent = []

    def write(self, data):
        self.sent.append(bytes(data))

    def close(self):
        self.sent.append("closed")


def test_the_head_of_an_answer_waits_for_its_body_but_for_no_other_turn():
    async def work():
        wire = Wire()
        connection = WholeAnswers(wire)
        connection.write(b"HTTP/1.1 200 OK\r\n\r\n")
        connection.write(b"body")
        connection.write(b"more")
        assert wire.sent == [b"HTTP/1.1 200 OK\r\n\r\nbody", b"more"]
        connection.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        assert len(wire.sent) == 2
        await asyncio.sleep(0)
        assert wire.sent[2:] == [b"HTTP/1.1 204 No Content\r\n\r\n"]
        connection.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        connection.close()
        await asyncio.sleep(0)
        assert wire.sent[3:] == [b"HTTP/1.1 400 Bad Request\r\n\r\n", "closed"]

    asyncio.run(work())
