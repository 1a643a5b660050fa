"""A store that is locked or frozen: the loop goes on, calls are refused in time, and nothing is lost."""

import asyncio
import http.client
import os
import signal
import sqlite3
import subprocess
import threading
import time
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

import pytest

from breakeven.errors.serving import NotReady
from breakeven.service.live_stream import ERASING_PATIENCE
from breakeven.store import open_store
from breakeven.store.schema import SCHEMA_VERSION
from breakeven.testing import MemoryStore
from tests.servers import postgresql
from tests.service.samples import ALL_WANTED
from tests.service.senders import start
from tests.service.test_hard_times import ask, asked_until, made
from tests.service.under_load import CURVE, TYPES, check_store, new_senders, server, wait_for_answers

TABLES = (
    "meta", "stream", "entry", "arrived", "snapshot", "token", "session", "person", "trail", "erased",
    "owner",
)  # fmt: skip


# -- in one process, with short limits -------------------------------------------------------------------


class Stalling(MemoryStore):
    """A store in which some verbs wait until they are let go."""

    def __init__(self):
        super().__init__()
        self.verbs, self.let_go, self.stalls = (), threading.Event(), 0

    def _waited(self, verb):
        if verb in self.verbs:
            self.stalls += 1
            assert self.let_go.wait(30), "it was never let go"


def _stalling(verb):
    def wait(self, *given, **named):
        self._waited(verb)
        return getattr(MemoryStore, verb)(self, *given, **named)

    return wait


for _verb in ("append", "find_many", "about", "tokens", "create_stream", "close_stream", "last", "erased"):
    setattr(Stalling, _verb, _stalling(_verb))


@pytest.fixture
def stalling(serving, monkeypatch):
    """A service of a stream with one arrival whose store stalls in the named verbs for a while."""
    for module in ("waiting", "to_disk", "live_stream"):
        monkeypatch.setattr(f"breakeven.service.{module}.STORE_SECONDS", 0.05)
    store = Stalling()
    with serving(store) as served:
        served("PUT", "", ALL_WANTED, status=201)
        served("POST", "arrivals", {"row": "flu", "id": "a"})

        @contextmanager
        def stall(*verbs):
            store.verbs = verbs
            store.let_go.clear()
            try:
                yield
            finally:
                store.let_go.set()
                store.verbs = ()

        served.stall = stall
        yield served


def go_on(served):
    """Wait until what was under way has come to its end."""
    until = time.monotonic() + 30
    while served.live().to_disk.stalled or served.live()._turn.locked():
        assert time.monotonic() < until
        served("GET", "/healthz")


def refused(served, method, path, body=None, **more):
    problem = served(method, path, body, status=503, **more)
    assert "expected an answer within" in problem["detail"], problem
    served("GET", "/healthz")


def test_a_write_that_is_not_on_disk_in_time_is_refused_and_counts_once(stalling):
    with stalling.stall("append"):
        refused(stalling, "POST", "arrivals", {"row": "flu", "id": "b"})
        rounds = stalling.live().ready.learner.rounds
        for _ in range(3):  # no more is taken, so memory does not grow
            refused(stalling, "POST", "arrivals", {"row": "flu", "id": "c"})
        assert stalling.live().ready.learner.rounds == rounds
        refused(stalling, "GET", "summary")
    go_on(stalling)
    assert stalling("POST", "arrivals", {"row": "flu", "id": "b"})["repeated"]
    stalling("POST", "arrivals", {"row": "flu", "id": "c"})
    assert [one["id"] for one in stalling("GET", "entries?kind=Arrived")["entries"]] == ["a", "b", "c"]
    answer = stalling.run(stalling.client.get("/v1/streams/clinic/summary"))
    assert answer.json()["ledger"]["rounds"] == 3


def test_a_refusal_says_when_to_come_back(stalling):
    with stalling.stall("append"):
        body = {"row": "flu", "id": "b"}
        answer = stalling.run(stalling.client.post("/v1/streams/clinic/arrivals", json=body))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")


@pytest.mark.parametrize("body", [{"row": "flu", "id": "old"}, [{"row": "flu", "id": "old"}] * 1])
def test_a_look_up_of_an_id_that_stalls_is_refused(stalling, body):
    stalling.live().seen.complete = False  # as before all ids are read
    with stalling.stall("find_many"):
        refused(stalling, "POST", "arrivals", body)
    stalling("POST", "arrivals", body)


def test_whoever_waits_for_a_turn_waits_no_longer_than_those_before(stalling):
    stalling.live().seen.complete = False
    with stalling.stall("find_many"):
        calls = [
            stalling.client.post("/v1/streams/clinic/arrivals", json={"row": "flu", "id": f"n{i}"})
            for i in range(20)
        ]
        answers = stalling.run(_all(calls))
    assert {one.status_code for one in answers} == {503}
    assert stalling.store.stalls < 5, "they waited one after the other"
    stalling("POST", "arrivals", {"row": "flu", "id": "n0"})


async def _all(calls):
    return await asyncio.gather(*calls)


@pytest.mark.parametrize(
    ("verb", "method", "path", "body", "after"),
    [
        ("about", "GET", "arrivals/a", None, 200),
        ("tokens", "GET", "summary", None, 200),
        ("create_stream", "PUT", "/v1/streams/new", ALL_WANTED, 200),  # it was made meanwhile
        ("close_stream", "DELETE", "", None, 204),
        ("find_many", "POST", "erase", {"ids": ["a"]}, 200),
        ("erased", "POST", "erase", {"ids": ["a"]}, 200),
    ],
)
def test_every_kind_of_call_is_refused_and_works_again(stalling, clock, verb, method, path, body, after):
    clock.go_on(10)  # so that the store is asked who may call
    with stalling.stall(verb):
        refused(stalling, method, path, body)
    go_on(stalling)
    stalling(method, path, body, status=after)


def test_calls_wait_for_a_short_compaction_and_are_refused_during_a_long_one(stalling, monkeypatch):
    monkeypatch.setattr("breakeven.service.compaction.PATIENCE", 0.1)
    store, going_on = stalling.store, threading.Event()

    def compact():
        assert going_on.wait(30)
        MemoryStore.compact(store)

    monkeypatch.setattr(store, "compact", compact)
    stalling("POST", "erase", {"ids": ["a"]})
    stalling("GET", "arrivals/a", status=410)  # from now on

    async def asked_meanwhile():
        finished = asyncio.ensure_future(stalling.service.compaction.finish())
        while stalling.service.compaction.since is None:
            await asyncio.sleep(0)
        found = [await stalling.client.get(path) for path in ("/v1/streams", "/healthz", "/readyz")]
        last = asyncio.ensure_future(stalling.client.get("/v1/streams"))
        await asyncio.sleep(0.01)
        going_on.set()
        await finished
        return [*found, await last]

    answers = stalling.run(asked_meanwhile())
    assert [one.status_code for one in answers] == [503, 200, 503, 200]
    assert answers[0].headers["retry-after"] == "1"
    assert "without what was erased" in answers[0].json()["detail"]
    assert not store.uncompacted


# -- a real server ---------------------------------------------------------------------------------------

HEALTHY = 0.05  # seconds
IN_TIME = 6.0


class Health:
    """Asks again and again how a server is, and notes how long it takes to say so."""

    def __init__(self, where):
        self._where, self._ended, self.seconds = urlsplit(where), threading.Event(), []
        self._thread = threading.Thread(target=self._work)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def _work(self):
        with closing(http.client.HTTPConnection(self._where.hostname, self._where.port, timeout=60)) as one:
            while not self._ended.wait(0.02):
                began = time.perf_counter()
                one.request("GET", "/healthz")
                assert one.getresponse().read()
                self.seconds.append(time.perf_counter() - began)

    def check(self, words):
        """The loop was free all the time; one look in twenty may have waited for the processor."""
        slow = sorted(self.seconds)[-max(len(self.seconds) // 20, 1)]
        print(f"{words}: {len(self.seconds)} looks, p95 {slow:.4f} s, slowest {max(self.seconds):.4f} s")
        assert len(self.seconds) > 50
        assert slow < HEALTHY, words
        assert max(self.seconds) < 1.0, words


def check_stalled(where, senders, words, stalled, seconds=7.0):
    """Stall the store under load: all is answered in time, and goes on afterwards."""
    for one in senders:
        one.slowest = 0.0
    with Health(where) as health, stalled():
        time.sleep(seconds)
    print(f"{words}: slowest answer {max(one.slowest for one in senders):.2f} s")
    assert max(one.slowest for one in senders) < IN_TIME, words
    health.check(words)
    wait_for_answers(senders, 40, 0.5)


@pytest.mark.slow
def test_a_lock_on_any_table_freezes_nobody_and_loses_nothing():
    import psycopg

    assert SCHEMA_VERSION == 5, "are all tables in the list?"
    with postgresql() as database:
        address = made(database.address, types=TYPES, curve=CURVE)
        senders = new_senders(50)

        def lock(table):
            @contextmanager
            def locked():
                with psycopg.connect(database.address) as other:
                    other.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
                    yield

            return locked

        with server(address) as where:
            threads = start(senders, where)
            wait_for_answers(senders, 60, 0.5)
            for table in TABLES:
                check_stalled(where, senders, table, lock(table))
        for thread in threads:
            thread.join()
        check_store(address, senders)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [7.0, 45.0], ids=["shortly", "until it is hung up on"])
def test_a_frozen_database_freezes_nobody_and_loses_nothing(seconds):
    with postgresql() as database:
        address = made(database.address, types=TYPES, curve=CURVE)
        senders = new_senders(60)

        @contextmanager
        def frozen():
            import psycopg

            with psycopg.connect(database.address) as one:
                ((folder,),) = one.execute("SHOW data_directory").fetchall()
            with open(f"{folder}/postmaster.pid") as file:
                parent = int(file.readline())
            found = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True).stdout
            pids = [parent, *map(int, found.split())]
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)
            try:
                yield
            finally:
                for pid in pids:
                    os.kill(pid, signal.SIGCONT)

        with server(address) as where:
            threads = start(senders, where)
            wait_for_answers(senders, 60, 0.5)
            check_stalled(where, senders, "frozen", frozen, seconds)
        for thread in threads:
            thread.join()
        check_store(address, senders)


@pytest.mark.slow
def test_a_file_that_another_process_locks_freezes_nobody_and_loses_nothing(tmp_path):
    address = made(f"sqlite:///{tmp_path}/clinic.db", types=TYPES, curve=CURVE)
    senders = new_senders(70)

    @contextmanager
    def locked():
        with closing(sqlite3.connect(tmp_path / "clinic.db", isolation_level=None, timeout=60)) as other:
            other.execute("BEGIN EXCLUSIVE")
            yield
            other.execute("ROLLBACK")

    with server(address) as where:
        threads = start(senders, where)
        wait_for_answers(senders, 60, 0.5)
        check_stalled(where, senders, "sqlite", locked)
    for thread in threads:
        thread.join()
    check_store(address, senders)


@pytest.mark.slow
def test_while_a_database_is_compacted_calls_are_refused_and_health_is_quick():
    import psycopg

    arrivals = "/v1/streams/types/arrivals"
    with postgresql() as database:
        address = made(database.address, types=TYPES)
        with server(address) as where:
            batch = [{"row": f"type {i}", "id": f"id{i}"} for i in range(1000)]
            assert ask(where, arrivals, batch)[0] == 200
            assert ask(where, "/v1/streams/types/erase", {"ids": ["id7"]}) == (200, {"entries": 1})
            assert ask(where, f"{arrivals}/id7")[0] == 410
            with Health(where) as health, psycopg.connect(database.address) as reader:
                reader.execute("LOCK TABLE snapshot IN ACCESS SHARE MODE")  # so that it takes a while
                while ask(where, arrivals, {"row": "flu", "id": "new"})[0] == 200:
                    time.sleep(0.05)
                time.sleep(1.0)
                assert ask(where, "/readyz")[0] == 503
            health.check("compacting")
            asked_until(where, f"{arrivals}/id8", None, 200)
        with closing(open_store(address, "read")) as store:
            assert not store.uncompacted


def test_calls_do_not_gather_while_something_is_erased_from_a_large_stream(served, clock):
    served("PUT", "", ALL_WANTED, status=201)
    live, done, path = served.live(), threading.Event(), "/v1/streams/clinic"

    async def call_meanwhile():
        erasing = asyncio.ensure_future(live.alone(lambda: done.wait(20.0)))
        await asyncio.sleep(0.05)
        clock.go_on(ERASING_PATIENCE)
        calls = (
            served.client.post(f"{path}/arrivals", json={"row": "flu"}),
            served.client.get(f"{path}/summary"),
        )
        answers = await asyncio.gather(*calls)
        with pytest.raises(NotReady, match="something is being erased"):
            assert live.ready
        folding = live._folding
        done.set()
        await erasing
        return answers, folding

    answers, folding = served.run(call_meanwhile())
    assert [(one.status_code, one.headers["retry-after"]) for one in answers] == [(503, "1")] * 2
    assert all("something is being erased" in one.json()["detail"] for one in answers)
    assert folding is None  # nobody reads what is being rewritten
    served.run(live.settled())
    served("POST", "arrivals", {"row": "flu"})
