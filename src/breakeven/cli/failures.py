"""What goes wrong becomes one line on standard error and an exit code; only a bug shows a traceback.

With `--json` the line is `{"error": {"kind": …, "message": …}}`. `FAILURES` is the one table of all this.
The first Ctrl-C ends the run after the current round, the second ends it at once.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NamedTuple

import typer

from breakeven.cli.output import OutputClosed, as_line, print_json, show_whatever_comes
from breakeven.errors import BreakevenError
from breakeven.errors.statuses import ending_of
from breakeven.starting import started

REFUSED = typer.BadParameter.__mro__[2]  # the root of what typer refuses; it exports no name for it
TYPER_INTERRUPTED = 130  # what typer returns after Ctrl-C
NOBODY_READS = 1
TERMINATED = 128 + signal.SIGTERM

Hear = Callable[[int, FrameType | None], None]


class Failure(NamedTuple):
    """How a class of errors ends: exit code, kind and wording.

    An exit code of None is that of `errors.statuses`, and a kind of None the name of the class itself.
    """

    exit_code: int | None
    kind: str | None
    wording: Callable[[Any], str]


def _usage(error: Any) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "breakeven"
    return f"{error.format_message().rstrip('.')} (see `{command} --help`)"


def _interrupted(error: BaseException) -> str:
    return "interrupted"


def _system(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    return reason if error.filename is None else f"{os.fsdecode(error.filename)}: {reason}"


FAILURES: dict[type[BaseException], Failure] = {
    OutputClosed: Failure(NOBODY_READS, None, str),
    BreakevenError: Failure(None, None, str),
    REFUSED: Failure(2, "UsageError", _usage),
    KeyboardInterrupt: Failure(2, "Interrupted", _interrupted),
    typer.Abort: Failure(2, "Interrupted", _interrupted),
    OSError: Failure(2, None, _system),
}


def run(command: Any, words: list[str]) -> int:
    """Run a command on these words and return its exit code; what goes wrong is printed first."""
    show_whatever_comes(sys.stdout)
    try:
        started()
        code = command.main(words, prog_name="breakeven", standalone_mode=False)
        if code == TYPER_INTERRUPTED:
            raise KeyboardInterrupt
        print(end="", flush=True)
    except tuple(FAILURES) as error:
        _drop_what_cannot_be_written()
        return NOBODY_READS if isinstance(error, BrokenPipeError) else _tell(error, "--json" in words)
    return int(code or 0)


def described(error: BaseException) -> dict[str, str]:
    """The kind of an error, and its message on one line.

    >>> described(PermissionError(13, "Permission denied", "a[1].csv"))
    {'kind': 'PermissionError', 'message': 'a[1].csv: Permission denied'}
    """
    failure = _failure(error)
    return {"kind": failure.kind or type(error).__name__, "message": as_line(failure.wording(error))}


def _tell(error: BaseException, as_json: bool) -> int:
    told = described(error)
    with suppress(OSError):
        if as_json:
            print_json({"error": told}, to=sys.stderr)
        else:
            print(f"breakeven: {told['message']}", file=sys.stderr)
    code = _failure(error).exit_code
    return ending_of(error).exit_code if code is None and isinstance(error, BreakevenError) else code or 0


def _failure(error: BaseException) -> Failure:
    return next(failure for kind, failure in FAILURES.items() if isinstance(error, kind))


def _drop_what_cannot_be_written() -> None:
    """Drop what standard output would not take: Python would try again at its end, and print a message."""
    try:
        print(end="", flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# -- interrupted and terminated ------------------------------------------------------------------------


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Give a function that says whether Ctrl-C was pressed meanwhile; only the main thread is told of it.

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
    """Inside it, a signal to terminate ends the program as an exit does, so that nothing is left behind."""

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
