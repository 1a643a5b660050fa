"""What audits say about the predictions for arrivals that were declined a label."""

from msgspec import Struct


class Interval(Struct, frozen=True, gc=False):
    """An unbiased estimate and the ends that hold what it estimates.

    The estimate is None before the first arrival. Being unbiased, it may lie below zero while there is little
    to go by; the ends do not.

    >>> print(Interval(0.481, 0.45, 0.52))
    0.481   (0.45 to 0.52)
    """

    estimate: float | None
    low: float
    high: float

    def __str__(self) -> str:
        """The estimate, then the ends in brackets."""
        estimate = "unknown" if self.estimate is None else f"{self.estimate:.3g}"
        return f"{estimate}   ({self.low:.3g} to {self.high:.3g})"


class AuditReport(Struct, frozen=True, kw_only=True):
    """The error of predictions that nobody asked a label for, from a random sample of labels.

    All averages run over the first `covers` of the `declined` arrivals: up to the first audit whose label is
    `awaited`, or to the round in which audits stopped. `missing` labels will never come, and `uncovered`
    arrivals are not among the declined: no audit of them could be had at the time. `absolute` is of |y − p|,
    `squared` of (f − p)², and `rms_bound` is the root of its upper end. Each of these holds at every moment
    of the stream at once, with probability `level`, given the `assumption`; `exceeded` counts audits that
    contradict it.

    >>> around = Interval(0.5, 0.4, 0.6)
    >>> print(
    ...     AuditReport(
    ...         rate=0.05, declined=1000, audited=52, covers=990, awaited=1, assumption="|y − p| ≤ 1",
    ...         absolute=around, squared=around, rms_bound=0.775,
    ...     )
    ... )
    audits            52 of 1,000 declined arrivals, drawn at 5%   (1 awaited)
    covered           the first 990 declined arrivals
    mean |y − p|      0.5   (0.4 to 0.6)
    mean (f − p)²     0.5   (0.4 to 0.6)
    mean |f − p|      at most 0.6
    Each holds at every moment at once with probability 95%, if |y − p| ≤ 1.
    """

    rate: float
    declined: int
    audited: int
    covers: int
    uncovered: int = 0
    awaited: int = 0
    missing: int = 0
    exceeded: int = 0
    stopped_at: int | None = None
    level: float = 0.95
    assumption: str
    absolute: Interval
    squared: Interval
    rms_bound: float

    @property
    def truth_bound(self) -> float:
        """No average of |f − p| is above this, which noisy labels cannot estimate without bias."""
        return min(self.rms_bound, self.absolute.high)

    def __str__(self) -> str:
        """A few lines to read."""
        lines = [
            f"audits            {self.audited:,} of {self.declined:,} declined arrivals, "
            f"drawn at {100 * self.rate:.3g}%{self._lacking()}",
            f"covered           the first {self.covers:,} declined arrivals{self._ended()}",
            f"mean |y − p|      {self.absolute}",
            f"mean (f − p)²     {self.squared}",
            f"mean |f − p|      at most {self.truth_bound:.3g}",
            f"Each holds at every moment at once with probability {100 * self.level:.6g}%, "
            f"if {self.assumption}.",
        ]
        if self.exceeded:
            larger = "an audited error is" if self.exceeded == 1 else f"{self.exceeded:,} audited errors are"
            lines.append(f"That is not so: {larger} larger. Give a wider bound.")
        return "\n".join(lines)

    def _lacking(self) -> str:
        counts = ((self.awaited, "awaited"), (self.missing, "missing"))
        words = ", ".join(f"{count:,} {name}" for count, name in counts if count)
        return f"   ({words})" if words else ""

    def _ended(self) -> str:
        others = f"; {self.uncovered:,} others could not be drawn" if self.uncovered else ""
        return others + ("" if self.stopped_at is None else f"; audits stopped at round {self.stopped_at:,}")
