"""Erasing answers once it is on disk: the stream is read anew afterwards, which tests here hold up."""

import asyncio
import threading
from contextlib import closing

import msgspec
import pytest

from breakeven.folding import fold_stream
from breakeven.service.live_stream import ERASING_PATIENCE, LiveStream
from breakeven.service.setting_up import create
from breakeven.store import open_store
from breakeven.wire.stream_setup import StreamConfig
from tests.servers import postgresql
from tests.service.samples import ALL_WANTED
from tests.service.test_stalled_store import ask
from tests.service.test_streams import ABOUT_AN_ID
from tests.service.under_load import server

HELD_UP_FOR = 20.0  # seconds, after which a test that waits for a fold fails
# In a server of its own: whatever is read after the first stream is never read to its end.
NEVER_READ_ANEW = """
import time
from breakeven.service.live_stream import LiveStream

fold, folds = LiveStream.fold, []

def first_alone(live, *given):
    folds.append(live)
    if len(folds) > 1:
        time.sleep(3600.0)
    return fold(live, *given)

LiveStream.fold = first_alone
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/clinic.db"
        return
    with postgresql() as database:
        yield database.address


@pytest.fixture
def held_up(monkeypatch):
    """Folds wait for `going_on`; `begun` is set once one waits."""
    fold, begun, going_on = LiveStream.fold, threading.Event(), threading.Event()

    def wait(live, *given):
        begun.set()
        assert going_on.wait(HELD_UP_FOR)
        return fold(live, *given)

    def hold():
        monkeypatch.setattr(LiveStream, "fold", wait)
        return begun, going_on

    yield hold
    going_on.set()


def with_labels(served):
    """A stream in which Anna's labels, and no other's, are of their own type and far off."""
    served("PUT", "", ALL_WANTED, status=201)
    served("PUT", "", ALL_WANTED, stream="other", status=201)
    served("POST", "arrivals", [{"row": f"type {i % 3}", "id": f"a{i}"} for i in range(30)])
    served("POST", "arrivals", {"row": "type 1", "id": "Anna"})
    served("POST", "labels", [{"id": f"a{i}", "y": i % 3} for i in range(20)])
    served("POST", "requests/Anna/label", {"y": 1000.0})
    return served.live()


def check_left(served, live):
    """Memory, the log from its first entry on, and the snapshot that is kept lead to the same, to the bit."""
    served.run(live.settled())
    whole = fold_stream(served.store, live.stored, use_snapshot=False)
    assert live.ready.learner.snapshot() == whole.snapshot()
    assert served.store.snapshot(live.number).body == whole.snapshot()
    assert live.ready.seq == live.seq == served.store.last(live.number)


def test_erasing_does_not_wait_for_the_fold(serving, clock, held_up):
    with serving() as served:
        live = with_labels(served)
        predict = {"rows": ["type 1"]}
        before = served("POST", "predictions", predict)["predictions"][0]["mean"]
        begun, going_on = held_up()
        assert served("POST", "erase", {"ids": ["Anna"]}) == {"entries": 2}
        assert not going_on.is_set()
        assert live.state == "reading"
        clock.go_on(ERASING_PATIENCE)
        for method, path, body in ABOUT_AN_ID.values():
            assert served(method, path, body, status=410)["type"] == "urn:breakeven:ErasedId"
        for method, path, body in (
            ("POST", "predictions", predict),
            ("POST", "arrivals", {"row": "type 1", "id": "new"}),
            ("GET", "summary", None),
            ("GET", "snapshot", None),
        ):
            url = f"/v1/streams/clinic/{path}"
            answer = served.run(served.client.request(method, url, json=body))
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1"), path
        served("GET", "/healthz")
        served("POST", "arrivals", {"row": "type 1", "id": "Anna"}, stream="other")
        assert served.run(asyncio.to_thread(begun.wait, HELD_UP_FOR))
        going_on.set()
        check_left(served, live)
        after = served("POST", "predictions", predict)["predictions"][0]["mean"]
        assert before > 50.0
        assert after < 2.0


def test_more_is_erased_while_the_stream_is_read_anew(serving, clock, held_up):
    with serving() as served:
        live = with_labels(served)
        begun, going_on = held_up()
        served("POST", "erase", {"ids": ["Anna"]})
        assert served.run(asyncio.to_thread(begun.wait, HELD_UP_FOR))
        clock.go_on(ERASING_PATIENCE)
        assert served("POST", "erase", {"ids": ["a3", "a29"]}) == {"entries": 3}
        assert served("POST", "erase", {"ids": ["Anna", "a3"]}) == {"entries": 0}  # as after a lost answer
        served("POST", "erase", {"ids": ["a4", "nobody"]}, status=404)
        for id in ("Anna", "a3", "a29"):
            served("GET", f"arrivals/{id}", status=410)
        going_on.set()
        check_left(served, live)
        assert live.ready.learner.belief.labels == 19
        assert served("GET", "arrivals/a4")["decision"]["entry"] == 6


def test_what_cannot_be_erased_leaves_the_learner_in_use(serving, held_up):
    with serving() as served:
        live = with_labels(served)
        learner = live.ready.learner
        begun, _ = held_up()
        served("POST", "erase", {"ids": ["a1", "nobody"]}, status=404)
        served("POST", "erase", {"ids": []}, status=422)
        assert live.ready.learner is learner
        assert not begun.is_set()
        served("GET", "arrivals/a1")


def test_files_are_written_anew_once_the_stream_is_read(serving, held_up):
    with serving() as served:
        live = with_labels(served)
        _, going_on = held_up()
        served("POST", "erase", {"ids": ["Anna"]})

        async def others_go_on():
            finished = asyncio.ensure_future(served.service.compaction.finish())
            answers = [await served.client.get("/v1/streams/other/summary") for _ in range(20)]
            assert not finished.done()
            going_on.set()
            await finished
            return answers

        assert {one.status_code for one in served.run(others_go_on())} == {200}
        assert not served.store.uncompacted
        check_left(served, live)


def test_an_erasure_outlives_a_kill_right_after_its_answer(serving, address):
    with closing(open_store(address, "create")) as store:
        create(store, "clinic", msgspec.convert(ALL_WANTED, StreamConfig), by="test")
    path, people = "/v1/streams/clinic", [f"a{i}" for i in range(40)]
    with server(address, more=NEVER_READ_ANEW) as where:
        arrivals = [{"row": "flu", "id": id} for id in people]
        assert ask(where, f"{path}/arrivals", arrivals)[0] == 200
        assert ask(where, f"{path}/requests/a7/label", {"y": 38.0})[0] == 200
        assert ask(where, f"{path}/erase", {"ids": ["a7"]}) == (200, {"entries": 2})
    with serving() as served:  # it was killed
        live = served.live()
        served("GET", "arrivals/a7", status=410)
        served("POST", "arrivals", {"row": "flu", "id": "a7"}, status=410)
        served.run(live.settled())
        left = {one.id for one in served.store.entries(live.number) if one.kind == "Arrived"}
        assert left == {*people} - {"a7"}
        whole = fold_stream(served.store, live.stored, use_snapshot=False)
        assert live.ready.learner.snapshot() == whole.snapshot()
        assert live.ready.learner.rounds == 40


def test_whoever_was_erased_is_refused_before_the_stream_is_read(serving, held_up):
    with serving() as served:
        with_labels(served)
        served("POST", "erase", {"ids": ["Anna"]})
        served.run(served.live().settled())
    begun, going_on = held_up()
    threading.Timer(0.5, going_on.set).start()
    with serving() as served:
        assert begun.is_set()
        served("GET", "arrivals/Anna", status=410)
