"""What the service says of itself: metrics, alarms in the log, and a receiver that is down at times."""

import json
import random
import re
from contextlib import contextmanager
from http.client import BadStatusLine
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Event, Thread

import httpx
import pytest

from breakeven.errors import InvalidInput
from breakeven.service.access import new_token
from breakeven.service.server import CallLog
from breakeven.service.watching import ALARMED, NOTIFIED, AlarmReceiver, AlarmWatch
from breakeven.wire.signing import signature_of
from tests.service.samples import ALL_WANTED, AUDITED, TYPES

SECRET = "a secret of both sides"
SAMPLE = re.compile(
    r'breakeven_\w+(\{\w+="(?:[^"\\\n]|\\.)*"(?:,\w+="(?:[^"\\\n]|\\.)*")*\})? '
    r"(?:[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?|NaN|[+-]Inf)"
)


# -- metrics -------------------------------------------------------------------------------------------


def samples(served):
    text = served("GET", "/metrics").text
    found, kinds = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            kinds[name] = kind
        elif not line.startswith("# HELP "):
            assert SAMPLE.fullmatch(line), line
            name, _, value = line.rpartition(" ")
            assert name not in found
            found[name] = float(value)
            family = re.sub(r"_(bucket|sum|count)$", "", name.partition("{")[0])
            assert family in kinds or name.partition("{")[0] in kinds
    return found


def test_metrics_count_what_happened(clinic, clock):
    clinic("POST", "arrivals", {"row": "flu", "id": "a"})
    clinic("POST", "arrivals", [{"row": "flu", "id": "b"}, {"row": "flu", "id": "c"}])
    clinic("POST", "requests/a/label", {"y": 38.0})
    clinic("PUT", '/v1/streams/a"b', TYPES, status=201)
    clock.go_on(30.0)
    found = samples(clinic)

    def of(name, more=""):
        return found[f'breakeven_{name}{{stream="clinic"{more}}}']

    assert of("decisions_total") == 3
    assert of("spend") == 2.0 * of("labels")
    assert of("open_requests") == of("labels") - 1
    assert of("oldest_request_seconds") == (30.0 if of("open_requests") else 0.0)
    assert of("entries") == of("entries_written") == clinic.live().written
    assert (of("read_ratio"), of("ready")) == (1.0, 1.0)
    assert of("decide_seconds_count") == 2
    assert of("decide_seconds_bucket", ',le="+Inf"') == 2
    assert of("commit_seconds_count") == 3
    bounds = [value for name, value in found.items() if 'decide_seconds_bucket{stream="clinic"' in name]
    assert bounds == sorted(bounds)
    assert found['breakeven_ready{stream="a\\"b"}'] == 1.0


def test_metrics_show_audits_and_a_refuted_belief_is_an_alarm(served):
    served("PUT", "/v1/streams/audited", AUDITED, status=201)
    belief = {"kind": "GaussianProcess", "dim": 1, "noise_std": 0.1}
    rule = {"kind": "Check", "share": 0.1, "rule": {"kind": "Always"}}
    served("PUT", "", {"belief": belief, "rule": rule, "label_cost": 1.0}, status=201)
    for i in range(10):
        served("POST", "arrivals", {"row": [i / 10], "id": str(i)})
        served("POST", f"requests/{i}/label", {"y": 50.0 * (-1) ** i})
    found = samples(served)
    assert found['breakeven_audit_error_low{stream="audited"}'] == 0.0
    assert found['breakeven_audit_error_high{stream="audited"}'] > 0.0
    assert found['breakeven_refuted_total{stream="clinic"}'] >= 1.0
    assert kinds_of(served) == ["belief_refuted"]
    assert found['breakeven_alarm{stream="clinic",kind="belief_refuted"}'] == 1.0
    served("PATCH", "", {"alarms": {"refuted": False}})
    assert kinds_of(served) == []


# -- alarms --------------------------------------------------------------------------------------------


def kinds_of(served, name="clinic"):
    (line,) = [one for one in served("GET", "/v1/streams")["streams"] if one["name"] == name]
    summary = served("GET", f"/v1/streams/{name}/summary")
    assert line.get("alarms", []) == summary["alarms"]
    return [one["kind"] for one in summary["alarms"]]


@pytest.fixture
def watched(served, clock):
    """A stream with limits; its requests are all wanted."""
    alarms = {"oldest": 3600.0, "spend_a_day": 5.0}
    served("PUT", "", ALL_WANTED | {"alarms": alarms}, status=201)
    served.watch = AlarmWatch()
    return served


def look(served, watch=None, after=11.0):
    served.clock.go_on(after)
    watch = watch or served.watch
    served.run(watch.look(served.live()))
    if watch._sending is not None:
        served.run(watch._sending)
    return noted(served)


def noted(served):
    return [
        json.loads(one.body)
        for one in served.store.beside(served.live().number)
        if one.kind == ALARMED
    ]  # fmt: skip


def test_alarms_begin_and_end_and_are_noted_once(watched, clock):
    assert kinds_of(watched) == []
    assert look(watched) == []
    for id in "abc":
        watched("POST", "arrivals", {"row": "flu", "id": id})
    assert kinds_of(watched) == ["spend_ahead"]
    assert [one["kind"] for one in look(watched)] == ["spend_ahead"]
    assert len(look(watched)) == 1
    clock.go_on(3600.0)
    assert kinds_of(watched) == ["requests_too_old", "spend_ahead"]
    clock.go_on(2 * 86_400.0)
    for id in "abc":
        watched("POST", f"requests/{id}/label", {"y": 1.0})
    changes = look(watched)
    assert kinds_of(watched) == []
    assert [(one["kind"], one["began"]) for one in changes] == [("spend_ahead", True), ("spend_ahead", False)]


def test_a_restart_notes_no_alarm_twice(watched):
    for id in "abc":
        watched("POST", "arrivals", {"row": "flu", "id": id})
    assert len(look(watched)) == len(look(watched, AlarmWatch())) == 1


def test_limits_are_changed_and_wrong_ones_refused(watched):
    watched("POST", "arrivals", {"row": "flu", "id": "a"})
    watched("PATCH", "", {"alarms": {"spend_a_day": 1.0}})
    assert kinds_of(watched) == ["spend_ahead"]
    watched("PATCH", "", {"alarms": {}})
    assert kinds_of(watched) == []
    problem = watched("PATCH", "", {"alarms": {"oldest": -1.0}}, status=422)
    assert "alarms: oldest: expected a positive, finite number, got -1.0" in problem["detail"]


def test_audits_that_prove_too_large_an_error_are_an_alarm(served):
    served("PUT", "", AUDITED | {"alarms": {"error": 0.01}}, status=201)
    for i in range(300):
        decision = served("POST", "arrivals", {"row": f"t{i}", "id": str(i)})
        if decision["wants_label"]:
            served("POST", f"requests/{i}/label", {"y": 4.0})
    assert kinds_of(served) == ["audited_error"]


@pytest.mark.parametrize(("scatter", "kinds"), [(0.4, []), (4.0, ["coverage_low"])])
def test_audited_labels_outside_of_their_intervals_are_an_alarm(served, scatter, kinds):
    served("PUT", "", AUDITED | {"alarms": {"coverage": 0.9}}, status=201)
    draws, told = random.Random(1), []
    served("POST", "history", [{"row": "flu", "y": draws.gauss(38.0, 0.5)} for _ in range(50)])
    for i in range(120):
        if served("POST", "arrivals", {"row": "flu", "id": str(i)})["reason"] == "audited":
            served("POST", f"requests/{i}/label", {"y": draws.gauss(38.0, scatter)})
            told.append(i)
    look(served, AlarmWatch())
    assert kinds_of(served) == kinds
    inside, count = served.live().coverage
    assert count == len(told)
    served("POST", f"requests/{told[0]}/withdraw", {})
    served("POST", f"requests/{told[1]}/correct", {"y": 500.0})
    served("POST", f"requests/{told[2]}/correct", {"y": 38.0})
    alarms = AlarmWatch()  # as after a restart
    look(served, alarms)
    assert served.live().coverage[1] == count - 1
    served("POST", "erase", {"ids": [str(told[1]), str(told[2])]})
    served.run(served.live().settled())
    look(served, alarms)
    assert served.live().coverage[1] == count - 3
    assert inside <= count


def test_a_share_that_cannot_be_is_refused_as_a_limit(served):
    problem = served("PUT", "", AUDITED | {"alarms": {"coverage": 95.0}}, status=422)
    assert "alarms: coverage: expected" in problem["detail"]


# -- the receiver --------------------------------------------------------------------------------------


class Receiver:
    """Takes messages on a port of its own, as long as it is up."""

    def __init__(self):
        self.taken, self.status = [], 200

    @contextmanager
    def listening(self):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.taken.append((self.headers["x-breakeven-signature"], body))
                self.send_response(outer.status)
                self.send_header("location", "http://127.0.0.1:9/elsewhere")
                self.end_headers()

            def log_message(self, *_):
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/hook"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


@pytest.mark.parametrize("wrong", [500, 302, 404])
def test_no_alarm_is_lost_while_the_receiver_is_down(watched, clock, wrong):
    there = Receiver()
    with there.listening() as url:
        watch = AlarmWatch(AlarmReceiver(url, SECRET))
        for id in "abc":
            watched("POST", "arrivals", {"row": "flu", "id": id})
        there.status = wrong
        look(watched, watch)
        look(watched, AlarmWatch(AlarmReceiver(url, SECRET)))  # as after a restart
        assert len(there.taken) == 2
        there.status = 200
        look(watched, watch)
        look(watched, watch)
        assert len(there.taken) == 3
        look(watched, AlarmWatch(AlarmReceiver(url, SECRET)))
        assert len(there.taken) == 3
    bodies = [json.loads(body) for _, body in there.taken]
    assert len({one["id"] for one in bodies}) == 1
    assert (bodies[0]["stream"], bodies[0]["alarm"], bodies[0]["began"]) == ("clinic", "spend_ahead", True)
    for header, body in there.taken:
        assert header == signature_of(SECRET, body, float(header.partition(",")[0].removeprefix("t=")))
    kinds = [one.kind for one in watched.store.beside(watched.live().number)]
    assert kinds.count(NOTIFIED) == 1


def test_a_receiver_that_is_slow_holds_up_no_note(watched, clock, monkeypatch):
    receiver, answers = AlarmReceiver("http://127.0.0.1:9/hook", SECRET), Event()
    monkeypatch.setattr(receiver, "send", lambda *_: answers.wait(60))
    watch = AlarmWatch(receiver)
    watched("PATCH", "", {"alarms": {"spend_a_day": 1.0, "oldest": 1.0}})
    watched("POST", "arrivals", {"row": "flu", "id": "a"})
    try:
        for _ in range(2):
            clock.go_on(1.0)
            watched.run(watch.look(watched.live()))
        assert not watch._sending.done()
        watched("POST", "requests/a/label", {"y": 38.0})
        watched.run(watch.look(watched.live()))
        assert not watch._sending.done()
    finally:
        answers.set()
    watched.run(watch._sending)
    changes = [(one["kind"], one["began"]) for one in noted(watched)]
    assert changes == [("spend_ahead", True), ("requests_too_old", True), ("requests_too_old", False)]
    kinds = [one.kind for one in watched.store.beside(watched.live().number)]
    assert kinds.count(NOTIFIED) == 3


def test_a_receiver_that_is_not_there_is_tried_less_and_less_often(watched, clock):
    watch = AlarmWatch(AlarmReceiver("http://127.0.0.1:9/hook", SECRET))
    watched("PATCH", "", {"alarms": {"spend_a_day": 1.0}})
    watched("POST", "arrivals", {"row": "flu", "id": "a"})
    for _ in range(8):
        look(watched, watch)
    assert 3 <= watch._failures < 8


def test_a_receiver_that_does_not_speak_http_is_tried_again_later(watched, monkeypatch, caplog):
    receiver = AlarmReceiver("http://127.0.0.1:9/hook", SECRET)

    def garbled(*_):
        raise BadStatusLine("hello")

    monkeypatch.setattr(receiver, "send", garbled)
    watch = AlarmWatch(receiver)
    watched("PATCH", "", {"alarms": {"spend_a_day": 1.0}})
    watched("POST", "arrivals", {"row": "flu", "id": "a"})
    look(watched, watch)
    assert watch._failures == 1
    assert "alarms cannot be sent (hello); tried again in 2 s" in caplog.text


def test_a_receiver_needs_an_address_and_a_secret():
    with pytest.raises(InvalidInput, match="alarm_url: expected an address that begins with http://"):
        AlarmReceiver("ftp://x", SECRET)
    with pytest.raises(InvalidInput, match="BREAKEVEN_ALARM_SECRET: expected at least 16 letters, got 5 of"):
        AlarmReceiver("http://x", "short", "BREAKEVEN_ALARM_SECRET")


# -- the log of calls ------------------------------------------------------------------------------------


def test_each_call_is_a_line_without_ids_and_tokens(clinic, clock):
    word, kept = new_token("ann", ["send"], None, clock.now())
    lines = []
    transport = httpx.ASGITransport(CallLog(clinic.app, lines.append, clinic.service))
    client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")
    clinic.store.add_token(kept, by="root")
    clinic.service.tokens.forget()

    def call(path, **headers):
        given = {"authorization": f"Bearer {word}"} | headers
        return clinic.run(client.post(path, json={"row": "flu", "id": "Ann Smith"}, headers=given))

    good = call("/v1/streams/clinic/arrivals", **{"x-request-id": "device-7/42"})
    bad = call("/v1/streams/clinic/requests/Ann Smith/skip?token=be_x", **{"x-request-id": "no\tgood"})
    none = call("/nowhere")
    clinic.run(client.aclose())
    told = [json.loads(one) for one in lines]
    assert (
        [one["status"] for one in told]
        == [good.status_code, bad.status_code, none.status_code]
        == [200, 403, 404]
    )
    assert good.headers["x-request-id"] == told[0]["request"] == "device-7/42"
    assert re.fullmatch("[0-9a-f]{16}", bad.headers["x-request-id"])
    assert (told[0]["by"], told[0]["stream"], told[0]["method"]) == ("ann", "clinic", "POST")
    assert told[1]["route"] == "/v1/streams/{stream}/requests/{id}/skip"
    assert not re.search(rb"be_|Smith|flu", b"".join(lines))
