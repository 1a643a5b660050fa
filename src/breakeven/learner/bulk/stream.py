"""When a stream of types runs in compiled loops, and the state of its learner while it does."""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from breakeven.beliefs import TypeMeans
from breakeven.learner.bulk.arrays import (
    NEEDS_LIMITS,
    NEEDS_PARTS,
    NEEDS_SPREADS,
    NEW_TYPE,
    Before,
    Columns,
    Counts,
    Given,
    Labels,
    Truths,
    Types,
)
from breakeven.learner.bulk.coding import Coding, Points
from breakeven.learner.bulk.judges import RULES, judge_for
from breakeven.learner.bulk.tables import Spreads
from breakeven.learner.bulk.worths import rates_agree
from breakeven.learner.learner import Learner
from breakeven.rules import Value

SHORTEST = 100_000  # about as many run one by one in the time that loading the compiled loops takes
CHUNK = 2**17  # rounds at a time
LARGEST_INTEGER = 2**63 - 1


def pays(learner: Learner, rounds: int, *, named: bool = False) -> bool:
    """Whether a stream of this length, its ids given or not, runs in compiled loops; else one by one."""
    return (
        rounds >= SHORTEST
        and type(learner) is Learner
        and type(learner.belief) is TypeMeans
        and learner.belief.even
        and type(learner.rule) in RULES
        and (learner.belief.prior_std is None or type(learner.rule) is Value)
        and not learner.labellers
        and not learner._listeners
        and not learner._warmup.open
        and (named or not learner._book.may_clash(learner.rounds))
        and loops() is not None
        and (type(learner.rule) is not Value or rates_agree())
    )


def holds_types(X: Any) -> bool:
    """Whether this is an array of integers that all are types, so that none needs a look of its own."""
    return (
        type(X) is np.ndarray
        and X.ndim == 1
        and X.dtype.kind in "iu"
        and (X.dtype != np.uint64 or X.size == 0 or int(X.max()) <= LARGEST_INTEGER)
    )


@cache
def loops() -> ModuleType | None:
    """The compiled loops, or None where numba is not installed."""
    try:
        return import_module("breakeven.learner.bulk.loops")
    except ImportError:
        return None


class Run:
    """The state of a learner in arrays, while a stream passes; it takes up the outcome at the end."""

    def __init__(self, learner: Learner, points: Points) -> None:
        compiled, belief = loops(), learner.belief
        assert compiled is not None
        assert isinstance(belief, TypeMeans)
        self._learner, self._belief, self._rounds = learner, belief, len(points)
        self.loops = compiled
        self.coding = Coding(points, compiled)
        self.judge = judge_for(learner, self.coding.names, compiled)
        self.types = Types.of([])
        self._labels = belief.asked
        self._spreads = Spreads(compiled, belief)

    def chunks(self) -> Iterator[slice]:
        """The rounds, in pieces."""
        return (slice(low, min(low + CHUNK, self._rounds)) for low in range(0, self._rounds, CHUNK))

    def decide(
        self, rounds: slice, out: Columns, told: Labels | None = None, before: Before | None = None
    ) -> int:
        """Some more rounds, and how many labels were bought; unless they are `told`, they are awaited."""
        self.coding.take(rounds)
        labels, count, start = self._labels, rounds.stop - rounds.start, 0
        self.judge.prepare(self._learner.rounds + 1 + rounds.start, count)
        while start < count:
            rest, bought = slice(start, None), self._labels - labels
            room = out.part(rest), before and before.part(rest)
            done, why = self._decide(start, told and told.part(rest, bought), *room)
            start += done
            self._provide(why, start)
        return self._labels - labels

    def _decide(
        self, start: int, told: Labels | None, out: Columns, before: Before | None
    ) -> tuple[int, int]:
        coding, spreads = self.coding, self._spreads
        space = np.empty((2, 2 * self.types.parts.shape[1] + 4))
        rounds = (coding.values[start:], coding.low, coding.lookup, told)
        tables = (self._belief.noise_std, spreads.values, spreads.first, space)
        given = Given(*rounds, self.types, self._labels, *tables, out, before)
        done, self._labels, why = self.judge.decide(given, start)
        return done, why

    def _provide(self, why: int, start: int) -> None:
        """What the compiled loop stopped for, at `start` of the chunk; of a prior, its judge takes care."""
        if why == NEW_TYPE:
            self._meet(start)
        elif why == NEEDS_SPREADS:
            self._spreads.move_to(self._labels)
        elif why == NEEDS_LIMITS:
            self.judge.extend(start, lambda: self._clocks(start))
        elif why == NEEDS_PARTS:
            self.types = self.types.with_room(2 * self.types.parts.shape[1])

    def _meet(self, start: int) -> None:
        self.types = self.types.with_more(self._belief.tallies(self.coding.meet(start)))

    def _clocks(self, start: int) -> Counts:
        """How many of its type there were, with each from `start` of the chunk on."""
        self._meet(start)
        coding, counted = self.coding, self.types.arrivals.copy()
        return np.asarray(self.loops.clocks(coding.values[start:], coding.low, coding.lookup, counted))

    def settle(self, wanted: Truths, ids: Sequence[str] | None = None) -> None:
        """The learner takes up the outcome, but for its labels."""
        learner, passed = self._learner, _last_false(wanted, self._learner.remember)
        self._belief.settle(self._rows())
        names = None if ids is None else [ids[place] for place in passed.tolist()]
        learner._book.pass_by_many(passed + learner.rounds + 1, self.coding.types_at(passed), names)
        learner.rounds += len(wanted)
        self.judge.settle()

    def _rows(self) -> Iterator[tuple[Any, int, int, int, tuple[float, ...]]]:
        """Every type with its counts and the parts of the sum of its labels."""
        types = self.types
        counts = (column.astype(int).tolist() for column in (types.arrivals, types.asked, types.told))
        parts = zip(*(column.tolist() for column in types.parts.T), strict=True)
        return zip(self.coding.names, *counts, parts, strict=True)


def _last_false(flags: Truths, most: int) -> Counts:
    """The places of the last that are not set, in order, looked for from the end."""
    found: list[Counts] = []
    high, missing = len(flags), most
    while high > 0 and missing > 0:
        low = max(high - CHUNK, 0)
        found.insert(0, low + np.flatnonzero(~flags[low:high])[-missing:])
        missing -= len(found[0])
        high = low
    return np.concatenate([np.empty(0, dtype=np.int64), *found])
