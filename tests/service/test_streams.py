"""Streams: made, changed, closed, removed; from a bill's folder; labels in bulk; the log; erasing."""

import asyncio
import base64
import csv
import io
import json

import msgspec
import pytest

from breakeven import Always, Learner, Threshold, TypeMeans
from breakeven.errors import InvalidInput
from breakeven.folding import entry_of
from breakeven.rows import Column, Columns, save_bill
from breakeven.rows.bills import SUMMARY_FILE
from breakeven.service.live_stream import LiveStream
from breakeven.service.server import (
    ServeSettings,
    StoppingServer,
    add_bills,
    check_bind,
    read_settings,
    serve,
)
from breakeven.service.setting_up import create, create_from_bill
from breakeven.store import LogEntry, StoreFailed, open_store
from breakeven.store.port import mark_of
from breakeven.testing.memory_store import MemoryStore
from breakeven.values import Erased
from breakeven.wire import to_msgpack
from breakeven.wire.stream_setup import StreamConfig
from tests.service.samples import ALL_WANTED, PATIENTS, TYPES


def test_a_stream_is_made_once_and_the_same_again_is_harmless(served):
    made = served("PUT", "", TYPES, status=201)
    assert made["config"] == TYPES
    served("PUT", "", TYPES)
    problem = served("PUT", "", TYPES | {"label_cost": 3.0}, status=409)
    assert "change it with PATCH" in problem["detail"]
    assert [one["name"] for one in served("GET", "/v1/streams")["streams"]] == ["clinic"]


@pytest.mark.parametrize(
    ("config", "status", "words"),
    [
        ({}, 400, "missing required field"),
        (TYPES | {"colour": "red"}, 400, "unknown field"),
        (TYPES | {"label_cost": -1}, 422, "label_cost: expected"),
        (TYPES | {"belief": {"kind": "Means"}}, 422, "belief: kind: expected a known name"),
        (TYPES | {"rule": {"kind": "Threshold", "scales": 1}}, 422, "perhaps 'scale'"),
        (TYPES | {"deadline": 0}, 422, "deadline: expected"),
        (TYPES | {"keep": 10}, 422, "keep: expected at least 10,000"),
        (PATIENTS | {"belief": PATIENTS["belief"] | {"dim": 7}}, 422, "expected a row of 7"),
    ],
    ids=["empty", "unknown", "cost", "belief", "rule", "deadline", "keep", "columns"],
)
def test_a_configuration_that_cannot_be_right_is_refused(served, config, status, words):
    assert words in served("PUT", "", config, status=status)["detail"]
    assert served.store.streams() == []


@pytest.mark.parametrize("name", ["a%2Fb", "%20", "x" * 101, ".."])
def test_a_name_must_fit_into_a_path(served, name):
    answer = served.run(served.client.put(f"/v1/streams/{name}", json=TYPES))
    assert answer.status_code in (404, 405, 422)
    assert served.store.streams() == []


def test_a_change_is_kept_over_a_restart(serving):
    with serving() as served:
        served("PUT", "", TYPES, status=201)
        served("POST", "arrivals", {"row": "flu", "id": "a"})
        changed = served("PATCH", "", {"label_cost": 7.0, "deadline": 60, "desk": {"lease": 30}})
        assert changed["config"]["label_cost"] == 7.0
        served("PATCH", "", {"rule": {"kind": "Nix"}}, status=422)
        served("PATCH", "", {"label_cost": 7.0})  # nothing new, and no entry
        assert served.live().seq == 4
        served("PATCH", "", {"deadline": None})
        served("PATCH", "", {"labellers": {"mri": {"cost": 5, "noise_std": 0.1}}})
    with serving() as served:
        config = served("GET", "")["config"]
        assert "deadline" not in config
        assert "label_cost" not in config
        assert config["labellers"] == {"mri": {"cost": 5.0, "noise_std": 0.1}}
        assert served("POST", "arrivals", {"row": "flu", "id": "b"})["labeller"] == "mri"
        served("PUT", "", TYPES)  # as it was made


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (b"", "got one that was made without"),
        (b'{"colour": "red"}', "expected a configuration that this ver"),
    ],
    ids=["none", "newer"],
)
def test_a_stream_that_cannot_be_read_leaves_the_others(serving, address, config, words):
    store = open_store(address, "create")
    learner = Learner(TypeMeans(noise_std=1.0), Threshold(), label_cost=5.0, name="surgery")
    store.create_stream(
        "surgery", config, 1.0, lambda number: [entry_of(learner.created, number, 1, by="me")]
    )
    create(store, "clinic", msgspec.convert(TYPES, StreamConfig), by="me")
    with serving(store) as served:
        assert served("POST", "arrivals", {"row": "flu", "id": "a"})["entry"] == 2
        served("GET", "summary", stream="surgery", status=500)
        served.run(served.live("surgery").settled())
        assert served.live("surgery").state == "failed"
        assert words in str(served.live("surgery").failure)


def test_whatever_stops_the_reading_of_a_stream_stops_no_other(serving, address, monkeypatch):
    store = open_store(address, "create")
    for name in ("clinic", "second"):
        create(store, name, msgspec.convert(TYPES, StreamConfig), by="me")
    fold = LiveStream.fold

    def broken(live, *given):
        if live.name == "clinic":
            raise ZeroDivisionError("a bug")
        return fold(live, *given)

    monkeypatch.setattr(LiveStream, "fold", broken)
    with serving(store) as served:
        assert {one.name: one.state for one in served.service.streams.values()} == {
            "clinic": "failed",
            "second": "ready",
        }


def test_a_closed_stream_is_readable_and_takes_no_more(clinic):
    clinic("POST", "arrivals", {"row": "flu", "id": "a"})
    clinic("DELETE", "", status=204)
    assert clinic("GET", "summary")["ledger"]["rounds"] == 1
    clinic("POST", "arrivals", {"row": "flu", "id": "b"}, status=410)
    clinic("POST", "requests/a/label", {"y": 1}, status=410)
    assert clinic("GET", "/v1/streams")["streams"][0]["state"] == "closed"


def test_a_removed_stream_leaves_no_byte(clinic, tmp_path):
    clinic("POST", "arrivals", {"row": "a-rare-illness", "id": "Anna-Karenina"})
    clinic("DELETE", "", params={"erase": "true"}, status=204)
    clinic("GET", "summary", status=404)
    clinic.compacted()
    for file in tmp_path.iterdir():
        assert b"Karenina" not in file.read_bytes()
        assert b"rare-illness" not in file.read_bytes()
    removed = clinic("GET", "/v1/trail")["changes"][-1]
    assert (removed["by"], removed["verb"], removed["about"]) == ("local", "remove stream", "clinic")
    clinic("PUT", "", TYPES, status=201)
    assert clinic("POST", "arrivals", {"row": "flu", "id": "Anna-Karenina"})["entry"] == 2


def test_a_stream_that_cannot_be_removed_stays(serving):
    store = MemoryStore()
    with serving(store) as served:
        served("PUT", "", TYPES, status=201)
        store.failure = StoreFailed("disk: full")
        served("DELETE", "", params={"erase": "true"}, status=503)
        store.failure = None
        served("POST", "arrivals", {"row": "flu", "id": "a"})
        served("DELETE", "", params={"erase": "true"}, status=204)


def test_somebody_is_erased_and_the_rest_stays(clinic, tmp_path):
    for id in ("Anna-Karenina", "Ben"):
        clinic("POST", "arrivals", {"row": "flu", "id": id})
        clinic("POST", f"requests/{id}/skip")
    clinic("POST", "requests/Anna-Karenina/label", {"y": 39.25})
    assert clinic("POST", "erase", {"ids": ["Anna-Karenina"]}) == {"entries": 3}
    clinic("GET", "arrivals/Anna-Karenina", status=410)  # from now on, though bytes are left
    clinic.compacted()
    for file in tmp_path.iterdir():
        assert b"Karenina" not in file.read_bytes()
    assert clinic.live().ready.learner.rounds == 2
    assert [one["id"] for one in clinic("GET", "requests")["requests"]] == ["Ben"]
    assert clinic("POST", "erase", {"ids": ["Anna-Karenina"]}) == {"entries": 0}


ABOUT_AN_ID = {
    "arrive": ("POST", "arrivals", {"row": "flu", "id": "Anna"}),
    "arrive with others": ("POST", "arrivals", [{"row": "flu", "id": "new"}, {"row": "flu", "id": "Anna"}]),
    "look up": ("GET", "arrivals/Anna", None),
    "label": ("POST", "requests/Anna/label", {"y": 38.0}),
    "correct": ("POST", "requests/Anna/correct", {"y": 38.0}),
    "learn": ("POST", "history", [{"row": "flu", "y": 38.0, "id": "Anna"}]),
} | {
    verb: ("POST", f"requests/Anna/{verb}", {}) for verb in ("reopen", "withdraw", "skip", "lease", "release")
}


@pytest.mark.parametrize("again", [False, True], ids=["", "after a restart"])
def test_whoever_was_erased_is_gone_for_ever(serving, again):
    with serving() as clinic:
        clinic("PUT", "", TYPES, status=201)
        for id in ("Anna", "Ben"):
            clinic("POST", "arrivals", {"row": "flu", "id": id, "force": True})
        clinic("POST", "erase", {"ids": ["Anna"]})
        if not again:
            check_gone(clinic)
    if again:
        with serving() as clinic:
            check_gone(clinic)


def check_gone(clinic):
    before = clinic("GET", "entries")["as_of"]
    for method, path, body in ABOUT_AN_ID.values():
        problem = clinic(method, path, body, status=410)
        assert problem["type"] == "urn:breakeven:ErasedId"
        assert "expected one that was not erased, got 'Anna'" in problem["detail"]
    results = clinic("POST", "labels", [{"id": "Anna", "y": 1}, {"id": "Ben", "y": 1}])
    assert [one["result"] for one in results["results"]] == ["refused", "told"]
    assert clinic("GET", "entries")["as_of"] == before + 1
    clinic("POST", "arrivals", {"row": "flu", "id": "anna"})


def test_what_died_between_erasing_and_compacting_is_compacted_at_the_start(serving, address, tmp_path):
    with serving() as clinic:
        clinic("PUT", "", TYPES, status=201)
        clinic("POST", "arrivals", {"row": "flu", "id": "Anna-Karenina"})
    store = open_store(address)
    (stream,) = store.streams()
    gone = LogEntry(stream.number, 2, 0.0, "x", "Erased", None, to_msgpack(Erased(2, "clinic", arrival=True)))
    store.rewrite(stream.number, [gone], [mark_of(store.id, "Anna-Karenina")])
    assert store.uncompacted
    store.close()
    with serving() as clinic:
        assert not clinic.store.uncompacted
        clinic("GET", "arrivals/Anna-Karenina", status=410)
        for file in tmp_path.iterdir():
            assert b"Karenina" not in file.read_bytes()


def test_a_disk_without_room_to_compact_stops_no_start(serving, monkeypatch, caplog):
    def full():
        raise StoreFailed("disk: full")

    store = MemoryStore()
    store.uncompacted = True
    monkeypatch.setattr(store, "compact", full)
    with serving(store) as served:
        served("PUT", "", TYPES, status=201)
        assert store.uncompacted
    assert "what was erased may still be in the files of the store: disk: full" in caplog.text


def test_whoever_came_with_others_is_erased_when_more_have_come_since(clinic):
    clinic("POST", "arrivals", [{"row": "flu", "id": f"many {i}"} for i in range(6)])
    for id in "abcdef":
        clinic("POST", "arrivals", {"row": "flu", "id": id})
    assert clinic("POST", "erase", {"ids": ["many 3"]})["entries"] == 1
    clinic("GET", "arrivals/many 3", status=410)
    assert clinic("GET", "arrivals/many 4")["decision"]["entry"] == 6
    assert clinic("GET", "arrivals/d")["decision"]["entry"] == 11


def test_whoever_is_erased_meanwhile_holds_up_no_other_erasure(clinic):
    for id in "abcd":
        clinic("POST", "arrivals", {"row": "flu", "id": id})

    async def all_at_once():
        path = "/v1/streams/clinic/erase"
        calls = [clinic.client.post(path, json={"ids": [id]}) for id in "abc"]
        looks = [clinic.client.get("/v1/streams/clinic/arrivals/d") for _ in range(3)]
        return await asyncio.gather(*(call for both in zip(calls, looks, strict=True) for call in both))

    assert [answer.status_code for answer in clinic.run(all_at_once())] == [200] * 6


def test_several_are_erased_at_once_or_none(clinic, monkeypatch):
    for id in "abc":
        clinic("POST", "arrivals", {"row": "flu", "id": id})
    compacted, compact = [], clinic.store.compact
    monkeypatch.setattr(clinic.store, "compact", lambda: compacted.append(compact()))
    learner = clinic.live().ready.learner
    problem = clinic("POST", "erase", {"ids": ["a", "nobody"]}, status=404)
    assert "got 'nobody'; nothing was erased" in problem["detail"]
    assert clinic.live().ready.learner is learner  # nobody had to wait until it was read anew
    clinic("GET", "arrivals/a")
    assert clinic("POST", "erase", {"ids": ["a", "b", "a"]}) == {"entries": 2}
    assert clinic("POST", "erase", {"ids": ["c"]}) == {"entries": 1}
    assert not compacted
    clinic.compacted()
    assert len(compacted) == 1  # for all of them
    assert clinic("POST", "erase", {"ids": ["a", "b"]}) == {"entries": 0}  # as after an answer that was lost
    assert clinic("GET", "requests")["requests"] == []
    assert clinic.live().ready.learner.rounds == 3


def test_a_snapshot_goes_out_and_comes_in(clinic):
    clinic("POST", "arrivals", {"row": "flu", "id": "a"})
    answer = clinic("GET", "snapshot")
    assert answer.headers["breakeven-entry"] == "2"
    assert Learner.restore(answer.content).snapshot() == clinic.live().ready.learner.snapshot()
    body = {"snapshot": base64.b64encode(answer.content).decode(), "unit": "°C"}
    made = clinic("PUT", "snapshot", body, stream="second", status=201)
    assert made["config"]["belief"]["kind"] == "TypeMeans"
    clinic("PUT", "snapshot", body, stream="second", status=409)
    clinic("PUT", "snapshot", {"snapshot": "AAAA"}, stream="third", status=422)
    assert [one["id"] for one in clinic("GET", "requests", stream="second")["requests"]] == ["a"]
    assert clinic("POST", "requests/a/label", {"y": 1}, stream="second")["entry"] == 2
    for ids in (["a"], ["nobody", "a"]):
        problem = clinic("POST", "erase", {"ids": ids}, stream="second", status=422)
        assert "began with a snapshot that holds 'a'" in problem["detail"]
    clinic("POST", "erase", {"ids": ["nobody"]}, stream="second", status=404)


def test_a_stream_from_a_snapshot_remembers_what_is_on_its_way_to_the_disk(served):
    learner = Learner(TypeMeans(noise_std=0.5), Always(), label_cost=2.0, keep=3)
    body = {"snapshot": base64.b64encode(learner.snapshot()).decode()}
    assert served("PUT", "snapshot", body, status=201)["config"]["keep"] == 10_000
    assert served.live().ready.learner.keep == served.live().fold().learner.keep == 10_000


def test_a_stream_from_a_snapshot_says_its_uneven_costs(served):
    learner = Learner(TypeMeans(noise_std=0.5), Always(), label_cost=2.0, under_cost=3.0, over_cost=1.0)
    body = {"snapshot": base64.b64encode(learner.snapshot()).decode()}
    config = served("PUT", "snapshot", body, status=201)["config"]
    assert (config["under_cost"], config["over_cost"], config.get("error_cost")) == (3.0, 1.0, None)
    config = served("PATCH", "", {"error_cost": 4.0})["config"]  # how they compare stays
    assert (config["under_cost"], config["over_cost"], config.get("error_cost")) == (6.0, 2.0, None)
    config = served("PATCH", "", {"under_cost": 5.0, "over_cost": 5.0})["config"]
    assert (config.get("under_cost"), config.get("over_cost"), config["error_cost"]) == (None, None, 5.0)


def test_a_bills_folder_becomes_a_stream(tmp_path, serving, address):
    folder = tmp_path / "ward"
    folder.mkdir()
    learner = Learner(TypeMeans(noise_std=0.5), Threshold(), label_cost=2.0)
    learner.decide("flu", id="a")
    columns = Columns(label_column=Column("temperature", unit="°C"), type_column=Column("illness", "text"))
    save_bill(folder, learner, columns)
    (folder / SUMMARY_FILE).write_text("{}")
    store = open_store(address, "create")
    assert add_bills(store, [folder], "me") == ["ward"]
    assert add_bills(store, [folder], "me") == []
    create_from_bill(store, folder, name="other", by="me")
    with serving(store) as served:
        answer = served("POST", "arrivals", {"row": {"illness": "flu"}, "id": "b"}, stream="ward")
        assert answer["round"] == 2
        assert [one["id"] for one in served("GET", "requests", stream="ward")["requests"]] == ["a", "b"]
        assert served("GET", "", stream="other")["config"]["unit"] == "°C"


# -- labels in bulk, history ---------------------------------------------------------------------------


def test_labels_come_as_csv_with_a_preview(served):
    served("PUT", "", ALL_WANTED, status=201)
    served("POST", "arrivals", [{"row": "flu", "id": id} for id in "abc"])
    served("POST", "requests/c/withdraw")
    content = b"\xef\xbb\xbfid;y\r\na;38,5\r\nb;39\r\nc;1\r\nz;3\r\nb;39\r\n"
    more = {"content": content, "headers": {"content-type": "text/csv; charset=utf-8"}}
    shown = served("POST", "labels?preview=true", **more)
    assert served.live().ready.learner.belief.labels == 0
    done = served("POST", "labels", **more)
    for answer in (shown, done):
        assert [one["result"] for one in answer["results"]] == [
            "refused",
            "told",
            "late",
            "refused",
            "repeated",
        ]
        assert answer["results"][0]["detail"] == "y: expected a number, got '38,5'"
    assert (done["told"], done["refused"], shown["preview"], done["preview"]) == (3, 2, True, False)
    lines = b'{"id": "a", "y": 38.5}\n{"id": "b", "y": 39}\n'
    more = {"content": lines, "headers": {"content-type": "application/x-ndjson"}}
    assert [one["result"] for one in served("POST", "labels", **more)["results"]] == ["told", "repeated"]
    assert served("POST", "labels", [{"id": "a", "y": 38.5}])["results"][0]["result"] == "repeated"


@pytest.mark.parametrize(
    ("media", "content", "status"),
    [
        ("text/csv", b"name,y\na,1\n", 400),
        ("text/csv", b"id,y\na,1,2\n", 400),
        ("text/csv", b"id,y\n,1\n", 400),
        ("text/csv", b"\xff", 400),
        ("application/x-ndjson", b"{", 400),
        ("text/plain", b"a", 415),
    ],
)
def test_labels_that_cannot_be_read_change_nothing(clinic, media, content, status):
    clinic("POST", "labels", content=content, headers={"content-type": media}, status=status)


def test_a_history_is_learnt_whole_or_not_at_all(clinic):
    lines = [{"row": "flu", "y": 38.0}, {"row": "flu", "y": 39.0, "id": "old"}]
    assert clinic("POST", "history", lines) == {"learnt": 2, "entry": 3}
    clinic("POST", "history", [{"row": "flu", "y": 1}, {"row": "flu", "y": 1, "id": "a\0"}], status=422)
    problem = clinic("POST", "history", [{"row": "flu", "y": 1}, {"row": "flu", "y": "x"}], status=422)
    assert problem["detail"].startswith("line 2: ")
    clinic("POST", "history", [{"row": "flu", "y": 1}, {"row": "cold", "y": 1, "id": "old"}], status=409)
    clinic.run(clinic.live().settled())
    assert clinic.live().ready.learner.belief.labels == 2


# -- the log -------------------------------------------------------------------------------------------


def test_the_log_comes_in_pages_as_lines_and_as_csv(clinic, clock):
    for i in range(12):
        clinic("POST", "arrivals", {"row": "flu", "id": f"=p{i}"})
        clock.go_on(1)
    page = clinic("GET", "entries", params={"limit": 5})
    assert ([one["seq"] for one in page["entries"]], page["next"], page["as_of"]) == ([1, 2, 3, 4, 5], 5, 13)
    page = clinic("GET", "entries", params={"after": 10})
    assert ([one["seq"] for one in page["entries"]], page["next"]) == ([11, 12, 13], None)
    assert page["entries"][0]["event"]["decision"]["id"] == "=p9"
    chosen = clinic("GET", "entries", params={"kind": "Created"})["entries"]
    assert [one["seq"] for one in chosen] == [1]
    times = {"from": "2023-11-14T22:13:25Z", "to": "2023-11-14T22:13:27Z"}
    assert [one["seq"] for one in clinic("GET", "entries", params=times)["entries"]] == [7, 8]
    times = {"from": "0001-01-01T00:00:00", "to": "2023-11-14T22:13:21"}  # in UTC, as no zone is said
    assert [one["seq"] for one in clinic("GET", "entries", params=times)["entries"]] == [1, 2]
    lines = clinic("GET", "entries", headers={"accept": "application/x-ndjson"}).text.splitlines()
    assert [json.loads(line)["seq"] for line in lines] == list(range(1, 14))
    rows = list(csv.DictReader(io.StringIO(clinic("GET", "entries", headers={"accept": "text/csv"}).text)))
    assert [row["id"] for row in rows[1:3]] == ["'=p0", "'=p1"]
    clinic("GET", "entries", headers={"accept": "image/png"}, status=415)


def test_a_summary_says_what_labelling_everyone_would_have_cost(clinic):
    clinic("POST", "arrivals", [{"row": "flu"} for _ in range(50)])
    found = clinic("GET", "summary")
    assert found["everyone"] == 100.0
    assert 0 < found["spend"] <= 100
    assert found["words"].startswith("belief            TypeMeans")
    assert found["as_of"] == 51


# -- serving -------------------------------------------------------------------------------------------


def test_settings_come_from_a_file(tmp_path):
    file = tmp_path / "serve.toml"
    file.write_text('port = 9000\nhost = "127.0.0.2"\n')
    assert read_settings(file) == ServeSettings(port=9000, host="127.0.0.2")
    for wrong in ("port = 'x'", "colour = 1", "port ="):
        file.write_text(wrong)
        with pytest.raises(InvalidInput, match="expected settings of `breakeven serve`"):
            read_settings(file)


def test_the_world_is_not_let_in_without_a_token(served):
    check_bind(served.store, "127.0.0.1")
    for host in ("0.0.0.0", "::", "192.168.1.5", "example.com"):
        with pytest.raises(InvalidInput, match=r"host: expected 127\.0\.0\.1, this machine alone"):
            check_bind(served.store, host)


@pytest.mark.parametrize(
    "settings",
    [
        {"alarm_url": "ftp://pager.example"},
        {"calls_a_second": 0.0},
        {"token_days": -1.0},
        {"call_log": "no such folder/calls"},
        {"host": "0.0.0.0"},
        {"person_header": "X-User"},
    ],
)
def test_a_service_that_cannot_be_started_does_not_say_that_it_was(tmp_path, monkeypatch, settings):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(StoppingServer, "run", lambda *_: None)
    said = []
    serve(ServeSettings(port=0), [], "test", said.append)
    assert len(said) == 1
    with pytest.raises((InvalidInput, OSError)):
        serve(ServeSettings(port=0, **settings), [], "test", said.append)
    assert len(said) == 1
