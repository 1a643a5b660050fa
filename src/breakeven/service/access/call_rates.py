"""How many calls a second a token may make: a bucket for each, which fills again by itself."""

from collections.abc import Callable

from breakeven.errors import expect
from breakeven.errors.serving import TooMany

MOST_BUCKETS = 10_000


class CallRates:
    """At most `rate` calls a second by each caller over time; as many as `rate` may come at once.

    >>> time = [0.0]
    >>> rates = CallRates(2.0, lambda: time[0])
    >>> rates.check("ann"); rates.check("ann")
    >>> rates.check("ann")
    Traceback (most recent call last):
    breakeven.errors.serving.TooMany: calls: expected at most 2 a second of 'ann', got more; wait 0.5 s
    """

    def __init__(self, rate: float, steady: Callable[[], float]) -> None:
        self._rate, self._steady = expect.positive("calls_a_second", rate), steady
        self._most = max(self._rate, 1.0)
        self._buckets: dict[str, tuple[float, float]] = {}  # what is left, and when that was

    def check(self, name: str) -> None:
        """Count a call; raises `TooMany` where there were too many."""
        now = self._steady()
        left, at = self._buckets.get(name, (self._most, now))
        left = min(self._most, left + self._rate * (now - at))
        if left < 1.0:
            pause = (1.0 - left) / self._rate
            self._buckets[name] = left, now
            error = TooMany(
                f"calls: expected at most {self._rate:g} a second of {name!r}, got more; wait {pause:.2g} s"
            )
            error.retry_after = pause
            raise error
        if len(self._buckets) >= MOST_BUCKETS:
            self._buckets.clear()
        self._buckets[name] = left - 1.0, now
