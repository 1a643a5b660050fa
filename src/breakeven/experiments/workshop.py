"""Jobs done side by side in processes, with what was done before taken from the shelf.

Results do not depend on the number of workers: every job has its own seeds and one BLAS thread.
"""

import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from typing import TypeVar

from threadpoolctl import threadpool_limits

from breakeven.errors import BreakevenError, expect
from breakeven.experiments.curve import Curve
from breakeven.experiments.job import Job
from breakeven.experiments.shelf import Shelf
from breakeven.experiments.trials import Results

Progress = Callable[[str, int, int], None]
SomeJob = TypeVar("SomeJob", bound=Job)


class WorkerLost(BreakevenError, RuntimeError):
    """A worker process ended before its job did; the message says what to do."""


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
        for job, done in self._done(sorted(missing, key=lambda job: -job.effort)):
            self.shelf.keep(job, done)
            found[job] = done
            bars.advance(job)
        return [(job, curves) for job in order if (curves := found[job]) is not None]

    def _done(self, jobs: list[Job]) -> Iterator[tuple[Job, dict[str, Curve]]]:
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
    pool = ProcessPoolExecutor(min(workers, len(jobs)), get_context("spawn"), _prepare)
    try:
        futures = {pool.submit(job.run): job for job in jobs}
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BrokenProcessPool as error:
        raise WorkerLost(
            "a worker process was ended from outside, perhaps for want of memory; "
            "run again, with fewer workers: what is done is kept"
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in active_children():  # an interrupted run waits for nobody
            child.terminate()


def _prepare() -> None:
    """One BLAS thread a worker; an interrupt is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(1)
