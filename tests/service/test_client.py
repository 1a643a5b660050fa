"""The client, waiting and awaited: its verbs, answers that get lost, and what it refuses to try again."""

import asyncio
import random
from collections import Counter

import httpx
import numpy as np
import pytest

import breakeven.errors as refusals
from breakeven.client import AsyncClient, Client, Patience, new_id, verbs
from breakeven.client.connection import Attempts
from breakeven.errors import serving as service_refusals
from breakeven.errors.storing import UnknownStream
from breakeven.learner import Learner
from breakeven.service.access import new_token
from breakeven.store import StoredPerson
from breakeven.wire.stream_setup import StreamChange
from tests.service.samples import ALL_WANTED, PATIENTS, TYPES

URL = "http://127.0.0.1:8765"
FAULTS = ("refused", "lost", "timeout", 429, 503)


class FlakyTransport(httpx.AsyncBaseTransport):
    """The application itself, on a bad line: calls do not arrive, or their answers do not come back."""

    def __init__(self, app, draw=None, share=0.0):
        self._app, self._draw, self._share = httpx.ASGITransport(app), draw, share
        self.sent, self.faults = [], Counter()

    async def handle_async_request(self, request):
        self.sent.append(request)
        fault = self._draw.choice(FAULTS) if self._draw and self._draw.random() < self._share else None
        self.faults[fault] += fault is not None
        if fault == "refused":
            raise httpx.ConnectError("connection refused")
        if isinstance(fault, int):
            return httpx.Response(fault, headers={"retry-after": "0"}, text="busy")
        answer = await self._app.handle_async_request(request)
        content = await answer.aread()
        if fault == "lost":
            raise httpx.RemoteProtocolError("the server hung up")
        if fault == "timeout":
            raise httpx.ReadTimeout("no answer in time")
        return httpx.Response(answer.status_code, headers=answer.headers, content=content)


class InLoop(httpx.BaseTransport):
    """The same for a client that waits."""

    def __init__(self, served, transport):
        self._served, self._transport = served, transport

    def handle_request(self, request):
        return self._served.run(self._transport.handle_async_request(request))


class Waited:
    """A client or stream that is awaited, used as one that waits."""

    def __init__(self, served, inner):
        self._served, self._inner = served, inner

    def __getattr__(self, name):
        return lambda *given, **named: self._waited(getattr(self._inner, name)(*given, **named))

    def _waited(self, found):
        if hasattr(found, "__aiter__"):
            return iter(self._served.run(self._collected(found)))
        if hasattr(found, "__await__"):
            return self._served.run(found)
        return Waited(self._served, found)

    async def _collected(self, found):
        return [one async for one in found]


@pytest.fixture(params=["waiting", "awaited"])
def made(request):
    """Makes a client of either kind; both are used the same way."""

    def make(served, transport, token=None, **more):
        if request.param == "waiting":
            return Client(URL, token, transport=InLoop(served, transport), sleep=lambda _: None, **more)

        async def at_once(_):
            await asyncio.sleep(0)

        return Waited(served, AsyncClient(URL, token, transport=transport, sleep=at_once, **more))

    return make


@pytest.fixture
def client(made, served):
    return made(served, FlakyTransport(served.app))


# -- the verbs -----------------------------------------------------------------------------------------


def test_a_stream_is_used_as_a_learner_is(client):
    assert client.create("clinic", TYPES).state == "ready"
    clinic = client.stream("clinic")
    decision = clinic.decide("flu")
    assert decision.wants_label
    assert len(decision.id) == 32
    told = clinic.tell(decision.id, 38.9)
    assert (told.y, told.cost, told.seen.reason) == (38.9, 2.0, decision.reason)
    assert clinic.tell(decision.id, 38.9).repeated
    assert clinic.correct(decision.id, 39.1).y == 39.1
    assert clinic.predict("flu").mean == pytest.approx(39.1)
    assert [one.mean for one in clinic.predict_many(["flu", "cold"]).predictions] == [39.1, 0.0]
    assert clinic.reopen(decision.id).standing == "awaited"
    assert clinic.withdraw(decision.id, charged=True).standing == "withdrawn"
    assert clinic.arrival(decision.id).standing == "withdrawn"
    assert clinic.learn("cold", 36.8).learnt == 1
    assert clinic.learn_many([("cold", 36.9), ("cold", 37.0)]).learnt == 2
    summary = clinic.summary()
    assert (summary.spend, summary.ledger["rounds"], summary.labels_known) == (2.0, 1, 3)
    assert [one.name for one in client.streams()] == ["clinic"]
    ready = client.ready()
    assert (ready.ready, ready.read, ready.streams, ready.progress) == (True, 1, 1, {"clinic": 1.0})
    assert clinic.change(StreamChange(label_cost=5.0)).config.label_cost == 5.0
    assert clinic.setup().config.label_cost == 5.0
    assert Learner.restore(clinic.snapshot()).label_cost == 5.0
    kinds = [one.kind for one in clinic.entries()]
    assert kinds[:6] == ["Created", "Arrived", "Told", "Corrected", "Reopened", "Withdrawn"]
    assert [one.kind for one in clinic.entries(kind="Learnt")] == ["Learnt"] * 3
    assert clinic.erase([decision.id]).entries > 0
    client.close_stream("clinic")
    (closed,) = client.trail()
    assert (closed.verb, closed.about, closed.by) == ("close stream", "clinic", "local")
    assert list(client.trail(after=closed.number)) == []
    with pytest.raises(service_refusals.StreamClosed, match="got one that was closed"):
        clinic.decide("flu")


def test_an_id_with_a_slash_goes_through(client):
    client.create("clinic", ALL_WANTED)
    clinic = client.stream("clinic")
    for id in ("ward 3/bed 7", "50%2F50", "?/#"):
        assert clinic.decide("flu", id=id).id == id
        assert clinic.tell(id, 38.0).id == id
        assert clinic.arrival(id).standing == "told"


def test_a_desk_is_worked_from_anywhere(client):
    client.create("clinic", ALL_WANTED)
    clinic = client.stream("clinic")
    ids = [one.id for one in clinic.decide_many(["a", "b", "c"], ids=["1", "2", "3"], costs=[1.0, 5.0, 2.0])]
    assert {one.id for one in clinic.requests()} == set(ids)
    first = clinic.next(lease=60.0).request
    assert [one.id for one in clinic.requests(lease="mine")] == [first.id]
    assert {one.id for one in clinic.requests(lease="free")} == {*ids} - {first.id}
    assert clinic.lease(first.id, seconds=90.0).lease.by == "local"
    assert clinic.release(first.id).standing == "awaited"
    assert clinic.skip(first.id).entry is not None
    assert clinic.next().request.id != first.id
    results = clinic.tell_many([("1", 3.0), ("9", 1.0)])
    assert [one.result for one in results.results] == ["told", "refused"]


def test_iterators_go_through_all_pages(client):
    client.create("clinic", ALL_WANTED)
    clinic = client.stream("clinic")
    for _ in range(3):
        assert len(clinic.decide_many([f"t{i}" for i in range(700)])) == 700
    assert len({one.id for one in clinic.requests(order="age")}) == 2100
    assert [one.seq for one in clinic.entries(after=1)] == list(range(2, 2102))


def test_a_long_trail_comes_in_pages(client, served, clock, monkeypatch):
    monkeypatch.setattr(verbs, "CHANGES_AT_ONCE", 3)
    for number in range(7):
        served.store.keep_person(StoredPerson(f"p{number}", "watch"), clock.now(), by="root")
    assert [one.about for one in client.trail()] == [f"p{number}" for number in range(7)]


def test_rows_may_hold_numbers_of_numpy(client):
    client.create("patients", PATIENTS)
    row = {"age": np.int64(40), "sex": "f", "exam": np.float64(3.0)}
    assert client.stream("patients").decide(row).cost == 3.0
    with pytest.raises(refusals.InvalidInput, match=r"row\['age'\]: expected a finite number .* got inf"):
        client.stream("patients").decide(row | {"age": float("inf")})
    with pytest.raises(refusals.InvalidInput, match=r"y: expected a finite number .* got nan"):
        client.stream("patients").tell("a", float("nan"))
    with pytest.raises(refusals.InvalidInput, match=r"value: expected plain data: .* got <object"):
        client.stream("patients").decide(row | {"age": object()})


# -- what is refused -----------------------------------------------------------------------------------


def test_refusals_are_the_librarys_own_errors_and_are_not_tried_again(made, clinic, clock):
    line = FlakyTransport(clinic.app)
    client = made(clinic, line)
    stream = client.stream("clinic")
    stream.decide("flu", id="a")
    stream.tell("a", 1.0)
    line.sent.clear()
    with pytest.raises(refusals.ConflictingLabel, match="local told it") as caught:
        stream.tell("a", 2.0)
    assert (caught.value.told_by, caught.value.told) == ("local", 1.0)
    with pytest.raises(refusals.DuplicateId, match="arrived with another"):
        stream.decide("cold", id="a")
    with pytest.raises(refusals.UnknownId, match="'nobody'"):
        stream.arrival("nobody")
    with pytest.raises(UnknownStream, match="got 'elsewhere'"):
        client.stream("elsewhere").summary()
    with pytest.raises(refusals.InvalidInput, match="expected 2, one for each row, got 1 of them"):
        stream.decide_many(["a", "b"], ids=["1"])
    assert len(line.sent) == 4
    word, kept = new_token("eve", ["watch"], None, clock.now())
    clinic.store.add_token(kept, by="root")
    clinic.service.tokens.forget()
    with pytest.raises(service_refusals.NotIdentified, match="expected a good one"):
        stream.summary()
    with pytest.raises(service_refusals.NotAllowed, match="with the role send, got 'eve'"):
        made(clinic, line, word).stream("clinic").decide("flu")


def test_what_is_no_answer_of_a_service_is_said():
    def page(request):
        return httpx.Response(200, text="<h1>welcome</h1>")

    with pytest.raises(service_refusals.ServiceError, match="expected an answer of breakeven"):
        Client(URL, transport=httpx.MockTransport(page)).stream("clinic").summary()
    for url in ("127.0.0.1:8765", "ftp://x", None):
        with pytest.raises(refusals.InvalidInput, match="url: expected an address that begins with http"):
            Client(url)
    with pytest.raises(refusals.InvalidInput, match=r"token: expected be_…, .* got something else") as caught:
        Client(URL, "be_a\nsecret")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("status", [301, 500, 502, 504])
def test_other_statuses_of_whatever_lies_between(status):
    tries = []

    def answer(request):
        tries.append(request)
        return httpx.Response(status, text="a proxy", headers={"location": "http://evil.example"})

    client = Client(
        URL, "be_a_b", transport=httpx.MockTransport(answer), patience=Patience(tries=3), sleep=lambda _: None
    )
    kind = service_refusals.Unreachable if status in (502, 504) else service_refusals.ServiceError
    with pytest.raises(kind, match=rf"got {status} \(a proxy\)"):
        client.streams()
    assert len(tries) == (3 if status in (502, 504) else 1)
    assert all(one.url.host == "127.0.0.1" for one in tries)


def test_a_token_is_shown_nowhere():
    client = Client(URL, "be_a_secret")
    assert "secret" not in repr(client) + repr(client.stream("x"))
    with pytest.raises(service_refusals.Unreachable, match=r"127\.0\.0\.1:9") as caught:
        Client("http://127.0.0.1:9", "be_a_secret", patience=Patience(tries=1)).streams()
    assert "secret" not in str(caught.value)


# -- a bad line ----------------------------------------------------------------------------------------


def a_day(clinic):
    """What a sender and a labeller do, with ids of their own so that two days can be compared."""
    for i in range(12):
        clinic.decide("flu", id=f"a{i}", cost=1.0 + i)
    clinic.decide_many(["cold", "flu", "mumps"], ids=["b0", "b1", "b2"])
    for i in range(8):
        clinic.tell(f"a{i}", 38.0 + i / 10)
    clinic.correct("a0", 37.0)
    clinic.reopen("a1")
    clinic.withdraw("a2", charged=True)
    clinic.withdraw("b0")
    clinic.tell_many([("b1", 38.5), ("b2", 37.9)])
    clinic.learn("flu", 38.2, id="h0")
    clinic.change(StreamChange(label_cost=3.0))
    clinic.tell("a1", 38.8)


def days(served, name):
    """What is in the log of a stream."""
    found = served.store.entries(served.live(name).number)
    return [(one.seq, one.by, one.kind, one.id, one.body.replace(name.encode(), b"")) for one in found]


@pytest.mark.parametrize("seed", range(4))
def test_answers_that_get_lost_change_nothing(made, served, seed):
    draw = random.Random(seed)
    good, bad = FlakyTransport(served.app), FlakyTransport(served.app, draw, 0.5)
    for name, line in (("good", good), ("baad", bad)):
        client = made(served, line, patience=Patience(tries=40))
        client.create(name, ALL_WANTED)
        a_day(client.stream(name))
    assert bad.faults["lost"] + bad.faults["timeout"] > 0
    assert days(served, "good") == days(served, "baad")


def test_a_try_that_was_not_answered_is_sent_again_as_it_was(made, clinic):
    line = FlakyTransport(clinic.app, random.Random(3), 0.7)
    made(clinic, line, patience=Patience(tries=100)).stream("clinic").decide("flu")
    assert len(line.sent) > 1
    assert len({one.content for one in line.sent}) == 1
    assert len(list(clinic.store.entries(clinic.live().number))) == 2


def test_patience_ends(made, clinic):
    line = FlakyTransport(clinic.app, random.Random(0), 1.0)
    with pytest.raises(service_refusals.ServiceError, match="got no answer"):
        made(clinic, line, patience=Patience(tries=4)).stream("clinic").decide("flu")
    assert len(line.sent) == 4


def test_pauses_grow_are_drawn_and_honour_what_the_service_says():
    time = [0.0]
    attempts = Attempts(Patience(tries=9, seconds=100.0), draw=lambda: 1.0, steady=lambda: time[0])
    gone = service_refusals.Unreachable("gone")
    assert [attempts.pause(gone) for _ in range(8)] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]
    with pytest.raises(service_refusals.Unreachable, match="gone"):
        attempts.pause(gone)
    later = service_refusals.TooMany("later")
    later.retry_after = 7.0
    assert Attempts(Patience(), draw=lambda: 0.5).pause(later) == 7.05
    later.retry_after = 61.0
    with pytest.raises(service_refusals.TooMany, match="later"):
        Attempts(Patience()).pause(later)
    with pytest.raises(refusals.ConflictingLabel, match="no"):
        Attempts(Patience()).pause(refusals.ConflictingLabel("no"))


def test_ids_are_ordered_by_time(monkeypatch):
    monkeypatch.setattr("time.time_ns", iter(range(10**18, 10**18 + 10**9, 10**7)).__next__)
    ids = [new_id() for _ in range(50)]
    assert ids == sorted(ids)
    assert {len(one) for one in ids} == {32}


# -- the feed ------------------------------------------------------------------------------------------


class Parts(httpx.AsyncByteStream, httpx.SyncByteStream):
    """Bytes that come in parts, and then a connection that breaks."""

    def __init__(self, parts):
        self._parts = parts

    def __iter__(self):
        yield from self._parts
        raise httpx.ReadError("broken")

    async def __aiter__(self):
        for one in self._parts:
            yield one
        raise httpx.ReadError("broken")


@pytest.mark.parametrize("kind", ["waiting", "awaited"])
def test_a_feed_goes_on_where_it_was_broken(kind):
    asked = []

    def answer(request):
        asked.append(request.headers.get("last-event-id"))
        if len(asked) > 3:
            gone = {"type": "urn:breakeven:UnknownStream", "title": "", "status": 404, "detail": "it is gone"}
            return httpx.Response(404, json=gone, headers={"content-type": "application/problem+json"})
        number = int(asked[-1] or 4) + 1
        parts = [b"retry: 2000\n\n", b"id: %d\nevent: cha" % number, b"nged\ndata: {}\n\n: nothing new\n\n"]
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Parts(parts))

    transport, heard = httpx.MockTransport(answer), []

    def wait():
        for one in Client(URL, transport=transport, sleep=lambda _: None).stream("clinic").feed():
            heard.append(one)  # noqa: PERF402  (it ends with an error)

    async def at_once(_):
        await asyncio.sleep(0)

    async def awaited():
        async for one in AsyncClient(URL, transport=transport, sleep=at_once).stream("clinic").feed():
            heard.append(one)  # noqa: PERF401

    with pytest.raises(UnknownStream, match="it is gone"):
        wait() if kind == "waiting" else asyncio.run(awaited())
    assert heard == [5, 6, 7]
    assert asked == [None, "5", "6", "7"]
