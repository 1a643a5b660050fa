"""More calls than can be answered soon: refused at once and unread, while the rest is answered."""

import asyncio
import json
import socket
import subprocess
import sys
from contextlib import closing, contextmanager

import pytest

from breakeven.errors.serving import Overloaded
from breakeven.service import admission
from breakeven.service.admission import FEWEST, MOST_WAIT, USUAL, Admission, is_whole_post, refusal
from breakeven.service.app import make_app
from breakeven.service.pages.page_routes import page_routes
from breakeven.service.setting_up import create
from breakeven.store import open_store
from breakeven.wire.problems import Problem, error_of
from tests.service.connections import Connection
from tests.service.overload import served as overloaded_server
from tests.service.samples import TYPES as TYPE_STREAM
from tests.service.under_load import TYPES

POST = b"POST /a HTTP/1.1\r\nhost: a\r\n"


@pytest.mark.parametrize(
    ("data", "whole"),
    [
        (POST + b"content-length: 2\r\n\r\n{}", True),
        (POST + b"Connection: Keep-Alive\r\nContent-Length:2\r\n\r\n{}", True),
        (POST + b"\r\n", True),
        (POST + b"content-length: 3\r\n\r\n{}", False),  # more is to come
        (POST + b"content-length: 2\r\n\r\n{}POST", False),  # the next call is here as well
        (POST + b"content-length: 2\r\n", False),
        (POST + b"content-length: 2\r\ncontent-length: 2\r\n\r\n{}", False),
        (POST + b"content-length: +2\r\n\r\n{}", False),
        (POST + b"content-length:\r\n\r\n", False),
        (POST + b"content-length: " + b"9" * 5_000 + b"\r\n\r\n{}", False),
        (POST + b"a: b\ncontent-length: 9\r\n\r\n", False),  # others may take that for two lines
        (POST + b"transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n{}", False),
        (POST + b"connection: close\r\ncontent-length: 2\r\n\r\n{}", False),
        (POST + b"expect: 100-continue\r\ncontent-length: 0\r\n\r\n", False),
        (b"POST /a HTTP/1.0\r\nhost: a\r\n\r\n", False),
        (b"GET /a HTTP/1.1\r\nhost: a\r\n\r\n", False),
        (b"POST ", False),
    ],
)
def test_only_a_plain_call_that_is_here_as_a_whole_is_refused_unread(data, whole):
    assert is_whole_post(data) is whole


class Looks:
    """An admission whose clocks a test moves."""

    def __init__(self):
        self.time = self.cpu = 0.0
        self.admission = Admission(lambda: self.cpu, lambda: self.time)

    def go_on(self, calls, under_way, busy, times=60, seconds=0.1):
        self.admission.tasks = range(under_way)
        for _ in range(times):
            self.time += seconds
            self.cpu += busy * seconds
            self.admission.taken += calls
            self.admission.look()
        return self.admission.most


def test_as_many_may_be_under_way_as_are_answered_in_the_longest_wait():
    looks = Looks()
    assert looks.admission.most == MOST_WAIT / USUAL
    assert looks.go_on(calls=400, under_way=900, busy=1.0) == pytest.approx(4000 * MOST_WAIT, rel=0.02)
    assert looks.go_on(calls=10, under_way=30, busy=1.0) == pytest.approx(100 * MOST_WAIT, abs=1)
    assert looks.go_on(calls=0, under_way=30, busy=1.0) == FEWEST
    # where others use the processor its turn comes late: its own share counts, or it would refuse ever more
    assert looks.go_on(calls=100, under_way=300, busy=0.2, seconds=0.4) == pytest.approx(
        1250 * MOST_WAIT, abs=1
    )


def test_waiting_for_the_disk_or_seldom_calls_that_take_long_refuse_nobody():
    looks = Looks()
    assert looks.go_on(calls=10, under_way=400, busy=0.1) == MOST_WAIT / USUAL
    assert looks.go_on(calls=1, under_way=2, busy=1.0) == MOST_WAIT / USUAL
    assert looks.go_on(calls=1, under_way=40, busy=1.0) == FEWEST
    assert looks.go_on(calls=0, under_way=0, busy=0.0) == pytest.approx(MOST_WAIT / USUAL, rel=0.02)


def test_whoever_only_waits_is_not_under_way():
    one = Admission()
    one.tasks, one.most = range(20), 20
    assert one.full
    with one.aside():
        assert (one.under_way, one.full) == (19, False)
    assert one.full


def test_what_was_refused_is_in_the_log(caplog):
    looks = Looks()
    looks.admission.refused = 7
    looks.go_on(calls=1, under_way=0, busy=0.0, times=150)
    assert [one.message for one in caplog.records] == [
        "overloaded: 7 calls were refused; 400 may be under way, at 0.50 ms each"
    ]


def test_a_refusal_is_a_problem_that_says_when_to_come_back():
    head, _, body = refusal().partition(b"\r\n\r\n")
    assert b"\r\nretry-after: 1" in head
    assert f"\r\ncontent-length: {len(body)}".encode() in head
    error = error_of(Problem(**json.loads(body)))
    assert isinstance(error, Overloaded)
    assert (error.retry_after, "nothing of this one was kept" in str(error)) == (1.0, True)


# -- callers who only wait -----------------------------------------------------------------------------------

GET = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"


@pytest.mark.parametrize("http", ["httptools", "h11"])
def test_whoever_sends_no_body_or_reads_no_answer_keeps_nobody_out(served, http):
    served.app = make_app(served.service, page_routes(served.service))
    connection, admission = Connection(served, http), served.service.admission
    form = b"content-type: application/x-www-form-urlencoded\r\ncontent-length: 7\r\n\r\n"
    connection.send(b"POST /log-in HTTP/1.1\r\nhost: localhost\r\n" + form, part=True)
    assert (len(admission.tasks), admission.under_way) == (1, 0)
    assert connection.send(b"token=a").startswith(b"HTTP/1.1 ")
    connection.protocol.pause_writing()
    for path in (b"/healthz", b"/openapi.json", b"/v1/streams/clinic/entries?format=csv"):
        if path.startswith(b"/v1"):
            served("PUT", "", TYPE_STREAM, status=201)
        connection.send(GET.replace(b"/healthz", path), part=True)
        served.run(asyncio.sleep(0.05))
        assert (len(admission.tasks), admission.under_way) == (1, 0), path
        connection.protocol.resume_writing()
        connection.send(b"")
        assert (len(admission.tasks), admission.waiting) == (0, 0), path
        connection.protocol.pause_writing()
    assert connection.sent.count(b"HTTP/1.1 200 ") == 3


def test_refusals_do_not_pile_up_for_whoever_reads_none(served):
    connection, served.service.admission.most = Connection(served), 0
    assert connection.send(POST + b"\r\n").startswith(b"HTTP/1.1 503 ")
    connection.protocol.pause_writing()
    assert [connection.send(POST + b"\r\n", part=True) for _ in range(3)] == [b"", b"", b""]
    assert connection.protocol.flow.read_paused
    connection.protocol.resume_writing()
    connection.send(b"")
    assert connection.sent.count(b"HTTP/1.1 503 ") == 4


def test_calls_that_are_sent_together_are_refused_each(served):
    connection, served.service.admission.most = Connection(served), 0
    assert connection.send(3 * GET.replace(b"/healthz", b"/v1/streams")).count(b"HTTP/1.1 503 ") == 3
    assert (served.service.admission.refused, served.service.admission.taken) == (3, 0)
    served.service.admission.most = 10
    assert connection.send(3 * GET).count(b"HTTP/1.1 200 ") == 3
    assert served.service.admission.taken == 3


# -- a server ----------------------------------------------------------------------------------------------

FULL = """
import os, sys
from breakeven.cli import main
from breakeven.service.admission import Admission

flag = sys.argv.pop(1)
Admission.full = property(lambda self: os.path.exists(flag))
main()
"""
ARRIVAL = (
    b"POST /v1/streams/clinic/arrivals HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
)


@contextmanager
def connected(address, flag):
    """A server that has too much to do while there is a file, and a connection to it."""
    command = [sys.executable, "-c", FULL, flag, "serve", "--json", "--port", "0", "--store", address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            port = int(json.loads(process.stdout.readline())["address"].rsplit(":", 1)[1])
            with closing(socket.create_connection(("127.0.0.1", port), timeout=30.0)) as connection:
                yield process, connection
        finally:
            process.kill()


def answer(connection, *parts):
    """The status, the head and the body of one answer."""
    for part in parts:
        connection.sendall(part)
    got = b""
    while True:
        head, end, body = got.partition(b"\r\n\r\n")
        length = admission.LENGTH_OR_OTHER.search(head) if end else None
        if length is not None and len(body) >= int(length[2]):
            assert len(body) == int(length[2])
            return int(head[9:12]), head, body
        came = connection.recv(1 << 16)
        assert came, "hung up"
        got += came


def test_a_server_with_too_much_to_do_refuses_calls_and_goes_on(address, tmp_path):
    with closing(open_store(address, "create")) as store:
        create(store, "clinic", TYPES, by="test")
    flag, body = tmp_path / "full", b'{"row":"flu","id":"a"}'
    call = ARRIVAL + b"content-length: %d\r\n\r\n" % len(body) + body
    with connected(address, str(flag)) as (process, connection):
        while answer(connection, b"GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n")[0] != 200:
            pass
        assert answer(connection, call)[0] == 200
        flag.touch()
        chunked = ARRIVAL + b"transfer-encoding: chunked\r\n\r\n16\r\n" + body + b"\r\n0\r\n\r\n"
        for parts in ([call], [call[:50], call[50:]], [call[:-5], call[-5:]], [call], [chunked], [call]):
            status, head, problem = answer(connection, *parts)
            assert (status, json.loads(problem)["type"]) == (503, "urn:breakeven:Overloaded")
            assert b"retry-after: 1" in head
        for path in (b"/v1/streams", b"/streams", b"/"):
            assert answer(connection, b"GET %s HTTP/1.1\r\nhost: localhost\r\n\r\n" % path)[0] == 503
        for path in (b"/healthz", b"/readyz", b"/metrics"):
            assert answer(connection, b"GET %s HTTP/1.1\r\nhost: localhost\r\n\r\n" % path)[0] == 200
        flag.unlink()
        status, _, decided = answer(connection, call)
        assert (status, json.loads(decided)["repeated"]) == (200, True)
        flag.touch()
        process.terminate()
        process.communicate(timeout=20)


@pytest.mark.slow
def test_beyond_its_capacity_a_server_answers_most_of_it_within_a_second(tmp_path):
    """With the generator of the load on the same machine: both share its cores."""
    with overloaded_server(tmp_path) as server:
        server.load(500.0, 2.0)
        capacity = server.capacity()["rate"]
        server.load(2.0 * capacity, 10.0)  # memory for the connections
        for times in (2, 4):
            found = server.load(times * capacity, 15.0)
            assert found["answered"] >= 0.8 * capacity, found
            assert found["p99"] < 1.0, found
            assert found["health_p99"] < 1.0, found
            assert set(found["counts"]) <= {"200", "503"}, found
            before, after = found["memory"]
            ids = found["counts"]["200"] * 300 / 2**20  # that were answered are remembered, for ever
            assert after < 1.2 * before + ids, found
