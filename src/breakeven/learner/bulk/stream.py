"""A labelled stream of types, replayed in chunks; the learner takes up the outcome only at the end."""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from breakeven.beliefs import TypeMeans
from breakeven.learner.book import Replayed
from breakeven.learner.bulk.arrays import (
    NEEDS_LIMITS,
    NEEDS_PARTS,
    NEEDS_SPREADS,
    NEW_TYPE,
    Array,
    Columns,
    Counts,
    Truths,
    Types,
)
from breakeven.learner.bulk.coding import Coding, Points
from breakeven.learner.bulk.judges import RULES, judge_for
from breakeven.learner.bulk.tables import Spreads
from breakeven.learner.learner import Learner
from breakeven.values import ExactSum

SHORTEST = 100_000  # about as many run one by one in the time that loading the compiled loops takes
CHUNK = 2**17  # rounds at a time
LARGEST_INTEGER = 2**63 - 1


def pays(learner: Learner, rounds: int) -> bool:
    """Whether a stream of this length runs in compiled loops; else it must run one by one."""
    return (
        rounds >= SHORTEST
        and type(learner) is Learner
        and type(learner.belief) is TypeMeans
        and type(learner.rule) in RULES
        and not learner._listeners
        and not learner._warmup.open
        and not learner._book.may_clash(learner.rounds)
        and loops() is not None
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


def replay(learner: Learner, points: Points, y: Array, *, true: bool) -> Columns:
    """Run types through a learner, each label told as soon as it is asked for; nothing is checked here.

    A labelled round answers the mean after its label, if there is a `true` value to meet, else the label.
    """
    run = Run(learner, points)
    out = Columns.empty(len(points))
    for low in range(0, len(points), CHUNK):
        part = slice(low, low + CHUNK)
        run.chunk(part, y[part], true, out.part(part))
    run.settle(out.wants_label)
    return out


class Run:
    """The state of a learner in arrays, while its stream is replayed."""

    def __init__(self, learner: Learner, points: Points) -> None:
        compiled, belief = loops(), learner.belief
        assert compiled is not None
        assert isinstance(belief, TypeMeans)
        self._learner, self._belief, self._loops = learner, belief, compiled
        self._judge = judge_for(learner.rule, learner.label_cost, learner._draws, compiled)
        self._coding = Coding(points, compiled)
        self._types = Types.of([])
        self._labels = belief.asked
        self._spreads = Spreads(compiled, belief)
        self._told: list[Replayed] = []
        self._shelf = np.empty(0)

    def chunk(self, rounds: slice, y: Array, true: bool, out: Columns) -> None:
        """Some more rounds."""
        values = self._coding.values(rounds)
        round = self._learner.rounds + 1 + rounds.start
        self._judge.prepare(round, len(values))
        start = 0
        while start < len(values):
            rest = slice(start, None)
            done, why = self._decide(values[rest], y[rest], true, out.part(rest), start)
            start += done
            self._provide(why, values[start:], start)
        self._keep(round, values, y, out.wants_label)

    def _decide(self, values: Counts, y: Array, true: bool, out: Columns, start: int) -> tuple[int, int]:
        coding, spreads = self._coding, self._spreads
        space = np.empty((2, 2 * self._types.parts.shape[1] + 4))
        given = (values, coding.low, coding.lookup, y, true, self._types, self._labels)
        done, self._labels, why = self._judge.decide(
            (*given, spreads.values, spreads.first, space, out), start
        )
        return done, why

    def _provide(self, why: int, values: Counts, start: int) -> None:
        """What the compiled loop stopped for, at `start` of the chunk."""
        if why == NEW_TYPE:
            self._meet(values)
        elif why == NEEDS_SPREADS:
            self._spreads.move_to(self._labels)
        elif why == NEEDS_LIMITS:
            self._judge.extend(start, lambda: self._clocks(values))
        elif why == NEEDS_PARTS:
            self._types = self._types.with_room(2 * self._types.parts.shape[1])

    def _meet(self, values: Counts) -> None:
        self._types = self._types.with_more(self._belief.tallies(self._coding.meet(values)))

    def _clocks(self, values: Counts) -> Counts:
        """How many of its type there were, with each of these."""
        self._meet(values)
        coding, counted = self._coding, self._types.arrivals.copy()
        return np.asarray(self._loops.clocks(values, coding.low, coding.lookup, counted))

    def _keep(self, round: int, values: Counts, y: Array, wanted: Truths) -> None:
        """The labels of a chunk that begins with this round, in few bytes."""
        coding, asked = self._coding, np.flatnonzero(wanted)
        if len(asked) > len(self._shelf):
            self._shelf = np.empty(8 * CHUNK)  # one large piece is had much faster than many small ones
        ys, self._shelf = self._shelf[: len(asked)], self._shelf[len(asked) :]
        codes = np.empty(len(asked), dtype=np.uint32)
        self._loops.gather(values, coding.low, coding.lookup, y, asked, codes, ys)
        small = codes.astype(np.min_scalar_type(len(coding.names)))
        self._told.append(
            Replayed(round, np.packbits(wanted), small, ys, coding.names, self._learner.label_cost)
        )

    def settle(self, wanted: Truths) -> None:
        """The learner takes up the outcome."""
        learner = self._learner
        passed = _last_false(wanted, learner.remember)
        self._belief.settle(self._rows())
        learner._book.replay(self._told, learner.label_cost)
        learner._book.pass_by_many(passed + learner.rounds + 1, self._coding.types_at(passed))
        learner.rounds += len(wanted)
        self._judge.settle()

    def _rows(self) -> Iterator[tuple[Any, int, int, int, ExactSum]]:
        """Every type with its counts and the exact sum of its labels."""
        types = self._types
        counts = (column.astype(int).tolist() for column in (types.arrivals, types.asked, types.told))
        rows = zip(self._coding.names, *counts, types.parts.tolist(), strict=True)
        for name, arrivals, asked, told, parts in rows:
            yield name, arrivals, asked, told, ExactSum(tuple(part for part in parts if part))


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
