"""How fast and how small it is, beside its peers: warm, in turn, on one core, in one run.

`wish` checks what someone asks for, `run` measures it, and `sections` turns a run into what a report shows.
"""

from breakeven.bench.catalogue import BENCHMARKS, run, wish
from breakeven.bench.exhibits import LEAD, TITLE, sections
from breakeven.bench.machine import Machine
from breakeven.bench.results import Reading, Result, Run
from breakeven.bench.sizes import FULL, QUICK, Sizes

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
