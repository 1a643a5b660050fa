"""Frozen values that travel between the layers: predictions, decisions, events, and what a report shows.

They are plain data: `msgspec.json.encode` writes them as they are, with null for ∞ and NaN.
"""

from breakeven.values.audit import Assumption, AuditReport, Interval
from breakeven.values.bill import Bill, BillRow, Sweep
from breakeven.values.decision import Decision
from breakeven.values.events import Arrived, Corrected, Event, Fitted, Learnt, Repriced, Told, Withdrawn
from breakeven.values.exact import ExactSum
from breakeven.values.exhibit import Cell, Chart, Figure, Line, Note, Section, Table
from breakeven.values.labeller import Labeller
from breakeven.values.prediction import Prediction
from breakeven.values.view import COMING, UNKNOWN, Offer, Saving, Traits, Verdict, View, best_offer

__all__ = [
    "COMING",
    "UNKNOWN",
    "Arrived",
    "Assumption",
    "AuditReport",
    "Bill",
    "BillRow",
    "Cell",
    "Chart",
    "Corrected",
    "Decision",
    "Event",
    "ExactSum",
    "Figure",
    "Fitted",
    "Interval",
    "Labeller",
    "Learnt",
    "Line",
    "Note",
    "Offer",
    "Prediction",
    "Repriced",
    "Saving",
    "Section",
    "Sweep",
    "Table",
    "Told",
    "Traits",
    "Verdict",
    "View",
    "Withdrawn",
    "best_offer",
]
