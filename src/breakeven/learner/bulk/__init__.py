"""Long streams of types in compiled loops: the same answers and the same state as one by one, to the bit."""

from breakeven.learner.bulk.arrays import Answers, Before
from breakeven.learner.bulk.judges import Reasons
from breakeven.learner.bulk.stream import Passed, decide_many, holds_types, pays, replay

__all__ = ["Answers", "Before", "Passed", "Reasons", "decide_many", "holds_types", "pays", "replay"]
