"""The paper's experiments, twice: as its text says, and as its figures were computed.

`wish` checks what someone wants to see, `phases` lists the jobs behind it, a `Workshop` does them, and
`sections` turns their results into what a report shows. `stream_wish`, `stream_phases` and `stream_sections`
do the same for decisions on streams of all kinds, the paper's and others.
"""

from breakeven_research.experiments.catalogue import (
    ALL_STREAMS,
    EXHIBITS,
    STREAM_TITLE,
    StreamWish,
    Wish,
    check_data,
    check_stream_data,
    compared,
    phases,
    sections,
    stream_phases,
    stream_sections,
    stream_wish,
    wish,
)
from breakeven_research.experiments.runs.trials import Curve, Job, Results, run
from breakeven_research.experiments.runs.workshop import CodeChanged, Shelf, WorkerLost, Workshop

__all__ = [
    "ALL_STREAMS",
    "EXHIBITS",
    "STREAM_TITLE",
    "CodeChanged",
    "Curve",
    "Job",
    "Results",
    "Shelf",
    "StreamWish",
    "Wish",
    "WorkerLost",
    "Workshop",
    "check_data",
    "check_stream_data",
    "compared",
    "phases",
    "run",
    "sections",
    "stream_phases",
    "stream_sections",
    "stream_wish",
    "wish",
]
