"""Snapshots, made from the log by a process beside the service, so that a restart has little to fold.

The process restores the last snapshot and folds what came since: so it also proves that the log leads to what
the service has in memory, whose checksum it is compared with. A difference is an alarm and stops nothing.
"""

import asyncio
import logging
from contextlib import closing
from hashlib import sha256
from importlib.metadata import version
from time import process_time

from msgspec import Struct

from breakeven.folding import fold_stream
from breakeven.service.background import Repeating
from breakeven.service.live_stream import Folded, LiveStream
from breakeven.service.worker_process import WorkerProcess
from breakeven.store import LogEntry, StoredSnapshot, open_store
from breakeven.values import AnyEvent

logger = logging.getLogger(__name__)

REPLAY_AIMED_AT = 1.0  # seconds of folding after the last snapshot, at which the next one is made
SHARE_AIMED_AT = 0.05  # of the whole log, likewise
FEWEST_ENTRIES = 1000  # since the last snapshot, before its pace is known
SNAPSHOT_SECONDS = 3600.0  # after which the process is killed
SNAPSHOTS_KEPT = 2


class FoldedSnapshot(Struct, frozen=True):
    """What the log led to: the bytes, how many entries were folded, and how many seconds that took."""

    body: bytes
    entries: int
    seconds: float


def fold_to(address: str, name: str, seq: int) -> FoldedSnapshot:
    """In the process beside: the snapshot of a stream after an entry, from the last one and the log."""
    folded, began = 0, process_time()

    def each(entry: LogEntry, event: AnyEvent) -> None:
        nonlocal folded, began
        if not folded:  # what was before is reading the last snapshot
            began = process_time()
        folded += 1

    with closing(open_store(address, "read")) as store:
        learner = fold_stream(store, store.stream(name), each=each, upto=seq)
    took = process_time() - began
    return FoldedSnapshot(learner.snapshot(), folded, took)


class _Progress(Struct):
    """Of one stream: the entry of its last snapshot, and how long folding an entry takes, if known."""

    seq: int
    pace: float | None = None

    def due_at(self, written: int) -> float:
        """The number of entries after the last snapshot at which the next one is due."""
        share = max(FEWEST_ENTRIES, SHARE_AIMED_AT * written)
        return share if not self.pace else min(share, REPLAY_AIMED_AT / self.pace)


class SnapshotRunner(Repeating):
    """Makes the snapshots that are due, one at a time; a store that only this process knows has none."""

    def __init__(self) -> None:
        self.process = WorkerProcess(SNAPSHOT_SECONDS)
        self._progress: dict[int, _Progress] = {}

    async def stop(self) -> None:
        """Leave no process behind."""
        self.process.end()
        await super().stop()

    async def look(self, live: LiveStream) -> None:
        """Make a snapshot if one is due."""
        if live.state != "ready" or live.store.location is None:
            return
        progress = self._progress.get(live.number)
        if progress is None:
            numbers = await asyncio.to_thread(live.store.snapshot_numbers, live.number)
            progress = self._progress[live.number] = _Progress(numbers[-1] if numbers else 0)
        if live.written - progress.seq >= progress.due_at(live.written):
            await self.make(live, progress)

    async def make(self, live: LiveStream, progress: _Progress) -> None:
        """Have a snapshot made, compare it with what is in memory, and keep it."""
        rewrites = live.rewrites
        checksum, seq = await live.look("checksum", _checksum)
        made = await self.process.run(fold_to, live.store.location, live.name, seq)
        progress.seq = seq
        if made.entries:
            progress.pace = made.seconds / made.entries
        async with live.keeping:
            if live.rewrites != rewrites:  # something was erased meanwhile, which must not come back
                progress.seq = 0
                return
            if sha256(made.body).digest() != checksum:
                live.mismatch = f"after entry {seq} its log leads to another state than the one in memory"
                logger.error("stream %r: %s; the snapshot was not kept", live.name, live.mismatch)
                return
            live.mismatch = None
            await asyncio.to_thread(_keep, live, seq, made.body)


def _checksum(folded: Folded) -> bytes:
    return sha256(folded.learner.snapshot()).digest()


def _keep(live: LiveStream, seq: int, body: bytes) -> None:
    live.store.keep_snapshot(StoredSnapshot(live.number, seq, live.clock.now(), version("breakeven"), body))
    live.store.drop_snapshots(live.number, keep=SNAPSHOTS_KEPT)
