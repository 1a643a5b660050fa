"""Labels of which most are one value, such as losses that are mostly zero.

Nothing is certain because it was equal so far. While one value c makes up all labels, or half of them and
five at least, a label is c or an exception. Whether it is one is a yes/no question, which an averaged belief
of its own answers; how large it is, the exceptions so far say. Before the first of these its size is unknown:
then it is taken to matter, log-uniform between the price of a label and that price for a hundred arrivals.
So of a stream of equal labels some dozens are bought, whatever a label costs.
"""

from collections import Counter
from math import inf, log
from typing import Any

import numpy as np

from breakeven.beliefs.averaged.averaged_shares import AveragedShares, RowStakes, SharesView
from breakeven.beliefs.averaged.labelled_rows import LabelledRows
from breakeven.beliefs.averaged.members import NULL_MEMBER, Frame, Member
from breakeven.beliefs.averaged.mixture import Mixture
from breakeven.beliefs.similarity import Hearing
from breakeven.errors.expect import Array
from breakeven.values import Prediction, Saving, View, counted

ENOUGH_ALIKE = 5  # labels of one value, where there are others
ATOMS = 50  # nodes that stand for the common value, so that quantiles keep its edges
FORESEEN = 100.0  # arrivals that an exception may matter to before one was seen


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


class FirstException(RowStakes, frozen=True, gc=False):
    """What a label saves while all were equal: an exception would matter, but nobody knows how much.

    Where all labels are 0, or all 1, they may be noes or yeses: then an exception may also be of size 1.
    """

    share: float = 0.5  # the chance of an exception here
    yes_no: bool = False

    def over(self, left: int, *, lessons: bool, labels: bool = False, price: float = inf) -> float:
        """What the label takes off, here and at the arrivals `left`."""
        ahead = min(left + 1.0, FORESEEN)
        size = price * max(ahead - 1.0, 1.0) / log(max(ahead, 3.0))
        unknown = self._sized(size, int(ahead), price)
        return max(unknown, self._sized(1.0, left, price)) if self.yes_no else unknown

    def _sized(self, size: float, left: int, price: float) -> float:
        """The same if exceptions are known to be of this size."""
        sized = RowStakes(0.0, 0.0, 0.0, inf, 0.0, None, self.alike, self.told, size, size)
        return self.share * size + sized.over(left, lessons=True, price=price)


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
        """How far exceptions are off, on average."""
        return float(np.abs(self.others - self.value).mean()) if len(self.others) else 0.0

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
        quantiles = labels.quantiles()
        spread = seen.prediction.std * self.size
        return Prediction(labels.quantile(self.level), spread, noise_std, quantiles, quantiles)

    def _labels(self, share: float) -> Mixture:
        """The distribution of a label; before the first exception all of it is the common value."""
        if not len(self.others):
            return Mixture(np.full(1, self.value), np.ones(1))
        others = len(self.others)
        nodes: Array = np.append(self.others, np.full(ATOMS, self.value))
        weights = np.repeat([share / others, (1.0 - share) / ATOMS], [others, ATOMS])
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
        here = labels.error(prediction.mean, self.level)
        return RowStakes(here, 0.0, 0.0, inf, here, None, stakes.alike, stakes.told, miss, alarm)
