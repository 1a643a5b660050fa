"""breakeven: pay for a label only when it pays for itself.

Points arrive one at a time, and labelling one costs money. A `Learner` decides for every arrival whether its
label is worth its price, and predicts either way. Start with `algorithm1` (types) or `algorithm2` (numbers).
"""

from breakeven import starting as starting  # isort: skip  # Ctrl-C is heard before all that takes time

import sys
from importlib import import_module
from logging import NullHandler as _NullHandler
from logging import getLogger as _getLogger
from types import ModuleType
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

_HOMES: dict[str, tuple[str, ...]] = {
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
    "breakeven.simulate": ("Trace", "simulate"),
    "breakeven.tables": ("from_table",),
    "breakeven.values": ("Decision", "Explanation", "Labeller", "Prediction", "Verdict", "View"),
}


def __getattr__(name: str) -> Any:
    """Everything is loaded when it is first asked for: the command line answers --help without NumPy."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    if name in ("errors", "theory"):
        return import_module(f"breakeven.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """The package itself: `simulate` is the function, also once the module of that name is loaded.

    As soon as values are loaded they know how to draw themselves.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "simulate" and isinstance(value, ModuleType):
            value = value.simulate
        super().__setattr__(name, value)
        if name == "values":
            import_module("breakeven.notebook").connect()


sys.modules[__name__].__class__ = _Package

_getLogger(__name__).addHandler(_NullHandler())  # who wants messages says so; without that there are none
