"""A confidence sequence: the running average of a stream of which only a random sample is seen.

Every value lies in [0, b] and is seen with chance ρ, whatever came before. Each has a guess g, made from the
values seen earlier, so that the sample need only measure what the guesses miss: S = ρ/b Σ(v − g). For a
stake λ, the capital Π(1 ± λr) over exp(±λS) is a supermartingale (docs/audit.md), and so are mixtures.
Stakes are fixed: stakes that follow the data would weigh the values, and prove something of another average.
Notation: ρ rate, b reach, v value, g guess, r = (v − g)/b where v is seen and 0 where not, α = 1 − level.
"""

from collections.abc import Sequence
from math import exp, log, log1p

from msgspec import Struct
from msgspec.structs import replace

from breakeven.errors import expect

BETS = 20  # the least stake is the best one after some 10¹² values seen
STAKES = tuple(0.9 * 0.5**k for k in range(BETS))
LOG_WEIGHTS = tuple(-log((k + 1) * (k + 2)) for k in range(BETS))  # weights sum to less than 1
EVEN = (0.0,) * BETS
ROUNDING = 1e-9


class SampledAverage(Struct, frozen=True, gc=False):
    """The average of all values so far, from those that were seen.

    >>> average = SampledAverage(rate=0.1, reach=1.0)
    >>> for _ in range(200):
    ...     average = average.skip(9).plus(0.5)
    >>> round(average.estimate, 3)
    0.5
    >>> low, high = average.interval(0.95)
    >>> round(low, 3), round(high, 3)
    (0.475, 0.525)

    `passed` counts the values, `seen` those seen, and `beyond` the seen ones above `reach`, which break the
    promise. `ups` and `downs` are the logarithms of the capital, a bet for each stake.
    """

    rate: float
    reach: float
    passed: int = 0
    seen: int = 0
    beyond: int = 0
    total: float = 0.0  # of the seen values, none counted for more than `reach`
    guessed: float = 0.0  # Σ g
    missed: float = 0.0  # Σ (v − g) over the seen values
    ups: tuple[float, ...] = EVEN
    downs: tuple[float, ...] = EVEN

    @property
    def guess(self) -> float:
        """What the next value is taken for until it is seen."""
        return self.total / (self.seen + 1)

    @property
    def estimate(self) -> float | None:
        """The average, unbiased over the draws; None before the first value."""
        return (self.guessed + self.missed / self.rate) / self.passed if self.passed else None

    def skip(self, count: int = 1) -> "SampledAverage":
        """So many values passed that were not drawn."""
        return replace(self, passed=self.passed + count, guessed=self.guessed + count * self.guess)

    def plus(self, value: float) -> "SampledAverage":
        """A value was drawn and seen."""
        kept = min(value, self.reach)
        return replace(
            self._drawn(kept, kept),
            seen=self.seen + 1,
            beyond=self.beyond + (value > self.reach * (1 + ROUNDING)),
            total=self.total + kept,
            missed=self.missed + value - self.guess,
        )

    def lost(self) -> "SampledAverage":
        """A value was drawn and will never be seen: each end takes it for what is worst."""
        return self._drawn(0.0, self.reach)

    def _drawn(self, least: float, most: float) -> "SampledAverage":
        low, high = (least - self.guess) / self.reach, (most - self.guess) / self.reach
        return replace(
            self.skip(),
            ups=tuple([won + log1p(stake * low) for won, stake in zip(self.ups, STAKES, strict=True)]),
            downs=tuple([won + log1p(-stake * high) for won, stake in zip(self.downs, STAKES, strict=True)]),
        )

    def surplus(self, level: float) -> tuple[float, float]:
        """Ends of Σ(v − g) over all values, seen or not; they hold until the next one is drawn."""
        target = log(2 / (1 - expect.probability("level", level, open=True)))  # half of α for each end
        unit = self.reach / self.rate
        return unit * _least(self.ups, target), -unit * _least(self.downs, target)

    def interval(self, level: float) -> tuple[float, float]:
        """Ends that hold the average at all times at once, with probability `level`."""
        if not self.passed:
            return 0.0, self.reach
        low, high = ((self.guessed + end) / self.passed for end in self.surplus(level))
        return _within(low, self.reach), _within(high, self.reach)


def sampled_average(rate: float, reach: float) -> SampledAverage:
    """Begin an average of values from 0 to `reach`, each seen with chance `rate`.

    >>> sampled_average(0.1, 1.0).interval(0.95)
    (0.0, 1.0)
    """
    return SampledAverage(expect.probability("rate", rate, open=True), expect.positive("reach", reach))


def _within(end: float, most: float) -> float:
    return min(most, max(0.0, end))


def _least(capital: Sequence[float], target: float) -> float:
    """Find S with Σ w exp(capital − λS) = exp(target), from below.

    The logarithm of the sum is convex in S: Newton's steps never pass it, and to stop early is to be safe.
    """
    logs = [won + weight - target for won, weight in zip(capital, LOG_WEIGHTS, strict=True)]
    S = max(each / stake for each, stake in zip(logs, STAKES, strict=True))
    for _ in range(50):
        terms = [exp(each - stake * S) for each, stake in zip(logs, STAKES, strict=True)]
        whole = sum(terms)
        step = whole * log(whole) / sum(term * stake for term, stake in zip(terms, STAKES, strict=True))
        if step <= 1e-12 * (1 + abs(S)):
            break
        S += step
    return S
