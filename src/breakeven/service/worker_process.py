"""A process beside the service, for work that would hold its answers up: fits, and snapshots from the log.

It is this Python with this path, started at the first piece of work, and does one piece after the other. It
is started anew when it has died, and killed when a piece takes too long. When the service is gone it ends as
soon as it has done what it is at: it hears that nobody listens any more.
"""

import asyncio
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Timer
from typing import Any, TypeVar

from breakeven.errors.serving import ServiceError

Returned = TypeVar("Returned")

START_WORKER = "import sys; sys.path[:] = {path!r}; from breakeven.service.worker_process import work; work()"
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
    """Be the process: do what comes, until nothing comes any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the service, which ends us
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    with suppress(EOFError, BrokenPipeError):
        while True:
            function, given = pickle.load(sys.stdin.buffer)
            try:
                said = True, function(*given)
            except Exception as error:  # whatever it is, the service says so and goes on
                said = False, f"{type(error).__name__}: {error}"
            pickle.dump(said, answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()
