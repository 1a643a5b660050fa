"""Many small learners of one configuration, in arrays: the same decisions as one by one, to the bit.

Reading order: indexed_columns, vocabulary (columns, and finding rows in them); passing (compiled loops);
judging, labels_by_id (rules, labels); fleet_state (and priors), fleet; blob, conversion (to learners).
"""

from breakeven.learner.fleet.fleet import Fleet, LabelCounts, WithdrawnCounts, why_no_fleet

__all__ = ["Fleet", "LabelCounts", "WithdrawnCounts", "why_no_fleet"]
