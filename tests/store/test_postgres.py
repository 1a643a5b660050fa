"""A store in PostgreSQL: its lock, its server going and coming back, many rows at once, passwords."""

import os
import signal
import sys
from contextlib import contextmanager

import pytest

from breakeven.store import SecondWriter, StoreError, StoreFailed, StoreHeld, Writer, WrongStore, open_store
from breakeven.store.postgres import ROWS_BY_STATEMENT, MissingPsycopg
from breakeven.store.schema import SCHEMA_VERSION
from breakeven.testing.store_checks import begun, entry
from tests.store.older import as_version_1


@pytest.fixture
def store(new_address):
    made = open_store(new_address, "create")
    yield made
    made.close()


def test_without_psycopg_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingPsycopg, match=r"psycopg is needed for a store in Postgre.*'\.\[postgres\]'"):
        open_store("postgresql://db/clinic")


def test_a_server_that_does_not_answer_is_one_line_without_the_password():
    pytest.importorskip("psycopg", reason="psycopg, of the extra postgres, is not installed")
    with pytest.raises(StoreFailed, match=r"ann:\*\*\*@127.0.0.1:1/clinic.*: could not") as refused:
        open_store("postgresql://ann:secret@127.0.0.1:1/clinic?connect_timeout=2")
    assert "secret" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_database_without_tables_is_no_store(new_address):
    for access in ("read", "write"):
        with pytest.raises(WrongStore, match="got a database without its tables"):
            open_store(new_address, access)


def test_a_second_writer_is_told_who_writes_and_since_when(store, new_address, monkeypatch):
    monkeypatch.setattr("breakeven.store.postgres.ENDING_SECONDS", 0.1)
    words = (
        rf"got one held by process {os.getpid()} on \S+ since \d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ; stop that"
    )
    with pytest.raises(StoreHeld, match=words):
        open_store(new_address)
    reader = open_store(new_address, "read")
    assert reader.streams() == []
    with pytest.raises(StoreError, match="expected a store that is open for writing"):
        reader.create_stream("clinic", b"", at=0.0)
    reader.close()
    store.close()
    open_store(new_address).close()


def test_few_rows_and_many_are_all_or_none_and_the_same(store):
    stream, seq = begun(store), 0
    for size in (1, ROWS_BY_STATEMENT, ROWS_BY_STATEMENT + 1, 3000):
        some = [entry(stream, seq + i) for i in range(1, size + 1)]
        store.append(some)
        assert list(store.entries(stream, after=seq)) == some
        seq += size
        store._lasts.clear()
        with pytest.raises(SecondWriter, match="which is taken"):
            store.append(some)


def terminate(store):
    """End the connection of the writer, as an administrator does, and wait for it."""
    with store._reading() as connection:
        connection.execute("SELECT pg_terminate_backend(%s, 5000)", (store._writer.info.backend_pid,))


def test_a_lost_connection_is_made_anew_and_the_number_is_the_fence(store, new_address, monkeypatch):
    monkeypatch.setattr("breakeven.store.postgres.ENDING_SECONDS", 0.1)
    stream = begun(store, 2)
    with Writer(store) as writer:
        terminate(store)
        writer.write([entry(stream, 3)])
        terminate(store)
        second = open_store(new_address)  # another server took over
        second.append([entry(stream, 4, body=b"second")])
        with pytest.raises(StoreHeld, match="got one held by process"):
            writer.write([entry(stream, 4)])
        second.close()
        writer.resume(stream)
        with pytest.raises(SecondWriter, match="got 4, which is taken: somebody else writes to this stream"):
            writer.write([entry(stream, 4, body=b"first")])
    assert [one.body for one in store.entries(stream)][3:] == [b"second"]


def test_a_connection_that_ends_in_the_middle_fails_the_call(store, monkeypatch):
    stream, insert = begun(store, 2), store._insert

    def cut(connection, entries):
        insert(connection, entries)
        terminate(store)

    monkeypatch.setattr(store, "_insert", cut)
    with pytest.raises(StoreFailed, match="could not be read or written"):
        store.append([entry(stream, 3)])
    monkeypatch.undo()
    store.append([entry(stream, store.last(stream) + 1)])
    assert store.last(stream) == 3


def test_a_server_that_stops_under_load_and_comes_back_loses_nothing(server, store):
    stream, said = begun(store), []
    with Writer(store) as writer:
        for seq in range(1, 400):
            writer.submit([entry(stream, seq)], said.append)
            if seq == 200:
                server.stop()
        with pytest.raises(StoreFailed, match="could not be read or written"):
            writer.barrier(stream)
        server.start()
        answered = said.index(next(error for error in said if error is not None))
        assert all(isinstance(error, StoreFailed) for error in said[answered:])
        last = store.last(stream)
        assert last >= answered
        assert [one.seq for one in store.entries(stream)] == list(range(1, last + 1))
        writer.resume(stream)
        writer.write([entry(stream, last + 1)])
    assert store.last(stream) == last + 1


def test_versions_go_forward_by_command(new_address):
    import psycopg

    open_store(new_address, "create").close()
    with psycopg.connect(new_address) as connection:
        as_version_1(connection)
    with pytest.raises(WrongStore, match="the older version 1; run `breakeven store upgrade --store post"):
        open_store(new_address)
    old = open_store(new_address, "upgrade")
    assert (old.upgrade(), old.version()) == (1, SCHEMA_VERSION)
    old.close()
    open_store(new_address).close()


@pytest.mark.parametrize(
    ("query", "seconds"), [("", 5), ("?connect_timeout=3", "3")], ids=["unless given", "as given"]
)
def test_nobody_waits_for_a_server_for_ever(monkeypatch, query, seconds):
    psycopg = pytest.importorskip("psycopg", reason="psycopg, of the extra postgres, is not installed")
    given = {}

    def connect(**more):
        given.update(more)
        raise psycopg.OperationalError("down")

    monkeypatch.setattr(psycopg, "connect", connect)
    with pytest.raises(StoreFailed, match="down"):
        open_store(f"postgresql://db.example/clinic{query}", "read")
    assert (given["connect_timeout"], given["tcp_user_timeout"]) == (seconds, 10_000)


def test_every_session_is_set_up_alike(store):
    """Writers, readers, and those who come after one that was lost."""
    terminate(store)
    store.append([entry(begun(store), 1)])
    with store._reading() as reader, store._transaction() as writer:
        for session in (reader, writer):
            shown = [
                session.execute(f"SHOW {name}").fetchall()[0][0]
                for name in ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")
            ]
            assert shown == ["4s", "30s", "30s"]
            assert session.execute("SHOW synchronous_commit").fetchall() == [("on",)]
    with store._transaction(long=True) as keeping_house:
        assert keeping_house.execute("SHOW statement_timeout").fetchall() == [("0",)]


# -- a database that does not answer -----------------------------------------------------------------------


@contextmanager
def locked(address, table):
    """Nobody else can use a table meanwhile."""
    import psycopg

    with psycopg.connect(address) as other:
        other.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        yield


def test_whoever_waits_for_a_lock_is_told_so_and_nothing_is_half_done(store, new_address, monkeypatch):
    monkeypatch.setattr("breakeven.store.postgres_sessions.LOCK_SECONDS", 0.1)
    store.close()
    store = open_store(new_address)
    stream = begun(store, 2)
    for table in ("entry", "arrived"):
        with locked(new_address, table), pytest.raises(StoreFailed, match="due to lock timeout"):
            store.append([entry(stream, 3, kind="Arrived", id="Ann")])
    with locked(new_address, "token"), pytest.raises(StoreFailed, match="due to lock timeout"):
        store.tokens()
    store.append([entry(stream, 3)])
    assert (store.last(stream), store.tokens()) == (3, [])
    store.close()


def test_a_server_that_is_frozen_is_hung_up_on(server, store, monkeypatch):
    monkeypatch.setattr("breakeven.store.postgres_sessions.ANSWER_SECONDS", 0.3)
    monkeypatch.setattr("breakeven.store.postgres_sessions.WATCHED_EVERY", 0.05)
    stream = begun(store, 2)
    with store._reading() as reader:
        pids = [reader.info.backend_pid, store._writer.info.backend_pid]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        for ask in (store.tokens, lambda: store.append([entry(stream, 3)])):
            with pytest.raises(StoreFailed, match="could not be read or written"):
                ask()
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    store.append([entry(stream, store.last(stream) + 1)])
    assert store.tokens() == []
