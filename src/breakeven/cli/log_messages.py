"""`--log-level` for every command: the library's log messages on standard error while the command runs.

What a stranger sends may stand in a message, so one message is one line that begins with its time, or goes on
indented; and of messages of one kind only some are written in a second.
"""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, Literal, TextIO

import typer

from breakeven.cli.output import printable

LogLevel = Annotated[
    Literal["debug", "info", "warning", "error"] | None,
    typer.Option(help="Also write log messages of this level and above to standard error."),
]

LOGGERS = ("breakeven", "uvicorn", "asyncio")
MOST_A_SECOND = 10  # of messages of one kind
MOST_KINDS = 1_000  # that are counted
LINE = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class StandardError(logging.StreamHandler[TextIO]):
    """Writes to standard error as it is when a message comes: a progress bar puts itself in its place."""

    @property
    def stream(self) -> TextIO:
        """Where messages go now."""
        return sys.stderr

    @stream.setter
    def stream(self, value: TextIO) -> None:
        pass


class SafeLines(logging.Formatter):
    """Lines that cannot be mistaken for another message, and hold nothing that a terminal obeys."""

    def format(self, record: logging.LogRecord) -> str:
        """One message; further lines, such as those of a traceback, are indented."""
        return "\n    ".join(map(printable, super().format(record).split("\n")))


class OnlySome(logging.Filter):
    """Lets some messages of each kind through in a second; the next one says how many were left out."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[object, tuple[int, int]] = {}  # the second, and how many came in it, by kind

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a message is written; its kind is the first line of the words that a program has for it.

        Further lines may name an object, as those of asyncio do, and be different each time.
        """
        kind, now = (record.name, str(record.msg).partition("\n")[0]), int(record.created)
        if len(self._seen) >= MOST_KINDS and kind not in self._seen:
            self._seen.clear()
        second, count = self._seen.get(kind, (now, 0))
        if second == now:
            self._seen[kind] = now, count + 1
            return count < MOST_A_SECOND
        self._seen[kind] = now, 1
        if count > MOST_A_SECOND:
            record.msg = f"{record.msg} ({count - MOST_A_SECOND} more of these were not written)"
        return True


def with_log_level(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same command with the option `--log-level`, unless it has one of its own."""
    if "log_level" in signature(command).parameters:
        return command

    @wraps(command)
    def run(*, log_level: str | None, **given: Any) -> Any:
        with written(log_level):
            return command(**given)

    option = Parameter("log_level", Parameter.KEYWORD_ONLY, default=None, annotation=LogLevel)
    known = signature(command)
    run.__signature__ = known.replace(parameters=[*known.parameters.values(), option])  # type: ignore[attr-defined]
    return run


def all_with_log_level(group: typer.Typer) -> typer.Typer:
    """The same group of commands, each with the option; the given one stays as it is."""
    changed = copy(group)
    changed.registered_commands = [copy(one) for one in group.registered_commands]
    for one in changed.registered_commands:
        assert one.callback is not None  # a command is made from a function
        one.callback = with_log_level(one.callback)
    return changed


@contextmanager
def written(level: str | None) -> Iterator[None]:
    """Write messages of a level and above to standard error meanwhile; None writes nothing."""
    if level is None:
        yield
        return
    loggers, handler = [logging.getLogger(name) for name in LOGGERS], StandardError()
    handler.setFormatter(SafeLines(LINE))
    handler.addFilter(OnlySome())
    before = [one.level for one in loggers]
    for one in loggers:
        one.addHandler(handler)
        one.setLevel(level.upper())
    try:
        yield
    finally:
        for one, was in zip(loggers, before, strict=True):
            one.removeHandler(handler)
            one.setLevel(was)
