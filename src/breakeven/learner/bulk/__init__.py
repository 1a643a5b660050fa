"""Streams and batches of types in compiled loops: answers and state of one by one, to the bit."""

from breakeven.learner.bulk.arrays import Answers, Before
from breakeven.learner.bulk.arrived_rows import find_awaited
from breakeven.learner.bulk.batch import decide_many, sound_money, sound_numbers, tell_many
from breakeven.learner.bulk.stream import Passed, batches, holds_types, pays, replay, serves

__all__ = [
    "Answers",
    "Before",
    "Passed",
    "batches",
    "decide_many",
    "find_awaited",
    "holds_types",
    "pays",
    "replay",
    "serves",
    "sound_money",
    "sound_numbers",
    "tell_many",
]
