"""What a server says when something goes wrong: to callers, to those who administer, and in its log."""

import json
import logging

import httpx
import msgspec
import pytest

from breakeven.errors.storing import StoreFailed
from breakeven.folding import Damage
from breakeven.service.access import ProxyLogIn, new_token
from breakeven.service.app import make_app
from breakeven.service.handlers import stream_handlers
from breakeven.service.live_stream import AGAIN_WHEN_DAMAGED, LiveStream
from breakeven.service.pages.page_routes import page_routes
from breakeven.service.server import CallLog
from breakeven.service.setting_up import create
from breakeven.store import StoredPerson, open_store
from breakeven.wire.stream_setup import StreamConfig
from tests.service.samples import TYPES

SECRET = "secret of the disk"


@pytest.fixture
def people(serving, address, clock):
    """Begins a service with a stream, pages, and a token for who administers and who watches."""
    store, words = open_store(address, "create"), {}
    create(store, "clinic", msgspec.convert(TYPES, StreamConfig), by="me")
    for name, roles in {"boss": ["administer"], "eve": ["watch"]}.items():
        words[name], kept = new_token(name, roles, None, clock.now())
        store.add_token(kept, by="root")

    def begin(**settings):
        return serving(store, **settings)

    begin.words = words
    return begin


def bearer(people, name):
    return {"authorization": f"Bearer {people.words[name]}"}


def asked(served, people, name, path="/v1/streams/clinic/summary"):
    return served.run(served.client.get(path, headers=bearer(people, name)))


# -- a stream that cannot be read ------------------------------------------------------------------------


@pytest.mark.parametrize("failure", [Damage(SECRET), ZeroDivisionError(SECRET)], ids=["damage", "bug"])
def test_a_damaged_stream_says_why_to_who_administers_and_is_not_tried_for_ever(
    people, clock, monkeypatch, caplog, failure
):
    folds, fold = [], LiveStream.fold

    def fail(live, *_):
        folds.append(live.name)
        raise failure

    monkeypatch.setattr(LiveStream, "fold", fail)
    with people() as served:
        assert (
            f"stream 'clinic' cannot be read{f': {SECRET}' if type(failure) is Damage else ''}" in caplog.text
        )
        for _ in range(3):
            boss, eve = asked(served, people, "boss"), asked(served, people, "eve")
            for answer in (boss, eve):
                assert (answer.status_code, answer.headers.get("retry-after")) == (500, None)
                assert answer.json()["type"] == "urn:breakeven:StreamDamaged"
                assert "an administrator must act" in answer.json()["detail"]
                assert "second" not in answer.json()["detail"]
            assert SECRET in boss.text
            assert SECRET not in eve.text
            served.run(served.live().settled())
        assert len(folds) == 1
        assert SECRET in asked(served, people, "boss", "/readyz").json()["failed"]["clinic"]
        assert "failed" not in asked(served, people, "eve", "/readyz").json()
        clock.go_on(AGAIN_WHEN_DAMAGED)
        monkeypatch.setattr(LiveStream, "fold", fold)
        asked(served, people, "eve")
        served.run(served.live().settled())
        assert asked(served, people, "eve").status_code == 200


def test_a_page_of_a_damaged_stream_says_why_to_who_administers(people, monkeypatch):
    monkeypatch.setattr(LiveStream, "fold", lambda live, *given: (_ for _ in ()).throw(Damage(SECRET)))
    with people() as served:
        served.client._transport.app = make_app(served.service, page_routes(served.service))
        boss, eve = (asked(served, people, name, "/streams/clinic/board") for name in ("boss", "eve"))
        assert (boss.status_code, eve.status_code) == (500, 500)
        assert (SECRET in boss.text, SECRET in eve.text) == (True, False)
        assert asked(served, people, "eve", "/").status_code == 200


def test_a_store_that_does_not_answer_is_tried_again(people, monkeypatch):
    folds, fold = [], LiveStream.fold

    def fail(live, *_):
        folds.append(live.name)
        raise StoreFailed(SECRET)

    monkeypatch.setattr(LiveStream, "fold", fail)
    with people() as served:
        boss, eve = asked(served, people, "boss"), asked(served, people, "eve")
        assert (boss.status_code, boss.headers["retry-after"]) == (503, "1")
        assert "tell an administrator if it lasts" in eve.json()["detail"]
        assert (SECRET in boss.text, SECRET in eve.text) == (True, False)
        served.run(served.live().settled())
        assert len(folds) > 1
        monkeypatch.setattr(LiveStream, "fold", fold)
        asked(served, people, "eve")
        served.run(served.live().settled())
        assert asked(served, people, "eve").status_code == 200


def test_a_stream_that_is_ready_has_been_read_whole(people):
    with people() as served:
        live = served.live()

        async def read_twice():
            live.drop(OSError("gone"))
            await live.read()
            await live.read()  # as a call that came meanwhile had begun to

        served.run(read_twice())
        served.run(live.settled())
        assert asked(served, people, "eve", "/readyz").json()["progress"] == {"clinic": 1.0}
        assert 'breakeven_read_ratio{stream="clinic"} 1.0' in asked(served, people, "eve", "/metrics").text


# -- what goes wrong in the server -------------------------------------------------------------------------


def test_every_500_is_in_the_log_with_its_caller_under_the_id_that_was_answered(people, monkeypatch, caplog):
    def fail(*_):
        raise ZeroDivisionError(SECRET)

    monkeypatch.setattr(stream_handlers, "overview_of", fail)
    monkeypatch.setattr(stream_handlers, "line_of", fail)
    with people() as served:
        served.client._transport.app = make_app(served.service, page_routes(served.service))
        for path, route in (("/v1/streams/clinic/summary", "/v1/streams/{stream}/summary"), ("/", "/")):
            caplog.clear()
            answer = asked(served, people, "eve", path)
            assert (answer.status_code, SECRET in answer.text) == (500, False)
            (line,) = [one for one in caplog.records if one.levelno == logging.ERROR]
            assert line.getMessage().startswith(f"GET {route} by 'eve', request ")
            assert line.exc_info
            id = line.getMessage().split("request ")[1].split(":")[0]
            assert f"its log says what, under {id}" in answer.text


# -- who was not let in, and who called ----------------------------------------------------------------------


def test_log_ins_that_fail_are_in_the_log_without_their_secret(people, caplog):
    with people() as served:
        served.client._transport.app = make_app(served.service, page_routes(served.service))
        id = people.words["eve"].split("_")[1]
        wrong = f"be_{id}_{'0' * 64}"
        served("GET", "summary", headers={"authorization": f"Bearer {wrong}"}, status=401)
        served("GET", "/", headers={"authorization": f"Bearer {wrong}"}, status=303)
        served("POST", "/log-in", data={"token": wrong}, status=401)
        told = [one for one in caplog.messages if one.startswith("refused")]
        assert len(told) == 3
        assert all(one.startswith(f"refused, from 127.0.0.1, token {id}: token: expected") for one in told)
        assert "0" * 64 not in caplog.text
        served("POST", "/log-in", data={"token": f"be_{'5' * 64}"}, status=401)  # somebody forgot the id
        assert "5" * 12 not in caplog.text
        assert len(caplog.messages) == 4
        served("GET", "summary", status=401)  # with empty hands
        assert len(caplog.messages) == 4


def test_the_address_is_the_one_that_a_trusted_proxy_forwards(people, caplog):
    wrong = {"authorization": "Bearer be_x_y", "x-forwarded-for": "10.9.9.9, 203.0.113.7"}
    with people(proxy=ProxyLogIn.of("X-User", ["127.0.0.1"])) as served:
        served.store.keep_person(StoredPerson("ann", "watch"), 0.0, by="root")
        served("GET", "summary", headers=wrong, status=401)
        served("GET", "summary", headers={"x-user": "mallory", "x-forwarded-for": "203.0.113.8"}, status=401)
    assert [one.partition(": ")[0] for one in caplog.messages] == [
        "refused, from 203.0.113.7",
        "refused, from 203.0.113.8",
    ]


def test_an_address_that_nobody_vouches_for_is_only_said(people, caplog):
    with people() as served:
        said = {"authorization": "Bearer be_x_y", "x-forwarded-for": "1.2.3.4\tX" + "y" * 500}
        served("GET", "summary", headers=said, status=401)
    assert caplog.messages[0].startswith("refused, from 127.0.0.1 (which says for 'yyyyy")
    assert len(caplog.messages[0]) < 400


def test_who_says_that_they_are_the_proxy_is_in_the_log(people, caplog):
    with people(proxy=ProxyLogIn.of("X-User", ["10.0.0.5"])) as served:
        served("GET", "summary", headers={"x-user": "boss"}, status=403)
    assert "refused, from 127.0.0.1: x-user: expected this header from a trusted proxy alone" in caplog.text


def test_calls_of_pages_name_their_caller_and_where_they_come_from(people):
    lines = []
    with people() as served:
        pages = make_app(served.service, page_routes(served.service))
        served.client._transport = httpx.ASGITransport(CallLog(pages, lines.append, served.service))
        for path in ("/", "/streams/clinic/board", "/v1/streams"):
            served("GET", path, headers=bearer(people, "eve"))
        served("GET", "/tokens", headers=bearer(people, "eve"), status=403)
        served("GET", "/log-in")
    told = [json.loads(one) for one in lines]
    assert [one["by"] for one in told] == ["eve", "eve", "eve", "eve", None]
    assert {one["address"] for one in told} == {"127.0.0.1"}
