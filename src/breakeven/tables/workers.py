"""Errands on several cores: processes that do what one process would, with the same results to the bit.

A worker is this Python with this path, started without the program that asked for it, so a script needs no
guard around it. It gets the setting once, then errands, and sends back rounds as they pass and results. Every
run draws from its own seed and uses one BLAS thread, so it does not matter who does which errand.
"""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from queue import SimpleQueue
from threading import Lock
from typing import Any, BinaryIO, Self

from breakeven.tables.rivals import Errand, Ground, Runner, Stopped

RoundsPassed = Callable[[int], None]

PAYS_FROM = 12.0  # seconds of work: starting a worker takes one or two
SECONDS_A_LOOK = 0.1  # between two looks at whether to stop
START = "import sys; sys.path[:] = {path!r}; from breakeven.tables.workers import serve; serve()"


def cores_there() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Crew:
    """Does errands in order, in this process or on several cores; `passed` is told of rounds as they pass."""

    def __init__(self, setting: Ground, cores: int, passed: RoundsPassed, stop: Callable[[], bool]) -> None:
        self._setting, self._cores, self._passed, self._stop = setting, cores, passed, stop
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._workers: list[_Worker] = []
        self._lock = Lock()
        self._threads = ThreadPoolExecutor(cores) if cores > 1 and sys.executable else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)

    def results(self, errands: Sequence[Errand]) -> Iterator[Any]:
        """What comes of each errand, in their order."""
        if self._threads is None or (len(errands) == 1 and not self._workers):
            runner = Runner(_steps(self._passed), self._stop)
            yield from (errand.done(self._setting, runner) for errand in errands)
            return
        futures = [self._threads.submit(self._sent, errand) for errand in errands]
        try:
            for future in futures:
                yield self._waited(future)
        finally:
            for future in futures:
                future.cancel()

    def _waited(self, future: "Future[Any]") -> Any:
        while not wait_for([future], timeout=SECONDS_A_LOOK).done:
            if self._stop():
                raise Stopped
        return future.result()

    def _sent(self, errand: Errand) -> Any:
        worker = self._free()
        try:
            return worker.do(errand, self._told)
        finally:
            self._idle.put(worker)

    def _free(self) -> "_Worker":
        """A worker that has nothing to do; a new one, while there are fewer than cores."""
        with self._lock:
            if self._idle.empty() and len(self._workers) < self._cores:
                self._workers.append(_Worker(self._setting))
                return self._workers[-1]
        return self._idle.get()

    def _told(self, rounds: int) -> None:
        with self._lock:
            self._passed(rounds)


class _Worker:
    """One process, from this side."""

    def __init__(self, setting: Ground) -> None:
        code = START.format(path=sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the one who asked, who then ends this one
        )
        self._first: Ground | None = setting  # sent with the first errand

    def _send(self, what: object) -> None:
        assert self._process.stdin is not None
        pickle.dump(what, self._process.stdin)
        self._process.stdin.flush()

    def do(self, errand: Errand, passed: RoundsPassed) -> Any:
        """Have it done; an error over there is one here."""
        assert self._process.stdout is not None
        try:
            if self._first is not None:
                self._send(self._first)
                self._first = None
            self._send(errand)
            while True:
                kind, what = pickle.load(self._process.stdout)
                if kind == "rounds":
                    passed(what)
                elif kind == "error":
                    raise what
                else:
                    return what
        except (EOFError, BrokenPipeError, pickle.UnpicklingError) as error:
            raise Stopped from error

    def end(self) -> None:
        """End the process, whatever it is at."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()


def _steps(passed: RoundsPassed) -> Callable[[int, int, float], None]:
    """Progress of runs as rounds that passed since the last time."""
    before = 0

    def tell(done: int, whole: int, spend: float) -> None:
        nonlocal before
        passed(done - before if done >= before else done)
        before = 0 if done >= whole else done

    return tell


# -- over there ----------------------------------------------------------------------------------------


def serve() -> None:
    """Do errands until there are no more; what is printed meanwhile goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asked, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with contextlib.suppress(EOFError, BrokenPipeError):
        setting = pickle.load(asked)
        while True:
            _answer(pickle.load(asked), setting, answers)


def _answer(errand: Errand, setting: Ground, answers: BinaryIO) -> None:
    def tell(kind: str, what: object) -> None:
        pickle.dump((kind, what), answers)
        answers.flush()

    runner = Runner(_steps(lambda rounds: tell("rounds", rounds)))
    try:
        found = errand.done(setting, runner)
    except BrokenPipeError:
        raise
    except Exception as error:
        tell("error", error)
    else:
        tell("result", found)
