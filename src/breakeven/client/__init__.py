"""A stream of the service, used as a learner is: `Client` and `AsyncClient`, over HTTP with httpx.

Every verb is safe to repeat and is repeated by itself while the service cannot be reached or has no time;
what it refuses is raised as the library's own errors. Needs the extra `client`.
"""

from breakeven.errors import how_to_install

try:
    import httpx as _httpx  # noqa: F401
except ImportError as error:
    raise ImportError(f"httpx is needed to reach a service; {how_to_install('client')}") from error

from breakeven.client.async_client import AsyncClient, AsyncStream
from breakeven.client.client import Client, ClientStream
from breakeven.client.connection import Patience
from breakeven.client.verbs import new_id

__all__ = ["AsyncClient", "AsyncStream", "Client", "ClientStream", "Patience", "new_id"]
