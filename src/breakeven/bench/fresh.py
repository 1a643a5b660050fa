"""What a function returns in a process that did nothing before: only there memory can be told."""

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

ANSWER = "import sys; from breakeven.bench.fresh import answer; answer(*sys.argv[1:])"


def afresh(function: Callable[..., T], *arguments: Any, returns: type[T]) -> T:
    """Call a function of a module in a new process, with arguments that JSON can hold.

    >>> from math import hypot
    >>> afresh(hypot, 3, 4, returns=float)
    5.0
    """
    words = (function.__module__, function.__name__, msgspec.json.encode(arguments).decode())
    return msgspec.json.decode(output(ANSWER, *words), type=returns)


def output(code: str, *words: str) -> str:
    """What some lines of Python print in a new process."""
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def answer(module: str, function: str, arguments: str) -> None:
    """The other end of `afresh`."""
    found = getattr(import_module(module), function)(*msgspec.json.decode(arguments))
    print(msgspec.json.encode(found).decode())
