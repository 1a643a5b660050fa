"""A store in a file: what it is on disk, who may write to it, its versions, and what happens when it goes."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from breakeven.errors import DuplicateId
from breakeven.store import SecondWriter, SqliteStore, StoreError, StoreFailed, StoreHeld, Writer, WrongStore
from breakeven.store.backup import restore_backup, write_backup
from breakeven.store.opening import open_store
from breakeven.store.schema import SCHEMA_VERSION
from breakeven.testing.store_checks import arrival, begun, entry
from tests.store.older import as_version_1


@pytest.fixture
def path(tmp_path):
    return tmp_path / "clinic.db"


@pytest.fixture
def store(path):
    made = SqliteStore(path, "create")
    yield made
    made.close()


def modes(folder):
    return {one.name: oct(one.stat().st_mode & 0o777) for one in folder.iterdir()}


# -- on disk -----------------------------------------------------------------------------------------------


def test_files_are_readable_by_their_owner_alone(store, path):
    begun(store, 3)
    names = {"clinic.db", "clinic.db-wal", "clinic.db-shm", "clinic.db.lock"}
    assert modes(path.parent) == dict.fromkeys(names, "0o600")


def test_a_file_that_others_could_read_no_longer_can(store, path):
    store.close()
    path.chmod(0o644)
    SqliteStore(path).close()
    assert modes(path.parent)["clinic.db"] == "0o600"


def test_a_commit_waits_for_the_disk_and_what_is_deleted_is_overwritten(store):
    asked = {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1}
    with store._transaction() as connection:
        found = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in asked}
    assert found == asked


def test_what_was_written_is_there_after_closing(store, path):
    stream = begun(store, 5)
    before = (store.id, list(store.entries(stream)))
    store.close()
    store.close()
    again = SqliteStore(path)
    assert (again.id, list(again.entries(stream))) == before
    again.append([entry(stream, 6)])
    again.close()


def test_a_closed_store_says_so(store):
    store.close()
    with pytest.raises(StoreError, match="expected an open store, got one that was closed"):
        store.streams()
    with pytest.raises(StoreError, match="expected a store that is open for writing"):
        store.create_stream("a", b"", at=0.0)


def test_a_store_is_made_in_a_folder_that_is_not_there(tmp_path):
    SqliteStore(tmp_path / "a" / "b" / "clinic.db", "create").close()
    assert (tmp_path / "a" / "b" / "clinic.db").exists()


def test_an_interrupted_making_is_made_again(path):
    path.touch()
    store = SqliteStore(path, "create")
    assert store.version() == SCHEMA_VERSION
    store.close()


NO_STORES = {
    "no file of that name": None,
    "got an empty file": b"",
    "expected a store of breakeven, got another file": b"a text that is no database at all" * 50,
}


@pytest.mark.parametrize(("words", "content"), NO_STORES.items(), ids=["none", "empty", "text"])
def test_what_is_no_store_is_refused(path, words, content):
    if content is not None:
        path.write_bytes(content)
    for access in ("read", "write", "upgrade"):
        with pytest.raises(WrongStore, match=words):
            open_store(f"sqlite:///{path}", access)
    assert (path.read_bytes() if path.exists() else None) == content


def test_somebody_elses_database_is_refused_and_left_alone(path):
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE cases (age)")
    for access in ("read", "write", "create", "upgrade"):
        with pytest.raises(WrongStore, match="expected a store of breakeven, got a database with"):
            SqliteStore(path, access).upgrade()


def test_a_folder_that_cannot_be_written_to_is_one_line():
    with pytest.raises(StoreFailed, match=r"a/clinic.db: cannot be opened for writing \(Not a directory\)"):
        SqliteStore(Path("/dev/null/a/clinic.db"), "create")


# -- one writer --------------------------------------------------------------------------------------------


def test_a_second_process_is_told_who_writes_and_since_when(store, path):
    words = (
        rf"clinic.db: expected a store that nobody else writes to, got one held by process {os.getpid()} on "
    )
    with pytest.raises(
        StoreHeld, match=words + r"\S+ since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ; stop that first"
    ):
        SqliteStore(path)
    reader = SqliteStore(path, "read")
    assert reader.streams() == []
    with pytest.raises(StoreError, match="expected a store that is open for writing"):
        reader.create_stream("clinic", b"", at=0.0)
    reader.close()


def names_of(path, tmp_path, monkeypatch):
    """Other names of a store: by links to it and to its folder, from its folder, and with a detour."""
    (tmp_path / "link.db").symlink_to(path)
    (tmp_path / "links.db").symlink_to("link.db")
    (tmp_path / "folder").symlink_to(path.parent, target_is_directory=True)
    monkeypatch.chdir(path.parent)
    return [
        "../link.db",
        tmp_path / "links.db",
        tmp_path / "folder" / path.name,
        path.name,
        f"./../data/{path.name}",
    ]


def test_one_store_by_whatever_links_it_is_named(tmp_path, monkeypatch):
    path = tmp_path / "data" / "clinic.db"
    store = SqliteStore(path, "create")
    for name in names_of(path, tmp_path, monkeypatch):
        for access in ("write", "create", "upgrade"):
            with pytest.raises(StoreHeld, match=f"got one held by process {os.getpid()} on"):
                SqliteStore(name, access)
        reader = SqliteStore(name, "read")
        assert (reader.path, reader.location) == (path, f"sqlite:///{path}")
        reader.close()
    stream = begun(store, 3)
    store.close()
    assert {one.name for one in tmp_path.iterdir()} == {"data", "link.db", "links.db", "folder"}
    named = SqliteStore("../link.db")
    named.append([entry(stream, 4)])
    assert named.last(stream) == 4
    named.close()


def test_a_store_is_made_where_a_link_leads(tmp_path):
    (tmp_path / "link.db").symlink_to(tmp_path / "data" / "clinic.db")
    SqliteStore(tmp_path / "link.db", "create").close()
    assert {one.name for one in (tmp_path / "data").iterdir()} == {"clinic.db", "clinic.db.lock"}
    (tmp_path / "round.db").symlink_to("round.db")
    with pytest.raises(StoreFailed, match=r"round.db: cannot be opened for writing \(File exists\)"):
        SqliteStore(tmp_path / "round.db", "create")


def test_a_file_with_two_names_is_no_store(store, path, tmp_path):
    begun(store, 3)
    os.link(path, tmp_path / "other.db")
    words = "expected a file with one name, got one with 2 .hard links., each of which would be a store; "
    for name in (path, tmp_path / "other.db"):
        for access in ("read", "write", "create", "upgrade", "tokens"):
            with pytest.raises(
                WrongStore, match=f"{name.name}: {words}delete the others .`find FOLDER -samefile"
            ):
                SqliteStore(name, access)
    store.append([entry(1, 4)])  # the process that has it goes on: others can make links, too
    assert not (tmp_path / "other.db.lock").exists()
    (tmp_path / "other.db").unlink()
    SqliteStore(path, "read").close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the file itself is not locked")
def test_a_store_that_is_in_use_is_held_under_a_new_name(store, path, tmp_path):
    begun(store, 3)
    write_backup(store, tmp_path / "copy.db")
    path.rename(tmp_path / "moved.db")
    for access in ("write", "create", "upgrade"):
        with pytest.raises(
            StoreHeld, match=r"moved.db: .* which has opened it under another name; stop that first"
        ):
            SqliteStore(tmp_path / "moved.db", access)
    with pytest.raises(StoreHeld, match="which has opened it under another name"):
        restore_backup(tmp_path / "copy.db", tmp_path / "moved.db", overwrite=True)
    with pytest.raises(StoreFailed, match="the file was deleted or replaced while it was in use"):
        store.append([entry(1, 4)])
    store.close()
    SqliteStore(tmp_path / "moved.db").close()


def test_its_locks_and_those_of_sqlite_do_not_meet(store, path):
    """Another process finds the locks of SQLite, whatever this one opens and closes beside it."""
    stream = begun(store, 3)
    with pytest.raises(StoreHeld, match="got one held by process"):
        SqliteStore(path)
    SqliteStore(path, "read").close()
    with store._transaction() as connection:
        connection.execute("DELETE FROM snapshot")
        code = (
            "import sqlite3, sys; one = sqlite3.connect(sys.argv[1], timeout=0.0, isolation_level=None); "
            "one.execute('BEGIN IMMEDIATE')"
        )
        other = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert "database is locked" in other.stderr
    assert store.last(stream) == 3


def test_a_link_is_put_back_where_it_leads(store, path, tmp_path):
    stream = begun(store, 3)
    write_backup(store, tmp_path / "copy.db")
    (tmp_path / "link.db").symlink_to(path)
    with pytest.raises(StoreHeld, match=f"link.db: .* got one held by process {os.getpid()} on"):
        restore_backup(tmp_path / "copy.db", tmp_path / "link.db", overwrite=True)
    store.append([entry(stream, 4)])
    store.close()
    assert restore_backup(tmp_path / "copy.db", tmp_path / "link.db", overwrite=True) == path.with_name(
        "clinic.db.1"
    )
    assert (tmp_path / "link.db").is_symlink()
    one = SqliteStore(path)
    assert one.last(stream) == 3
    one.close()


def test_the_lock_ends_with_its_process(path):
    code = f"import os, breakeven.store as s; one = s.SqliteStore({str(path)!r}, 'create'); os._exit(9)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 9
    SqliteStore(path).close()


def test_the_number_is_the_fence_where_the_lock_was_lost(store, path):
    stream = begun(store, 2)
    store._lock.release()  # as when a lock is lost with the disk it was on
    second = SqliteStore(path)
    second.append([entry(stream, 3, body=b"second")])
    with pytest.raises(SecondWriter, match="got 3, which is taken: somebody else writes to this stream"):
        store.append([entry(stream, 3, body=b"first")])
    assert [one.body for one in store.entries(stream)][2] == b"second"
    store.append([entry(stream, 4)])
    second.close()


# -- versions ----------------------------------------------------------------------------------------------


def at_version(path, version):
    """A store of another version, with what it has if it is there."""
    store = SqliteStore(path, "create")
    with store._transaction() as connection:
        if version == 1:
            as_version_1(connection)
        connection.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (str(version),))
    store.close()


def test_an_older_store_is_refused_with_the_line_to_run(path):
    at_version(path, 1)
    command = f"breakeven store upgrade --store sqlite:///{path}"
    words = f"expected version {SCHEMA_VERSION}, got the older version 1; run `{command}`"
    for access in ("read", "write", "create"):
        with pytest.raises(WrongStore, match=words):
            SqliteStore(path, access)


def test_an_older_store_goes_forward_by_command_and_keeps_everything(path, store, tmp_path):
    old = SqliteStore(tmp_path / "old.db", "create")
    stream = begun(old, 4)
    old.append([arrival(stream, 5, "Ann"), entry(stream, 6, id="Ann"), arrival(stream, 7, "Ben")])
    before = (old.id, list(old.entries(stream)))
    old.close()
    at_version(tmp_path / "old.db", 1)
    old = SqliteStore(tmp_path / "old.db", "upgrade")
    assert (old.upgrade(), old.upgrade()) == (1, SCHEMA_VERSION)
    old.close()
    old = SqliteStore(tmp_path / "old.db")
    assert (old.id, list(old.entries(stream))) == before
    assert list(old.find_many(stream, ["Ann", "Ben", "Eve"]).values()) == [before[1][4], before[1][6]]
    with pytest.raises(DuplicateId):
        old.append([arrival(stream, 8, "Ann")])
    tables = "SELECT sql FROM sqlite_master ORDER BY name"
    with old._reading() as one, store._reading() as two:
        assert one.execute(tables).fetchall() == two.execute(tables).fetchall()
    old.close()


def test_a_newer_store_is_refused(path):
    at_version(path, SCHEMA_VERSION + 1)
    newer = (
        rf"expected version {SCHEMA_VERSION}, got the newer version {SCHEMA_VERSION + 1}; upgrade breakeven$"
    )
    for access in ("read", "write", "create"):
        with pytest.raises(WrongStore, match=newer):
            SqliteStore(path, access)
    store = SqliteStore(path, "upgrade")
    with pytest.raises(WrongStore, match="upgrade breakeven"):
        store.upgrade()
    store.close()


def test_every_table_of_the_design_is_there(store):
    with store._reading() as connection:
        names = store._tables(connection)
    access = {"token", "session", "person", "trail"}
    assert names == {"meta", "stream", "entry", "arrived", "snapshot", "erased", "owner"} | access


# -- when it goes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "go", [Path.unlink, lambda path: path.rename(f"{path}.old")], ids=["deleted", "moved"]
)
def test_a_file_that_is_gone_is_noticed_before_anybody_is_answered(store, path, go):
    stream = begun(store, 2)
    go(path)
    with Writer(store) as writer, pytest.raises(StoreFailed, match="the file was deleted or replaced"):
        writer.write([entry(stream, 3)])


def test_a_damaged_file_is_found(store, path):
    begun(store, 2000)
    store.close()
    content = bytearray(path.read_bytes())
    for page in range(3, len(content) // 4096 - 1):
        content[page * 4096 : page * 4096 + 40] = bytes(range(40))
    path.write_bytes(content)
    damaged = SqliteStore(path, "read")
    assert damaged.damage()
    with pytest.raises(StoreFailed, match="could not be read or written"):
        list(damaged.entries(1))
    damaged.close()


SMALL_DISK = 1_000_000


@pytest.fixture
def small_disk(tmp_path):
    """A file system of a megabyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("a small file system cannot be mounted here: that needs root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_fails_the_call_keeps_what_was_answered_and_goes_on_when_there_is_room(small_disk):
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"\0" * (SMALL_DISK // 2))
    store = SqliteStore(small_disk / "clinic.db", "create")
    stream, answered = begun(store), 0

    def fill():
        nonlocal answered
        for seq in range(1, 1000):
            writer.write([entry(stream, seq, body=b"x" * 5000)])
            answered = seq

    with Writer(store) as writer:
        with pytest.raises(StoreFailed, match="database or disk is full"):
            fill()
        with pytest.raises(StoreFailed, match="database or disk is full"):
            writer.write([entry(stream, answered + 2)])
        assert [one.seq for one in store.entries(stream)] == list(range(1, answered + 1))
        ballast.unlink()
        writer.resume(stream)
        writer.write([entry(stream, answered + 1)])
    store.close()
    again = SqliteStore(small_disk / "clinic.db")
    assert (again.last(stream), again.damage()) == (answered + 1, [])
    assert answered > 10
    again.close()


# -- copies ------------------------------------------------------------------------------------------------


def test_a_backup_is_made_while_the_store_is_written_to(store, tmp_path):
    stream, target, told = begun(store, 3000), tmp_path / "copy.db", []
    seq = 3000

    def progress(done, whole):
        nonlocal seq
        seq += 1
        store.append([entry(stream, seq)])
        told.append((done, whole))

    reader = SqliteStore(store.path, "read")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("breakeven.store.backup.PAGES_AT_ONCE", 20)
        write_backup(reader, target, progress)
    reader.close()
    assert told[-1][0] == told[-1][1] > 20
    assert len(told) >= 3
    copy = SqliteStore(target, "read")
    assert (copy.last(stream), copy.id, copy.damage()) == (3000, store.id, [])
    copy.close()
    assert store.last(stream) == seq
    assert modes(tmp_path)["copy.db"] == "0o600"
    assert not [name for name in modes(tmp_path) if name.startswith((".", "copy.db-"))]
    with pytest.raises(StoreError, match=r"copy.db: expected the name of a new file, got one that is there"):
        write_backup(store, target)


def test_a_backup_is_put_back_and_what_was_there_is_kept(store, path, tmp_path):
    stream = begun(store, 3)
    write_backup(store, tmp_path / "copy.db")
    store.append([entry(stream, 4)])
    with pytest.raises(StoreHeld, match="got one held by process"):
        restore_backup(tmp_path / "copy.db", path, overwrite=True)
    store.close()
    with pytest.raises(StoreError, match="a name at which there is no store, got one; say --overwrite"):
        restore_backup(tmp_path / "copy.db", path)
    kept = restore_backup(tmp_path / "copy.db", path, overwrite=True)
    assert kept == path.with_name("clinic.db.1")
    for name, last in ((path, 3), (kept, 4)):
        one = SqliteStore(name)
        assert one.last(stream) == last
        one.close()
    assert restore_backup(tmp_path / "copy.db", tmp_path / "new.db") is None
    assert modes(tmp_path)["new.db"] == "0o600"


def test_a_damaged_backup_is_not_put_back(store, path, tmp_path):
    begun(store, 2000)
    write_backup(store, tmp_path / "copy.db")
    store.close()
    content = bytearray((tmp_path / "copy.db").read_bytes())
    content[20 * 4096 : 20 * 4096 + 30] = bytes(range(30))
    (tmp_path / "copy.db").write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(StoreFailed, match="expected a whole file, got a damaged one"):
        restore_backup(tmp_path / "copy.db", path, overwrite=True)
    assert path.read_bytes() == before
