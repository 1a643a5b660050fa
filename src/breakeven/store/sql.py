"""The verbs of a store, written once in the SQL that SQLite and PostgreSQL share.

A subclass says how a connection is made, what a transaction is, how rows are added, and what its errors mean.
"""

from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import RLock
from typing import Any
from uuid import uuid4

from breakeven.errors import DuplicateId, WrongEvent, expect
from breakeven.errors.storing import StoreError, WrongStore
from breakeven.store.access_tables import Row
from breakeven.store.log_tables import SqlLog, taken_id
from breakeven.store.port import (
    FirstEntries,
    LogEntry,
    StoredSnapshot,
    StoredStream,
    check_entries,
    check_name,
    numbered,
    unknown_stream,
)
from breakeven.store.schema import SCHEMA_VERSION, Dialect, check_version, statements

HIGHEST_NUMBER = "highest_stream"  # of a stream, in meta
UNCOMPACTED = "uncompacted"  # in meta, as long as files may hold what was dropped or rewritten


class SqlStore(SqlLog):
    """What SQLite and PostgreSQL have in common."""

    dialect: Dialect

    def __init__(self, name: str, address: str) -> None:
        self.name, self.address = name, address
        self._turn = RLock()  # of whoever writes
        self._lasts = {}

    @property
    def location(self) -> str:
        """The address that opens this store again, also from another process; it may hold a password."""
        return self.address

    # -- for subclasses ----------------------------------------------------------------------------

    @abstractmethod
    def _transaction(self, *, long: bool = False) -> AbstractContextManager[Any]:
        """The connection of the writer; what was done is on disk at the end, or undone.

        A `long` one keeps house: no statement in it is ended because it takes long.
        """

    @abstractmethod
    def _tables(self, connection: Any) -> set[str]:
        """The names of all tables that there are."""

    @abstractmethod
    def _broken_rule(self, error: Exception) -> str | None:
        """The rule of the tables that an error speaks of: "number", "arrival", "stream", or None."""

    @abstractmethod
    def _compact(self) -> None:
        """Write the files anew, without what was dropped or rewritten."""

    @abstractmethod
    def rest(self) -> None:
        """Nothing waits to be written."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything."""

    def _made(self, connection: Any) -> None:
        """In the change that makes the tables: what else a new store needs."""

    def damage(self) -> list[str]:
        """What the database finds wrong in its own files; PostgreSQL leaves that to its own tools."""
        return []

    # -- versions ----------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """The store's own id."""
        with self._reading() as connection:
            return str(self._rows(connection, "SELECT value FROM meta WHERE key = 'id'")[0][0])

    def version(self) -> int:
        """The version of its tables; 0 where there is nothing yet."""
        with self._reading() as connection:
            return self._version(connection)

    def check_version(self) -> None:
        """Raise unless this program can work with it."""
        check_version(self.name, self.address, self.version())

    def upgrade(self) -> int:
        """Bring the tables forward to this version, in one transaction; the version before."""
        with self._transaction(long=True) as connection:
            found = self._version(connection)
            if found > SCHEMA_VERSION:
                check_version(self.name, self.address, found)
            for statement in statements(self.dialect, since=found):
                connection.execute(statement)
            if found == 0:
                self._run(connection, "INSERT INTO meta VALUES ('id', ?)", uuid4().hex)
                self._run(connection, "INSERT INTO meta VALUES ('schema', ?)", str(SCHEMA_VERSION))
                self._made(connection)
            elif found < SCHEMA_VERSION:
                self._run(connection, "UPDATE meta SET value = ? WHERE key = 'schema'", str(SCHEMA_VERSION))
        return found

    def _version(self, connection: Any) -> int:
        tables = self._tables(connection)
        if not tables:
            return 0
        if {"meta", "stream", "entry", "snapshot"} <= tables:
            found = self._rows(connection, "SELECT value FROM meta WHERE key = 'schema'")
            if len(found) == 1 and str(found[0][0]).isdecimal():
                return int(found[0][0])
        raise WrongStore(f"{self.name}: expected a store of breakeven, got a database with other tables")

    # -- streams -----------------------------------------------------------------------------------

    def streams(self) -> list[StoredStream]:
        """All streams."""
        with self._reading() as connection:
            rows = self._rows(
                connection, "SELECT number, name, config, created, closed FROM stream ORDER BY 1"
            )
        return [_stream(row) for row in rows]

    def stream(self, name: str) -> StoredStream:
        """The stream with this name."""
        with self._reading() as connection:
            rows = self._rows(
                connection, "SELECT number, name, config, created, closed FROM stream WHERE name = ?", name
            )
        if not rows:
            raise unknown_stream(name)
        return _stream(rows[0])

    def create_stream(
        self, name: str, config: bytes, at: float, first: FirstEntries | None = None
    ) -> StoredStream:
        """Make a stream, with its first entries if given."""
        check_name("name", name)
        with self._writing({"stream": lambda: _taken_name(name)}, long=True) as connection:
            number = self._highest_number(connection) + 1
            self._remember(connection, HIGHEST_NUMBER, str(number))
            made = StoredStream(number, name, config, expect.finite("at", at))
            fields = (made.number, made.name, made.config, made.created)
            self._run(connection, "INSERT INTO stream VALUES (?, ?, ?, ?, NULL)", *fields)
            if first is not None:
                entries = first(number)
                check_entries(entries)
                numbered(entries, {number: 0})
                self._add(connection, entries)
            self._lasts.pop(number, None)
        return made

    def _highest_number(self, connection: Any) -> int:
        """The highest number that a stream has, or had before it was removed: none is given twice."""
        ((highest,),) = self._rows(connection, "SELECT coalesce(max(number), 0) FROM stream")
        kept = self._rows(connection, "SELECT value FROM meta WHERE key = ?", HIGHEST_NUMBER)
        return max(int(highest), *(int(value) for (value,) in kept), 0)

    def _remember(self, connection: Any, key: str, value: str) -> None:
        self._run(connection, "DELETE FROM meta WHERE key = ?", key)
        self._run(connection, "INSERT INTO meta VALUES (?, ?)", key, value)

    def close_stream(self, stream: int, at: float, *, by: str) -> None:
        """Say that a stream takes no more entries."""
        sql = "UPDATE stream SET closed = ? WHERE number = ? AND closed IS NULL"
        with self._writing() as connection:
            name, at = self._name_of(connection, stream), expect.finite("at", at)
            if self._run(connection, sql, at, stream).rowcount:
                self._note(connection, at, by, "close stream", name, "")
            self._lasts.pop(stream, None)

    def _name_of(self, connection: Any, stream: int) -> str:
        rows = self._rows(connection, "SELECT name FROM stream WHERE number = ?", stream)
        if not rows:
            raise unknown_stream(stream)
        return str(rows[0][0])

    def drop_stream(self, stream: int, at: float, *, by: str) -> None:
        """Remove a stream with all its entries and snapshots."""
        with self._writing(long=True) as connection:
            self._note(connection, at, by, "remove stream", self._name_of(connection, stream), "")
            self._remember(connection, HIGHEST_NUMBER, str(self._highest_number(connection)))
            self._run(connection, "DELETE FROM entry WHERE stream = ?", stream)
            self._run(connection, "DELETE FROM arrived WHERE stream = ?", stream)
            self._run(connection, "DELETE FROM snapshot WHERE stream = ?", stream)
            self._run(connection, "DELETE FROM erased WHERE stream = ?", stream)
            self._remember(connection, UNCOMPACTED, "1")
            self._run(connection, "DELETE FROM stream WHERE number = ?", stream)
            self._lasts.pop(stream, None)

    # -- what goes ---------------------------------------------------------------------------------

    def rewrite(self, stream: int, entries: Sequence[LogEntry], marks: Collection[bytes] = ()) -> None:
        """Put these in the place of others, and drop all snapshots of the stream."""
        check_entries(entries)
        with self._writing({"arrival": taken_id}, long=True) as connection:
            for one in entries:
                self._put(connection, stream, one)
            self._run(connection, "DELETE FROM snapshot WHERE stream = ?", stream)
            for mark in marks:
                self._run(connection, "DELETE FROM erased WHERE stream = ? AND mark = ?", stream, mark)
                self._run(connection, "INSERT INTO erased VALUES (?, ?)", stream, mark)
            self._remember(connection, UNCOMPACTED, "1")

    def erased(self, stream: int) -> frozenset[bytes]:
        """The marks of all ids that were erased from a stream."""
        with self._reading() as connection:
            rows = self._rows(connection, "SELECT mark FROM erased WHERE stream = ?", stream)
        return frozenset(bytes(mark) for (mark,) in rows)

    @property
    def uncompacted(self) -> bool:
        """Whether files may hold what was dropped or rewritten."""
        with self._reading() as connection:
            return bool(self._rows(connection, "SELECT 1 FROM meta WHERE key = ?", UNCOMPACTED))

    def compact(self) -> None:
        """Give back free space, and leave no trace of what was dropped or rewritten."""
        with self._turn:  # so nothing more is dropped or rewritten before the note of it goes
            self._compact()
            with self._writing() as connection:
                self._run(connection, "DELETE FROM meta WHERE key = ?", UNCOMPACTED)

    # -- snapshots ---------------------------------------------------------------------------------

    def keep_snapshot(self, snapshot: StoredSnapshot) -> None:
        """Keep a snapshot of an entry that is there."""
        one, add = snapshot, "INSERT INTO snapshot (stream, seq, at, version, body) VALUES (?, ?, ?, ?, ?)"
        with self._writing(long=True) as connection:
            if not 1 <= one.seq <= self._last(connection, one.stream):
                raise WrongEvent(f"snapshot: expected one of an entry that is there, got one of {one.seq}")
            self._run(connection, "DELETE FROM snapshot WHERE stream = ? AND seq = ?", one.stream, one.seq)
            self._run(connection, add, one.stream, one.seq, one.at, one.version, one.body)

    def snapshot(self, stream: int, seq: int | None = None) -> StoredSnapshot | None:
        """The snapshot after an entry, or the latest."""
        sql = "SELECT stream, seq, at, version, body FROM snapshot WHERE stream = ? AND (seq = ? OR ? < 0)"
        which = -1 if seq is None else seq
        with self._reading() as connection:
            rows = self._rows(connection, f"{sql} ORDER BY seq DESC LIMIT 1", stream, which, which)
        return StoredSnapshot(*rows[0]) if rows else None

    def snapshot_numbers(self, stream: int) -> list[int]:
        """The numbers after which there are snapshots."""
        with self._reading() as connection:
            rows = self._rows(connection, "SELECT seq FROM snapshot WHERE stream = ? ORDER BY seq", stream)
        return [seq for (seq,) in rows]

    def drop_snapshots(self, stream: int, *, keep: int) -> int:
        """Drop all but the latest snapshots of a stream."""
        with self._writing() as connection:
            sql = "SELECT seq FROM snapshot WHERE stream = ? ORDER BY seq DESC"
            old = self._rows(connection, sql, stream)[expect.whole("keep", keep) :]
            for (seq,) in old:
                self._run(connection, "DELETE FROM snapshot WHERE stream = ? AND seq = ?", stream, seq)
        return len(old)

    # -- statements --------------------------------------------------------------------------------

    @contextmanager
    def _writing(self, rules: dict[str, Any] | None = None, *, long: bool = False) -> Iterator[Any]:
        """One change, whole or undone; `rules` say what to raise where it breaks a rule of the tables."""
        try:
            with self._transaction(long=long) as connection:
                yield connection
        except BaseException as error:
            self._lasts.clear()  # whatever happened, the log knows
            cause = error.__cause__ if isinstance(error, StoreError) else None
            rule = self._broken_rule(cause) if isinstance(cause, Exception) else None
            if rules and rule in rules:
                raise rules[rule]() from cause
            raise


def _stream(row: Row) -> StoredStream:
    return StoredStream(*row)


def _taken_name(name: str) -> DuplicateId:
    return DuplicateId(f"name: expected one that no stream of this store has, got {expect.shown(name)}")
