"""Long streams of types in compiled loops: the answers and the state of one by one, to the bit."""

from breakeven.learner.bulk.arrays import Columns
from breakeven.learner.bulk.stream import holds_types, pays, replay

__all__ = ["Columns", "holds_types", "pays", "replay"]
