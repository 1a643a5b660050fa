"""breakeven: pay for a label only when it pays for itself.

Points arrive one at a time, and labelling one costs money. A `Learner` decides for every arrival whether its
label is worth its price, and predicts either way. Start with `algorithm1` (types) or `algorithm2` (numbers).
"""

from breakeven import starting as starting  # isort: skip  # Ctrl-C is heard before all that takes time
from logging import NullHandler as _NullHandler
from logging import getLogger as _getLogger

from breakeven import errors, theory
from breakeven.beliefs import (
    Averaged,
    AveragedShares,
    Belief,
    Cells,
    GaussianProcess,
    Matern,
    Prior,
    SeparateTypes,
    SquaredExponential,
    TypeMeans,
    TypeShares,
)
from breakeven.learner import Learner, algorithm1, algorithm2
from breakeven.ledger import Ledger
from breakeven.notebook import connect as _connect
from breakeven.rules import (
    Always,
    Audit,
    Budget,
    Check,
    Never,
    Queue,
    RandomSelect,
    Rule,
    Threshold,
    Value,
    VariableUncertainty,
)
from breakeven.simulate import Trace, simulate
from breakeven.tables import from_table
from breakeven.values import Decision, Explanation, Labeller, Prediction, Verdict, View

__all__ = [
    "Always",
    "Audit",
    "Averaged",
    "AveragedShares",
    "Belief",
    "Budget",
    "Cells",
    "Check",
    "Decision",
    "Explanation",
    "GaussianProcess",
    "Labeller",
    "Learner",
    "Ledger",
    "Matern",
    "Never",
    "Prediction",
    "Prior",
    "Queue",
    "RandomSelect",
    "Rule",
    "SeparateTypes",
    "SquaredExponential",
    "Threshold",
    "Trace",
    "TypeMeans",
    "TypeShares",
    "Value",
    "VariableUncertainty",
    "Verdict",
    "View",
    "algorithm1",
    "algorithm2",
    "errors",
    "from_table",
    "simulate",
    "theory",
]

__version__ = "0.1.0"

_getLogger(__name__).addHandler(_NullHandler())  # who wants messages says so; without that there are none
_connect()  # things know how to draw themselves from now on
