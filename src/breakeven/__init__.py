"""breakeven: pay for a label only when it pays for itself.

Points arrive one at a time, and labelling one costs money. A `Learner` decides for every arrival whether its
label is worth its price, and predicts either way. Start with `algorithm1` (types) or `algorithm2` (numbers).
"""

from breakeven import starting as starting  # isort: skip  # Ctrl-C is heard before all that takes time

from importlib import import_module
from logging import NullHandler as _NullHandler
from logging import getLogger as _getLogger
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from breakeven.learner.fleet import Fleet as Fleet
    from breakeven.ledger import Ledger
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
    from breakeven.tables import from_table
    from breakeven.trace import Trace, simulate
    from breakeven.values import (
        Decision,
        Decisions,
        Explanation,
        Labeller,
        Prediction,
        Predictions,
        Verdict,
        View,
    )

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
    "Decisions",
    "Explanation",
    "GaussianProcess",
    "Labeller",
    "Learner",
    "Ledger",
    "Matern",
    "Never",
    "Prediction",
    "Predictions",
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

_HOMES: dict[str, tuple[str, ...]] = {  # where each name is loaded from, when it is first asked for
    "breakeven.beliefs": (
        "Averaged",
        "AveragedShares",
        "Belief",
        "Cells",
        "GaussianProcess",
        "Matern",
        "Prior",
        "SeparateTypes",
        "SquaredExponential",
        "TypeMeans",
        "TypeShares",
    ),
    "breakeven.learner": ("Learner", "algorithm1", "algorithm2"),
    "breakeven.learner.fleet": ("Fleet",),  # not in `__all__`: it loads a compiler
    "breakeven.ledger": ("Ledger",),
    "breakeven.rules": (
        "Always",
        "Audit",
        "Budget",
        "Check",
        "Never",
        "Queue",
        "RandomSelect",
        "Rule",
        "Threshold",
        "Value",
        "VariableUncertainty",
    ),
    "breakeven.trace": ("Trace", "simulate"),
    "breakeven.tables": ("from_table",),
    "breakeven.values": (
        "Decision",
        "Decisions",
        "Explanation",
        "Labeller",
        "Prediction",
        "Predictions",
        "Verdict",
        "View",
    ),
}


def __getattr__(name: str) -> Any:
    """What is exported, loaded when it is first asked for: the command line answers --help without NumPy."""
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None and name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}") if home is None else getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


_getLogger(__name__).addHandler(_NullHandler())  # who wants messages says so; without that there are none
