"""What we think f is, and how unsure we are: type means, cells, Gaussian processes.

A belief knows nothing of prices, rounds or rules.
"""

from breakeven.beliefs.averaged import Averaged, AveragedShares
from breakeven.beliefs.belief import (
    Aiming,
    Belief,
    Checkable,
    Choosy,
    Explaining,
    Watching,
    is_checkable,
    level_of,
)
from breakeven.beliefs.belief_data import BELIEFS, as_lists, belief_data, belief_kind, belief_of, kind_name
from breakeven.beliefs.cells import Cells
from breakeven.beliefs.gp import GaussianProcess, Matern, Prior, SquaredExponential, untuned
from breakeven.beliefs.recognised import Recognised, says_yes_or_no
from breakeven.beliefs.separate import SeparateTypes
from breakeven.beliefs.types import TypeBelief, TypeMeans, TypeShares

__all__ = [
    "BELIEFS",
    "Aiming",
    "Averaged",
    "AveragedShares",
    "Belief",
    "Cells",
    "Checkable",
    "Choosy",
    "Explaining",
    "GaussianProcess",
    "Matern",
    "Prior",
    "Recognised",
    "SeparateTypes",
    "SquaredExponential",
    "TypeBelief",
    "TypeMeans",
    "TypeShares",
    "Watching",
    "as_lists",
    "belief_data",
    "belief_kind",
    "belief_of",
    "is_checkable",
    "kind_name",
    "level_of",
    "says_yes_or_no",
    "untuned",
]
