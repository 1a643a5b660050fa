"""The lock beside a file: one process writes at a time, and the message to the second says who the first is.

It ends with its process, also after kill -9; the file stays and need not be deleted.
"""

import os
import socket
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

    def __init__(self, path: Path, name: str) -> None:
        self._handle = -1
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
        if flock is not None:
            try:
                flock(handle, LOCK_EX | LOCK_NB)
            except BlockingIOError as error:
                holder = os.pread(handle, 500, 0).decode(errors="replace").strip()
                raise held(name, holder or "another process") from error
            except OSError as error:
                raise StoreFailed(
                    f"{name}: cannot be locked ({error.strerror}); keep the store on a disk of this machine"
                ) from error
        with suppress(OSError):  # a full disk; the words are for people, the lock is held all the same
            os.ftruncate(handle, 0)
            os.write(handle, f"{this_process()}\n".encode())

    def release(self) -> None:
        """Let others write; doing so twice is harmless."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
