"""A belief that averages over what the labels leave open: shapes, scales, axes and noise of f."""

from breakeven.beliefs.averaged.averaged import Averaged

__all__ = ["Averaged"]
