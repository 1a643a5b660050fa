"""The paper's experiments, twice: as its text says, and as its figures were computed.

`wish` checks what someone wants to see, `phases` lists the jobs behind it, a `Workshop` does them, and
`sections` turns their results into what a report shows.
"""

from breakeven.experiments.catalogue import EXHIBITS, Wish, check_data, compared, phases, sections, wish
from breakeven.experiments.runs.curve import Curve, run
from breakeven.experiments.runs.job import Job
from breakeven.experiments.runs.scale_job import Tuning, tune_threshold_scale
from breakeven.experiments.runs.shelf import Shelf
from breakeven.experiments.runs.trials import Results
from breakeven.experiments.runs.workshop import CodeChanged, WorkerLost, Workshop

__all__ = [
    "EXHIBITS",
    "CodeChanged",
    "Curve",
    "Job",
    "Results",
    "Shelf",
    "Tuning",
    "Wish",
    "WorkerLost",
    "Workshop",
    "check_data",
    "compared",
    "phases",
    "run",
    "sections",
    "tune_threshold_scale",
    "wish",
]
