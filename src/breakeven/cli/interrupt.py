"""Ctrl-C as a wish to end: the first is heard between two rounds, the second ends at once."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


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

    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return
    before = signal.signal(signal.SIGINT, hear)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
