"""Ctrl-C as a wish to end: the first is heard between two rounds, the second ends at once.

What ends the program from outside ends it as an exit does, so that nothing is left behind.
"""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

TERMINATED = 128 + signal.SIGTERM

Hear = Callable[[int, FrameType | None], None]


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Inside it, a function that says whether Ctrl-C was pressed; only the main thread hears it.

    >>> with interruptible() as stop:
    ...     stop()
    False
    """
    pressed = threading.Event()

    def hear(number: int, frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    with _hearing(signal.SIGINT, hear):
        yield pressed.is_set


@contextmanager
def terminable() -> Iterator[None]:
    """Inside it, being told to terminate cleans up first."""

    def hear(number: int, frame: FrameType | None) -> None:
        sys.exit(TERMINATED)

    with _hearing(signal.SIGTERM, hear):
        yield


@contextmanager
def _hearing(number: int, hear: Hear) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, hear)
    try:
        yield
    finally:
        signal.signal(number, before)
