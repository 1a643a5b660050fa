"""The lock of a store's file: one process writes at a time, and a second one is told who the first is.

A file next to it is locked, which says who holds it, and on Linux the store's own file as well, which is the
same under every name. Locks end with their process, also after kill -9; no file need be deleted.
"""

import os
import socket
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from breakeven.errors.storing import StoreFailed, StoreHeld

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows has no such locks; the numbers of entries are the fence there, too
    flock = None  # type: ignore[assignment]

OWNER_ALONE = 0o600


def this_process() -> str:
    """Who we are and since when, as the message to others says it."""
    since = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return f"process {os.getpid()} on {socket.gethostname()} since {since}"


def held(name: str, holder: str) -> StoreHeld:
    """What to raise where another process has the lock."""
    return StoreHeld(
        f"{name}: expected a store that nobody else writes to, got one held by {holder}; stop that first"
    )


class FileLock:
    """Held from its making to `release`."""

    def __init__(self, store: Path, name: str) -> None:
        self._handle = self._own = -1
        path = store.with_name(f"{store.name}.lock")
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, OWNER_ALONE)
        except OSError as error:
            raise StoreFailed(f"{name}: cannot be locked ({error.strerror}: {path})") from error
        try:
            self._take(handle, name)
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle

    def _take(self, handle: int, name: str) -> None:
        if not _locked(handle, name):
            holder = os.pread(handle, 500, 0).decode(errors="replace").strip()
            raise held(name, holder or "another process")
        with suppress(OSError):  # a full disk; the words are for people, the lock is held all the same
            os.ftruncate(handle, 0)
            os.write(handle, f"{this_process()}\n".encode())

    def hold(self, store: Path, name: str) -> None:
        """Lock the store's own file as well; another process may have it open under another name.

        Close it after SQLite's connections: closing it drops the locks that SQLite has in this process. For
        the same reason it stays open where the lock is refused. On other systems than Linux this lock and
        those of SQLite would keep each other out.
        """
        if sys.platform == "linux":
            handle = os.open(store, os.O_RDONLY)
            if not _locked(handle, name):
                raise held(name, "another process, which has opened it under another name")
            self._own = handle

    def release(self) -> None:
        """Let others write; doing so twice is harmless."""
        for handle in (self._own, self._handle):
            if handle >= 0:
                os.close(handle)
        self._handle = self._own = -1


def _locked(handle: int, name: str) -> bool:
    """Whether an open file is ours alone now; never by `lockf`, whose locks are those of SQLite."""
    if flock is None:
        return True
    try:
        flock(handle, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise StoreFailed(
            f"{name}: cannot be locked ({error.strerror}); keep the store on a disk of this machine"
        ) from error
    return True
