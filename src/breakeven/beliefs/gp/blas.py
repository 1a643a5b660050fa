"""The BLAS and LAPACK routines of SciPy, loaded at first use, and one thread for them while a solver works.

`scipy.linalg` takes as long to import as everything else together, so `import breakeven` does without it. A
second BLAS thread changes the last digits of a sum, and on a busy machine it costs far more than it brings.
"""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from threading import Lock
from types import TracebackType
from typing import Any

THREADED = 8_000  # entries of a matrix or vector below which OpenBLAS never starts a second thread

_ROUTINES = {
    "blas": ("daxpy", "ddot", "dgemm", "dgemv", "dger", "dscal", "dsymm", "dsymv", "dsyr", "dtpsv", "dtrsm"),
    "lapack": ("dpotrf", "dpotri", "dpotrs", "dtpttr", "dtrtri", "dtrttp", "dtrtrs"),
}


_OPENBLAS_NAMES = [
    f"{prefix}openblas_{{}}_num_threads{suffix}" for prefix in ("scipy_", "") for suffix in ("64_", "_64", "")
]

Count = Callable[[], int]
Limit = Callable[[int], object]


def __getattr__(name: str) -> Any:
    """Called for the first routine asked for: from then on all of them are plain names of this module."""
    if not any(name in names for names in _ROUTINES.values()):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from scipy.linalg import blas, lapack

    for library, names in ((blas, _ROUTINES["blas"]), (lapack, _ROUTINES["lapack"])):
        for routine in names:
            globals()[routine] = getattr(library, routine)
    globals().pop("__getattr__", None)  # a module without it gives its names faster
    return globals()[name]


class OneThread:
    """One BLAS thread for the whole process while any thread is inside; the last to leave restores the limit.

    >>> with one_thread, one_thread:  # may be entered again, and by several threads at once
    ...     pass
    """

    def __init__(self) -> None:
        self._libraries: list[tuple[Count, Limit]] = []
        self._start()

    def _start(self) -> None:
        lock = Lock()
        self._take, self._give = lock.acquire, lock.release  # a with statement on it takes twice as long
        self._inside = 0
        self._before: list[tuple[Limit, int]] = []

    def __enter__(self) -> None:
        self._take()
        try:
            if not self._inside:
                for count, limit in self._libraries or self._find():
                    if (threads := count()) != 1:
                        self._before.append((limit, threads))
                        limit(1)
            self._inside += 1
        finally:
            self._give()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._take()
        try:
            self._inside -= 1
            if self._before and not self._inside:
                self._put_back()
        finally:
            self._give()

    def _find(self) -> list[tuple[Count, Limit]]:
        self._libraries = _libraries()
        return self._libraries

    def _put_back(self) -> None:
        for limit, threads in self._before:
            limit(threads)
        self._before = []

    def forked(self) -> None:
        """A child process begins with nobody inside."""
        self._put_back()
        self._start()


def _libraries() -> list[tuple[Count, Limit]]:
    """How to count and to limit the threads of every BLAS that is loaded, NumPy's and SciPy's."""
    import scipy.linalg.blas  # noqa: F401 - it has to be there
    from threadpoolctl import ThreadpoolController  # looks at every library loaded: not at import

    return [_handles(one) for one in ThreadpoolController().lib_controllers if one.user_api == "blas"]


def _handles(library: Any) -> tuple[Count, Limit]:
    """OpenBLAS's own functions: threadpoolctl lets only one Python thread at a time change the limit."""
    for name in _OPENBLAS_NAMES:
        count = getattr(library.dynlib, name.format("get"), None)
        limit = getattr(library.dynlib, name.format("set"), None)
        if count is not None and limit is not None:
            return count, limit
    return library.get_num_threads, library.set_num_threads


one_thread = OneThread()
_NO_LIMIT = nullcontext()


def limited(entries: int) -> AbstractContextManager[None]:
    """One thread for work on a matrix of this size, if BLAS might start a second one there."""
    return one_thread if entries > THREADED else _NO_LIMIT


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=one_thread.forked)
