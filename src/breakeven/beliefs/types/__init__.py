"""Types: a mean for each, what labels say of it, and what is learnt across them.

Reading order: names, tally, weights, prior, labels; across; rates, savings, view; means.
"""

from breakeven.beliefs.types.means import TypeMeans

__all__ = ["TypeMeans"]
