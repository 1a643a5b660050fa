"""How times are taken: warm, in turn with the things compared, as medians with their quartiles."""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct


class Timing(Struct, frozen=True):
    """Seconds a round: the median and the quartiles."""

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
    start = perf_counter()
    task.run(*given)
    return (perf_counter() - start) / task.rounds
