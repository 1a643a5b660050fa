"""What beliefs give up when labels refute them, and take back where such a label was wrong.

A retreat is one alarm: labels set aside, and claims that became wider. Alarms are taken back in any order, so
how wide claims are follows from the alarms that still stand. Labels set aside can be corrected, withdrawn
and reopened. They are those before a change: the split that makes both parts together most likely.
"""

from collections.abc import Iterable, Sequence
from math import log
from typing import Any, Generic, Self, TypeVar

import msgspec
import numpy as np
from msgspec import Struct

from breakeven.beliefs.belief import Key
from breakeven.errors import expect
from breakeven.errors.expect import Array

ToldRow = tuple[Key, Any, Any, float]  # a label told: its key, its point, its noise, and its value
LEAST_PART = 3  # labels on either side: a single wrong one is no change
WRONG = 0.05  # the share of labels behind alarms that are merely wrong
CHANGE_SEARCHED = 400  # labels, the last ones, among which a change is looked for


class Retreat(Struct):
    """What a belief did when a label, named by its key, refuted it.

    Its claims became wider by the factor `widened`, 1 once a fit has ended that; `anew` says that whatever
    had widened them before ended then. The key is None once nobody can correct that label any more.
    """

    key: int | None
    labels: Any
    widened: float = 1.0
    anew: bool = False

    def width(self, before: float) -> float:
        """How wide claims are after it: as a multiple of what labels say, as is the width before it."""
        return self.widened if self.anew else before * self.widened

    @property
    def found_change(self) -> bool:
        """Whether labels from before a change are set aside."""
        return bool(self.labels)

    def join(self, later: Self) -> None:
        """Give the labels to a later retreat, which has set aside those told next."""
        raise NotImplementedError


AnyRetreat = TypeVar("AnyRetreat", bound=Retreat)


class Retreats(Generic[AnyRetreat]):
    """The retreats of a belief, the first first; `before` is how wide its claims were before them."""

    def __init__(self, all: Iterable[AnyRetreat] = (), before: float = 1.0) -> None:
        self.all = list(all)
        self.before = expect.positive("widened_before", before)

    @property
    def widened(self) -> float:
        """By which factor claims are wider than labels say."""
        width = self.before
        for one in self.all:
            width = one.width(width)
        return width

    def begin(self, retreat: AnyRetreat) -> None:
        """One more label refuted the belief."""
        self.all.append(retreat)

    def end(self, key: Key) -> AnyRetreat:
        """The label with this key was wrong: its retreat, with the labels that come back.

        Where a later retreat still stands, what lies before its change stays aside.
        """
        place = next(i for i, one in enumerate(self.all) if one.key == key)
        retreat = self.all.pop(place)
        standing = next((one for one in self.all[place:] if one.found_change), None)
        if standing is not None:
            retreat.join(standing)
        return retreat

    def end_widening(self) -> None:
        """A fit found how wide claims must be."""
        self.before = 1.0
        for one in self.all:
            one.widened, one.anew = 1.0, False

    def release(self, key: Key) -> None:
        """Nobody will name this label any more: what was given up because of it is gone for good."""
        for one in self.all:
            if one.key == key:
                one.key = None
        while self.all and self.all[0].key is None:
            self.before = self.all.pop(0).width(self.before)


class RowsRetreat(Retreat):
    """A retreat whose labels are kept one by one, with their points."""

    labels: list[tuple[Key, list[float], float | None, float]]

    def join(self, later: Self) -> None:
        """Give the labels to a later retreat."""
        later.labels[:0] = self.labels
        self.labels = []


class RowsRetreats(Retreats[RowsRetreat]):
    """The retreats of a belief over rows of numbers.

    >>> retreats = RowsRetreats()
    >>> retreats.set_aside(7, [(1, np.array([0.5]), 0.0, 2.0)], widened=1.5)
    >>> retreats.correct(1, 3.0), retreats.correct(2, 3.0), retreats.widened
    (True, False, 1.5)
    >>> retreats.come_back(7), retreats.widened
    ([(1, array([0.5]), 0.0, 3.0)], 1.0)
    """

    def set_aside(
        self, key: Key, labels: Sequence[ToldRow], widened: float = 1.0, *, anew: bool = False
    ) -> None:
        """The label with this key refuted the belief, which sets these aside and widens its claims."""
        aside = [(one, x.tolist(), noise, y) for one, x, noise, y in labels]
        self.begin(RowsRetreat(key, aside, widened, anew))

    def come_back(self, key: Key) -> list[ToldRow]:
        """The label with this key was wrong: the labels that the belief rests on again."""
        return [(one, np.array(x), noise, y) for one, x, noise, y in self.end(key).labels]

    def correct(self, key: Key, y: float) -> bool:
        """A label changes its value, if it is one of those set aside; whether it is."""
        if (found := self._find(key)) is None:
            return False
        labels, i = found
        labels[i] = (*labels[i][:3], y)
        return True

    def take(self, key: Key) -> ToldRow | None:
        """A label goes, if it is one of those set aside."""
        if (found := self._find(key)) is None:
            return None
        labels, i = found
        _, x, noise, y = labels.pop(i)
        return key, np.array(x), noise, y

    def released(self, key: Key) -> bool:
        """Nobody will name this label any more; whether it is set aside."""
        if (found := self._find(key)) is not None:
            labels, i = found
            labels[i] = (None, *labels[i][1:])
        self.release(key)
        return found is not None

    def _find(self, key: Key) -> tuple[list[Any], int] | None:
        """Where the label with this key is: among which labels, and its place; None if nowhere."""
        if key is not None:
            for one in self.all:
                for i, label in enumerate(one.labels):
                    if label[0] == key:
                        return one.labels, i
        return None

    def plain(self) -> list[dict[str, Any]]:
        """As plain data, without `before`."""
        plain: list[dict[str, Any]] = msgspec.to_builtins(self.all)
        return plain

    @classmethod
    def of(cls, plain: list[Any], width: int, before: float = 1.0) -> Self:
        """What `plain` wrote; raises where it is none of a belief over rows of this width."""
        all = [msgspec.convert(one, RowsRetreat) for one in plain]
        for one in all:
            expect.positive("widened", one.widened)
            for _, x, noise, y in one.labels:
                expect.vector("x", x, width)
                expect.finite("y", y)
                expect.number("noise", noise or 0.0, 0.0, expect.LARGEST)
        return cls(all, before)


# -- where labels changed ------------------------------------------------------------------------


def best_split(before: Sequence[Array], after: Sequence[Array], y: Array) -> int:
    """How many of the labels y lie before the change; 0 where one world explains all of them better.

    `before[i][k]` is the log evidence of the first k labels in the i-th explanation, `after[i][k]` that of
    the others, for k from 0 to n. A change may lie anywhere, so it must be more likely by as many times as
    there are places for it; and more likely than that the last label is merely wrong, and might be any.

    >>> y = np.array([0.0, 0.1, 0.0, 0.1, 5.0, 5.1, 5.0, 5.1])
    >>> whole = np.array([0.0, -1.0, -2.0, -3.0, -4.0, -30.0, -60.0, -90.0, -120.0])
    >>> best_split([whole], [whole[::-1] - 0.5], y)
    4
    >>> best_split([-np.arange(9.0)], [-np.arange(9.0)[::-1]], y)
    0
    """
    n = len(y)
    places = np.arange(LEAST_PART, n - LEAST_PART + 1)
    if not len(places):
        return 0
    scores = np.max([one[places] + other[places] for one, other in zip(before, after, strict=True)], axis=0)
    best = int(np.argmax(scores))
    span = float(np.ptp(y))
    wrong = log(WRONG) - log(span) if span else 0.0
    unchanged = max(max(one[n], one[n - 1] + wrong) for one in before)
    return int(places[best]) if scores[best] - log(len(places)) > unchanged else 0
