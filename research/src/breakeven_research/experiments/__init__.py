"""The paper's experiments, twice: as its text says, and as its figures were computed.

`wish` checks what someone wants to see, `phases` lists the jobs behind it, a `Workshop` does them, and
`sections` turns their results into what a report shows.
"""

from breakeven_research.experiments.catalogue import (
    EXHIBITS,
    Wish,
    check_data,
    compared,
    phases,
    sections,
    wish,
)
from breakeven_research.experiments.runs.trials import Curve, Job, Results, run
from breakeven_research.experiments.runs.workshop import CodeChanged, Shelf, WorkerLost, Workshop

__all__ = [
    "EXHIBITS",
    "CodeChanged",
    "Curve",
    "Job",
    "Results",
    "Shelf",
    "Wish",
    "WorkerLost",
    "Workshop",
    "check_data",
    "compared",
    "phases",
    "run",
    "sections",
    "wish",
]
