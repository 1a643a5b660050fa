"""A store in one file, by SQLite: the default. Nothing else has to run.

The file is in WAL mode, each commit waits for the disk (synchronous=FULL), and what is deleted is overwritten
(secure_delete). Readers have connections of their own. Files are readable by their owner alone.
"""

import os
import sqlite3
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import astuple

from breakeven.errors.addresses import SQLITE
from breakeven.errors.storing import MissingStore, StoreError, StoreFailed, WrongStore
from breakeven.store.lock import OWNER_ALONE, FileLock
from breakeven.store.port import LogBatch, LogEntry
from breakeven.store.schema import Dialect
from breakeven.store.sql import SqlStore

OpenFor = Literal["read", "write", "create", "upgrade", "tokens"]
"""What a store is opened for: "create" makes it where it is not there, "upgrade" takes an older one, too.

"tokens" is for changing tokens while another process writes the log, so it does without the lock.
"""

SQLITE_WORDS = Dialect("integer", "real", "blob", " WITHOUT ROWID")
BUSY_SECONDS = 4.0  # that a statement waits for another process
PAGES_BEFORE_CHECKPOINT = 4000  # 16 MB of log before a commit moves it into the file; `rest` does so earlier
ENTRY_SLOTS = "(?, ?, ?, ?, ?, ?, ?, NULL)"
ADDED_FROM_JSON = "INSERT INTO arrived SELECT ?1, value, ?2 FROM json_each(?3)"
ROWS_A_STATEMENT = 64  # between two statements other threads run, and both take time for that
BROKEN_RULES = {
    "UNIQUE constraint failed: entry.stream, entry.seq": "number",
    "UNIQUE constraint failed: arrived.stream, arrived.id": "arrival",
    "UNIQUE constraint failed: stream.name": "stream",
}


class SqliteStore(SqlStore):
    """A store in a file; a second process that would write to it is refused with `StoreHeld`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = SqliteStore(Path(folder) / "clinic.db", "create")
    ...     clinic = store.create_stream("clinic", b"", at=0.0)
    ...     store.append([LogEntry(clinic.number, 1, 0.0, "ann", "Created", None, b"...")])
    ...     store.last(clinic.number)
    ...     store.close()
    1
    """

    dialect, by_index = SQLITE_WORDS, " INDEXED BY {}"

    def __init__(self, path: Path | str, access: OpenFor = "write") -> None:
        self.path = real_path(path)  # one lock and one log beside it, by whatever links it was named
        super().__init__(str(path), f"{SQLITE}{self.path}")
        self._idle = deque[sqlite3.Connection]()
        self._lock: FileLock | None = None
        self._writer: sqlite3.Connection | None = None
        self._closed = False
        try:
            self._open(access)
        except BaseException:
            self.close()
            raise

    def _open(self, access: OpenFor) -> None:
        if access != "create" and not self.path.is_file():
            raise MissingStore(f"{self.name}: expected a store, got no file of that name")
        check_one_name(self.path, self.name)
        if access != "read":
            with self._telling_of_files():
                if access != "tokens":
                    self._take_lock(make=access == "create")
                self._take_file(make=access == "create")
                if self._lock is not None:
                    self._lock.hold(self.path, self.name)
            self._writer = self._connect()
            if access == "create" and self.version() == 0:
                self.upgrade()
        if self.version() == 0:
            raise MissingStore(f"{self.name}: expected a store of breakeven, got an empty file")
        if access != "upgrade":
            self.check_version()
        if access != "read":
            with self._telling_of_files():
                self.path.chmod(OWNER_ALONE)
            self._set_wal()

    def _take_lock(self, *, make: bool) -> None:
        if make:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(self.path, self.name)

    def _take_file(self, *, make: bool) -> None:
        """Know the file; a new one is its owner's alone, and so are those that SQLite puts beside it."""
        if make and not self.path.exists():
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL, OWNER_ALONE))
            sync_folder(self.path.parent)
        self._identity = _identity(self.path)

    @contextmanager
    def _telling_of_files(self) -> Iterator[None]:
        """What the file system refuses becomes an error of ours."""
        try:
            yield
        except OSError as error:
            raise StoreFailed(f"{self.name}: cannot be opened for writing ({error.strerror})") from error

    def _set_wal(self) -> None:
        """Keep the log of changes beside the file; a backup that was restored does not do so yet."""
        with self._turn, self._telling() as connection:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise StoreFailed(f"{self.name}: keep the store on a disk of this machine, not on a shared one")

    # -- connections -------------------------------------------------------------------------------

    def _connect(self) -> sqlite3.Connection:
        if self._closed:
            raise StoreError(f"{self.name}: expected an open store, got one that was closed")
        try:
            connection = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute(f"PRAGMA wal_autocheckpoint = {PAGES_BEFORE_CHECKPOINT}")
        except sqlite3.Error as error:
            raise self._failure(error) from error
        return connection

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
            connection.execute("PRAGMA query_only = ON")
        try:
            yield connection
        except sqlite3.Error as error:
            raise self._failure(error) from error
        finally:
            self._idle.append(connection)
            if self._closed:  # meanwhile
                self.close()

    @contextmanager
    def _transaction(self, *, long: bool = False) -> Iterator[sqlite3.Connection]:
        with self._turn, self._telling() as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk has ended it already
                    connection.execute("ROLLBACK")
                raise
            self._check_there()

    @contextmanager
    def _telling(self) -> Iterator[sqlite3.Connection]:
        """The writer's connection; what SQLite raises becomes an error of ours."""
        if self._writer is None:
            raise StoreError(f"{self.name}: expected a store that is open for writing, got one that is not")
        try:
            yield self._writer
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def _check_there(self) -> None:
        """Raise where the file was deleted or replaced: SQLite would go on writing to it unseen."""
        try:
            there = _identity(self.path)
        except OSError:
            there = None
        if there != self._identity:
            raise StoreFailed(f"{self.name}: the file was deleted or replaced while it was in use")

    def _failure(self, error: sqlite3.Error) -> StoreError:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            return WrongStore(f"{self.name}: expected a store of breakeven, got another file")
        return StoreFailed(f"{self.name}: could not be read or written ({error})")

    # -- what SQLite says otherwise ----------------------------------------------------------------

    def _insert(self, connection: sqlite3.Connection, entries: Sequence[LogEntry]) -> None:
        for low in range(0, len(entries), ROWS_A_STATEMENT):
            part = entries[low : low + ROWS_A_STATEMENT]
            connection.execute(_added(len(part)), list(chain.from_iterable(map(astuple, part))))

    def _insert_ids(self, connection: sqlite3.Connection, batch: LogBatch) -> None:
        ids = msgspec.json.encode(batch.ids).decode()
        connection.execute(ADDED_FROM_JSON, (batch.stream, batch.seq, ids))

    def _tables(self, connection: sqlite3.Connection) -> set[str]:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {name for (name,) in rows}

    def _broken_rule(self, error: Exception) -> str | None:
        return BROKEN_RULES.get(str(error))

    # -- keeping house -----------------------------------------------------------------------------

    @contextmanager
    def unchanging(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees the store as it is now, whatever is written meanwhile."""
        with self._reading() as connection:
            connection.execute("BEGIN")
            try:
                connection.execute("SELECT count(*) FROM meta").fetchone()  # from here on
                yield connection
            finally:
                connection.execute("ROLLBACK")

    def damage(self) -> list[str]:
        """What SQLite finds wrong in the file; nothing, as a rule."""
        try:
            with self._reading() as connection:
                rows = connection.execute("PRAGMA integrity_check(10)").fetchall()
        except StoreFailed as error:  # too damaged to be looked at
            return [str(error)]
        return [str(line) for (line,) in rows if line != "ok"]

    def _compact(self) -> None:
        """Write the file anew without free pages, and cut the log beside it."""
        with self._turn:
            with self._telling() as connection:
                connection.execute("VACUUM")
                (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if busy:
                raise StoreFailed(
                    f"{self.name}: another process reads it, so the log beside the file could not be cut; "
                    "end that, and run `breakeven store compact`"
                )

    def rest(self) -> None:
        """Move the log into the file, as far as no reader needs it."""
        with self._turn, self._telling() as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def close(self) -> None:
        """Let go of connections and the lock."""
        with self._turn:
            self._closed = True
            while self._idle:
                self._idle.pop().close()
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            if self._lock is not None:
                self._lock.release()


@cache
def _added(rows: int) -> str:
    """The statement that adds so many entries; SQLite reads each once and keeps it."""
    return "INSERT INTO entry VALUES " + ", ".join([ENTRY_SLOTS] * rows)


def real_path(path: Path | str) -> Path:
    """Where a file really is: absolute, and without symbolic links."""
    return Path(os.path.realpath(path))


def check_one_name(path: Path, name: str) -> None:
    """Raise where a file has further names (hard links): the log beside it is that of one name alone."""
    try:
        names = path.stat().st_nlink
    except OSError:  # it is not there yet, or cannot be looked at: whoever opens it says so
        return
    if names > 1:
        raise WrongStore(
            f"{name}: expected a file with one name, got one with {names} (hard links), each of which would "
            f"be a store; delete the others (`find FOLDER -samefile {path}` shows them), or copy the "
            "file and use the copy"
        )


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on disk, too."""
    with suppress(OSError):  # Windows cannot open a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino
