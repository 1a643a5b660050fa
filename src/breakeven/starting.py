"""Ctrl-C while the program starts: one line, and no traceback out of the middle of an import.

`breakeven` imports this before anything else. Nothing is done unless this process is the program itself; who
imports the library keeps their own signals.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import PurePath
from types import FrameType

INTERRUPTED = 2  # the exit code
SAID = b"breakeven: interrupted\n"
SAID_AS_JSON = b'{"error":{"kind":"Interrupted","message":"interrupted"}}\n'


def is_program() -> bool:
    """Whether this process runs `breakeven`, or `python -m breakeven`."""
    words = [*getattr(sys, "argv", []), ""]
    asked = list(getattr(sys, "orig_argv", []))
    by_module = any(pair == ("-m", "breakeven") for pair in pairwise(asked))
    return by_module if words[0] == "-m" else PurePath(words[0]).stem == "breakeven"


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Inside it Ctrl-C ends the program at once, in one line: for imports, which no exception should cut off.

    Only the main thread hears of signals; in any other this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def started() -> None:
    """From here on Ctrl-C raises KeyboardInterrupt, as Python has it."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(number: int, frame: FrameType | None) -> None:
    os.write(2, SAID_AS_JSON if "--json" in sys.argv else SAID)
    os._exit(INTERRUPTED)


_untouched = signal.getsignal(signal.SIGINT) is signal.default_int_handler
if is_program() and _untouched and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, _end)
