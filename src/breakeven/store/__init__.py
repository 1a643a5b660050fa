"""An append-only log for each stream, numbered, with snapshots beside it; in a file or in PostgreSQL.

`open_store` opens one, `Writer` writes to it for many callers at once. A store knows bytes, numbers and
times; `breakeven.folding` makes learners of them. `breakeven.testing.check_store` runs what every store must
pass.
"""

from breakeven.errors.storing import (
    MissingStore,
    SecondWriter,
    StoreError,
    StoreFailed,
    StoreHeld,
    UnknownStream,
    WrongStore,
)
from breakeven.store.opening import open_store
from breakeven.store.port import (
    LogBatch,
    LogEntry,
    Store,
    StoredPerson,
    StoredSession,
    StoredSnapshot,
    StoredStream,
    StoredToken,
    TrailEntry,
)
from breakeven.store.sqlite import SqliteStore
from breakeven.store.writer import Writer

__all__ = [
    "LogBatch",
    "LogEntry",
    "MissingStore",
    "SecondWriter",
    "SqliteStore",
    "Store",
    "StoreError",
    "StoreFailed",
    "StoreHeld",
    "StoredPerson",
    "StoredSession",
    "StoredSnapshot",
    "StoredStream",
    "StoredToken",
    "TrailEntry",
    "UnknownStream",
    "Writer",
    "WrongStore",
    "open_store",
]
