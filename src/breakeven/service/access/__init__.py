"""Who may do what: tokens with roles and streams, sessions of pages, and where callers are identified."""

from breakeven.service.access.callers import ROLES, Caller, CallRates
from breakeven.service.access.entrance import Entrance, People, ProxyLogIn
from breakeven.service.access.tokens import Sessions, Tokens, new_token

__all__ = [
    "ROLES",
    "CallRates",
    "Caller",
    "Entrance",
    "People",
    "ProxyLogIn",
    "Sessions",
    "Tokens",
    "new_token",
]
