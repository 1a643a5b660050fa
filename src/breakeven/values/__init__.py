"""Frozen values that travel between the layers: predictions, decisions, events, and what a report shows.

They are plain data; `breakeven.wire` writes them as JSON or MessagePack and reads them back.
"""

from breakeven.values.audit_report import Assumption, AuditReport, Interval
from breakeven.values.bill import Bill, BillRow, Sweep
from breakeven.values.decision import WORDING, By, Decision, Offer, Prediction, normal_answer
from breakeven.values.decisions import CompiledDecisions, DecisionColumns, Decisions, Reasons, Unwritten
from breakeven.values.error_costs import EVEN, ErrorCosts, checked_level, counted, expected_error
from breakeven.values.events import (
    AnyEvent,
    Arrived,
    Corrected,
    Cost,
    Created,
    Erased,
    Event,
    Fitted,
    Learnt,
    Refuted,
    Reopened,
    Repriced,
    Told,
    Withdrawn,
)
from breakeven.values.exhibit import Cell, Chart, Figure, Line, Mark, Note, Section, Table
from breakeven.values.explanation import (
    Explanation,
    FeatureWeight,
    Grounds,
    NearLabel,
    SimilarCase,
)
from breakeven.values.predictions import (
    PredictionColumns,
    Predictions,
    PredictionsByCode,
    PredictionsOfTypes,
)
from breakeven.values.standing import IN_DOUBT, Standing
from breakeven.values.sums import NO_SUM, ExactSum
from breakeven.values.view import (
    COMING,
    NUMBERS_BESIDE_LABELLERS,
    UNKNOWN,
    Labeller,
    Saving,
    Traits,
    Verdict,
    View,
    best_offer,
)

__all__ = [
    "COMING",
    "EVEN",
    "IN_DOUBT",
    "NO_SUM",
    "NUMBERS_BESIDE_LABELLERS",
    "UNKNOWN",
    "WORDING",
    "AnyEvent",
    "Arrived",
    "Assumption",
    "AuditReport",
    "Bill",
    "BillRow",
    "By",
    "Cell",
    "Chart",
    "CompiledDecisions",
    "Corrected",
    "Cost",
    "Created",
    "Decision",
    "DecisionColumns",
    "Decisions",
    "Erased",
    "ErrorCosts",
    "Event",
    "ExactSum",
    "Explanation",
    "FeatureWeight",
    "Figure",
    "Fitted",
    "Grounds",
    "Interval",
    "Labeller",
    "Learnt",
    "Line",
    "Mark",
    "NearLabel",
    "Note",
    "Offer",
    "Prediction",
    "PredictionColumns",
    "Predictions",
    "PredictionsByCode",
    "PredictionsOfTypes",
    "Reasons",
    "Refuted",
    "Reopened",
    "Repriced",
    "Saving",
    "Section",
    "SimilarCase",
    "Standing",
    "Sweep",
    "Table",
    "Told",
    "Traits",
    "Unwritten",
    "Verdict",
    "View",
    "Withdrawn",
    "best_offer",
    "checked_level",
    "counted",
    "expected_error",
    "normal_answer",
]
