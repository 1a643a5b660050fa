"""Work beside the requests, from the start of the service to its stop: deadlines, fits and snapshots.

Fits and snapshots would hold answers up, so a process of their own does them: this Python with this path. It
is started at the first piece of work, does one piece after the other, is started anew when it has died, and
killed when a piece takes too long. When the service is gone it ends at once, whatever it is at.
"""

import asyncio
import logging
import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import closing, suppress
from hashlib import sha256
from queue import SimpleQueue
from threading import Lock, Thread, Timer
from time import process_time
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from msgspec import Struct

from breakeven.errors import BreakevenError
from breakeven.errors.serving import ServiceError
from breakeven.folding import fold_stream
from breakeven.learner import FitJob, Learner, run_fit
from breakeven.service.folded import Folded
from breakeven.service.live_stream import LiveStream
from breakeven.store import LogEntry, open_store
from breakeven.values import AnyEvent

if TYPE_CHECKING:
    from breakeven.service.service import Service

logger = logging.getLogger(__name__)
Returned = TypeVar("Returned")

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
            if service.compaction.since is not None:
                continue  # the store cannot be used
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


# -- a process of its own ---------------------------------------------------------------------------------

START_WORKER = "import sys; sys.path[:] = {path!r}; from breakeven.service.beside import work; work()"
NICENESS = 10  # calls are answered first
_Piece = tuple[Callable[..., Any], tuple[Any, ...]]  # a function of a module, and what it is given
ONE_BLAS_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class WorkerLost(ServiceError):
    """The process died over a piece of work, or was killed because that took too long."""


class WorkFailed(ServiceError):
    """A piece of work raised an error; the message is that of the error."""


class WorkerProcess:
    """Does one piece of work at a time, each within `limit` seconds."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._process: subprocess.Popen[bytes] | None = None
        self._turn = Lock()
        self._ended = False
        self.starts = 0

    async def run(self, function: Callable[..., Returned], *given: Any) -> Returned:
        """What a function of a module gives, done over there; raises `WorkerLost` or `WorkFailed`."""
        return await asyncio.to_thread(self._ask, function, given)

    def end(self) -> None:
        """Leave nothing running; a piece of work that is under way is lost."""
        self._ended = True
        process = self._process
        if process is not None:
            process.kill()  # so whoever waits for an answer hears that there will be none
        with self._turn:
            if self._process is not None:
                self._clear_away(self._process)

    def _ask(self, function: Callable[..., Returned], given: tuple[Any, ...]) -> Returned:
        with self._turn:
            process = self._running()
            assert process.stdin is not None
            assert process.stdout is not None
            timer = Timer(self._limit, process.kill)
            timer.start()
            try:
                pickle.dump((function, given), process.stdin, pickle.HIGHEST_PROTOCOL)
                process.stdin.flush()
                done, found = pickle.load(process.stdout)
            except (EOFError, OSError, pickle.UnpicklingError) as error:
                self._clear_away(process)
                raise WorkerLost(
                    f"{function.__name__}: expected an answer within {self._limit:g} s from the process that "
                    "does this, got none; it died or was killed"
                ) from error
            finally:
                timer.cancel()
        if not done:
            raise WorkFailed(f"{function.__name__}: {found}")
        answer: Returned = found
        return answer

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._ended:
            raise WorkerLost("worker: expected one that runs, got one that was ended")
        if self._process is None or self._process.poll() is not None:
            if self._process is not None:
                self._clear_away(self._process)
            self._process = subprocess.Popen(
                [sys.executable, "-c", START_WORKER.format(path=sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, **ONE_BLAS_THREAD},
            )
            self.starts += 1
        return self._process

    def _clear_away(self, process: "subprocess.Popen[bytes]") -> None:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._process = None


def work() -> None:
    """Be the process: do what comes, until the service is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the service, which ends us
    with suppress(AttributeError, OSError):  # Windows has no such thing
        os.nice(NICENESS)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    pieces: SimpleQueue[_Piece] = SimpleQueue()
    Thread(target=_take, args=(pieces,), daemon=True).start()
    try:
        while True:
            function, given = pieces.get()
            try:
                said = True, function(*given)
            except Exception as error:  # whatever it is, the service says so and goes on
                said = False, f"{type(error).__name__}: {error}"
            pickle.dump(said, answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()
    except BrokenPipeError:  # nobody reads the answer: the service is gone
        os._exit(0)  # the other thread may be reading, and Python cannot end in order while it does


def _take(pieces: "SimpleQueue[_Piece]") -> None:
    """Take pieces of work as they come; when the pipe ends, the service is gone: leave what is under way.

    A reader that stays would hide from those who come next what SQLite wrote in the moment of a kill.
    """
    try:
        while True:
            pieces.put(pickle.load(sys.stdin.buffer))
    except EOFError:
        os._exit(0)
    except BaseException:  # a piece that cannot be read would be waited for in vain
        traceback.print_exc()
        os._exit(1)


# -- fits -------------------------------------------------------------------------------------------------

FITTER = "fitter"  # who fits, in the log
FIT_SECONDS = 600.0  # after which a fit is given up
GROWTH_TO_RETRY = 1.1  # of the number of labels, after a fit that was lost


class FitRunner(Repeating):
    """Runs the fits that are due, one at a time; only parameters come back.

    The stream adopts them in a turn of its own, and so they are in its log. A fit that was lost, with its
    process or because it took too long, is tried again once there are more labels.
    """

    def __init__(self, limit: float = FIT_SECONDS) -> None:
        self.process = WorkerProcess(limit)
        self._lost: dict[str, int] = {}  # labels of the fit that was lost, by stream

    async def stop(self) -> None:
        """Leave no process behind."""
        self.process.end()
        await super().stop()

    async def look(self, live: LiveStream) -> None:
        """Run the fit that is due, if one is."""
        if live.state != "ready" or not self._is_due(live):
            return
        rewrites = live.rewrites
        job, _ = await live.look("fit_job", _job)
        try:
            found = await self.process.run(run_fit, job)
        except (WorkerLost, WorkFailed) as error:
            self._lost[live.name] = job.labels
            logger.warning("stream %r: a fit to %d labels was lost (%s)", live.name, job.labels, error)
            return
        self._lost.pop(live.name, None)

        def adopt(folded: Folded) -> None:
            if live.rewrites == rewrites:  # else it may be fitted to what was erased since
                folded.learner.adopt(found)

        await live.change(FITTER, "adopt", adopt, patient=True)  # it took long to make

    def _is_due(self, live: LiveStream) -> bool:
        learner, lost = live.ready.learner, self._lost.get(live.name)
        if lost is None:
            return learner.fit_due
        return learner.state.belief.labels >= GROWTH_TO_RETRY * lost


def _job(folded: Folded) -> FitJob:
    return folded.learner.fit_job()


# -- snapshots --------------------------------------------------------------------------------------------

REPLAY_AIMED_AT = 1.0  # seconds of folding after the last snapshot, at which the next one is made
SHARE_AIMED_AT = 0.02  # of the whole log, likewise
LEAST_REPLAY = 0.2  # seconds of folding, below which no snapshot is worth its work
FEWEST_ENTRIES = 1000  # since the last snapshot, before its pace is known
SNAPSHOT_SECONDS = 3600.0  # after which the process is killed


class FoldedSnapshot(Struct, frozen=True):
    """What the log led to: the bytes, how many entries were folded, and how many seconds that took."""

    body: bytes
    entries: int
    seconds: float


def fold_to(address: str, name: str, seq: int) -> FoldedSnapshot:
    """In the process beside: the snapshot of a stream after an entry, from the last one and the log."""
    folded, began = 0, process_time()

    def each(entry: LogEntry, event: AnyEvent, learner: Learner) -> None:
        nonlocal folded, began
        if not folded:  # what was before is reading the last snapshot
            began = process_time()
        folded += 1

    with closing(open_store(address, "read")) as store:
        learner = fold_stream(store, store.stream(name), each=each, upto=seq)
    took = process_time() - began
    return FoldedSnapshot(learner.snapshot(), folded, took)


class _Progress(Struct):
    """Of one stream: the entry of its last snapshot, and how long folding an entry takes, if known.

    `rewrites` says of which log that is: if something is erased, its snapshots are others.
    """

    seq: int
    pace: float | None = None
    rewrites: int = 0

    def due_at(self, written: int) -> float:
        """The number of entries after the last snapshot at which the next one is due."""
        share = SHARE_AIMED_AT * written
        if not self.pace:
            return max(FEWEST_ENTRIES, share)
        return min(max(LEAST_REPLAY / self.pace, share), REPLAY_AIMED_AT / self.pace)


class SnapshotRunner(Repeating):
    """Makes the snapshots that are due, one at a time; a store that only this process knows has none.

    The process restores the last snapshot and folds what came since: so it also proves that the log leads to
    what the service has in memory, whose checksum it is compared with. A difference is an alarm and stops
    nothing.
    """

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
        if progress is None or progress.rewrites != live.rewrites:
            numbers = await asyncio.to_thread(live.store.snapshot_numbers, live.number)
            progress = _Progress(numbers[-1] if numbers else 0, live.pace, live.rewrites)
            self._progress[live.number] = progress
        if live.written - progress.seq >= progress.due_at(live.written):
            await self.make(live, progress)

    async def make(self, live: LiveStream, progress: _Progress) -> None:
        """Have a snapshot made, compare it with what is in memory, and keep it."""
        rewrites = live.rewrites
        checksum, seq = await live.look("checksum", _checksum)
        progress.seq = seq  # also where it fails: then it is tried again when the next one is due
        try:
            made = await self.process.run(fold_to, live.store.location, live.name, seq)
        except (WorkerLost, WorkFailed) as error:
            logger.warning("stream %r: the snapshot after entry %d was lost (%s)", live.name, seq, error)
            return
        if made.entries:
            progress.pace = made.seconds / made.entries
        if live.rewrites != rewrites:  # it is of another log
            return
        if sha256(made.body).digest() != checksum:
            live.mismatch = f"after entry {seq} its log leads to another state than the one in memory"
            logger.error("stream %r: %s; the snapshot was not kept", live.name, live.mismatch)
            return
        live.mismatch = None
        await live.keep_snapshot(seq, made.body, rewrites)


def _checksum(folded: Folded) -> bytes:
    return sha256(folded.learner.snapshot()).digest()
