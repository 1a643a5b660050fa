"""Labels of which most are one value, such as losses that are mostly zero.

Nothing is certain because it was equal so far. While one value c makes up all labels, or half of them and
five at least, a label is c or an exception. Whether it is one is a yes/no question, which an averaged belief
of its own answers; how large it is, the exceptions so far say. Before the first of these its size is unknown:
with R arrivals to come, it may be anything from 1/R to R times the price of a label, log-uniform, as R of the
smallest cost one label, and one of the largest as much as labelling everyone. So of a stream of equal labels
many are bought, whatever a label costs: docs/yes-no.md says how many.
"""

from collections import Counter
from functools import lru_cache, partial
from math import inf, log
from typing import Any

import numpy as np

from breakeven.beliefs.averaged.averaged_shares import AveragedShares, RowStakes, SharesView
from breakeven.beliefs.averaged.frame import Frame
from breakeven.beliefs.averaged.labelled_rows import LabelledRows
from breakeven.beliefs.averaged.members import NULL_MEMBER, Member
from breakeven.beliefs.averaged.mixture import Mixture
from breakeven.beliefs.similarity import Hearing
from breakeven.errors.expect import Array
from breakeven.values import Prediction, Saving, View, counted

ENOUGH_ALIKE = 5  # labels of one value, where there are others
ATOMS = 50  # nodes that stand for the common value, so that quantiles keep its edges
MOST_SIZE = 1000.0  # of an exception before one was seen, in prices of a label: rarer ones are not looked for
MOST_PLANNED = 2048  # labels that are planned ahead, at most
SPREAD_AT_FIRST, SPREAD_COUNTS = 1.0, 2.0  # of sizes: as wide as waiting times, as if two exceptions said so


def rounded(y: float) -> float:
    """A label to 12 digits: those that differ only by rounding are equal."""
    return float(f"{y:.12g}")


def common_label(labels: list[float]) -> float | None:
    """The value that most labels have, if it is that common.

    >>> common_label([0.0, 0.0, 3.0]), common_label([0.0] * 6 + [3.0] * 4), common_label([7.0] * 3)
    (None, 0.0, 7.0)
    """
    if not labels:
        return None
    value, count = Counter(map(rounded, labels)).most_common(1)[0]
    common = count == len(labels) or (count >= ENOUGH_ALIKE and 2 * count >= len(labels))
    return value if common else None


def may_be_common(labels: list[float]) -> bool:
    """Whether it is still open if one value is that common: half of the labels have it, but fewer than five.

    >>> may_be_common([0.0, 0.0, 3.0]), may_be_common([0.0] * 5 + [3.0]), may_be_common([1.0, 2.0, 3.0])
    (True, False, False)
    """
    if not 2 <= len(labels) < 2 * ENOUGH_ALIKE - 1:
        return False
    count = Counter(map(rounded, labels)).most_common(1)[0][1]
    return 2 <= count < ENOUGH_ALIKE and 2 * count >= len(labels) and count < len(labels)


class FirstException(RowStakes, frozen=True, gc=False):
    """What a label saves while all were equal: an exception would matter, but nobody knows how much.

    Where all labels are 0, or all 1, they may be noes or yeses: then an exception may also be of size 1.
    """

    share: float = 0.5  # the chance of an exception here
    yes_no: bool = False

    def now(self, *, labels: bool, price: float) -> float:
        """The error expected here."""
        return self.share * usual_size(MOST_SIZE) * price

    def over(self, left: int, *, lessons: bool, labels: bool = False, price: float = inf) -> float:
        """What the label takes off at the arrivals `left`."""
        equal = 0.5 / self.share - 1.0 + self.alike[0][1]
        worth = price * worth_of_looking(equal, left)
        if self.yes_no:
            worth = max(worth, self._sized(1.0, left, price))
        return worth - self.now(labels=labels, price=price)

    def _sized(self, size: float, left: int, price: float) -> float:
        """The same if exceptions are known to be of this size."""
        sized = RowStakes(0.0, 0.0, 0.0, inf, 0.0, None, self.alike, self.told, size, size)
        return self.share * size + sized.over(left, lessons=True, price=price)


class FewExceptions(RowStakes, frozen=True, gc=False):
    """What a label saves once there were exceptions: how large they are, those seen say.

    What counts is their share times their mean size. Where sizes vary, labels say less of that than of the
    share alone: k exceptions whose sizes have the relative variance c² as much as k/(1 + c²) equal ones, as
    for any sum of a random number of random sizes. `thinned` is 1 + c²: all that is known counts so much
    less, and so does this label. And one small exception is no proof that all are small: their mean is taken
    to be (1 + c²)^(1/2k) times that of those seen, as it is for log-normal sizes around anything.
    """

    thinned: float = 1.0

    def over(self, left: int, *, lessons: bool, labels: bool = False, price: float = inf) -> float:
        """What the label takes off at the arrivals `left`."""
        return super().over(left, lessons=lessons, labels=labels, price=price) / self.thinned


def usual_size(most: float) -> float:
    """The mean of sizes that are log-uniform between 1/most and most."""
    return (most - 1.0 / most) / (2.0 * log(most))


@lru_cache(maxsize=1 << 10)
def worth_of_looking(equal: float, left: int) -> float:
    """How many times its price a label is worth after so many equal ones, with so many arrivals left.

    The plan: buy up to j labels, until the first exception. That tells the size M of exceptions and their
    share q = 1½/(labels + 1), and the rest costs min(price, qM) each; without an exception the rest is taken
    to be equal, and costs qM with q = ½/(labels + 1) and M unknown. The best j is compared with j = 0.

    >>> worth_of_looking(10.0, 500) > 1.0 > worth_of_looking(200.0, 500)
    True
    """
    rest = left + 1.0
    most = min(max(rest, 2.0), MOST_SIZE)
    least, log_sizes, usual = 1.0 / most, 2.0 * log(most), usual_size(most)
    j = np.arange(1.0, min(rest, MOST_PLANNED) + 1.0)
    chance = 0.5 / (equal + j)  # that the j-th is the first exception, if none came before
    none = np.cumprod(1.0 - chance)
    first = np.append(1.0, none[:-1]) * chance
    share = 1.5 / (equal + j + 1.0)
    pays = np.clip(1.0 / share, least, most)  # the size from which everyone is labelled
    each = (share * (pays - least) + np.log(most / pays)) / log_sizes
    costs = np.cumsum(first * (j + (rest - j) * each))
    costs += none * (j + (rest - j) * usual * 0.5 / (equal + j + 1.0))
    return 1.0 + rest * usual * 0.5 / (equal + 1.0) - float(costs.min())


class CommonLabel:
    """What is believed of labels that are mostly one value."""

    def __init__(
        self, rows: LabelledRows, value: float, level: float, fitted: tuple[Frame, list[Member]] | None
    ) -> None:
        self.value, self.level = value, level
        labels = list(map(rounded, rows._labels))
        self.others = np.array([y for y in labels if y != value])
        self._exceptions = AveragedShares(rows.dim).seeing(rows, [float(y != value) for y in labels])
        if fitted is not None:
            self._exceptions.go_on_with(*fitted)
        elif rows._frame is not None:
            self._exceptions.go_on_with(rows._frame, [NULL_MEMBER])

    def follow(self, rows: LabelledRows) -> None:
        """Other arrivals are kept, or other labels awaited."""
        self._exceptions.seeing(rows, self._exceptions._labels)

    def join(self, y: float) -> None:
        """One more label was told."""
        y = rounded(y)
        if y != self.value:
            self.others = np.append(self.others, y)
        self._exceptions.join(float(y != self.value))

    @property
    def size(self) -> float:
        """How far exceptions are off, on average; before the first one as far as the common value is from 0.

        Nobody knows it then, and it is 1 where that value is 0: it only keeps anything from being certain.
        """
        return float(np.abs(self.others - self.value).mean()) if len(self.others) else abs(self.value) or 1.0

    @property
    def thinned(self) -> float:
        """1 + c², with c² the relative variance of the sizes of exceptions, as far as those so far say."""
        off = np.abs(self.others - self.value) / self.size - 1.0
        said = SPREAD_COUNTS * SPREAD_AT_FIRST + float(off @ off)
        return 1.0 + said / (SPREAD_COUNTS + len(off) - 1.0)

    def hearing(self) -> Hearing | None:
        """What tells an exception."""
        return self._exceptions.hearing()

    def look(self, point: Any) -> SharesView:
        """Whether a label there is an exception."""
        view = self._exceptions.look(point)
        assert isinstance(view, SharesView)
        return view

    def predict(self, seen: View, noise_std: float) -> Prediction:
        """The answer, and the quantiles of a label: the common value, or one of the exceptions so far."""
        share = seen.prediction.probability
        assert share is not None
        labels = self._labels(share)
        answer = labels.quantile(self.level) if len(self.others) else self.value
        quantiles = labels.quantiles()
        spread = seen.prediction.std * self.size
        return Prediction(answer, spread, noise_std, quantiles, quantiles)

    def _labels(self, share: float) -> Mixture:
        """The distribution of a label; before the first exception this may lie on either side."""
        others = self.others if len(self.others) else self.value + np.array([-self.size, self.size])
        nodes: Array = np.append(others, np.full(ATOMS, self.value))
        weights = np.repeat([share / len(others), (1.0 - share) / ATOMS], [len(others), ATOMS])
        return Mixture(nodes, weights)

    def rank(self, point: Any, y: float) -> tuple[float, float]:
        """The probability of a label below y, and of y itself."""
        share, y = self.look(point).prediction.probability, rounded(y)
        assert share is not None
        each = share / (len(self.others) + 1.0)  # of the exceptions so far, and of one more anywhere
        lower = int(np.count_nonzero(self.others < y))
        if y == self.value:
            return each * (lower + 0.5), 1.0 - share
        equal = int(np.count_nonzero(self.others == y))
        return each * lower + (1.0 - share if y > self.value else 0.0), each * (equal + 1)

    def saving(self, seen: SharesView, prediction: Prediction) -> Saving:
        """What a label would take off the errors."""
        share = seen.prediction.probability
        assert share is not None
        stakes = self._exceptions.saving(seen)
        assert isinstance(stakes, RowStakes)
        if not len(self.others):
            known = stakes.alike, stakes.told
            yes_no = self.value in (0.0, 1.0)
            return FirstException(0.0, 0.0, 0.0, inf, 0.0, None, *known, share=share, yes_no=yes_no)
        miss = float(counted(self.others - self.value, self.level).mean())
        alarm = float(counted(self.value - self.others, self.level).mean())
        labels = self._labels(share)
        thinned = self.thinned
        larger = thinned ** (0.5 / len(self.others))
        here = larger * labels.error(prediction.mean, self.level)
        alike = tuple(map(partial(_thinner, by=thinned), stakes.alike))
        reach = alike, stakes.told, larger * miss, larger * alarm
        return FewExceptions(here, 0.0, 0.0, inf, here, None, *reach, thinned=thinned)


def _thinner(alike: tuple[tuple[float, float], int], by: float) -> tuple[tuple[float, float], int]:
    """What is known of some arrivals, to two digits, and the labels ahead, where they say so much less."""
    (yes, no), ahead = alike
    return (float(f"{yes / by:.2g}"), float(f"{no / by:.2g}")), round(ahead / by)
