"""How files are written: under another name, then renamed. A reader sees the whole file or none."""

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from breakeven.errors import BreakevenError
from breakeven.errors.expect import refuse

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
