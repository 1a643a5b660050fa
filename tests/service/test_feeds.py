"""The feed: what was missed comes first, changes come at most twice a second, and it ends when it should."""

import asyncio
import json

import pytest

from breakeven.errors.serving import TooMany
from breakeven.service.access import callers, new_token
from breakeven.service.calls import Call
from breakeven.service.handlers import log_handlers
from breakeven.store import open_store
from tests.service.samples import TYPES


class Listener:
    """The events of a feed, as they come."""

    def __init__(self, served, headers=None, stream="clinic"):
        headers = {name.encode(): text.encode() for name, text in (headers or {}).items()}
        caller = served.service.entrance.caller("GET", headers)
        call = Call(served.service, caller, {"stream": stream}, None, None, "", headers)
        self.served, self.feed = served, served.run(log_handlers.feed(call))
        self.begun = served.run(anext(self.feed.parts))

    def next(self, within=5.0):
        part = self.served.run(asyncio.wait_for(anext(self.feed.parts, None), within))
        return None if part is None else part.decode()

    def close(self):
        self.served.run(self.feed.parts.aclose())


@pytest.fixture
def listen(clinic):
    opened = []

    def listen(**more):
        opened.append(Listener(clinic, **more))
        return opened[-1]

    yield listen
    for one in opened:
        one.close()


def entry_of(event):
    id, kind, data = event.strip().split("\n")
    assert kind == "event: changed"
    assert json.loads(data.removeprefix("data: ")) == {"entry": int(id.removeprefix("id: "))}
    return int(id.removeprefix("id: "))


def test_it_says_where_the_log_stands_and_that_it_goes_on(clinic, listen):
    listener = listen()
    assert listener.begun == b"retry: 2000\n\n"
    assert entry_of(listener.next()) == 1
    clinic("POST", "arrivals", {"row": "flu"})
    assert entry_of(listener.next()) == 2


def test_whoever_comes_back_misses_nothing_and_hears_nothing_twice(clinic, listen):
    clinic("POST", "arrivals", {"row": "flu"})
    assert entry_of(listen(headers={"last-event-id": "1"}).next()) == 2
    quiet = listen(headers={"last-event-id": "2"})
    with pytest.raises(TimeoutError):
        quiet.next(within=0.05)


def test_many_changes_are_one_event(clinic, listen):
    listener = listen()
    listener.next()
    for _ in range(5):
        clinic("POST", "arrivals", {"row": "flu"})
    assert entry_of(listener.next()) == 6


def test_a_wrong_number_is_refused(clinic):
    problem = clinic("GET", "feed", headers={"last-event-id": "x"}, status=400)
    assert "Last-Event-ID: expected the number of an entry, got 'x'" in problem["detail"]


@pytest.mark.parametrize("last", ["9" * 5000, "9" * 19], ids=["long", "large"])
def test_a_number_that_no_entry_has_is_refused(clinic, last):
    problem = clinic("GET", "feed", headers={"last-event-id": last}, status=400)
    assert "Last-Event-ID: expected the number of an entry" in problem["detail"]


def test_it_ends_when_the_service_stops(clinic, listen):
    listener = listen()
    listener.next()
    clinic.service.feeds.end()
    assert listener.next() is None


def test_it_ends_with_the_stream(clinic, listen, monkeypatch):
    monkeypatch.setattr(log_handlers, "LOOKED_AFTER", 0.01)
    listener = listen()
    listener.next()
    clinic("DELETE", "/v1/streams/clinic?erase=true", status=204)
    assert listener.next() is None


def test_it_ends_when_the_token_is_revoked(serving, address, clock, monkeypatch):
    monkeypatch.setattr(log_handlers, "LOOKED_AFTER", 0.01)
    store = open_store(address, "create")
    word, kept = new_token("eve", ["administer"], None, clock.now())
    store.add_token(kept, by="root")
    with serving(store, token=word) as served:
        served("PUT", "", TYPES, status=201)
        listener = Listener(served, {"authorization": f"Bearer {word}"})
        listener.next()
        store.revoke_token(kept.id, clock.now(), by="root")
        clock.go_on(1.1)
        assert listener.next() is None


def test_only_so_many_are_open_and_one_that_ends_makes_room(listen, monkeypatch):
    monkeypatch.setattr(callers, "MOST_FEEDS_EACH", 2)
    first, _ = listen(), listen()
    with pytest.raises(TooMany, match="expected fewer than 2 open feeds, got 2"):
        listen()
    first.close()
    listen()


def test_a_feed_that_nobody_hears_ends(clinic):
    """Over the application: the browser hangs up, and nothing is left running."""

    async def hang_up():
        sent, gone = [], asyncio.Event()

        async def receive():
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            sent.append(message)
            if b"changed" in message.get("body", b""):
                gone.set()

        scope = {
            "type": "http", "method": "GET", "path": "/v1/streams/clinic/feed", "query_string": b"",
            "headers": [(b"host", b"localhost")], "scheme": "http", "root_path": "",
        }  # fmt: skip
        await asyncio.wait_for(clinic.app(scope, receive, send), 5)
        return sent

    sent = clinic.run(hang_up())
    assert dict(sent[0]["headers"])[b"content-type"] == b"text/event-stream"
    assert not clinic.service.feeds._open
