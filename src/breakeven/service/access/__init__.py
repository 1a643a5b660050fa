"""Who may do what: tokens, their roles and streams."""

from breakeven.service.access.callers import ROLES, Caller
from breakeven.service.access.tokens import Tokens, new_token

__all__ = ["ROLES", "Caller", "Tokens", "new_token"]
