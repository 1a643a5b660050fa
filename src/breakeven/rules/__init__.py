"""When a label is worth its price. A rule sees a small view of the belief, the round and the price."""

from breakeven.rules.audit import Audit
from breakeven.rules.budget import Budget
from breakeven.rules.constant import Always, Never
from breakeven.rules.draws import Draws
from breakeven.rules.queue import Queue
from breakeven.rules.random_select import RandomSelect
from breakeven.rules.rule import Rule
from breakeven.rules.threshold import Threshold
from breakeven.rules.value import Value
from breakeven.rules.variable_uncertainty import VariableUncertainty
from breakeven.rules.wrapper import Wrapper

__all__ = [
    "Always",
    "Audit",
    "Budget",
    "Draws",
    "Never",
    "Queue",
    "RandomSelect",
    "Rule",
    "Threshold",
    "Value",
    "VariableUncertainty",
    "Wrapper",
]
