"""What it costs to import the package, and what memory n labels take; each in processes of its own.

Only a process that did nothing before can tell its memory: `afresh` calls a function in one.
"""

import compileall
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

import breakeven
from breakeven.beliefs import GaussianProcess, SquaredExponential
from breakeven_research.bench.results import Measurement, NotMeasured, Result, Sizes
from breakeven_research.bench.timing import a_round, megabytes, timing

T = TypeVar("T")

ANSWER = "import sys; from breakeven_research.bench.footprint import answer; answer(*sys.argv[1:])"


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


# -- memory --------------------------------------------------------------------------------------------------


PROCESS = Path("/proc/self")


def check_memory() -> None:
    """Raise where a process cannot know its memory."""
    if not (PROCESS / "clear_refs").exists():
        raise NotMeasured("not measured (only Linux tells a process its memory)")


def resident() -> int:
    """Bytes in memory now."""
    return _told("VmRSS")


def peak() -> int:
    """The most bytes in memory since the start, or since `forget_peak`."""
    return _told("VmHWM")


def forget_peak() -> None:
    """Let the peak begin anew at what is in memory now."""
    (PROCESS / "clear_refs").write_text("5")


def _told(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", (PROCESS / "status").read_text())
    assert found is not None
    return 1024 * int(found[1])


# -- what is measured ----------------------------------------------------------------------------------------


IMPORT = "import time; start = time.process_time(); import {}; print(time.process_time() - start)"
OURS, BENEATH = "breakeven", "numpy, scipy.linalg"
A_PAIR = 4  # bytes: half a triangle of eight-byte numbers
TIMES_NEEDED, TIMES_BENEATH = 1.3, 0.8


def measurements(sizes: Sizes) -> list[Measurement]:
    """Importing, then memory."""
    return [
        Measurement("Import", partial(_imports, sizes.imports)),
        Measurement("Memory of a GP's labels", partial(_memory, sizes.kept_labels)),
    ]


def _imports(repeats: int) -> Iterator[Result]:
    compileall.compile_dir(Path(breakeven.__file__).parent, quiet=1)  # as pip does when it installs
    pairs = [[float(output(IMPORT.format(what))) for what in (OURS, BENEATH)] for _ in range(repeats + 1)]
    ours, beneath = (timing(column) for column in zip(*pairs[1:], strict=True))
    ratio = ours.median / beneath.median
    yield Result(
        what=f"import {OURS}",
        measured=a_round(ours),
        beside=f"import {BENEATH} {a_round(beneath)}",
        ratio=f"{ratio:.2f}×",
        target=f"≤ {TIMES_BENEATH}×",
        reached=ratio <= TIMES_BENEATH,
    )


def _memory(labels: int) -> Iterator[Result]:
    check_memory()
    used, needed = afresh(bytes_of_labels, labels, returns=float), A_PAIR * labels**2
    yield Result(
        what=f"Memory of a GP with {labels:,} labels",
        measured=megabytes(used),
        beside=f"half a square of numbers {megabytes(needed)}",
        ratio=f"{used / needed:.2f}×",
        target=f"≤ {TIMES_NEEDED}×",
        reached=used <= TIMES_NEEDED * needed,
    )


def bytes_of_labels(labels: int) -> float:
    """The most memory that labels take beyond what was there before the first."""
    points = np.random.default_rng(0).random((labels, 2))
    belief = GaussianProcess(2, 0.1, SquaredExponential(0.2))
    before = peak()
    for point in points:
        belief.learn(point, 0.0)
    return float(peak() - before)
