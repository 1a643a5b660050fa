"""What was erased is in no file of the store after `compact`: every file of every relation is searched.

A value may be compressed, which breaks text up after each eighth byte. So any eight bytes in a row count.
"""

import random
import string
from pathlib import Path

import pytest

from breakeven import Learner, Threshold, TypeMeans
from breakeven.folding import entry_of, erase
from breakeven.service.to_disk import as_one
from breakeven.store import SqliteStore, StoredSnapshot, StoreFailed, open_store
from breakeven.store.log_tables import FOUND_BY_ID
from breakeven.store.postgres_compacting import PRIVATE_COLUMNS

PIECE = 8  # bytes in a row
MANY = 400  # arrivals that are written as one row


def _secret(seed):
    return "".join(random.Random(seed).choices(string.ascii_letters + string.digits, k=24))


TOGETHER, ALONE, CONTENT, LABELLED = map(_secret, range(4))  # two ids, and what came with each
SECRETS = (TOGETHER, ALONE, CONTENT, LABELLED)


def fill(store):
    """A stream with many arrivals in one row and some alone, labels, and a snapshot."""
    live, events = Learner(TypeMeans(noise_std=1.0), Threshold(), label_cost=5.0, name="clinic"), []
    stream = store.create_stream("clinic", b"", at=0.0).number
    live.listen(events.append)
    ids = [f"person {i}" for i in range(MANY)]
    ids[MANY // 2] = TOGETHER
    live.decide_many([CONTENT if id == TOGETHER else "flu" for id in ids], ids=ids)
    live.decide(LABELLED, id=ALONE, force=True)
    live.tell(ALONE, 38.0)
    live.correct(ALONE, 39.0)
    live.decide("flu", id="last")
    entries = [
        entry_of(one, stream, seq, by="x", at=0.0) for seq, one in enumerate([live.created, *events], 1)
    ]
    store.append(as_one(entries))
    last = store.last(stream)
    store.keep_snapshot(StoredSnapshot(stream, last, 0.0, "1", live.snapshot()))
    assert last == len(entries)


def found_in(files):
    """Which of the secrets are in these files, whole or in part, and where."""
    return {
        (name, path.name)
        for path in files
        for content in [path.read_bytes()]
        for name in SECRETS
        if any(name[at : at + PIECE].encode() in content for at in range(len(name) - PIECE + 1))
    }


class Database:
    """The database of a server: its files, and statements of its administrator."""

    def __init__(self, address):
        import psycopg

        self.session = psycopg.connect(address, autocommit=True)

    def run(self, sql):
        cursor = self.session.execute(sql)
        return cursor.fetchall() if cursor.description else []

    def found(self):
        """Which secrets are in any file of any relation."""
        self.run("CHECKPOINT")
        ((folder, oid),) = self.run(
            "SELECT setting, oid FROM pg_settings, pg_database "
            "WHERE name = 'data_directory' AND datname = current_database()"
        )
        files = [one for one in Path(folder, "base", str(oid)).iterdir() if one.is_file()]
        assert len(files) > 100
        return found_in(files)


@pytest.fixture
def database(new_address):
    one = Database(new_address)
    yield one
    ((schema,),) = one.run("SELECT quote_ident(current_schema())")
    one.run(f"DROP SCHEMA {schema} CASCADE")  # its files would be searched by the next test
    one.session.close()


@pytest.mark.parametrize("storage", ["EXTERNAL", "EXTENDED"], ids=["as it is", "compressed"])
def test_postgresql_keeps_no_byte_of_whom_was_erased(new_address, database, storage):
    store = open_store(new_address, "create")
    for table in ("entry", "snapshot"):
        database.run(f"ALTER TABLE {table} ALTER COLUMN body SET STORAGE {storage}")
    fill(store)
    database.run("ANALYZE")  # as the server does by itself after a while
    assert {name for name, _ in database.found()} == set(SECRETS)  # so the search finds what is there
    erase(store, TOGETHER, ALONE, by="officer", compact=False)
    assert store.uncompacted
    assert {name for name, _ in database.found()} == set(SECRETS)
    store.compact()
    assert not store.uncompacted
    assert database.found() == set()
    assert store.find(store.streams()[0].number, "last") is not None
    store.close()


def test_without_statistics_ids_are_found_by_an_index(new_address, database):
    store = open_store(new_address, "create")
    fill(store)
    database.run("ANALYZE")
    with store._reading() as session:
        for count in (1, 2, 500):
            slots = ", ".join(["%s"] * count)
            plan = session.execute(
                f"EXPLAIN {FOUND_BY_ID} WHERE a.stream = 1 AND a.id IN ({slots})", ["x"] * count
            ).fetchall()
            words = "\n".join(line for (line,) in plan)
            assert words.count("Index") >= 2, words
            assert not [one for one in ("Seq Scan", "Hash", "Gather", "JIT") if one in words], words
    store.close()


def as_before(database):
    """Have statistics gathered of every column, as for stores that were made before this was seen to."""
    for table, columns in PRIVATE_COLUMNS.items():
        for name in columns:
            database.run(f"ALTER TABLE {table} ALTER COLUMN {name} SET STATISTICS -1")


def files_of_statistics(database):
    return {str(one) for row in database.run(
        "SELECT pg_relation_filenode('pg_statistic'), pg_relation_filenode(reltoastrelid) "
        "FROM pg_class WHERE oid = 'pg_statistic'::regclass"
    ) for one in row}  # fmt: skip


def test_statistics_that_were_gathered_before_go_too(new_address, database):
    store = open_store(new_address, "create")
    fill(store)
    database.run("ANALYZE")
    assert not {file for _, file in database.found()} & files_of_statistics(database)
    as_before(database)
    database.run("ANALYZE")
    assert {file for _, file in database.found()} & files_of_statistics(database)
    erase(store, TOGETHER, ALONE, by="officer")
    database.run("ANALYZE")
    assert database.found() == set()
    before = files_of_statistics(database)
    store.compact()
    assert files_of_statistics(database) == before  # once is enough
    store.close()


def test_an_old_transaction_keeps_no_byte_of_the_log_and_statistics_wait_for_it(
    new_address, database, monkeypatch
):
    import psycopg

    monkeypatch.setattr("breakeven.store.postgres_sessions.LOCK_SECONDS", 0.2)
    store = open_store(new_address, "create")
    fill(store)
    as_before(database)
    database.run("ANALYZE")
    with psycopg.connect(new_address) as other:
        other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT count(*) FROM person").fetchall()  # from here on it sees what is there now
        with pytest.raises(StoreFailed, match="expected no transaction that began before this, got one"):
            erase(store, TOGETHER, ALONE, by="officer")
        assert {file for _, file in database.found()} <= files_of_statistics(database)
        assert store.uncompacted
    store.compact()
    assert (database.found(), store.uncompacted) == (set(), False)
    store.close()


def test_whoever_may_not_write_statistics_anew_is_told_who_may(new_address, database):
    ((schema,),) = database.run("SELECT current_schema()")
    database.run(f"CREATE ROLE clerk_{schema} LOGIN; GRANT ALL ON SCHEMA {schema} TO clerk_{schema}")
    store = open_store(new_address.replace("//ann@", f"//clerk_{schema}@"), "create")
    fill(store)
    erase(store, ALONE, by="officer")  # none were gathered, so nobody else is needed
    as_before(database)
    database.run("ANALYZE")
    with pytest.raises(StoreFailed, match="run `VACUUM FULL pg_statistic` as its owner, then `breakeven sto"):
        erase(store, TOGETHER, by="officer")
    assert store.uncompacted
    database.run("VACUUM FULL pg_statistic")
    store.compact()
    assert (database.found(), store.uncompacted) == (set(), False)
    store.close()


def test_a_stream_that_was_removed_leaves_no_byte(new_address, database):
    store = open_store(new_address, "create")
    fill(store)
    database.run("ANALYZE")
    store.drop_stream(store.streams()[0].number, 0.0, by="officer")
    assert database.found()
    store.compact()
    assert database.found() == set()
    store.close()


def test_sqlite_keeps_no_byte_of_whom_was_erased(tmp_path):
    store = SqliteStore(tmp_path / "clinic.db", "create")
    fill(store)
    assert {name for name, _ in found_in(tmp_path.iterdir())} == set(SECRETS)
    erase(store, TOGETHER, ALONE, by="officer", compact=False)
    assert store.uncompacted
    store.compact()
    assert {one.name for one in tmp_path.iterdir()} > {"clinic.db", "clinic.db-wal", "clinic.db-shm"}
    assert (found_in(tmp_path.iterdir()), store.uncompacted) == (set(), False)
    store.close()
    assert found_in(tmp_path.iterdir()) == set()
