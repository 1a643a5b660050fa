"""How far labels may lie from predictions: what an interval from audits has to assume.

A bound on |y − p| is the end of the matter. A bound on |f − p| is not, as noise has no end: errors are cut at
`reach`, where they hardly ever come, and an upper end is raised by what the cut can hide on average.
Labels may differ in noise: then their squares are all brought to the noise of the noisiest, σ, by adding what
is lacking.
Notation: y = f + ε label, p prediction, B bound, σ noise_std, k REACH.
Tails no heavier than normal are those with P(|ε| > t) ≤ 2 exp(−t²/2σ²).
"""

from math import exp, hypot
from typing import Literal, NamedTuple

from breakeven.errors import expect
from breakeven.values import Assumption

REACH = 5.0
TAIL = exp(-(REACH**2) / 2)
BOUND_ON = ("labels", "truth")


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
        expect.refuse("bound", f"no less than the noise_std of {sigma:g}, as labels are as noisy", bound)
    return ErrorBound(bound=B, noise_std=sigma, least_noise_std=least, on=on)
