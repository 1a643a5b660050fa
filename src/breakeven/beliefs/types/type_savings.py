"""What a label of a type would take off the expected error, now and at arrivals to come.

docs/value.md derives it. The formulas are plain functions of numbers, because compiled loops use them too.

Notation: σ the noise of a label, W what is known of a type, counted in labels, its prior included. A type's
mean has the std s = σ/√W, its expected error is √(2/π)·s, and no label says anything of another type's mean.
Of t arrivals M were of this type, and there were K types. Under a Chinese restaurant process the next is of
this type with probability M/(t + α), and of a new one with α/(t + α); K types are expected if
α·log(1 + t/α) = K.
"""

from math import exp, expm1, inf, log, log1p, sqrt

from breakeven import theory
from breakeven.beliefs.belief import ENOUGH_TO_FIT
from breakeven.beliefs.types.across_types import AcrossTypes
from breakeven.beliefs.types.tallies import Tally, TypeLabels
from breakeven.beliefs.types.weighing import noise_weight
from breakeven.values import COMING, EVEN, UNKNOWN, Saving, expected_error

LEARNT_ACROSS = 2  # numbers learnt across types: their mean and their spread
NEWTON_STEPS = 5  # steps of Newton's method: from this start, four give all digits
NEARLY_ALL_NEW = 1.0 - 1e-6


def saving(
    labels: TypeLabels, across: AcrossTypes, tally: Tally, noise_std: float, level: float = EVEN
) -> Saving:
    """What a label with this noise saves, for an arrival that is still to be counted in this tally.

    Errors count at this level, so that all is larger or smaller than for absolute errors by one factor.
    """
    factor = expected_error(level) / theory.EXPECTED_ERROR
    prior, census = across.prior, labels.count()
    known = prior.worth + labels.asked_of(tally)
    if not known:
        return COMING if across.learns and census.asked >= ENOUGH_TO_FIT else UNKNOWN
    more = noise_weight(prior.noise_std, noise_std)
    here = factor * drop(prior.noise_std, known, more)
    rounds, types = census.arrivals + 1, census.types + (tally.arrivals == 0)
    taught = 0.0
    if across.learns and not tally.asked:
        taught = factor * lesson(max(census.asked, 1), prior.std, (census.overlooked + 1) / rounds)
    rate = arrival_rate(tally.arrivals + 1, rounds, types)
    outright = factor * distance(prior.noise_std, known, noise_std)
    if labels.half_life == inf:
        return Saving(here, rate * here, taught, outright=outright)
    ageing = (factor * rate * prior.noise_std, known, more)
    return FadedSaving(here, rate * here, taught, labels.half_life, outright, None, *ageing)


class FadedSaving(Saving, frozen=True, gc=False):
    """What a label saves where it is forgotten: at age a it weighs `more`·2^(−a/h) beside what is `known`.

    What is known is assumed to stay: labels that are forgotten will be bought again, if they were worth it.
    docs/drift.md compares that with the best that can be done.
    """

    share: float = 0.0  # of arrivals to come, times the noise
    known: float = 1.0
    more: float = 1.0

    def over(self, left: int, *, lessons: bool, labels: bool = False, price: float = inf) -> float:
        """What the label takes off the errors of all arrivals `left`, with what it teaches or without."""
        later = faded_drop(self.share, self.known, self.more, self.half_life, left)
        return later + self.lesson * half_lives(self.half_life, left) if lessons and self.lesson else later


def faded_drop(noise_std: float, known: float, more: float, half_life: float, left: int) -> float:
    """The sum of `drop` over ages from 1 to `left`, at which `more` has faded.

    The first term, then the integral from 3/2 to left + 1/2: with u = 2^(−a/h), that of (W^−½ − (W + w·u)^−½)
    is 2·W^−½·log(√(W + w·u) + √W)·h/log 2. Within 2% of the sum from a half-life of 0.3 on.

    >>> terms = [drop(1.0, 0.5, 2.0 ** (-age / 10)) for age in range(1, 31)]
    >>> round(faded_drop(1.0, 0.5, 1.0, half_life=10.0, left=30) / sum(terms), 4)
    1.0
    """
    if left < 1:
        return 0.0
    fading = log(2.0) / half_life
    first, start = drop(noise_std, known, more * exp(-fading)), more * exp(-1.5 * fading)
    end, root = start * exp(-fading * (left - 1)), sqrt(known)
    high, low = sqrt(known + start), sqrt(known + end)
    apart = -start * expm1(-fading * (left - 1)) / (high + low)  # high − low, without its rounding
    return first + theory.EXPECTED_ERROR * noise_std * 2.0 / (root * fading) * log1p(apart / (low + root))


def half_lives(half_life: float, left: int) -> float:
    """The sum of 2^(−a/h) over ages a from 1 to `left`.

    >>> half_lives(1.0, left=3)
    0.875
    """
    fading = log(2.0) / half_life
    return exp(-fading) * expm1(-fading * left) / expm1(-fading)


def drop(noise_std: float, known: float, more: float) -> float:
    """How much the expected error falls when labels that weigh `more` join labels that weigh `known`.

    >>> round(drop(noise_std=1.0, known=1.0, more=3.0) / theory.EXPECTED_ERROR, 12)
    0.5
    """
    before, after = sqrt(known), sqrt(known + more)
    return theory.EXPECTED_ERROR * noise_std * more / (before * after * (before + after))


def distance(noise_std: float, known: float, own: float) -> float:
    """How far the prediction is from a label with the noise `own`, on average.

    >>> round(distance(noise_std=4.0, known=1.0, own=3.0) / theory.EXPECTED_ERROR, 12)
    5.0
    """
    std = noise_std / sqrt(known)
    return theory.EXPECTED_ERROR * sqrt(std * std + own * own)  # hypot has other bits when compiled


def lesson(types: int, spread: float, overlooked: float) -> float:
    """What a type's first label takes off the error at an arrival to come, by what it teaches of all types.

    `types` have labels already; `overlooked` is the share of arrivals whose type has none.

    >>> round(lesson(types=4, spread=1.0, overlooked=0.5) / theory.EXPECTED_ERROR, 12)
    0.025
    """
    share = LEARNT_ACROSS / (2.0 * types * (types + 1))
    return share * theory.EXPECTED_ERROR * spread * overlooked


def arrival_rate(arrivals: int, rounds: int, types: int) -> float:
    """The chance that the next arrival is of a type that came `arrivals` times in `rounds`, one of `types`.

    >>> round(arrival_rate(50, rounds=100, types=2), 3), arrival_rate(1, rounds=100, types=100)
    (0.498, 0.0)
    """
    u = familiarity(types / rounds)
    return arrivals / rounds * (u / (1.0 + u))


def familiarity(variety: float) -> float:
    """u = t/α, where r = K/t is the variety: the positive root of log(1 + u) = r·u, 0 at r = 1.

    >>> round(familiarity(log(2)), 12)
    1.0
    """
    if variety > NEARLY_ALL_NEW:
        return 2.0 * max(1.0 - variety, 0.0)  # to first order, which is all that rounding leaves
    s = variety - log(variety) - 1.0
    u = (1.0 + sqrt(2.0 * s) + s) / variety - 1.0  # above the root: Chatzigeorgiou (2013) on Lambert's W
    for _ in range(NEWTON_STEPS):
        u -= (variety * u - log1p(u)) / (variety - 1.0 / (1.0 + u))
    return u
