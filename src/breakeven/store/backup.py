"""Copies of a store in a file: made while it is in use, and put back.

A backup is one plain file, checked before it takes its name. What a restore replaces is kept beside it.
"""

import os
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path
from uuid import uuid4

from breakeven.errors.storing import StoreError, StoreFailed
from breakeven.store.lock import OWNER_ALONE, FileLock
from breakeven.store.sqlite import SqliteStore, real_path, sync_folder

PAGES_AT_ONCE = 1024
BESIDE_A_FILE = ("", "-wal", "-shm")  # the files of one database

Copied = Callable[[int, int], object]
"""Told how many pages are copied, and of how many."""


def write_backup(store: SqliteStore, target: Path, progress: Copied | None = None) -> Path:
    """Copy a store, as it is now, into a new file; it may be written to meanwhile."""
    if target.exists():
        raise StoreError(f"{target}: expected the name of a new file, got one that is there")
    return _copy(store, target, progress)


def restore_backup(
    backup: Path, target: Path, *, overwrite: bool = False, progress: Copied | None = None
) -> Path | None:
    """Put a backup where a store is to be; with `overwrite` what was there is kept under another name.

    Returns that name, if there is one. A store that a process writes to is refused with `StoreHeld`.
    """
    name, target = str(target), real_path(target)
    with ExitStack() as stack:
        source = stack.enter_context(closing(SqliteStore(backup, "read")))
        lock = FileLock(target, name)
        stack.callback(lock.release)
        _check_whole(source)
        if target.exists():
            lock.hold(target, name)
            if not overwrite:
                raise StoreError(
                    f"{name}: expected a name at which there is no store, got one; say --overwrite to keep "
                    "that under another name"
                )
        stage = _copy(source, target.with_name(f".{uuid4().hex}.part"), progress)
        kept = _set_aside(target) if target.exists() else None
        os.replace(stage, target)
        sync_folder(target.parent)
    return kept


def _check_whole(store: SqliteStore) -> None:
    if wrong := store.damage():
        raise StoreFailed(f"{store.name}: expected a whole file, got a damaged one ({wrong[0]})")


def _copy(store: SqliteStore, target: Path, progress: Copied | None) -> Path:
    stage = target.with_name(f".{uuid4().hex}.part")
    try:
        os.close(os.open(stage, os.O_CREAT | os.O_EXCL, OWNER_ALONE))
        with closing(sqlite3.connect(stage, isolation_level=None)) as copy, store.unchanging() as source:
            source.backup(copy, pages=PAGES_AT_ONCE, progress=_telling(progress))
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, also on a disk that cannot be written to
            ((found,),) = copy.execute("PRAGMA integrity_check(1)").fetchall()
        if found != "ok":
            raise StoreFailed(f"{target}: expected a whole copy, got a damaged one ({found})")
        with stage.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(stage, target)
        sync_folder(target.parent)
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise StoreFailed(f"{target}: could not be written ({reason})") from error
    finally:
        for ending in (*BESIDE_A_FILE, "-journal"):
            stage.with_name(f"{stage.name}{ending}").unlink(missing_ok=True)
    return target


def _telling(progress: Copied | None) -> Callable[[int, int, int], object] | None:
    if progress is None:
        return None
    return lambda status, left, whole: progress(whole - left, whole)


def _set_aside(target: Path) -> Path:
    """Give a database another name, with the files beside it."""
    for number in count(1):
        beside = target.with_name(f"{target.name}.{number}")
        if not beside.exists():
            break
    for ending in reversed(BESIDE_A_FILE):
        old = target.with_name(f"{target.name}{ending}")
        if old.exists():
            os.replace(old, beside.with_name(f"{beside.name}{ending}"))
    return beside
