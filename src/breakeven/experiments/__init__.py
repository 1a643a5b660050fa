"""The paper's experiments, twice: as its text says, and as its figures were computed.

`wish` checks what someone wants to see, `phases` lists the jobs behind it, a `Workshop` does them, and
`sections` turns their results into what a report shows.
"""

from breakeven.experiments.catalogue import EXHIBITS, Wish, check_data, compared, phases, sections, wish
from breakeven.experiments.curve import Curve, run
from breakeven.experiments.job import Job
from breakeven.experiments.scales import Tuning, tune_threshold_scale
from breakeven.experiments.shelf import Shelf
from breakeven.experiments.trials import Results
from breakeven.experiments.workshop import WorkerLost, Workshop

__all__ = [
    "EXHIBITS",
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
