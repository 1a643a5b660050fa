"""Checks that every learner, store and desk must pass, for this project and for those of your own.

`check_learner(make)` runs all that hold for the learners that `make` gives; in pytest, parametrise over
`checks_for(make)` to have each named. Every check says which beliefs and rules it holds for. A rule that sets
limits must leave room for a few labels: checks buy up to three before one comes. `check_store(make)` runs
what every store must pass, and `check_desk(make)` what every desk must.
"""

from breakeven.testing.contract import ContractCheck, LabelledStream, Make, Scope
from breakeven.testing.desk_checks import DESK_CHECKS, DeskBench, MakeBench, check_desk
from breakeven.testing.memory_store import MemoryStore
from breakeven.testing.store_checks import STORE_CHECKS, MakeStore, check_store
from breakeven.testing.suite import CHECKS, check_learner, checks_for

__all__ = [
    "CHECKS",
    "DESK_CHECKS",
    "STORE_CHECKS",
    "ContractCheck",
    "DeskBench",
    "LabelledStream",
    "Make",
    "MakeBench",
    "MakeStore",
    "MemoryStore",
    "Scope",
    "check_desk",
    "check_learner",
    "check_store",
    "checks_for",
]
