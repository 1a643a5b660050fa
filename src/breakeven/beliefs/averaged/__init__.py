"""Beliefs that average over what the labels leave open: shapes, scales, axes and noise of f."""

from breakeven.beliefs.averaged.averaged import Averaged
from breakeven.beliefs.averaged.averaged_shares import AveragedShares

__all__ = ["Averaged", "AveragedShares"]
