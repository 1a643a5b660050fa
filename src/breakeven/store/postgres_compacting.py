"""Leaving no byte of what was dropped or rewritten in the files of a PostgreSQL database.

`VACUUM FULL` keeps what another session may still see, and nobody can tell how old its transactions are. So
each table is written anew by changing a column to what it is: that takes over the rows that are there now,
and makes all indexes again. The statistics that PostgreSQL gathers hold values, too: none are kept of columns
with something private in them.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from breakeven.errors.storing import StoreFailed
from breakeven.store import postgres_sessions

if TYPE_CHECKING:
    import psycopg

WRITTEN_ANEW = {
    "entry": "by TYPE text USING by || ''",
    "arrived": "entry TYPE bigint USING entry + 0",
    "snapshot": "version TYPE text USING version || ''",
    "stream": "config TYPE bytea USING config || ''",
    "erased": "stream TYPE bigint USING stream + 0",
}
PRIVATE_COLUMNS = {
    "entry": {"id": "text", "body": "bytea"},
    "arrived": {"id": "text"},
    "snapshot": {"body": "bytea"},
    "stream": {"name": "text", "config": "bytea"},
    "erased": {"mark": "bytea"},
}
STATISTICS = "statistics"  # in meta: the file of pg_statistic that holds private values
FILE_OF_STATISTICS = "SELECT pg_relation_filenode('pg_statistic')::text"
GATHERED = (
    "SELECT count(*) FROM pg_attribute WHERE attrelid = %s::regclass AND attname = ANY(%s) "
    "AND attstattarget IS DISTINCT FROM 0"
)
STILL_THERE = (
    "SELECT pg_snapshot_xmax(pg_current_snapshot())::xid::text FROM meta "
    f"WHERE key = %s AND value = ({FILE_OF_STATISTICS})"
)
OLDER_TRANSACTIONS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
    "AND backend_type = 'client backend' AND age(backend_xmin) > age(%s::xid)"
)

Change = Callable[[], AbstractContextManager[Any]]
"""A session in a transaction."""


def keep_no_statistics(session: "psycopg.Connection[Any]") -> None:
    """Have none gathered of private columns, before there are any."""
    for table, columns in PRIVATE_COLUMNS.items():
        session.execute(f"ALTER TABLE {table} {_not_gathered(columns)}")


def _not_gathered(columns: dict[str, str]) -> str:
    return ", ".join(f"ALTER COLUMN {name} SET STATISTICS 0" for name in columns)


def compact(name: str, session: "psycopg.Connection[Any]", change: Change) -> None:
    """Write all tables anew; `session` is that of the writer, in which `change` begins a transaction."""
    for table, column in WRITTEN_ANEW.items():
        with change():
            _forget_statistics(session, table)
            session.execute(f"ALTER TABLE {table} ALTER COLUMN {column}")
    _rewrite_statistics(name, session, change)


def _forget_statistics(session: "psycopg.Connection[Any]", table: str) -> None:
    """In a change: drop what a store of an older version had gathered; it is in a file until later."""
    columns = PRIVATE_COLUMNS[table]
    ((gathered,),) = session.execute(GATHERED, (table, list(columns))).fetchall()
    if not gathered:
        return
    same = ", ".join(f"ALTER COLUMN {name} TYPE {kind}" for name, kind in columns.items())  # which drops them
    session.execute(f"ALTER TABLE {table} {_not_gathered(columns)}, {same}")
    session.execute("DELETE FROM meta WHERE key = %s", (STATISTICS,))
    session.execute(f"INSERT INTO meta SELECT %s, ({FILE_OF_STATISTICS})", (STATISTICS,))


def _rewrite_statistics(name: str, session: "psycopg.Connection[Any]", change: Change) -> None:
    """Write the file of statistics anew, where it holds private values."""
    for (after,) in session.execute(STILL_THERE, (STATISTICS,)).fetchall():
        _wait_for_older(name, session, after)
        session.execute("VACUUM FULL pg_statistic")
        if session.execute(STILL_THERE, (STATISTICS,)).fetchall():
            raise StoreFailed(
                f"{name}: expected the owner of the database, got a user who may not write its statistics "
                "anew; run `VACUUM FULL pg_statistic` as its owner, then `breakeven store compact`"
            )
    with change():
        session.execute("DELETE FROM meta WHERE key = %s", (STATISTICS,))


def _wait_for_older(name: str, session: "psycopg.Connection[Any]", after: str) -> None:
    """Wait until no transaction is open that may still see what was dropped: that would be kept."""
    until = monotonic() + postgres_sessions.LOCK_SECONDS
    while session.execute(OLDER_TRANSACTIONS, (after,)).fetchall()[0][0]:
        if monotonic() > until:
            raise StoreFailed(
                f"{name}: expected no transaction that began before this, got one in another session; "
                "end it, and run `breakeven store compact`"
            )
        sleep(0.05)
