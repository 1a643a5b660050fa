"""What it costs to import the package, and what memory n labels take; each in processes of its own."""

import compileall
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import breakeven
from benchmarks.measure import Result

IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
LABELS = 4000
MEMORY = """
import re, numpy as np
from breakeven import GaussianProcess, SquaredExponential
peak = lambda: 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
random = np.random.default_rng(0)
belief = GaussianProcess(2, 0.1, SquaredExponential(0.2))
belief.learn(random.random(2), 0.0)
before = peak()
for point in random.random(({labels}, 2)):
    belief.learn(point, 0.0)
print(peak() - before)
"""


def run() -> Iterator[Result]:
    compileall.compile_dir(Path(breakeven.__file__).parent, quiet=1)  # as pip does when it installs
    pairs = [
        (_number(IMPORT.format("breakeven")), _number(IMPORT.format("numpy, scipy.linalg")))
        for _ in range(21)
    ]
    ours, peer = (statistics.median(column) for column in zip(*pairs[1:], strict=True))
    yield Result(
        "import breakeven",
        f"{ours * 1e3:.0f} ms",
        f"import numpy, scipy.linalg {peer * 1e3:.0f} ms",
        f"{ours / peer:.2f}×",
        "≤ 1.3×",
        ours <= 1.3 * peer,
    )
    used, allowed = _number(MEMORY.format(labels=LABELS)), 8 * LABELS**2 + 100e6
    yield Result(
        f"Memory of a GP with {LABELS} labels",
        f"{used / 1e6:.0f} MB",
        f"half a square of floats {4 * LABELS**2 / 1e6:.0f} MB",
        f"{used / (4 * LABELS**2):.2f}×",
        "≤ 2× + 100 MB",
        used <= allowed,
    )


def _number(code: str) -> float:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)
