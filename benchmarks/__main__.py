"""Run every benchmark, print the table and write it to docs/benchmarks.md."""

import os
import platform
import sys
from itertools import chain
from pathlib import Path

import numpy as np
import scipy
import sklearn

from benchmarks import algorithm1, fitting, footprint, gp_round
from benchmarks.measure import Result

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
HEAD = """# Benchmarks

Written by `make bench`. Every line compares two things measured in turn in one run, with one BLAS thread:
trust the ratios, not the times. Times are medians, with quartiles in brackets.

| what | measured | beside it | ratio | target | reached |
|---|---|---|---|---|---|
"""


def line(result: Result) -> str:
    reached = ("yes" if result.reached else "**no**") if result.target else ""
    cells = (result.what, result.measured, result.beside, result.ratio, result.target, reached)
    return f"| {' | '.join(cells)} |"


def machine() -> str:
    rows = Path("/proc/cpuinfo").read_text().splitlines()
    cpu = next((row.split(":")[1].strip() for row in rows if "model name" in row), platform.processor())
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return (
        f"\nMeasured on {os.cpu_count()} cores of {cpu}, {platform.system()}, Python "
        f"{platform.python_version()}, NumPy {np.__version__} ({blas['name']} {blas['version']}), "
        f"SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}.\n"
    )


def main() -> None:
    lines = []
    for result in chain(algorithm1.run(), footprint.run(), fitting.run(), gp_round.run()):
        lines.append(line(result))
        print(lines[-1], file=sys.stderr, flush=True)
    PAGE.write_text(HEAD + "\n".join(lines) + "\n" + machine())
    print(f"wrote {PAGE.relative_to(Path.cwd())}")


main()
