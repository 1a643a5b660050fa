"""When a label is worth its price. A rule sees a small view of the belief, the round and the price."""

from breakeven.rules.audit import Audit
from breakeven.rules.baselines import Always, Never, RandomSelect, VariableUncertainty
from breakeven.rules.check import Check, checked
from breakeven.rules.draws import Draws
from breakeven.rules.limits import Budget, Queue
from breakeven.rules.rule import Rule, Wrapper
from breakeven.rules.rule_data import RULES, rule_data, rule_of
from breakeven.rules.threshold import Threshold
from breakeven.rules.value import Value

__all__ = [
    "RULES",
    "Always",
    "Audit",
    "Budget",
    "Check",
    "Draws",
    "Never",
    "Queue",
    "RandomSelect",
    "Rule",
    "Threshold",
    "Value",
    "VariableUncertainty",
    "Wrapper",
    "checked",
    "rule_data",
    "rule_of",
]
