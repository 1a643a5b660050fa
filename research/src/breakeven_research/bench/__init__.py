"""How fast and how small it is, beside its peers: warm, in turn, on one core, in one run.

`wish` checks what someone asks for, `run` measures it, and `sections` turns a run into what a report shows.
"""

from breakeven_research.bench.catalogue import BENCHMARKS, LEAD, TITLE, run, sections, wish
from breakeven_research.bench.results import FULL, QUICK, Machine, Reading, Result, Run, Sizes

__all__ = [
    "BENCHMARKS",
    "FULL",
    "LEAD",
    "QUICK",
    "TITLE",
    "Machine",
    "Reading",
    "Result",
    "Run",
    "Sizes",
    "run",
    "sections",
    "wish",
]
