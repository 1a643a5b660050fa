"""Work beside the requests, from the start of the service to its stop: deadlines, and fits.

Anything with `start` and `stop` can be added to `Service.beside`.
"""

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from breakeven.errors import BreakevenError
from breakeven.learner import FitFound, FitJob, run_fit
from breakeven.service.live_stream import Folded, LiveStream

if TYPE_CHECKING:
    from breakeven.service.service import Service

logger = logging.getLogger(__name__)

LOOKED_AT_EVERY = 1.0  # seconds
FITTER = "fitter"  # who fits, in the log


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


class FitRunner(Repeating):
    """Fits beliefs to their labels when a fit is due, outside of the stream's turn."""

    async def look(self, live: LiveStream) -> None:
        """Run the fit that is due, if one is."""
        if live.state != "ready":
            return
        job, _ = await live.look("fit_job", _job_if_due)
        if job is None:
            return
        found = await self.run(job)

        def adopt(folded: Folded) -> None:
            folded.learner.adopt(found)

        await live.change(FITTER, "adopt", adopt)

    async def run(self, job: FitJob) -> FitFound:
        """Run a job; here in a thread."""
        return await asyncio.to_thread(run_fit, job)


def _job_if_due(folded: Folded) -> FitJob | None:
    return folded.learner.fit_job() if folded.learner.fit_due else None
