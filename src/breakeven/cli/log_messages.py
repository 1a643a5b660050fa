"""`--log-level` for every command: the library's log messages on standard error while the command runs."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, Literal, TextIO

import typer

LogLevel = Annotated[
    Literal["debug", "info", "warning", "error"] | None,
    typer.Option(help="Also write log messages of this level and above to standard error."),
]

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


def with_log_level(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same command with the option `--log-level`."""

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
    logger, handler = logging.getLogger("breakeven"), StandardError()
    handler.setFormatter(logging.Formatter(LINE))
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level.upper())
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
