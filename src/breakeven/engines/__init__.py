"""Learners beyond one process: a group of keys is folded over batches of rows, whoever brings them.

Reading order: feed (rows), answered, group_state; then fleet_group and learner_group; group.
"""

from breakeven.engines.answered import Answered, FoldCounts
from breakeven.engines.feed import ArrivalRows, LabelRows
from breakeven.engines.group import Group, fold, open_group
from breakeven.engines.group_state import GroupSetup

__all__ = ["Answered", "ArrivalRows", "FoldCounts", "Group", "GroupSetup", "LabelRows", "fold", "open_group"]
