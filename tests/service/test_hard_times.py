"""Over HTTP, when the world fails: a full disk, a lost database, another server, odd clocks, slow people.

What was answered is kept, nothing is counted twice, the server stays up, and goes on when it can.
"""

import http.client
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from breakeven.folding import fold_stream
from breakeven.service import server as serving_process
from breakeven.service.setting_up import create
from breakeven.store import open_store
from breakeven.store.export import time_of
from breakeven.testing import MemoryStore
from tests.debian import under_ci
from tests.servers import postgresql
from tests.service.samples import ALL_WANTED
from tests.service.senders import start
from tests.service.under_load import CURVE, TYPES, check_store, new_senders, server, wait_for_answers


def made(address, **configs):
    """A new store with these streams."""
    with closing(open_store(address, "create")) as store:
        for name, config in configs.items():
            create(store, name, config, by="test")
    return address


def ask(where, path, body=None):
    """The status and the answer of one call."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{where}{path}", data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def asked_until(where, path, body, wanted, seconds=60.0):
    """Ask again and again until the answer has this status."""
    until = time.monotonic() + seconds
    while True:
        status, answer = ask(where, path, body)
        if status == wanted:
            return answer
        assert status == 503, answer
        assert time.monotonic() < until, answer
        time.sleep(0.05)


# -- a full disk -----------------------------------------------------------------------------------------


@contextmanager
def small_disk(folder, megabytes):
    """A file system of its own; gives a function that makes it larger."""

    def mounted(*words):
        return subprocess.run(["mount", *words], capture_output=True, text=True)

    folder.mkdir()
    done = mounted("-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder))
    if done.returncode:
        if under_ci():
            pytest.fail(f"no file system could be mounted, and under CI this must run: {done.stderr}")
        pytest.skip("mounting a small file system needs root")
    try:
        yield lambda more: mounted("-o", f"remount,size={more}m", str(folder))
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_loses_nothing_and_the_service_goes_on_when_there_is_room(tmp_path):
    arrivals = "/v1/streams/types/arrivals"
    with small_disk(tmp_path / "disk", 1) as enlarge:
        address = made(f"sqlite:///{tmp_path}/disk/clinic.db", types=TYPES)
        with server(address) as where:
            answered, status, number = [], 200, 0
            while status == 200:
                batch = [{"row": f"type {i}", "id": f"{number} {'x' * 200} {i}"} for i in range(40)]
                status, answer = ask(where, arrivals, batch)
                if status == 200:
                    answered += batch
                    number += 1
            assert status == 503, answer
            assert answer["type"] == "urn:breakeven:NotReady"
            assert "full" in answer["detail"]
            assert answered, "it was full from the start"
            assert ask(where, "/healthz")[0] == 200
            summary = asked_until(where, "/v1/streams/types/summary", None, 200)
            assert summary["ledger"]["rounds"] == len(answered)
            assert ask(where, arrivals, batch)[0] == 503  # it is full still
            enlarge(32)
            asked_until(where, arrivals, batch, 200)
            assert ask(where, arrivals, batch)[1][0]["repeated"]
        check_arrived(address, [*answered, *batch])


def check_arrived(address, rows):
    """These arrived, in this order, each once, and nobody else."""
    with closing(open_store(address, "read")) as store:
        (stream,) = store.streams()
        arrived = [one.id for one in store.entries(stream.number) if one.kind == "Arrived"]
        assert arrived == [one["id"] for one in rows]
        assert fold_stream(store, stream).rounds == len(rows)
        assert store.damage() == []


# -- a database that goes and comes ------------------------------------------------------------------------


def test_a_database_that_is_stopped_and_started_under_load_loses_nothing():
    stopped = 2
    with postgresql() as database:
        address = made(database.address, types=TYPES, curve=CURVE)
        senders = new_senders(5)
        with server(address) as where:
            threads = start(senders, where)
            for _ in range(stopped):
                wait_for_answers(senders, 60, 0.5)
                refused = sum(one.counts["failed"] for one in senders)
                database.stop()
                until = time.monotonic() + 60.0
                while sum(one.counts["failed"] for one in senders) == refused:
                    assert time.monotonic() < until, "nobody noticed"
                    time.sleep(0.01)
                assert ask(where, "/healthz")[0] == 200
                database.start()
            wait_for_answers(senders, 60, 0.5)
        for thread in threads:
            thread.join()
        check_store(address, senders)


def test_a_second_server_on_the_same_database_takes_over_only_when_the_first_has_lost_it():
    import psycopg

    arrivals = "/v1/streams/types/arrivals"
    with postgresql() as database:
        address = made(database.address, types=replace(TYPES, deadline=None))
        with server(address) as first:
            assert ask(first, arrivals, {"row": "flu", "id": "a"})[0] == 200
            words = ["-m", "breakeven", "serve", "--port", "0", "--store", address]
            second = subprocess.run([sys.executable, *words], capture_output=True, text=True)
            assert second.returncode == 2
            assert "held by process" in second.stderr
            with psycopg.connect(database.address, autocommit=True) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"
                )
            with server(address) as second:
                assert ask(second, arrivals, {"row": "flu", "id": "b"})[0] == 200
                status, problem = ask(first, arrivals, {"row": "flu", "id": "c"})
                assert status == 503
                assert "got one held by process" in problem["detail"]
                assert ask(second, arrivals, {"row": "flu", "id": "c"})[1]["entry"] == 4
            asked_until(first, arrivals, {"row": "flu", "id": "d"}, 200)  # the second is gone
            assert ask(first, arrivals, {"row": "flu", "id": "b"})[1]["repeated"]
        check_arrived(address, [{"id": id} for id in "abcd"])


def test_what_another_server_writes_while_a_stream_is_read_is_not_passed_over(serving, monkeypatch):
    store = MemoryStore()  # which has no lock
    beside, writing = store.beside, []
    with serving(store) as first, serving(store) as second:
        first("PUT", "", ALL_WANTED, status=201)

        def write_meanwhile(number):
            if writing:
                second("POST", "arrivals", writing.pop())
            return beside(number)

        first("POST", "arrivals", {"row": "flu", "id": "a"})
        second.run(second.service._begun(store.stream("clinic")))
        monkeypatch.setattr(store, "beside", write_meanwhile)
        writing.append({"row": "flu", "id": "b"})
        first.run(read_anew(first.live()))
        assert not writing
        first("POST", "arrivals", {"row": "flu", "id": "c"}, status=503)
        first.run(first.live().settled())
        first("POST", "arrivals", {"row": "flu", "id": "c"})
        assert fold_stream(store, store.stream("clinic")).rounds == 3


async def read_anew(live):
    live.drop(OSError("the disk was gone"))
    await live.settled()


# -- clocks ------------------------------------------------------------------------------------------------


def test_a_clock_that_goes_back_changes_neither_order_nor_leases(serving, clock):
    with serving() as clinic:
        clinic("PUT", "", ALL_WANTED | {"deadline": 3600.0}, status=201)
        clinic("POST", "arrivals", {"row": "flu", "id": "a"})
        clock.time -= 86_400
        clinic("POST", "arrivals", {"row": "flu", "id": "b"})
        held = clinic("POST", "requests/next")["request"]["id"]
        clock.time += 172_800  # and forward again, by two days
        clock.gone += 10
        assert clinic("POST", "requests/next")["request"]["id"] == held
        assert [one["id"] for one in clinic("GET", "entries?kind=Arrived")["entries"]] == ["a", "b"]
        assert clinic("GET", "requests")["open"] == 2  # deadlines wait, in case it jumps back
        clock.time -= 86_400
        clock.go_on(70)
        assert clinic("GET", "requests")["open"] == 2  # nor does it believe this jump at once
        clock.go_on(61)
        assert clinic("GET", "requests")["open"] == 1  # b is as old as the clock said, a is young
        assert clinic("GET", "summary")["oldest"] == time_of(clock.time - 131)
    with serving() as clinic:
        assert clinic("GET", "requests")["open"] == 1
        assert clinic("GET", "/metrics").text.count("nan") == 0


# -- slow people -------------------------------------------------------------------------------------------


@contextmanager
def connected(where):
    place = urlsplit(where)
    with closing(socket.socket()) as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # little is on its way unread
        one.settimeout(60)
        one.connect((place.hostname, place.port))
        yield one


def test_a_reader_who_stops_reading_holds_nothing_up(tmp_path):
    address = made(f"sqlite:///{tmp_path}/clinic.db", types=TYPES)
    arrivals = "/v1/streams/types/arrivals"
    with server(address) as where:
        for number in range(40):
            batch = [{"row": f"type {i}", "id": f"{number}-{i}"} for i in range(200)]
            assert ask(where, arrivals, batch)[0] == 200
        with connected(where) as export, connected(where) as feed:
            for one, path in ((export, "entries?format=lines"), (feed, "feed")):
                one.sendall(f"GET /v1/streams/types/{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                assert one.recv(12) == b"HTTP/1.1 200"  # and no more for now
            for number in range(20):
                assert ask(where, arrivals, {"row": "flu", "id": f"more {number}"})[0] == 200
            export.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            read = b"".join(iter(lambda: export.recv(1 << 16), b""))
        assert read.count(b'"kind":"Arrived"') == 40 * 200  # as of when it was asked for
        assert read.endswith(b'{"status":"alive"}')


def test_whoever_does_not_finish_their_headers_is_hung_up_on(tmp_path):
    address = made(f"sqlite:///{tmp_path}/clinic.db", types=TYPES)
    with (
        server(address, silent=1.0) as where,
        connected(where) as nothing,
        connected(where) as half,
        connected(where) as busy,
    ):
        half.sendall(b"POST /v1/streams/types/arrivals HTTP/1.1\r\nHost: lo")
        busy.sendall(b"GET /v1/streams/types/feed HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert busy.recv(12) == b"HTTP/1.1 200"
        assert (nothing.recv(100), half.recv(100)) == (b"", b"")
        place = urlsplit(where)
        with closing(http.client.HTTPConnection(place.hostname, place.port, timeout=30)) as caller:
            for _ in range(30):  # a caller who takes their time between calls is no such
                caller.request("GET", "/healthz")
                assert caller.getresponse().read()
                time.sleep(0.05)
        assert ask(where, "/v1/streams/types/arrivals", {"row": "flu", "id": "a"})[0] == 200
        while b"changed" not in busy.recv(1000):
            pass
    assert serving_process.SILENT_SECONDS >= 10.0


def test_headers_without_an_end_are_refused(tmp_path):
    address = made(f"sqlite:///{tmp_path}/clinic.db", types=TYPES)
    with server(address) as where, connected(where) as endless:
        body = json.dumps({"row": "flu", "id": "a"}).encode() + b" " * (2 << 20)  # no head, however long
        head = b"POST /v1/streams/types/arrivals HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
        endless.sendall(head % len(body) + body)
        assert endless.recv(12) == b"HTTP/1.1 200"
        endless.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ")
        with pytest.raises(OSError, match=r"Broken pipe|reset"):  # it has hung up
            endless.sendall(b"a" * (64 << 20))
        assert ask(where, "/healthz")[0] == 200


MORTAL = """
import os, sys
from breakeven.cli import main
from breakeven.store.writer import Writer

commit, wound = Writer._commit, sys.argv.pop(1)


def mortal(self, group):
    if os.path.exists(wound) and any(call.entries for call in group):
        raise MemoryError("no room")
    return commit(self, group)


Writer._commit = mortal
sys.exit(main())
"""


def test_a_server_whose_writing_thread_has_died_refuses_what_waits_and_ends(tmp_path):
    """Nobody waits for ever, and whoever looks after the process starts it anew."""
    wound = tmp_path / "wound"
    address = made(f"sqlite:///{tmp_path}/clinic.db", one=TYPES, two=TYPES)
    words = [str(wound), "serve", "--json", "--port", "0", "--store", address]
    with subprocess.Popen(
        [sys.executable, "-c", MORTAL, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            where = json.loads(process.stdout.readline())["address"]
            for stream in ("one", "two"):
                asked_until(where, f"/v1/streams/{stream}/arrivals", {"row": "flu", "id": "a"}, 200)
            wound.touch()
            with ThreadPoolExecutor(8) as callers:
                waiting = [
                    callers.submit(
                        ask, where, f"/v1/streams/{stream}/arrivals", {"row": "flu", "id": f"b{number}"}
                    )
                    for number in range(4)
                    for stream in ("one", "two")
                ]
                answers = [one.result() for one in waiting if one.exception() is None]
            assert answers
            assert {status for status, _ in answers} == {503}
            said = process.communicate(timeout=20)[1]
        finally:
            process.kill()
    assert process.returncode == 2
    assert "nothing is written any more, as the thread that writes has died (MemoryError: no room)" in said
    with closing(open_store(address, "read")) as store:
        assert [store.last(one.number) for one in store.streams()] == [2, 2]


def test_a_service_whose_writing_thread_has_died_can_be_stopped(clinic, monkeypatch):
    clinic("POST", "arrivals", {"row": "flu", "id": "a"})
    monkeypatch.setattr(clinic.service.writer, "_commit", lambda group: 1 / 0)
    for id in "bc":
        problem = clinic("POST", "arrivals", {"row": "flu", "id": id}, status=503)
        assert problem["type"] == "urn:breakeven:NotReady"
    end = time.monotonic() + 30.0
    while clinic.service.fault is None and time.monotonic() < end:  # the loop is told after the callers are
        time.sleep(0.01)
    assert "ZeroDivisionError" in str(clinic.service.fault)
