"""Checks that every learner and every store must pass, for this project and for those of your own.

`check_learner(make)` runs all that hold for the learners that `make` gives; in pytest, parametrise over
`checks_for(make)` to have each named. Every check says which beliefs and rules it holds for. A rule that sets
limits must leave room for a few labels: checks buy up to three before one comes. `check_store(make)` runs
what every store must pass.
"""

from breakeven.testing.contract import ContractCheck, LabelledStream, Make, Scope
from breakeven.testing.memory_store import MemoryStore
from breakeven.testing.store_checks import STORE_CHECKS, MakeStore, check_store
from breakeven.testing.suite import CHECKS, check_learner, checks_for

__all__ = [
    "CHECKS",
    "STORE_CHECKS",
    "ContractCheck",
    "LabelledStream",
    "Make",
    "MakeStore",
    "MemoryStore",
    "Scope",
    "check_learner",
    "check_store",
    "checks_for",
]
