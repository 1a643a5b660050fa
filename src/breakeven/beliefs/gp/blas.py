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
from weakref import ReferenceType, ref

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


class BlasLimit:
    """The limit of one BLAS thread, which belongs to the whole process: it holds while any use of it lasts.

    A use that was cut off by an interrupt may not have said that it ended; it counts as long as it lives.
    """

    def __init__(self) -> None:
        self.libraries: list[tuple[Count, Limit]] = []
        self._start()

    def _start(self) -> None:
        self.lock = Lock()
        self._uses: dict[int, ReferenceType[one_thread]] = {}
        self._before: list[tuple[Limit, int]] = []

    def begin(self, use: "one_thread") -> None:
        """One thread from now on, if there were more; with the lock held."""
        if not (self._uses and self._in_use()):
            for count, limit in self.libraries or self._find():
                if (threads := count()) != 1:
                    self._before.append((limit, threads))
                    limit(1)
        self._uses[id(use)] = ref(use)

    def end(self, use: "one_thread") -> None:
        """As many threads as before, if this was the last use; with the lock held."""
        self._uses.pop(id(use), None)
        if self._before and not (self._uses and self._in_use()):
            self._put_back()

    def _in_use(self) -> bool:
        """Whether a use lasts; those that were cut off are forgotten."""
        self._uses = {name: one for name, one in self._uses.items() if one() is not None}
        return bool(self._uses)

    def _find(self) -> list[tuple[Count, Limit]]:
        self.libraries = _libraries()
        return self.libraries

    def _put_back(self) -> None:
        for limit, threads in self._before:
            limit(threads)
        self._before = []

    def forked(self) -> None:
        """A child process begins without any use."""
        self._put_back()
        self._start()


class one_thread:  # noqa: N801 - used as a function is
    """One BLAS thread for the whole process inside a block; the last to leave restores the limit.

    >>> with one_thread(), one_thread():  # may be entered again, and by several threads at once
    ...     pass
    """

    __slots__ = ("__weakref__",)

    def __enter__(self) -> None:
        # On one line, so that nothing can be raised between the block and the release of the lock.
        with LIMIT.lock: LIMIT.begin(self)  # noqa: E701  # fmt: skip

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with LIMIT.lock: LIMIT.end(self)  # noqa: E701  # fmt: skip


LIMIT = BlasLimit()


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


_NO_LIMIT = nullcontext()


def limited(entries: int) -> AbstractContextManager[None]:
    """One thread for work on a matrix of this size, if BLAS might start a second one there."""
    return one_thread() if entries > THREADED else _NO_LIMIT


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=LIMIT.forked)
