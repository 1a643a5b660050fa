"""A store in PostgreSQL, for those who run one; needs psycopg, the extra `postgres`.

One connection writes and holds an advisory lock, which ends with it; readers have connections of their own. A
connection that was lost is made anew at the next call, if nobody else has taken the lock meanwhile.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from selectors import EVENT_READ, DefaultSelector
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from breakeven.errors import BreakevenError, how_to_install
from breakeven.errors.addresses import without_password
from breakeven.errors.storing import MissingStore, StoreError, StoreFailed
from breakeven.store.lock import held
from breakeven.store.log_tables import ENTRY_FIELDS
from breakeven.store.port import LogBatch, LogEntry
from breakeven.store.postgres_compacting import compact, keep_no_statistics
from breakeven.store.postgres_sessions import Watch, open_session
from breakeven.store.schema import Dialect
from breakeven.store.sql import SqlStore
from breakeven.store.sqlite import OpenFor

if TYPE_CHECKING:
    import psycopg

POSTGRES_WORDS = Dialect("bigint", "double precision", "bytea", "")
LOCK_CLASS = 0x62726B  # our part of the numbers for advisory locks; the other number is that of the schema
ENDING_SECONDS = 2.0  # in which the server notices that a process is gone, and drops its lock
ROWS_BY_STATEMENT = 50  # more than these are copied
BY_ARRAYS = (
    f"INSERT INTO entry ({ENTRY_FIELDS}) SELECT * FROM unnest(%s::bigint[], %s::bigint[], "
    "%s::double precision[], %s::text[], %s::text[], %s::text[], %s::bytea[])"
)
ADDED_FROM_ARRAY = "INSERT INTO arrived SELECT %s, unnest(%s::text[]), %s"
BY_COPY = f"COPY entry ({ENTRY_FIELDS}) FROM STDIN (FORMAT BINARY)"
COPIED_TYPES = ("int8", "int8", "float8", "text", "text", "text", "bytea")
BROKEN_CONSTRAINTS = {"entry_pkey": "number", "arrived_pkey": "arrival", "stream_name_key": "stream"}
HOLDER = (
    "SELECT a.application_name, "
    "to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') "
    "FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' AND l.granted "
    f"AND l.classid = {LOCK_CLASS} AND l.objid::bigint = (hashtext(current_schema())::bigint & 4294967295)"
)


class MissingPsycopg(BreakevenError, ImportError):
    """psycopg is not installed; the message says how to get it."""


class PostgresStore(SqlStore):
    """A store in the first schema of the search path; a second writer is refused with `StoreHeld`."""

    dialect, slot = POSTGRES_WORDS, "%s"

    def __init__(self, address: str, access: OpenFor = "write") -> None:
        shown = without_password(address)
        super().__init__(shown, shown)
        self._secret, self._idle = address, deque["psycopg.Connection[Any]"]()
        self._writes, self._locks, self._closed = access != "read", access != "tokens", False
        self._writer: psycopg.Connection[Any] | None = None
        self._watch = Watch()
        try:
            self._open(access)
        except BaseException:
            self.close()
            raise

    @property
    def location(self) -> str:
        """The address with its password."""
        return self._secret

    def _open(self, access: OpenFor) -> None:
        if access == "create" and self.version() == 0:
            self.upgrade()
        if self.version() == 0:
            words = "expected a store of breakeven, got a database without its tables"
            raise MissingStore(f"{self.name}: {words}")
        if access != "upgrade":
            self.check_version()
        if self._writes:
            with self._transaction():  # takes the lock
                pass

    # -- connections -------------------------------------------------------------------------------

    def _connect(self) -> "psycopg.Connection[Any]":
        if self._closed:
            raise StoreError(f"{self.name}: expected an open store, got one that was closed")
        try:
            import psycopg
        except ImportError as error:
            raise MissingPsycopg(
                f"psycopg is needed for a store in PostgreSQL; {how_to_install('postgres')}"
            ) from error
        try:
            return open_session(self._secret, self._watch)
        except psycopg.Error as error:
            raise self._failure(error) from error

    @contextmanager
    def _reading(self) -> Iterator["psycopg.Connection[Any]"]:
        connection = self._idle_one() or self._connect()
        try:
            with self._watch.over(connection):
                yield connection
        except self._errors as error:
            raise self._failure(error) from error
        finally:
            if self._closed or connection.broken:
                connection.close()
            else:
                self._idle.append(connection)

    def _idle_one(self) -> "psycopg.Connection[Any] | None":
        with suppress(IndexError):
            while True:
                connection = self._idle.pop()
                if _alive(connection):
                    return connection
        return None

    @contextmanager
    def _transaction(self, *, long: bool = False) -> Iterator["psycopg.Connection[Any]"]:
        with self._turn:
            connection = self._locked()
            try:
                with self._watch.over(connection), connection.transaction():
                    if long:
                        connection.execute("SET LOCAL statement_timeout = 0")
                        self._watch.forget(connection)
                    yield connection
            except self._errors as error:
                raise self._failure(error) from error

    def _locked(self) -> "psycopg.Connection[Any]":
        """The writer's connection, which holds the lock; made anew where it was lost."""
        if not self._writes:
            raise StoreError(f"{self.name}: expected a store that is open for writing, got one that is not")
        if self._writer is not None and _alive(self._writer):
            return self._writer
        connection = self._connect()
        try:
            if self._locks:
                with self._watch.over(connection):
                    self._take_lock(connection)
        except BaseException as error:
            connection.close()
            if isinstance(error, self._errors):
                raise self._failure(error) from error
            raise
        self._writer = connection
        return connection

    def _take_lock(self, connection: "psycopg.Connection[Any]") -> None:
        sql = f"SELECT pg_try_advisory_lock({LOCK_CLASS}, hashtext(current_schema()))"
        until = monotonic() + ENDING_SECONDS
        while not connection.execute(sql).fetchall()[0][0]:
            if monotonic() < until:
                sleep(0.05)
                continue
            rows = connection.execute(HOLDER).fetchall()
            raise held(self.name, f"{rows[0][0]} since {rows[0][1]}" if rows else "another process")

    @property
    def _errors(self) -> Any:
        import psycopg

        return psycopg.Error

    def _failure(self, error: Exception) -> StoreError:
        return StoreFailed(f"{self.name}: could not be read or written ({' '.join(str(error).split())})")

    # -- what PostgreSQL says otherwise ------------------------------------------------------------

    def _insert(self, connection: "psycopg.Connection[Any]", entries: Sequence[LogEntry]) -> None:
        rows = [(one.stream, one.seq, one.at, one.by, one.kind, one.id, one.body) for one in entries]
        if len(rows) <= ROWS_BY_STATEMENT:
            connection.execute(BY_ARRAYS, [list(column) for column in zip(*rows, strict=True)])
            return
        with connection.cursor() as cursor, cursor.copy(BY_COPY) as copy:
            copy.set_types(COPIED_TYPES)
            for row in rows:
                copy.write_row(row)

    def _insert_ids(self, connection: "psycopg.Connection[Any]", batch: LogBatch) -> None:
        connection.execute(ADDED_FROM_ARRAY, (batch.stream, batch.ids, batch.seq))

    def _tables(self, connection: "psycopg.Connection[Any]") -> set[str]:
        sql = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
        return {name for (name,) in connection.execute(sql).fetchall()}

    def _broken_rule(self, error: Exception) -> str | None:
        name = getattr(getattr(error, "diag", None), "constraint_name", None)
        return BROKEN_CONSTRAINTS.get(name or "")

    # -- keeping house -----------------------------------------------------------------------------

    def _made(self, connection: "psycopg.Connection[Any]") -> None:
        keep_no_statistics(connection)

    def _compact(self) -> None:
        """Write the tables anew, without what was dropped or rewritten."""
        with self._turn:
            try:
                compact(self.name, self._locked(), lambda: self._transaction(long=True))
            except self._errors as error:
                raise self._failure(error) from error

    def rest(self) -> None:
        """Nothing to do: PostgreSQL keeps its own house."""

    def close(self) -> None:
        """Let go of connections, and of the lock with them."""
        with self._turn:
            self._closed = True
            self._watch.end()
            while self._idle:
                self._idle.pop().close()
            if self._writer is not None:
                self._writer.close()
                self._writer = None


def _alive(connection: "psycopg.Connection[Any]") -> bool:
    """Whether a connection is there; one that is not in use hears from the server only when it ends."""
    if connection.closed:
        return False
    with DefaultSelector() as waiting:
        waiting.register(connection, EVENT_READ)
        if not waiting.select(0):
            return True
    connection.close()
    return False
