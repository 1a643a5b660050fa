"""Checks that every learner must pass, for this project and for rules and beliefs of your own.

`check_learner(make)` runs all that hold for what `make` gives; in pytest, parametrise over `checks_for(make)`
to have each named. Every check says which beliefs and rules it holds for. A rule that sets limits must leave
room for a few labels: checks buy up to three before one comes.
"""

from breakeven.testing.contract import ContractCheck, LabelledStream, Make, Scope
from breakeven.testing.suite import CHECKS, check_learner, checks_for

__all__ = ["CHECKS", "ContractCheck", "LabelledStream", "Make", "Scope", "check_learner", "checks_for"]
