"""Work beside the requests, from the start of the service to its stop; deadlines, for instance.

Anything with `start` and `stop` can be added to `Service.beside`.
"""

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from breakeven.errors import BreakevenError
from breakeven.service.live_stream import LiveStream

if TYPE_CHECKING:
    from breakeven.service.service import Service

logger = logging.getLogger(__name__)

LOOKED_AT_EVERY = 1.0  # seconds


class Beside(Protocol):
    """Something that runs beside the requests."""

    async def start(self, service: "Service") -> None:
        """The streams are being read; the event loop runs."""

    async def stop(self) -> None:
        """The service ends: leave nothing running."""


class Repeating:
    """A look at every stream now and then."""

    _task: asyncio.Task[None] | None = None

    async def start(self, service: "Service") -> None:
        """Begin to look."""
        self._task = asyncio.get_running_loop().create_task(self._work(service))

    async def stop(self) -> None:
        """Look no more."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _work(self, service: "Service") -> None:
        while True:
            await asyncio.sleep(LOOKED_AT_EVERY)
            for live in list(service.streams.values()):
                try:
                    await self.look(live)
                except BreakevenError as error:
                    logger.info("stream %r: %s", live.name, error)
                except Exception:
                    logger.exception("stream %r", live.name)

    async def look(self, live: LiveStream) -> None:
        """What is done with one stream."""
        raise NotImplementedError


class Deadlines(Repeating):
    """Withdraws requests that were not answered in time, also while nobody asks."""

    async def look(self, live: LiveStream) -> None:
        """Withdraw what is due."""
        await live.expire()
