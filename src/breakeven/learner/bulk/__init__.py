"""Long streams of types in compiled loops: the answers and the state of one by one, to the bit."""

from breakeven.learner.bulk.arrays import Before, Columns
from breakeven.learner.bulk.batch import decide_many
from breakeven.learner.bulk.replay import replay
from breakeven.learner.bulk.stream import holds_types, pays

__all__ = ["Before", "Columns", "decide_many", "holds_types", "pays", "replay"]
