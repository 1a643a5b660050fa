"""The time, as a parameter: tests bring a clock of their own.

`now` is for people and for the log; it goes back and jumps. `steady` only goes on: leases count by it.
"""

import time


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
