"""How long things take in a stream, counted in histograms of a few integers."""

from bisect import bisect_left

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
