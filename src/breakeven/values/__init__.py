"""Frozen values that travel between the layers: predictions, decisions, events.

They are plain data: `msgspec.json.encode` writes them as they are, with null for ∞ and NaN.
"""

from breakeven.values.decision import Decision
from breakeven.values.events import Arrived, Corrected, Event, Fitted, Learnt, Told, Withdrawn
from breakeven.values.exact import ExactSum
from breakeven.values.prediction import Prediction
from breakeven.values.view import Traits, Verdict, View

__all__ = [
    "Arrived",
    "Corrected",
    "Decision",
    "Event",
    "ExactSum",
    "Fitted",
    "Learnt",
    "Prediction",
    "Told",
    "Traits",
    "Verdict",
    "View",
    "Withdrawn",
]
