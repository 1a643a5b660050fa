"""When a label is worth its price. A rule sees a small view of the belief, the round and the price."""

from breakeven.rules.constant import Always, Never
from breakeven.rules.draws import Draws
from breakeven.rules.random_select import RandomSelect
from breakeven.rules.rule import Rule
from breakeven.rules.threshold import Threshold
from breakeven.rules.variable_uncertainty import VariableUncertainty

__all__ = ["Always", "Draws", "Never", "RandomSelect", "Rule", "Threshold", "VariableUncertainty"]
