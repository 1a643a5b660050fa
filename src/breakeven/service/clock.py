"""The time, as a parameter, since tests bring a clock of their own; and how long things take in a stream.

`now` is for people and for the log; it goes back and jumps. `steady` only goes on: leases count by it.
"""

import time
from bisect import bisect_left


class Clock:
    """The clock of this machine."""

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def steady(self) -> float:
        """Seconds that only go on."""
        return time.monotonic()


class Jumps:
    """Notices that a clock jumped forward: deadlines wait a little then, in case it jumps back.

    >>> jumps = Jumps(wait=60.0)
    >>> jumps.settled(1000.0, 0.0), jumps.settled(9000.0, 1.0), jumps.settled(9061.0, 62.0)
    (True, False, True)
    """

    def __init__(self, wait: float = 60.0) -> None:
        self._wait = wait
        self._ahead: float | None = None  # of `now` before `steady`, when last looked
        self._until = 0.0

    def settled(self, now: float, steady: float) -> bool:
        """Whether the clock can be believed at this moment."""
        ahead = now - steady
        if self._ahead is not None and abs(ahead - self._ahead) > self._wait / 2:
            self._until = steady + self._wait
        self._ahead = ahead
        return steady >= self._until or self._until == 0.0


# -- how long things take ---------------------------------------------------------------------------------

TIME_BOUNDS = (
    1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0,
)  # fmt: skip


class Histogram:
    """Counts of seconds, by upper bounds.

    >>> times = Histogram()
    >>> times.add(3e-5)
    >>> times.add(99.0)
    >>> times.below()[:4], times.count, times.sum
    ([0, 0, 1, 1], 2, 99.00003)
    """

    __slots__ = ("_counts", "sum")

    def __init__(self) -> None:
        self._counts = [0] * (len(TIME_BOUNDS) + 1)
        self.sum = 0.0

    def add(self, seconds: float) -> None:
        """Something took so long."""
        self._counts[bisect_left(TIME_BOUNDS, seconds)] += 1
        self.sum += seconds

    @property
    def count(self) -> int:
        """How many there were."""
        return sum(self._counts)

    def below(self) -> list[int]:
        """How many took at most as long as each bound says."""
        found, total = [], 0
        for one in self._counts[:-1]:
            total += one
            found.append(total)
        return found


class StreamTimes:
    """Of one stream since the service started: deciding, in calls, and from a change to the disk."""

    __slots__ = ("commit", "decide")

    def __init__(self) -> None:
        self.decide, self.commit = Histogram(), Histogram()
