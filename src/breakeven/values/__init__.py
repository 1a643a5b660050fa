"""Frozen values that travel between the layers: predictions, decisions, events, and what a report shows.

They are plain data: `msgspec.json.encode` writes them as they are, with null for ∞ and NaN.
"""

from breakeven.values.decision import Decision
from breakeven.values.events import Arrived, Corrected, Event, Fitted, Learnt, Told, Withdrawn
from breakeven.values.exact import ExactSum
from breakeven.values.exhibit import Cell, Chart, Figure, Line, Note, Section, Table
from breakeven.values.prediction import Prediction
from breakeven.values.view import Traits, Verdict, View

__all__ = [
    "Arrived",
    "Cell",
    "Chart",
    "Corrected",
    "Decision",
    "Event",
    "ExactSum",
    "Figure",
    "Fitted",
    "Learnt",
    "Line",
    "Note",
    "Prediction",
    "Section",
    "Table",
    "Told",
    "Traits",
    "Verdict",
    "View",
    "Withdrawn",
]
