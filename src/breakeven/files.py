"""How files are written: under another name, then renamed. A reader sees the whole file or none.

Several files that belong together are staged: all of them take their places, or none. A folder that a run has
claimed is refused to any other.
"""

import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from breakeven.errors import BreakevenError
from breakeven.errors.expect import refuse

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows has no such locks
    flock = None  # type: ignore[assignment]

logger = logging.getLogger(__name__)


class UnwritableFolder(BreakevenError, OSError):
    """A file could not be put into a folder; the message names the folder and the reason.

    >>> issubclass(UnwritableFolder, OSError)
    True
    """


def check_folder(folder: Path) -> None:
    """Make a folder, and raise where nothing can be written to it.

    >>> check_folder(Path("/dev/null/bill"))
    Traceback (most recent call last):
    breakeven.files.UnwritableFolder: /dev/null/bill: cannot be written to (Not a directory)
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _replace(folder / ".writable", lambda file: None)
        (folder / ".writable").unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise UnwritableFolder(f"{folder}: cannot be written to ({_reason(error)})") from error


def write(folder: Path, name: str, content: bytes) -> Path:
    """Put a file into a folder, which is made if it is not there; a failure leaves the old file as it was.

    >>> write(Path("/dev/null"), "page.html", b"")
    Traceback (most recent call last):
    breakeven.files.UnwritableFolder: /dev/null: could not write page.html (File exists)
    """
    return write_by(folder, name, lambda file: file.write(content))


def write_by(folder: Path, name: str, fill: Callable[[BinaryIO], object]) -> Path:
    """The same for a file too long to be held in memory: `fill` writes it piece by piece."""
    if not name.strip(".") or "/" in name or "\\" in name:
        refuse("name", "a file's name, without a folder", name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _replace(folder / name, fill)
    except (OSError, ValueError) as error:
        raise UnwritableFolder(f"{folder}: could not write {name} ({_reason(error)})") from error
    logger.info("wrote %s", folder / name)
    return folder / name


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Inside it, no other run may write to the folder, which is there; a second one of this process may.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, claimed(Path(folder)), claimed(Path(folder)):
    ...     pass
    """
    place = folder.resolve()
    if flock is None or place in _CLAIMED:
        yield
        return
    handle = os.open(place, os.O_RDONLY)
    try:
        _lock(folder, handle)
        _CLAIMED.add(place)
        yield
    finally:
        _CLAIMED.discard(place)
        os.close(handle)  # which unlocks it, as the end of a process does


_CLAIMED: set[Path] = set()  # by this process


def _lock(folder: Path, handle: int) -> None:
    assert flock is not None
    try:
        flock(handle, LOCK_EX | LOCK_NB)
    except BlockingIOError as error:
        raise UnwritableFolder(
            f"{folder}: another run is writing to it; wait until that has ended, or choose another folder"
        ) from error
    except OSError:  # a disk that knows no locks
        return


@contextmanager
def staged(folder: Path, last: str) -> Iterator[Path]:
    """A folder inside the other: what was written there takes its place at the end, or none of it does.

    `last` is the file that says that all others are there: it goes first of all, and comes last.
    """
    stage = folder / f".{uuid4().hex}.part"
    try:
        stage.mkdir(parents=True)
        yield stage
        (folder / last).unlink(missing_ok=True)
        for path in sorted(stage.iterdir(), key=lambda path: path.name == last):
            os.replace(path, folder / path.name)
    except UnwritableFolder as error:
        raise UnwritableFolder(str(error).replace(str(stage), str(folder))) from error
    except OSError as error:
        raise UnwritableFolder(f"{folder}: cannot be written to ({_reason(error)})") from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def kept_beside(folder: Path) -> Path:
    """Move all that is in a folder into a new one beside it, and say which."""
    for number in count(1):
        beside = folder.with_name(f"{folder.name}.{number}")
        try:
            beside.mkdir()
            break
        except FileExistsError:
            continue
        except OSError as error:
            raise UnwritableFolder(f"{beside}: cannot be made ({_reason(error)})") from error
    for path in sorted(folder.iterdir()):
        os.replace(path, beside / path.name)
    return beside


def _replace(path: Path, fill: Callable[[BinaryIO], object]) -> None:
    beside = path.with_name(f".{uuid4().hex}.part")
    try:
        with beside.open("xb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _reason(error: OSError | ValueError) -> str:
    told = getattr(error, "strerror", None) or error
    return " ".join(str(told).split()) or type(error).__name__
