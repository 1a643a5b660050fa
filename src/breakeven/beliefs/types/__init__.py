"""Types: a mean or a share of yeses for each, what labels say of it, and what is learnt across them.

Reading order: type_names, weighing, tallies, type_belief; then across_types, type_savings, means for numbers,
and share_savings, shares for yes/no labels.
"""

from breakeven.beliefs.types.means import TypeMeans
from breakeven.beliefs.types.shares import TypeShares
from breakeven.beliefs.types.type_belief import TypeBelief

__all__ = ["TypeBelief", "TypeMeans", "TypeShares"]
