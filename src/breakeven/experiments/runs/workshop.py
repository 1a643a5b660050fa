"""Jobs done side by side in processes, with what was done before taken from the shelf.

Results do not depend on the number of workers: every job has its own seeds and one BLAS thread.
"""

import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from multiprocessing import active_children, get_context, parent_process

from threadpoolctl import threadpool_limits

from breakeven.errors import BreakevenError, expect
from breakeven.experiments.runs.curve import Curve
from breakeven.experiments.runs.job import Job
from breakeven.experiments.runs.shelf import Shelf, fingerprint
from breakeven.experiments.runs.trials import Results

Progress = Callable[[str, int, int], None]


class WorkerLost(BreakevenError, RuntimeError):
    """A worker process ended before its job did; the message says what to do."""


class CodeChanged(BreakevenError, RuntimeError):
    """A worker found other code than the run was begun with, so its results could not be told apart."""


class Workshop:
    """Does jobs, keeps their results, and tells how far it is.

    `progress` is called with a title, how many of its jobs are done, and how many there are.
    """

    def __init__(self, shelf: Shelf, workers: int = 1, progress: Progress | None = None) -> None:
        self.shelf = shelf
        self.workers = expect.whole("workers", workers, least=1)
        self._progress = progress

    def do(self, jobs: Iterable[Job]) -> Results:
        """The results in the order of the jobs; the same job is done once."""
        order = list(jobs)
        found: dict[Job, dict[str, Curve] | None] = {job: self.shelf.find(job) for job in order}
        bars = Bars(found, self._progress)
        missing = [job for job, curves in found.items() if curves is None]
        with closing(self._done(sorted(missing, key=lambda job: -job.effort))) as finished:
            for job, done in finished:
                self.shelf.keep(job, done)
                found[job] = done
                bars.advance(job)
        return [(job, curves) for job in order if (curves := found[job]) is not None]

    def _done(self, jobs: list[Job]) -> Generator[tuple[Job, dict[str, Curve]]]:
        if self.workers == 1 or len(jobs) <= 1:
            with threadpool_limits(1):
                for job in jobs:
                    yield job, job.run()
            return
        yield from _side_by_side(jobs, self.workers)


class Bars:
    """How many jobs of each title are done."""

    def __init__(self, found: dict[Job, dict[str, Curve] | None], progress: Progress | None) -> None:
        self._progress = progress
        self._total: dict[str, int] = {}
        self._done: dict[str, int] = {}
        for job, curves in found.items():
            self._total[job.title] = self._total.get(job.title, 0) + 1
            self._done[job.title] = self._done.get(job.title, 0) + (curves is not None)
        for title in self._total:
            self._tell(title)

    def advance(self, job: Job) -> None:
        """One more is done."""
        self._done[job.title] += 1
        self._tell(job.title)

    def _tell(self, title: str) -> None:
        if self._progress is not None:
            self._progress(title, self._done[title], self._total[title])


def _side_by_side(jobs: list[Job], workers: int) -> Iterator[tuple[Job, dict[str, Curve]]]:
    others = set(active_children())
    pool = ProcessPoolExecutor(min(workers, len(jobs)), get_context("spawn"), _prepare)
    try:
        futures = _submitted(pool, jobs)
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BrokenProcessPool as error:
        raise WorkerLost(
            "a worker process was ended from outside, perhaps for want of memory; "
            "run again, with fewer workers: what is done is kept"
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(active_children()) - others:  # an interrupted run waits for nobody
            child.terminate()


def _submitted(pool: ProcessPoolExecutor, jobs: list[Job]) -> dict[Future[dict[str, Curve]], Job]:
    with _deaf_to_interrupts():  # as the workers will be, from their first moment
        return {pool.submit(_work, job, fingerprint()): job for job in jobs}


def _work(job: Job, expected: bytes) -> dict[str, Curve]:
    if fingerprint() != expected:
        raise CodeChanged("the code of breakeven changed during the run; run again: what is done is kept")
    return job.run()


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # only that one may change signals
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        if before is not None:  # a handler from outside Python cannot be put back
            signal.signal(signal.SIGINT, before)


def _prepare() -> None:
    """One BLAS thread a worker; an interrupt is the parent's to handle, and its end is the worker's too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    threadpool_limits(1)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
