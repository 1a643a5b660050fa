"""A learner is one belief, one rule, what labels cost, and the labels still awaited."""

from breakeven.learner.algorithms import algorithm1, algorithm2
from breakeven.learner.book import Awaited, AwaitedLabels
from breakeven.learner.costs import GivenCost
from breakeven.learner.fits import FitFound, FitJob, run_fit
from breakeven.learner.learner import Learner
from breakeven.learner.replay import replay
from breakeven.learner.summary import Summary

__all__ = [
    "Awaited",
    "AwaitedLabels",
    "FitFound",
    "FitJob",
    "GivenCost",
    "Learner",
    "Summary",
    "algorithm1",
    "algorithm2",
    "replay",
    "run_fit",
]
