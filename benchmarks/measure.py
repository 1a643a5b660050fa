"""How times are taken: warm, alternating between the things compared, medians with their spread."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter


@dataclass(frozen=True)
class Timing:
    """Seconds a call: the median and the quartiles."""

    median: float
    low: float
    high: float


def side_by_side(*calls: Callable[[], object], repeats: int = 15, number: int = 1) -> list[Timing]:
    """Time calls in turn, so that a slow moment of the machine hits all of them."""
    for call in calls:
        call()
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats):
        for call, mine in zip(calls, times, strict=True):
            start = perf_counter()
            for _ in range(number):
                call()
            mine.append((perf_counter() - start) / number)
    return [_timing(mine) for mine in times]


def _timing(times: list[float]) -> Timing:
    low, median, high = statistics.quantiles(times, n=4) if len(times) > 1 else times * 3
    return Timing(median, low, high)


@dataclass(frozen=True)
class Result:
    """One line of the table: what was measured, against what, and the target."""

    what: str
    measured: str
    beside: str
    ratio: str
    target: str
    reached: bool


def microseconds(timing: Timing) -> str:
    """A timing for people."""
    return f"{_short(timing.median)} µs ({_short(timing.low)}–{_short(timing.high)})"


def _short(seconds: float) -> str:
    number = seconds * 1e6
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
