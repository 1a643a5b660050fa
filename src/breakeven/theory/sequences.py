"""What audits prove: averages of which a random sample is seen, and how far errors reach.

A confidence sequence: every value lies in [0, b] and is seen with chance ρ, whatever came before. Each has a
guess g, made from the values seen earlier, so that the sample need only measure what the guesses miss: S =
ρ/b Σ(v − g). For a stake λ, the capital Π(1 ± λr) over exp(±λS) is a supermartingale (docs/audit.md), and so
are mixtures. Stakes are fixed: stakes that follow the data would weigh the values, and prove something of
another average.

How far errors reach: a bound on |y − p| is the end of the matter. A bound on |f − p| is not, as noise has no
end: errors are cut at `reach`, where they hardly ever come, and an upper end is raised by what the cut can
hide on average. Labels may differ in noise: their squares are all brought to the noise of the noisiest, σ,
by adding what is lacking. Tails no heavier than normal are those with P(|ε| > t) ≤ 2 exp(−t²/2σ²).

Notation: ρ rate, b reach, v value, g guess, r = (v − g)/b where v is seen and 0 where not, α = 1 − level; y
= f + ε label, p prediction, B bound, σ noise_std, k REACH.
"""

from collections.abc import Sequence
from math import exp, hypot, log, log1p
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from breakeven.errors import expect
from breakeven.values import Assumption

BETS = 20  # the least stake is the best one after some 10¹² values seen
STAKES = tuple(0.9 * 0.5**k for k in range(BETS))
LOG_WEIGHTS = tuple(-log((k + 1) * (k + 2)) for k in range(BETS))  # weights sum to less than 1
NO_CAPITAL = (0.0,) * BETS
BEYOND_ROUNDING = 1e-9

REACH = 5.0
TAIL = exp(-(REACH**2) / 2)
BOUND_ON = ("labels", "truth")


# -- averages of which a sample is seen --------------------------------------------------------------


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
    ups: tuple[float, ...] = NO_CAPITAL
    downs: tuple[float, ...] = NO_CAPITAL

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
            beyond=self.beyond + (value > self.reach * (1 + BEYOND_ROUNDING)),
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


# -- how far errors reach ----------------------------------------------------------------------------


class Limits(NamedTuple):
    """Where a measure of error is cut, and what its mean can be.

    Beyond `reach` at most `hidden` of it lies on average; `noise` is the part of its mean that is no error of
    predictions and is taken off, and `most` the largest mean it can have without that.
    """

    reach: float
    hidden: float
    noise: float
    most: float


class ErrorBound(Assumption, frozen=True, kw_only=True):
    """What an assumption about errors says of their averages.

    >>> print(error_bound(1.0, noise_std=0.1, on="truth"))
    |f − p| ≤ 1 and label noise has mean 0 and standard deviation 0.1, with tails no heavier than normal
    """

    @property
    def reach(self) -> float:
        """The largest error that is counted in full."""
        return self.bound + (REACH * self.noise_std if self.on == "truth" else 0.0)

    @property
    def absolute(self) -> Limits:
        """What holds for |y − p|."""
        if self.on == "labels":
            return Limits(self.reach, 0.0, 0.0, self.bound)
        hidden = 2 * self.noise_std / REACH * TAIL  # E(|ε| − kσ)₊
        return Limits(self.reach, hidden, 0.0, hypot(self.bound, self.noise_std))

    @property
    def squared(self) -> Limits:
        """What holds for (y − p)², of which the noise is σ²."""
        B, sigma, least = self.bound, self.noise_std, self.least_noise_std
        if self.on == "labels":
            return Limits(B**2 + self.lacking(least), 0.0, sigma**2, B**2 - least**2)
        hidden = 4 * (B * sigma / REACH + sigma**2) * TAIL  # E((B + |ε|)² − (B + kσ)²)₊
        return Limits(self.reach**2, hidden, sigma**2, B**2)

    def lacking(self, noise_std: float) -> float:
        """What the square of an error lacks, on average, if its label has this noise and not the most."""
        return self.noise_std**2 - noise_std**2


def error_bound(
    bound: float, *, noise_std: float, on: Literal["labels", "truth"], least_noise_std: float | None = None
) -> ErrorBound:
    """Check a bound on errors; noise of 0 says that labels are the truth.

    Where labels differ, `noise_std` is that of the noisiest, and `least_noise_std` that of the least noisy.

    >>> error_bound(1.0, noise_std=0.2, on="truth").reach
    2.0
    """
    B = expect.positive("bound", bound)
    sigma = 0.0 if noise_std == 0 else expect.positive("noise_std", noise_std)
    least = sigma
    if least_noise_std is not None:
        least = expect.number("least_noise_std", least_noise_std, 0.0, sigma)
    if expect.one_of("bound_on", on, BOUND_ON) == "labels" and sigma > B:
        expect.refuse("bound", f"at least the noise_std of {sigma:g}, as labels vary by that much", bound)
    return ErrorBound(bound=B, noise_std=sigma, least_noise_std=least, on=on)
