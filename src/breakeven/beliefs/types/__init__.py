"""Types: a mean for each, what labels say of it, and what is learnt across them.

Reading order: type_names, weighing, tallies, across_types, type_savings, means.
"""

from breakeven.beliefs.types.means import TypeMeans

__all__ = ["TypeMeans"]
