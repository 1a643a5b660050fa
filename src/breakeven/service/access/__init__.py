"""Who may do what: tokens with roles and streams, sessions of pages, and where callers are identified."""

from breakeven.service.access.call_rates import CallRates
from breakeven.service.access.callers import ROLES, Caller
from breakeven.service.access.entrance import Entrance
from breakeven.service.access.proxies import People, ProxyLogIn
from breakeven.service.access.sessions import Sessions
from breakeven.service.access.tokens import Tokens, new_token

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
