"""How times are taken: in CPU time of one core, warm, in turn with the things compared, as medians.

A wall clock on a busy machine measures the neighbours: long tasks are interrupted more often than short ones.
Also how they are told: as people read times, rates and sizes, and as the exponent by which a cost grows.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import thread_time
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct


class Timing(Struct, frozen=True):
    """CPU seconds a round: the median and the quartiles."""

    median: float
    low: float
    high: float


class Task(NamedTuple):
    """Something to time: so many rounds, on what `prepare` makes anew each time, untimed."""

    run: Callable[..., object]
    rounds: int = 1
    prepare: Callable[[], Any] | None = None


def side_by_side(*tasks: Task, repeats: int) -> list[Timing]:
    """Time tasks in turn, so that a slow moment of the machine hits all of them.

    >>> fast, slow = side_by_side(Task(lambda: None), Task(lambda: sum(range(10_000))), repeats=5)
    >>> fast.median < slow.median
    True
    """
    for task in tasks:
        _seconds(task)
    times = [[_seconds(task) for task in tasks] for _ in range(repeats)]
    return [timing(column) for column in zip(*times, strict=True)]


def timing(seconds: Sequence[float]) -> Timing:
    """The median and the quartiles.

    >>> timing([3.0, 1.0, 2.0])
    Timing(median=2.0, low=1.5, high=2.5)
    """
    low, median, high = np.quantile(seconds, (0.25, 0.5, 0.75)).tolist()
    return Timing(median, low, high)


def _seconds(task: Task) -> float:
    given = () if task.prepare is None else (task.prepare(),)
    start = thread_time()
    task.run(*given)
    return (thread_time() - start) / task.rounds


# -- one core ------------------------------------------------------------------------------------------------


VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@contextmanager
def one_core() -> Iterator[None]:
    """Limit the libraries that are loaded, and those that this process or its children load in here."""
    import scipy.linalg  # noqa: F401  (a BLAS of its own, to be limited too)
    from threadpoolctl import threadpool_limits

    before = {name: os.environ.get(name) for name in VARIABLES}
    os.environ.update(dict.fromkeys(VARIABLES, "1"))
    try:
        with threadpool_limits(1):
            yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


# -- growth --------------------------------------------------------------------------------------------------


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """The slope of the line through the logarithms, by least squares.

    >>> round(exponent([1, 10, 100], [3, 300, 30_000]), 6)
    2.0
    """
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


# -- words ---------------------------------------------------------------------------------------------------


UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def a_round(timing: Timing) -> str:
    """Seconds a round, in the unit that suits the median.

    >>> a_round(Timing(136e-6, 133e-6, 1.41e-4))
    '136 µs (133–141)'
    """
    unit, name = next((pair for pair in UNITS if timing.median >= pair[0]), UNITS[-1])
    median, low, high = (_short(time / unit) for time in (timing.median, timing.low, timing.high))
    return f"{median} {name} ({low}–{high})"


def a_second(timing: Timing) -> str:
    """Rounds a second.

    >>> a_second(Timing(2.5e-6, 2.5e-6, 4e-6)), a_second(Timing(2e-8, 2e-8, 2.5e-8))
    ('400,000 a second (250,000–400,000)', '50 M a second (40–50)')
    """
    rates = [1 / time for time in (timing.median, timing.high, timing.low)]
    millions = rates[0] >= 1e6
    median, low, high = (_short(rate / 1e6 if millions else rate) for rate in rates)
    return f"{median}{' M' if millions else ''} a second ({low}–{high})"


def megabytes(size: float) -> str:
    """Bytes.

    >>> megabytes(64_400_000)
    '64.4 MB'
    """
    return f"{_short(size / 1e6)} MB"


def _short(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"
