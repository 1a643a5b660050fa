"""Writing the files of the store anew once something was erased: until then they hold its bytes.

The store cannot be used meanwhile, so calls are refused with `NotReady`, except those that ask how the server
is. What is erased within a few seconds goes together.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from breakeven.errors.serving import NotReady
from breakeven.errors.storing import StoreError
from breakeven.service.clock import Clock
from breakeven.store import Store

logger = logging.getLogger(__name__)

GATHERING_SECONDS = 5.0  # from the first that was erased to the pause
PATIENCE = 1.0  # seconds that a call waits for the end of the pause; a small store takes no longer
LONGEST_RETRY = 30.0  # seconds
FAILED_SECONDS = 600.0  # until a compaction that failed is tried again


class Compaction:
    """Compacts a store when there is something to compact.

    `quiet` waits until nothing is being written, and `read`, before the pause, until what erasures left is
    read: that may take longer than a pause should.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        quiet: Callable[[], Awaitable[None]],
        read: Callable[[], Awaitable[None]],
    ) -> None:
        self._store, self._clock, self._quiet, self._read = store, clock, quiet, read
        self._task: asyncio.Task[None] | None = None
        self._now = asyncio.Event()
        self._ended = asyncio.Event()
        self._due = False  # something was erased since the last pause began
        self.since: float | None = None  # when the pause began that is now, by the steady clock

    def begin_soon(self) -> None:
        """Something was erased."""
        self._due = True
        if self._task is None or self._task.done():
            self._now.clear()
            self._task = asyncio.get_running_loop().create_task(self._work())

    async def finish(self) -> None:
        """Compact now what is to be compacted, if anything is, and wait until that is tried."""
        self._now.set()
        if self._task is not None:
            await asyncio.wait({self._task})

    async def stop(self) -> None:
        """Begin no more; a pause that is under way comes to its end."""
        if self._task is not None and self.since is None:
            self._task.cancel()
        await self.finish()

    async def wait(self) -> None:
        """Wait a moment for the end of the pause; raises `NotReady` if it takes longer."""
        since = self.since
        try:
            async with asyncio.timeout(PATIENCE):
                await self._ended.wait()
        except TimeoutError as error:
            raise self._refusal(since or 0.0) from error

    def _refusal(self, since: float) -> NotReady:
        gone = self._clock.steady() - since
        error = NotReady(
            "store: its files are being written anew, without what was erased, and it takes no calls "
            f"meanwhile (for {gone:.0f} s now); try again later"
        )
        error.retry_after = min(max(gone, 1.0), LONGEST_RETRY)
        return error

    async def _work(self) -> None:
        try:
            async with asyncio.timeout(GATHERING_SECONDS):
                await self._now.wait()
        except TimeoutError:
            pass
        while self._due:
            await self._read()
            if not await self.run():
                await asyncio.sleep(FAILED_SECONDS)

    async def run(self) -> bool:
        """Compact what is to be compacted; whether that was done."""
        self.since, self._due = self._clock.steady(), False
        self._ended.clear()
        try:
            await self._quiet()
            await asyncio.to_thread(self._compact)
        except StoreError as error:
            logger.error("what was erased may still be in the files of the store: %s", error)
            self._due = True
            return False
        finally:
            self.since = None
            self._ended.set()
        return True

    def _compact(self) -> None:
        while self._store.uncompacted:  # what was erased in the moment before the pause, too
            self._store.compact()
