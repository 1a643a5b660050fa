"""Debian packages that some tests need: under CI they are installed, and whatever is missing is a failure.

Elsewhere such tests are skipped where the package is not there.
"""

import fcntl
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

Found = TypeVar("Found")
ONE_AT_A_TIME = Path(tempfile.gettempdir()) / "breakeven-apt.lock"


def under_ci() -> bool:
    return bool(os.environ.get("CI"))


def needed(package: str, find: Callable[[], Found | None]) -> Found:
    """What `find` finds once the package is there."""
    found = find()
    if found is None and under_ci():
        with ONE_AT_A_TIME.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            _run("apt-get", "update", "-qq")
            _run("apt-get", "install", "-qq", "--yes", "--no-install-recommends", package)
        found = find()
        if found is None:
            pytest.fail(f"{package} could not be installed, and under CI its tests must run")
    if found is None:
        pytest.skip(f"{package} is not installed: apt-get install {package}")
    return found


def _run(*words: str) -> None:
    subprocess.run([*(["sudo"] if os.geteuid() else []), *words], check=True, stdout=subprocess.DEVNULL)
