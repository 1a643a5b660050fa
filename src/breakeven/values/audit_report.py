"""What audits say about the predictions for arrivals that were declined a label."""

from typing import Literal, Self

from msgspec import Struct
from msgspec.structs import replace


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

    def times(self, factor: float) -> "Interval":
        """The interval of a quantity that is `factor` times as large."""
        estimate = None if self.estimate is None else factor * self.estimate
        return Interval(estimate, factor * self.low, factor * self.high)

    def __str__(self) -> str:
        """The estimate, then the ends in brackets."""
        estimate = "unknown" if self.estimate is None else f"{self.estimate:.3g}"
        return f"{estimate}   ({self.low:.3g} to {self.high:.3g})"


class Assumption(Struct, frozen=True, kw_only=True):
    """A bound on |y − p| ("labels") or on |f − p| ("truth"), and the most and the least noise of labels.

    >>> print(Assumption(bound=1.0, noise_std=0.1, least_noise_std=0.1, on="labels"))
    |y − p| ≤ 1 and label noise has mean 0 and standard deviation 0.1
    """

    bound: float
    noise_std: float
    least_noise_std: float
    on: Literal["labels", "truth"]

    def __str__(self) -> str:
        """In words."""
        least = "" if self.least_noise_std == self.noise_std else f"{self.least_noise_std:.6g} to "
        noise = f"label noise has mean 0 and standard deviation {least}{self.noise_std:.6g}"
        if self.on == "labels":
            return f"|y − p| ≤ {self.bound:.6g} and {noise}"
        return f"|f − p| ≤ {self.bound:.6g} and {noise}, with tails no heavier than normal"

    def in_units(self, unit: float) -> Self:
        """The same where a label of 1 is written as `unit`."""
        bound, most, least = (unit * one for one in (self.bound, self.noise_std, self.least_noise_std))
        return replace(self, bound=bound, noise_std=most, least_noise_std=least)


class AuditReport(Struct, frozen=True, kw_only=True):
    """The error of predictions that nobody asked a label for, from a random sample of labels.

    All averages run over the first `covers` of the `declined` arrivals: up to the first audit whose label is
    `awaited`, or to the round in which audits stopped. `missing` labels will never come, and `uncovered`
    arrivals are not among the declined: they could not be audited at the time. `absolute` is of |y − p|,
    `squared` of (f − p)², and `rms_bound` is the root of its upper end. Each of these holds at every moment
    of the stream at once, with probability `level`, given the `assumption`; `exceeded` counts audits that
    contradict it.

    >>> around = Interval(0.5, 0.4, 0.6)
    >>> known = Assumption(bound=1.0, noise_std=0.1, least_noise_std=0.1, on="labels")
    >>> print(
    ...     AuditReport(
    ...         rate=0.05, declined=1000, audited=52, covers=990, awaited=1, assumption=known,
    ...         absolute=around, squared=around, rms_bound=0.775,
    ...     )
    ... )  # doctest: +ELLIPSIS
    audits            52 of 1,000 declined arrivals, drawn at 5%   (1 awaited)
    covered           the first 990 declined arrivals
    mean |y − p|      0.5   (0.4 to 0.6)
    mean (f − p)²     0.5   (0.4 to 0.6)
    mean |f − p|      at most 0.6
    Each holds at every moment at once with probability 95%, if |y − p| ≤ 1 and label noise has mean 0 and...
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
    assumption: Assumption
    absolute: Interval
    squared: Interval
    rms_bound: float

    @property
    def truth_bound(self) -> float:
        """An upper bound of the average of |f − p|, of which noisy labels allow no unbiased estimate."""
        return min(self.rms_bound, self.absolute.high)

    def in_units(self, unit: float) -> Self:
        """The same where a label of 1 is written as `unit`."""
        return replace(
            self,
            assumption=self.assumption.in_units(unit),
            absolute=self.absolute.times(unit),
            squared=self.squared.times(unit**2),
            rms_bound=unit * self.rms_bound,
        )

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
