"""How much labels count, by their noise and their age, and how much a prior counts beside them.

Notation: a label of noise σ_i weighs w = (σ/σ_i)² beside one of noise σ, and w·2^(−a/h) at age a, with h the
half-life. Sums hold w·2^(round/h) instead, which is fixed when the label is asked for; what they are worth
now is computed when they are read. So nothing has to be updated as time passes, and sums are exact.
A type's mean is N(m, τ²) before it has labels. That prior counts as k = (σ/τ)² labels that all say m; where
labels of mean ȳ weigh W, the posterior is N((k·m + W·ȳ)/(k + W), σ²/(k + W)). Flat: k = 0.
"""

from math import inf, ldexp, sqrt
from typing import Any, TypeVar

from msgspec import Struct

from breakeven.errors.expect import Array
from breakeven.values import NO_SUM, ExactSum, Prediction, normal_answer

EPOCH = 256  # half-lives after which sums take a larger unit, lest they overflow
HEAVIEST = 1e100  # the largest weight of a label: beyond it, a larger one changes no mean
LOST_DIGITS = 1e-290  # sums below this have lost their digits

Mean = TypeVar("Mean", float, Array)


def noise_weight(noise_std: float, own: float) -> float:
    """What a label with the noise `own` weighs beside one with `noise_std`.

    >>> noise_weight(2.0, own=1.0), noise_weight(2.0, own=4.0)
    (4.0, 0.25)
    """
    ratio = noise_std / own
    return min(max(ratio * ratio, 1.0 / HEAVIEST), HEAVIEST)


class Grade(Struct, frozen=True, gc=False):
    """How much a label counts: its weight when it was new, and the round from which it ages.

    `apart` labels have a noise of their own while that of the belief is measured: they weigh this much beside
    a label of noise 1.
    """

    weight: float = 1.0
    round: int = 0
    apart: bool = False


FULL_GRADE = Grade()


class Ageing(Struct, frozen=True, gc=False):
    """How weights fall with age; a half-life of ∞ leaves them as they are.

    >>> ageing = Ageing(half_life=10.0)
    >>> ageing.weight(Grade(round=30), epoch=0) * ageing.left(now=50, epoch=0)
    0.25
    """

    half_life: float = inf

    def epoch(self, now: int) -> int:
        """Sums are now in units of 2^(256·epoch)."""
        return int(now // self.half_life) // EPOCH

    def weight(self, grade: Grade, epoch: int) -> float:
        """What a label adds to sums of this epoch."""
        lives, rest = divmod(float(grade.round), self.half_life)
        return ldexp(grade.weight * 2.0 ** (rest / self.half_life), int(lives) - EPOCH * epoch)

    def left(self, now: int, epoch: int) -> float:
        """What a sum of 1 in this epoch is worth now."""
        lives, rest = divmod(float(now), self.half_life)
        return ldexp(2.0 ** (-rest / self.half_life), EPOCH * epoch - int(lives))


class Sums(Struct, gc=False):
    """Exact sums over labels: the weights of those asked for, of those told, and of weight × label."""

    asked: ExactSum = NO_SUM
    told: ExactSum = NO_SUM
    total: ExactSum = NO_SUM

    def ask(self, weight: float) -> None:
        """A label is asked for; a negative weight takes one away."""
        self.asked = self.asked.plus(weight)

    def tell(self, weight: float, y: float) -> None:
        """A label is told; a negative weight takes one away."""
        self.told = self.told.plus(weight)
        self.total = self.total.plus(weight * y)

    @property
    def mean_told(self) -> tuple[float, float]:
        """The mean of the labels told and what they weigh; 0 and 0 where they are long forgotten."""
        weight = self.told.value
        return (self.total.value / weight, weight) if weight > LOST_DIGITS else (0.0, 0.0)

    def drop_awaited(self) -> None:
        """Only labels told remain."""
        self.asked = self.told

    def shift(self, power: int) -> None:
        """Take another unit: everything times 2^power."""
        self.asked, self.told = _shifted(self.asked, power), _shifted(self.told, power)
        self.total = _shifted(self.total, power)

    def plain(self) -> tuple[tuple[float, ...], ...]:
        """The parts of the sums."""
        return self.asked.parts, self.told.parts, self.total.parts

    @staticmethod
    def of(plain: Any) -> "Sums":
        """The sums from what `plain` gave."""
        return Sums(*(ExactSum(tuple(parts)) for parts in plain))


def _shifted(total: ExactSum, power: int) -> ExactSum:
    """Times 2^power, without what becomes too small for a float."""
    return ExactSum(tuple(filter(None, (ldexp(part, power) for part in total.parts))))


class Weighed(Struct, gc=False):
    """The labels of a type where they do not count alike, in the unit of an epoch.

    Labels whose noise is their own stand `apart` while the belief's noise is measured.
    """

    sums: Sums
    apart: Sums | None = None
    epoch: int = 0

    def where(self, grade: Grade) -> Sums:
        """The sums that a label of this grade is part of."""
        if not grade.apart:
            return self.sums
        if self.apart is None:
            self.apart = Sums()
        return self.apart

    def asked(self, ratio: float) -> float:
        """What the labels asked for weigh, if labels apart weigh `ratio` times what they do at noise 1."""
        asked = self.sums.asked.value
        return asked if self.apart is None else asked + ratio * self.apart.asked.value

    def told(self, ratio: float) -> tuple[float, float]:
        """The mean of the labels told and what they weigh, labels apart counted in; 0 and 0 if forgotten."""
        mean, weight = self.sums.mean_told
        if self.apart is None:
            return mean, weight
        return joined(mean, weight, *self.apart.mean_told, ratio)

    @property
    def apart_told(self) -> tuple[float, float]:
        """Mean and weight beside noise 1 of the labels told that are apart."""
        return (0.0, 0.0) if self.apart is None else self.apart.mean_told

    def drop_awaited(self) -> None:
        """Only labels told remain."""
        for sums in self._all():
            sums.drop_awaited()

    def move_to(self, epoch: int) -> None:
        """Take the unit of a later epoch."""
        if epoch > self.epoch:
            for sums in self._all():
                sums.shift(EPOCH * (self.epoch - epoch))
            self.epoch = epoch

    def _all(self) -> list[Sums]:
        return [self.sums] if self.apart is None else [self.sums, self.apart]

    def plain(self) -> dict[str, Any]:
        """The sums as plain data."""
        apart = None if self.apart is None else self.apart.plain()
        return {"sums": self.sums.plain(), "apart": apart, "epoch": self.epoch}

    @staticmethod
    def of(plain: dict[str, Any]) -> "Weighed":
        """The sums from what `plain` gave."""
        apart = None if plain["apart"] is None else Sums.of(plain["apart"])
        return Weighed(Sums.of(plain["sums"]), apart, plain["epoch"])


def joined(
    mean: float, weight: float, apart_mean: float, apart_weight: float, ratio: float
) -> tuple[float, float]:
    """Mean and weight of all labels of a type, where those apart weigh `ratio` times what they do at noise 1.

    >>> joined(1.0, 2.0, apart_mean=4.0, apart_weight=0.25, ratio=4.0)
    (2.0, 3.0)
    """
    if not apart_weight:
        return mean, weight
    more = ratio * apart_weight
    return mean + (apart_mean - mean) * (more / (weight + more)), weight + more


class TypePrior(Struct, frozen=True):
    """A normal prior of the types' means; flat where its std is ∞.

    >>> TypePrior(noise_std=1.0, mean=0.0, std=1.0).posterior(3.0, weight=2.0).mean
    2.0
    """

    noise_std: float
    mean: float = 0.0
    std: float = inf
    shift: float = 0.0  # by which answers lie above means, in standard deviations of a label

    @property
    def worth(self) -> float:
        """The number of labels it counts as."""
        return 0.0 if self.std == inf else noise_weight(self.noise_std, self.std)

    @property
    def prediction(self) -> Prediction:
        """The prediction without labels."""
        return normal_answer(self.mean, self.std, self.noise_std, self.shift)

    def posterior(self, mean: float, weight: float) -> Prediction:
        """The prediction for labels of this mean and this weight together."""
        if not weight:
            return self.prediction
        worth = self.worth
        mean = posterior_mean(mean, weight, self.mean, worth)
        return normal_answer(mean, self.noise_std / sqrt(worth + weight), self.noise_std, self.shift)


def posterior_mean(mean: Mean, weight: Mean, prior_mean: float, worth: float) -> Mean:
    """The mean of a type, or of many, given its labels, where the prior counts as `worth` labels.

    >>> posterior_mean(3.0, weight=2.0, prior_mean=0.0, worth=1.0)
    2.0
    """
    return (worth * prior_mean + weight * mean) / (worth + weight) if worth else mean
