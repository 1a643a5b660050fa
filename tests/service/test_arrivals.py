"""Arrivals over HTTP: decided once, answered again, all or none, and on disk before the answer."""

import asyncio
import threading

import pytest

from breakeven import Learner
from breakeven.errors.serving import NotReady
from breakeven.folding import fold_stream
from breakeven.service import live_stream
from breakeven.store import StoreFailed
from breakeven.testing import MemoryStore
from tests.service.samples import ALL_WANTED, PATIENTS, TYPES


def test_an_arrival_is_decided_on_as_the_learner_would(clinic):
    learner = Learner.of(
        {name: TYPES[name] for name in ("belief", "rule", "label_cost")} | {"name": "clinic"}
    )
    for i in range(20):
        row = f"type {i % 3}"
        answer = clinic("POST", "arrivals", {"row": row, "id": f"p{i}"})
        wanted = learner.decide(row, id=f"p{i}")
        assert (answer["wants_label"], answer["why"], answer["entry"]) == (
            wanted.wants_label,
            wanted.why,
            i + 2,
        )


def test_what_was_answered_is_on_disk_and_folds_to_the_same_bits(clinic):
    for i in range(5):
        clinic("POST", "arrivals", {"row": "flu", "id": str(i)})
    clinic("POST", "requests/0/label", {"y": 38.0})
    live = clinic.live()
    assert clinic.store.last(live.number) == live.seq == live.written == 7
    assert fold_stream(clinic.store, live.stored).snapshot() == live.ready.learner.snapshot()


def test_the_same_again_counts_once_and_another_row_is_refused(clinic):
    first = clinic("POST", "arrivals", {"row": "flu", "id": "a"})
    again = clinic("POST", "arrivals", {"row": "flu", "id": "a"})
    assert again["repeated"]
    assert {**again, "entry": 2} == {**first, "repeated": True}
    problem = clinic("POST", "arrivals", {"row": "cold", "id": "a"}, status=409)
    assert problem["type"] == "urn:breakeven:DuplicateId"
    assert "arrived with another point" in problem["detail"]
    assert clinic.live().ready.learner.rounds == 1


def test_an_id_that_the_learner_forgot_is_answered_from_the_log(clinic):
    first = clinic("POST", "arrivals", {"row": "flu", "id": "a"})
    book = clinic.live().ready.learner.state.book
    clinic("POST", "requests/a/label", {"y": 38.0})
    book.keep = 1
    for i in range(3):
        clinic("POST", "arrivals", {"row": "flu", "id": f"b{i}"})
        clinic("POST", f"requests/b{i}/withdraw") if i < 2 else None
    assert book.find("a") is None
    again = clinic("POST", "arrivals", {"row": "flu", "id": "a"})
    assert {**first, "repeated": True} == again
    clinic("POST", "arrivals", {"row": "cold", "id": "a"}, status=409)
    many = clinic("POST", "arrivals", [{"row": "flu", "id": "a"}, {"row": "flu", "id": "z"}])
    assert many[0] == again
    assert not many[1].get("repeated")


def test_many_are_decided_as_one_by_one(clinic, serving):
    rows = [{"row": f"type {i % 4}", "id": f"p{i}"} for i in range(60)]
    many = clinic("POST", "arrivals", rows)
    clinic("PUT", "/v1/streams/other", TYPES, status=201)
    single = [clinic("POST", "arrivals", row, stream="other") for row in rows]
    assert many == single
    assert clinic("POST", "arrivals", rows) == [{**one, "entry": None, "repeated": True} for one in single]


def test_a_batch_is_one_row_and_each_of_its_arrivals_is_found_repeated_and_erased_alone(clinic):
    rows = [{"row": f"type {i % 7}", "id": f"b{i}"} for i in range(30)]
    first = clinic("POST", "arrivals", rows)
    live = clinic.live()
    with clinic.store._reading() as connection:
        assert connection.execute("SELECT seq, upto FROM entry WHERE upto IS NOT NULL").fetchall() == [
            (2, 31)
        ]
    assert fold_stream(clinic.store, live.stored).snapshot() == live.ready.learner.snapshot()
    learner = live.ready.learner
    learner.state.book.keep = 0
    for one in first:
        clinic("POST", f"requests/{one['id']}/withdraw") if one["wants_label"] else None
    clinic("POST", "arrivals", [{"row": "flu", "id": f"c{i}"} for i in range(4)])
    forgotten = [one for one in first if learner.state.book.find(one["id"]) is None]
    assert len(forgotten) > 20
    again = clinic("POST", "arrivals", [rows[one["entry"] - 2] for one in forgotten])
    assert again == [{**one, "repeated": True} for one in forgotten]
    clinic("POST", "erase", {"ids": ["b3"]})
    clinic("GET", "arrivals/b3", status=410)
    clinic("POST", "arrivals", rows[3:5], status=410)
    assert clinic("GET", "arrivals/b4")["decision"] == first[4]
    kinds = [one["kind"] for one in clinic("GET", "entries")["entries"][:32]]
    assert kinds.count("Erased") == 1
    assert kinds[4] == "Erased"


def test_a_batch_counts_whole_or_not_at_all(clinic):
    rows = [{"row": "flu", "id": "a"}, {"row": 1.5, "id": "b"}]
    problem = clinic("POST", "arrivals", rows, status=422)
    assert problem["detail"].startswith("X[1]")
    twice = clinic("POST", "arrivals", [{"row": "flu", "id": "a"}] * 2, status=409)
    assert "each id once" in twice["detail"]
    clinic("POST", "arrivals", [{"row": "flu"}, {"row": "flu", "id": "b"}], status=422)
    clinic("POST", "arrivals", [{"row": "flu", "force": True}], status=422)
    clinic("POST", "arrivals", [{"row": "flu"}] * 1001, status=413)
    assert clinic.live().ready.learner.rounds == 0
    assert clinic("POST", "arrivals", []) == []


def test_rows_are_read_by_their_columns(served):
    served("PUT", "", PATIENTS, status=201)
    answer = served("POST", "arrivals", {"row": {"age": 61, "sex": "m", "exam": 12.5}, "id": "a"})
    assert answer["cost"] == 12.5
    assert served("GET", "requests")["requests"][0]["row"] == {"age": 61.0, "sex": "m"}
    for row, words in (
        ({"age": 610, "sex": "m", "exam": 1}, "age: expected a number from 0 to 120 years, got 610"),
        ({"sex": "m", "exam": 1}, "row: expected a value for 'age'"),
        ({"age": 61, "sex": "m", "exam": -1}, "exam: expected"),
        ([61.0], "row: expected values by the names of columns"),
    ):
        assert words in served("POST", "arrivals", {"row": row}, status=422)["detail"]
    prediction = served("POST", "predictions", {"rows": [{"age": 61, "sex": "f"}]})
    assert len(prediction["predictions"][0]["interval"]) == 2
    assert "points" not in served("POST", "requests/a/label", {"y": "12.5"})
    assert served("POST", "requests/a/correct", {"y": 13})["y"] == 13.0


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"{", 400),
        (b'{"rows": 1}', 400),
        (b'{"row": NaN}', 400),
        (b'{"row": null}', 400),
        (b'{"row": "a", "id": 3}', 400),
        (b"\xff\xfe", 400),
        (b'{"row": "a", "id": ""}', 422),
        (b'{"row": "a", "id": "b\\u0000"}', 422),  # which no database holds
        (b'[{"row": "a", "id": "a"}, {"row": "a", "id": "b\\u0000"}]', 422),
        (b'{"row": "a", "cost": -1}', 422),
        (b'{"row": {"a": 1}}', 422),
        (b'{"row": "a", "id": "' + b"x" * 2000 + b'"}', 422),
        (b" " * (9 << 20), 413),
    ],
)
def test_what_cannot_be_right_is_refused_in_one_sentence(clinic, content, status):
    headers = {"content-type": "application/json"}
    answer = clinic("POST", "arrivals", status=status, content=content, headers=headers)
    assert answer["status"] == status
    assert "\n" not in answer["detail"]
    assert clinic.live().ready.learner.rounds == 0


def test_a_body_of_another_kind_and_an_unknown_stream(clinic):
    clinic("POST", "arrivals", status=415, content=b"a,b", headers={"content-type": "text/csv"})
    clinic("POST", "arrivals", {"row": "a"}, stream="other", status=404)
    clinic("GET", "/nowhere", status=404)
    clinic("DELETE", "/v1/streams", status=405)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "labels?preveiw=true", [{"id": "a", "y": 38.0}]),
        ("POST", "history?preview=true", [{"row": "flu", "y": 38.0}]),
        ("POST", "arrivals?dry=1", {"row": "flu", "id": "b"}),
        ("DELETE", "/v1/streams/clinic?eraze=true", None),
        ("GET", "entries?limt=1", None),
        ("GET", "requests?sort=age", None),
        ("GET", "/v1/trail?from=1", None),
    ],
)
def test_a_query_that_is_not_known_is_refused_and_changes_nothing(clinic, method, path, body):
    clinic("POST", "arrivals", {"row": "flu", "id": "a"})
    before = clinic.live().seq
    assert clinic(method, path, body, status=400)["detail"].startswith("query: ")
    assert (clinic.live().seq, clinic.live().state) == (before, "ready")
    assert clinic("GET", "/healthz?t=1") == {"status": "alive"}


def test_an_arrival_is_found_with_all_that_came_of_it(clinic):
    clinic("POST", "arrivals", {"row": "flu", "id": "a"})
    clinic("POST", "requests/a/label", {"y": 38.0})
    clinic("POST", "requests/a/correct", {"y": 39.0})
    found = clinic("GET", "arrivals/a")
    assert (found["row"], found["standing"]) == ("flu", "told")
    assert [(one["kind"], one["y"], one["by"]) for one in found["came"]] == [
        ("Told", 38.0, "local"),
        ("Corrected", 39.0, "local"),
    ]
    clinic("GET", "arrivals/b", status=404)


def test_open_requests_are_limited(served):
    served("PUT", "", ALL_WANTED | {"open_requests": 2}, status=201)
    for id in "ab":
        served("POST", "arrivals", {"row": "flu", "id": id})
    problem = served("POST", "arrivals", {"row": "flu", "id": "c"}, status=429)
    assert "label or withdraw some" in problem["detail"]
    served("POST", "arrivals", {"row": "flu", "id": "a"})  # a repeat needs no room


def test_a_batch_does_not_pass_the_limit_of_open_requests(served):
    served("PUT", "", ALL_WANTED | {"open_requests": 3}, status=201)
    batch = [{"row": "flu", "id": id} for id in "abcd"]
    problem = served("POST", "arrivals", batch, status=429)
    assert (
        "expected at most 3 arrivals at once, as 0 requests are open and at most 3 may be, got 4"
        in (problem["detail"])
    )
    served("POST", "arrivals", [{"row": "flu"} for _ in batch], status=429)
    served("POST", "arrivals", batch[:2])
    served("POST", "arrivals", batch[:3])  # of which one is new
    assert served("GET", "requests")["open"] == 3


# -- what goes wrong ---------------------------------------------------------------------------------


def test_a_write_that_fails_is_answered_503_and_the_stream_is_read_anew(serving):
    store = MemoryStore()
    with serving(store) as served:
        served("PUT", "", TYPES, status=201)
        served("POST", "arrivals", {"row": "flu", "id": "a"})
        store.failure = StoreFailed("disk: full")
        problem = served("POST", "arrivals", {"row": "flu", "id": "b"}, status=503)
        assert "this call could not be written" in problem["detail"]
        served("GET", "summary", status=503)
        store.failure = None
        served.run(served.live().settled())
        assert served.live().state == "ready"
        assert served.live().ready.learner.rounds == 1
        assert served("POST", "arrivals", {"row": "flu", "id": "b"})["entry"] == 3


@pytest.mark.parametrize(
    "body", [{"row": "flu", "id": "b"}, [{"row": "flu", "id": f"b{i}"} for i in range(60)]]
)
def test_nothing_is_kept_of_what_cannot_be_put_into_the_log(clinic, body, monkeypatch):
    class Broken:
        def encode(self, event):
            raise TypeError("no bytes for this")

    with monkeypatch.context() as patch:
        patch.setattr(live_stream, "EVENT_WRITER", Broken())
        clinic("POST", "arrivals", body, status=500)
    clinic.run(clinic.live().settled())
    assert clinic("POST", "arrivals", {"row": "flu", "id": "c"})["entry"] == 2
    assert [one.id for one in clinic.store.entries(clinic.live().number)] == [None, "c"]


def test_work_that_outlives_a_failed_write_is_not_kept(serving, monkeypatch):
    store, may_fail, may_end = MemoryStore(), threading.Event(), threading.Event()
    with serving(store) as served:
        served("PUT", "", TYPES, status=201)
        live = served.live()
        live._pace |= {"slowly": 1.0, "look": 1.0}
        before = live.ready

        def failing(entries):
            may_fail.wait(10)
            raise StoreFailed("disk: full")

        def slowly(now):
            may_end.wait(10)
            return now.learner.decide("flu", id="b")

        async def all_at_once():
            append = store.append
            monkeypatch.setattr(store, "append", failing)
            first = asyncio.ensure_future(live.change("me", "decide", lambda now: now.learner.decide("flu")))
            second = asyncio.ensure_future(live.change("me", "slowly", slowly))
            while not live._turn.locked():
                await asyncio.sleep(0.001)
            await asyncio.sleep(0.01)  # it is in its thread
            may_fail.set()
            with pytest.raises(NotReady, match="this call could not be written"):
                await first
            monkeypatch.setattr(store, "append", append)
            await live.settled()
            assert live.ready is not before
            may_end.set()
            with pytest.raises(NotReady, match="something before it could not be written; try again"):
                await second

        served.run(all_at_once())
        assert served("POST", "arrivals", {"row": "flu", "id": "b"})["entry"] == 2
        assert fold_stream(store, live.stored).snapshot() == live.ready.learner.snapshot()


def test_a_stream_that_is_read_twice_at_once_goes_on_with_the_first(clinic):
    live = clinic.live()

    async def twice():
        live._folded = None
        await asyncio.gather(live.read(), live.read())
        first = live.ready
        await live.change("me", "decide", lambda now: now.learner.decide("flu", id="a"))
        await live.read()  # as one that began earlier
        assert live.ready is first

    clinic.run(twice())
    assert clinic("POST", "arrivals", {"row": "flu", "id": "b"})["entry"] == 3


def test_many_at_once_go_to_a_thread_before_anybody_knows_how_long_they_take(clinic):
    live, threads = clinic.live(), []
    live._pace.clear()
    for count in (2, 51):
        clinic.run(live.look("odd", lambda now: threads.append(threading.current_thread()), count))
        live._pace.clear()
    assert [one is threading.main_thread() for one in threads] == [True, False]


def test_a_repeat_waits_for_the_entry_of_the_first(clinic):
    async def both():
        call = {"json": {"row": "flu", "id": "a"}}
        path = "/v1/streams/clinic/arrivals"
        return await asyncio.gather(*(clinic.client.post(path, **call) for _ in range(10)))

    answers = [one.json() for one in clinic.run(both())]
    assert [one.get("repeated", False) for one in answers].count(False) == 1
    assert clinic.live().ready.learner.rounds == 1
    assert clinic.store.last(clinic.live().number) == 2


def test_work_that_takes_long_goes_to_a_thread_and_others_wait_their_turn(clinic):
    live = clinic.live()
    live._pace["decide"] = 1.0  # a second each

    async def many():
        path = "/v1/streams/clinic/arrivals"
        calls = [clinic.client.post(path, json={"row": "flu", "id": str(i)}) for i in range(20)]
        return await asyncio.gather(*calls, clinic.client.get("/v1/streams/clinic/requests"))

    answers = clinic.run(many())
    assert {one.status_code for one in answers} == {200}
    assert [one.json()["entry"] for one in answers[:-1]] == list(range(2, 22))
    assert fold_stream(clinic.store, live.stored).snapshot() == live.ready.learner.snapshot()
