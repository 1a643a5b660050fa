"""What it costs to import the package, and what memory n labels take; each in processes of its own."""

import compileall
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from breakeven.beliefs import GaussianProcess, SquaredExponential
from breakeven.bench.fresh import afresh, output
from breakeven.bench.measurement import Measurement
from breakeven.bench.memory import check_memory, peak
from breakeven.bench.results import Result
from breakeven.bench.sizes import Sizes
from breakeven.bench.timing import timing
from breakeven.bench.wording import a_round, megabytes

IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
OURS, BENEATH = "breakeven", "numpy, scipy.linalg"
A_PAIR = 4  # bytes: half a triangle of eight-byte numbers
TIMES_NEEDED, TIMES_BENEATH = 1.3, 1.3


def measurements(sizes: Sizes) -> list[Measurement]:
    """Importing, then memory."""
    return [
        Measurement("Import", partial(_imports, sizes.imports)),
        Measurement("Memory of a GP's labels", partial(_memory, sizes.kept_labels)),
    ]


def _imports(repeats: int) -> Iterator[Result]:
    compileall.compile_dir(Path(__file__).parent.parent, quiet=1)  # as pip does when it installs
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
