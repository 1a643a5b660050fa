"""The labels of types one by one, as far as they can still be changed, and those that were set aside.

Tallies only have sums. A belief that is checked must be able to set aside what it was told before a change,
and to take it back. So labels are remembered by their keys; those whose keys are gone are the oldest, and
their sums by type are all that is needed of them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log, pi
from typing import Any, Self

import numpy as np
from msgspec import field

from breakeven.beliefs.belief import Key
from breakeven.beliefs.retreats import Retreat, Retreats, best_split
from breakeven.beliefs.types.tallies import Tally
from breakeven.beliefs.types.type_names import stored_type_name
from breakeven.beliefs.types.weighing import TypePrior
from breakeven.errors import expect
from breakeven.errors.expect import Array
from breakeven.values import NO_SUM, ExactSum

Told = tuple[Any, float]  # the type, and the label
Sum = tuple[int, ExactSum]  # how many labels of a type, and their sum
Evidence = Callable[[list[Told], dict[Any, Sum]], Array]  # of the first k labels, given older ones


class TypeRetreat(Retreat):
    """A retreat whose labels are kept by their keys, and older ones as sums by type."""

    labels: dict[int, Told] = field(default_factory=dict)
    older: list[tuple[Any, int, tuple[float, ...]]] = field(default_factory=list)

    @property
    def found_change(self) -> bool:
        """Whether labels or sums of labels from before a change are set aside."""
        return bool(self.labels or self.older)

    def join(self, later: Self) -> None:
        """Give labels and sums to a later retreat."""
        later.labels, later.older = self.labels | later.labels, [*self.older, *later.older]
        self.labels, self.older = {}, []


class History:
    """Labels told, by key, in their order, where they are remembered; and what was set aside.

    >>> history = History()
    >>> history.remember(labels=True)
    >>> history.tell(7, "flu", 38.5)
    >>> history.labels
    {7: ('flu', 38.5)}
    """

    def __init__(self, widened: float = 1.0) -> None:
        self.labels: dict[int, Told] | None = None
        self.retreats: Retreats[TypeRetreat] = Retreats(before=widened)

    def remember(self, *, labels: bool) -> None:
        """Remember labels from now on, or no longer."""
        if not labels:
            self.labels = None
        elif self.labels is None:
            self.labels = {}

    def tell(self, key: Key, name: Any, y: float) -> None:
        """A label was told."""
        if self.labels is not None and key is not None:
            self.labels[key] = (name, y)

    def correct(self, key: Key, y: float) -> bool:
        """A label has another value; whether it was set aside."""
        place = self._place(key)
        if place is not None and key is not None:
            place[key] = (place[key][0], y)
        return place is not None and place is not self.labels

    def leave(self, key: Key) -> bool:
        """A label goes, or is released; whether it was set aside."""
        place = self._place(key)
        if place is not None and key is not None:
            del place[key]
        return place is not None and place is not self.labels

    def release(self, key: Key) -> None:
        """Nobody will name this label any more; what was set aside because of it is gone for good."""
        if self.labels is not None and key is not None:
            self.labels.pop(key, None)
        for one in self.retreats.all:
            if key in one.labels:
                name, y = one.labels.pop(key)
                one.older.append((name, 1, NO_SUM.plus(y).parts))
        self.retreats.release(key)

    def _place(self, key: Key) -> dict[int, Told] | None:
        if self.labels is not None and key in self.labels:
            return self.labels
        return next((one.labels for one in self.retreats.all if key in one.labels), None)

    def older(self, tallies: Mapping[Any, Tally]) -> dict[Any, Sum]:
        """The labels of each type that are not remembered: how many, and their exact sum."""
        sums = {name: (tally.told, tally.sum) for name, tally in tallies.items() if tally.told}
        for name, y in (self.labels or {}).values():
            told, total = sums[name]
            sums[name] = told - 1, total.plus(-y)
        return {name: one for name, one in sums.items() if one[0]}

    def outdated(self, tallies: Mapping[Any, Tally], evidence: Evidence) -> int:
        """How many of the labels remembered lie before a change; see `best_split`."""
        told = list((self.labels or {}).values())
        if not told:
            return 0
        before, after = evidence(told, self.older(tallies)), evidence(told[::-1], {})[::-1]
        return best_split([before], [after], np.array([y for _, y in told]))

    # -- keeping ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any] | None:
        """As plain data; None where there is nothing to keep."""
        if self.labels is None and not self.retreats.all:
            return None
        labels = None if self.labels is None else [(key, *one) for key, one in self.labels.items()]
        retreats = [
            (one.key, [(key, *told) for key, told in one.labels.items()], one.older, one.widened, one.anew)
            for one in self.retreats.all
        ]
        return {"labels": labels, "retreats": retreats, "widened_before": self.retreats.before}

    def load(self, state: dict[str, Any] | None, tallies: Mapping[Any, Tally], widened: float) -> None:
        """Take up what `state` gave; raises where it does not fit the labels of the types.

        What was written before alarms could be taken back in any order keeps its claims as they are.
        """
        self.labels, self.retreats = None, Retreats(before=widened)
        if state is None:
            return
        if state["labels"] is not None:
            self.labels = _read(state["labels"])
            counts = Counter(name for name, _ in self.labels.values())
            if any(name not in tallies or tallies[name].told < count for name, count in counts.items()):
                raise ValueError("expected labels that are among those of their types")
        self.retreats = Retreats(map(_retreat, state["retreats"]), state.get("widened_before", widened))


def _retreat(row: Sequence[Any]) -> TypeRetreat:
    """A retreat as `state` gave it."""
    key, labels, older, *claims = row
    sums = [(stored_type_name(name), _count(told), _floats(parts)) for name, told, parts in older]
    retreat = TypeRetreat(None if key is None else _count(key), _read(labels), older=sums)
    if len(claims) == 2:
        retreat.widened = expect.positive("widened", claims[0])
        retreat.anew = expect.truth("anew", claims[1])
    return retreat


def _read(rows: Iterable[Any]) -> dict[int, Told]:
    return {_count(key): (stored_type_name(name), expect.finite("y", y)) for key, name, y in rows}


def _count(number: Any) -> int:
    return expect.whole("a count", number, least=1)


def _floats(parts: Any) -> tuple[float, ...]:
    return tuple(expect.finite("a sum", part) for part in parts)


def running_evidence(told: list[Told], prior: TypePrior, older: dict[Any, Sum]) -> Array:
    """The log probability of the first k labels, given the `older` ones, for k from 0 to n.

    A type's mean is normal around the prior's, and a label normal around that; each label is predicted from
    those before it.
    """
    counts = {name: (float(count), total.value) for name, (count, total) in older.items()}
    weight = (prior.noise_std / prior.std) ** 2  # labels that the prior counts as
    found = [0.0]
    for name, y in told:
        count, total = counts.get(name, (0.0, 0.0))
        mean = (weight * prior.mean + total) / (weight + count)
        variance = prior.noise_std**2 * (1.0 + 1.0 / (weight + count))
        found.append(found[-1] - 0.5 * ((y - mean) ** 2 / variance + log(2.0 * pi * variance)))
        counts[name] = count + 1.0, total + y
    return np.array(found)


def running_share_evidence(told: list[Told], yes: float, no: float, older: dict[Any, Sum]) -> Array:
    """The same for yes/no labels: a type's share of yeses has a prior worth `yes` and `no` labels."""
    counts = {name: (total.value, count - total.value) for name, (count, total) in older.items()}
    found = [0.0]
    for name, y in told:
        ones, zeros = counts.get(name, (0.0, 0.0))
        share = (yes + ones) / (yes + no + ones + zeros)
        found.append(found[-1] + log(share if y else 1.0 - share))
        counts[name] = ones + y, zeros + 1.0 - y
    return np.array(found)
