"""A learner is one belief, one rule, a label cost, and the labels still awaited."""

from breakeven.learner.algorithms import algorithm1, algorithm2
from breakeven.learner.learner import Cost, Learner, Pending
from breakeven.learner.summary import Summary

__all__ = ["Cost", "Learner", "Pending", "Summary", "algorithm1", "algorithm2"]
