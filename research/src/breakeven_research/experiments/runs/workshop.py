"""Jobs done side by side in processes, and the shelf where what is finished is kept.

Results do not depend on the number of workers: every job has its own seeds and one BLAS thread. An
interrupted run goes on where it was. A result is found again only by the same job, the same code and the same
libraries; what cannot be read is worked out again.
"""

import os
import platform
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path

import msgspec
import numpy
import scipy.linalg  # a BLAS of its own, to be limited too
from threadpoolctl import threadpool_limits

import breakeven
import breakeven_research
from breakeven import files
from breakeven.errors import BreakevenError, expect
from breakeven_research.experiments.runs.trials import Curve, Job, Results

NOT_RUN = {  # in each package
    Path(breakeven.__file__).parent: ("cli/", "report/", "testing/"),
    Path(breakeven_research.__file__).parent: (
        "commands/",
        "bench/",
        "experiments/exhibits/",
        "experiments/catalogue.py",
    ),
}


class Shelf:
    """Results in a folder, a file for each job.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     Shelf(Path(folder)).find(Job()) is None
    True
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, job: Job) -> dict[str, Curve] | None:
        """The curves of a job done before, if they are here and whole."""
        try:
            digest, _, content = self._path(job).read_bytes().partition(b"\n")
            if digest != _digest(content):
                return None
            return msgspec.json.decode(content, type=dict[str, Curve])
        except (OSError, ValueError, msgspec.MsgspecError):
            return None

    def keep(self, job: Job, curves: dict[str, Curve]) -> None:
        """Keep a result under its digest; half of one, or a damaged one, is never found."""
        path, content = self._path(job), msgspec.json.encode(curves)
        files.write(path.parent, path.name, _digest(content) + b"\n" + content)

    def _path(self, job: Job) -> Path:
        code = fingerprint() if job.code is None else fingerprint_of(job.code)
        key = sha256(code + msgspec.json.encode(job)).hexdigest()
        return self.folder / f"{key[:32]}.json"


def _digest(content: bytes) -> bytes:
    return sha256(content).hexdigest().encode()


@cache
def fingerprint() -> bytes:
    """What a result depends on besides its job: our code, Python, NumPy, SciPy, the machine's kind.

    Code that only shows results (`NOT_RUN`) is left out, so that a better word costs no new run.
    """
    return _fingerprint(("",))


@cache
def fingerprint_of(code: tuple[str, ...]) -> bytes:
    """The same for a job that depends on some of our files only, such as those of `breakeven/rules/`."""
    return _fingerprint(tuple(sorted(code)), version("scikit-learn"))


def _fingerprint(code: tuple[str, ...], *more: str) -> bytes:
    versions = (platform.python_version(), numpy.__version__, scipy.__version__, platform.machine(), *more)
    content = sha256(repr(versions).encode())
    for root, not_run in NOT_RUN.items():
        for path in sorted(root.rglob("*.py")):
            name = path.relative_to(root).as_posix()
            if not name.startswith(not_run) and f"{root.name}/{name}".startswith(code):
                content.update(name.encode() + path.read_bytes())
    return content.digest()


# -- the workshop --------------------------------------------------------------------------------------------


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
