"""Labels that do not all count alike: for a noise of their own, and for their age.

Notation: a label of noise σ_i weighs w = (σ/σ_i)² beside one of noise σ, and w·2^(−a/h) at age a, with h the
half-life. Sums hold w·2^(round/h) instead, which is fixed when the label is asked for; what they are worth by
now is computed when somebody looks. So nothing is to be done as time passes, and sums are exact.
"""

from math import inf, ldexp
from typing import Any

from msgspec import Struct

from breakeven.values import ExactSum

NOTHING = ExactSum()
EPOCH = 256  # half-lives after which sums take a larger unit, lest they overflow
HEAVIEST = 1e100  # a label that weighs more than all others says no more by weighing yet more
GONE = 1e-290  # sums below this have lost their digits


def noise_weight(noise_std: float, own: float) -> float:
    """What a label of its own noise weighs beside one of `noise_std`.

    >>> noise_weight(2.0, own=1.0), noise_weight(2.0, own=4.0)
    (4.0, 0.25)
    """
    ratio = noise_std / own
    return min(max(ratio * ratio, 1.0 / HEAVIEST), HEAVIEST)


class Grade(Struct, frozen=True, gc=False):
    """How much a label counts: its weight when it was new, and the round from which it ages."""

    weight: float = 1.0
    round: int = 0


EVEN = Grade()


class Fading(Struct, frozen=True, gc=False):
    """How weights fall with age; a half-life of ∞ leaves them as they are.

    >>> fading = Fading(half_life=10.0)
    >>> fading.weight(Grade(round=30), epoch=0) * fading.left(now=50, epoch=0)
    0.25
    """

    half_life: float = inf

    def epoch(self, now: int) -> int:
        """The unit that sums have by now: 2^(256·epoch)."""
        return int(now // self.half_life) // EPOCH

    def weight(self, grade: Grade, epoch: int) -> float:
        """What a label adds to sums of this epoch."""
        lives, rest = divmod(float(grade.round), self.half_life)
        return ldexp(grade.weight * 2.0 ** (rest / self.half_life), int(lives) - EPOCH * epoch)

    def left(self, now: int, epoch: int) -> float:
        """What a sum of 1 in this epoch is worth now."""
        lives, rest = divmod(float(now), self.half_life)
        return ldexp(2.0 ** (-rest / self.half_life), EPOCH * epoch - int(lives))


class Weighed(Struct, gc=False):
    """Exact sums over labels: the weights of those asked for, of those told, and of weight × label."""

    asked: ExactSum = NOTHING
    told: ExactSum = NOTHING
    sum: ExactSum = NOTHING
    epoch: int = 0

    @property
    def told_weight(self) -> float:
        """What the labels told weigh; 0 where they are long forgotten."""
        return self.told.value if self.told.value > GONE else 0.0

    @property
    def mean(self) -> float:
        """The mean of the labels told."""
        weight = self.told_weight
        return self.sum.value / weight if weight else 0.0

    def ask(self, weight: float) -> None:
        """A label is asked for; with its weight negated, it goes."""
        self.asked = self.asked.plus(weight)

    def tell(self, weight: float, y: float) -> None:
        """A label is told; with its weight negated, it goes."""
        self.told = self.told.plus(weight)
        self.sum = self.sum.plus(weight * y)

    def move_to(self, epoch: int) -> None:
        """Take the unit of a later epoch."""
        shift = EPOCH * (self.epoch - epoch)
        if shift < 0:
            self.asked, self.told = _scaled(self.asked, shift), _scaled(self.told, shift)
            self.sum, self.epoch = _scaled(self.sum, shift), epoch

    def plain(self) -> tuple[Any, ...]:
        """The sums as plain data."""
        return self.asked.parts, self.told.parts, self.sum.parts, self.epoch

    @staticmethod
    def of(plain: Any) -> "Weighed":
        """The sums from what `plain` gave."""
        asked, told, total, epoch = plain
        return Weighed(ExactSum(tuple(asked)), ExactSum(tuple(told)), ExactSum(tuple(total)), epoch)


def _scaled(total: ExactSum, shift: int) -> ExactSum:
    """Times 2^shift, without what becomes too small for a float."""
    return ExactSum(tuple(filter(None, (ldexp(part, shift) for part in total.parts))))
