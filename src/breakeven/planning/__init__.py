"""Before there are any data: what to expect of a stream of some kind, and what the paper proves of it.

Reading order: streams, prospect, plan; `tuning` looks for the scale of the paper's threshold.
"""

from breakeven.planning.streams import Stream
from breakeven.planning.tuning import Tuning, tune_threshold_scale

__all__ = ["Stream", "Tuning", "tune_threshold_scale"]
