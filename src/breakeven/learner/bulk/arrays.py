"""What the compiled loops read and write: named arrays, types as small whole numbers, and shared tables.

Types are numbered in the order in which they first appear. Integers that lie close together are looked up as
they are; everything else is numbered by a dict first.

Logarithms and powers may differ in their last bit between compilers. So the compiled ones are used only after
they have given the bits that `theory` gives; where they do not, `theory` fills the tables.
"""

from collections.abc import Sequence
from functools import cache
from itertools import islice
from math import inf
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from breakeven import theory
from breakeven.beliefs import TypeMeans
from breakeven.beliefs.types.tallies import Tally
from breakeven.errors.expect import Array

Points = Sequence[Any] | NDArray[Any]
Counts = NDArray[np.int64]
Codes = NDArray[np.uint32]
Truths = NDArray[np.bool_]

UNSEEN = 2**32 - 1  # the code of no type
WIDEST = 2**22  # integers further apart than this are not looked up as they are
FINISHED, NEW_TYPE, NEEDS_SPREADS, NEEDS_LIMITS, NEEDS_PARTS, NEEDS_GUESS, NEEDS_FIT = range(7)
LARGEST_TABLE = 2**20
SMALLEST_TABLE = 2**12
FIRST_WINDOW, WINDOW = 64, 2**15
NO_WORTH = np.array([np.nan])
COMPARED_BITS = 2**13  # numbers on which the compiled functions must agree with theory


Stop = tuple[int, int, int]  # rounds done, labels so far, why it stopped


class Answers(NamedTuple):
    """What was answered in every round."""

    wants_label: Truths
    prediction: Array
    uncertainty: Array
    threshold: Array

    @classmethod
    def empty(cls, rounds: int) -> "Answers":
        """Room for this many rounds."""
        return cls(np.empty(rounds, dtype=bool), *(np.empty(rounds) for _ in range(3)))

    def part(self, rounds: slice) -> "Answers":
        """Some rounds of them; writing there writes here."""
        wants_label, *others = self
        return Answers(wants_label[rounds], *(column[rounds] for column in others))


class Before(NamedTuple):
    """What was believed in every round before its label, and the error that saves, if the rule says so.

    `worth_now` is what it saves in this round alone. Where the rule says nothing, both may be empty.
    """

    prediction: Array
    std: Array
    worth: Array
    worth_now: Array

    @classmethod
    def empty(cls, rounds: int) -> "Before":
        """Room for this many rounds."""
        return cls(np.empty(rounds), np.empty(rounds), np.full(rounds, np.nan), np.full(rounds, np.nan))

    @classmethod
    def without_worth(cls, rounds: int) -> "Before":
        """Room for this many rounds of a rule that does not say what labels are worth."""
        return cls(np.empty(rounds), np.empty(rounds), np.empty(0), np.empty(0))

    def in_money(self, unit: float) -> tuple[Array, Array]:
        """What labels are worth, where a unit of error costs so much; NaN where the rule says nothing."""
        if len(self.worth) < len(self.std):
            nothing = np.ndarray(
                len(self.std), float, NO_WORTH, strides=(0,)
            )  # as broadcast_to makes it, sooner
            nothing.flags.writeable = False
            return nothing, nothing
        return self.worth * unit, self.worth_now * unit

    def part(self, rounds: slice) -> "Before":
        """Some rounds of them; writing there writes here."""
        return Before(*(column[rounds] for column in self))

    @classmethod
    def joined(cls, parts: Sequence["Before"]) -> "Before":
        """Several, one behind the other."""
        return cls(*map(np.concatenate, zip(*parts, strict=True))) if parts else cls.empty(0)


class TypeArrays(NamedTuple):
    """What is known of every type, by code: a row of `parts` is the exact sum of its labels."""

    arrivals: Counts
    asked: Array
    told: Array
    mean: Array
    parts: Array

    @classmethod
    def of(cls, tallies: Sequence[Tally], room: int = 2) -> "TypeArrays":
        """The types with these tallies, and room for at least this many parts."""
        known = [tally.sum.parts for tally in tallies]
        width = max(room, max(map(len, known), default=0))
        parts = np.array([(*one, *(0.0,) * (width - len(one))) for one in known]).reshape(-1, width)
        return cls(
            np.array([tally.arrivals for tally in tallies], dtype=np.int64),
            np.array([tally.asked for tally in tallies], dtype=float),
            np.array([tally.told for tally in tallies], dtype=float),
            np.array([tally.prediction.mean for tally in tallies]),
            parts,
        )

    @classmethod
    def new(cls, mean: float, count: int, room: int) -> "TypeArrays":
        """So many types that never came, all predicted as this mean."""
        nothing = np.zeros(count, dtype=np.int64), np.zeros(count), np.zeros(count)
        return cls(*nothing, np.full(count, mean), np.zeros((count, room)))

    def with_more(self, more: "TypeArrays") -> "TypeArrays":
        """These and others behind them, with as many parts at least; here no longer, if there is room."""
        if not len(self.arrivals):
            return more
        own = self.with_room(more.parts.shape[1])
        return TypeArrays(*map(_lengthened, own, more))

    def at(self, codes: Counts) -> "TypeArrays":
        """Those of some types."""
        arrivals, asked, told, mean, parts = self
        return TypeArrays(arrivals[codes], asked[codes], told[codes], mean[codes], parts[codes])

    def with_room(self, room: int) -> "TypeArrays":
        """The same with room for this many parts in every sum."""
        if room == self.parts.shape[1]:
            return self
        missing = np.zeros((len(self.parts), room - self.parts.shape[1]))
        return self._replace(parts=np.hstack([self.parts, missing]))


def _lengthened(column: Any, more: Any) -> Any:
    """A column with more behind it, in the room that was left there the last time, or else in a new one."""
    known, count = len(column), len(column) + len(more)
    room = column.base
    if room is None or len(room) < count or room.shape[1:] != column.shape[1:]:
        room = np.empty((count + count // 2, *column.shape[1:]), dtype=column.dtype)
        room[:known] = column
    room[known:count] = more
    return room[:count]


class LabelArrays(NamedTuple):
    """The labels of the rounds, and whether a true value is met."""

    y: Array
    true: bool

    def part(self, rounds: slice) -> "LabelArrays":
        """Those of some rounds."""
        return LabelArrays(self.y[rounds], self.true)


class Given(NamedTuple):
    """What every loop is given: the types of the rounds, their labels if they are told, and what is known.

    It answers in `out`, and says what was believed `before` where there is room for it.
    """

    values: Counts
    low: int
    lookup: Codes
    told: LabelArrays | None
    types: TypeArrays
    labels: int
    noise_std: float
    spreads: Array
    first: int | None
    space: Array
    out: Answers
    before: Before | None


class LimitTable(NamedTuple):
    """Limits known ahead, by round or by the arrivals of a type; `shown`: decisions show them."""

    values: Array
    by_type: bool
    shown: bool


class MovingLimit(NamedTuple):
    """A reading of VAR-UNCERTAINTY: θ and the labels of late, what is compared, and how θ moves."""

    memory: Array
    confidence: bool
    below: bool
    after_yes: float
    after_no: float
    budget: float
    scale: float


class ValueTerms(NamedTuple):
    """What `Value` weighs: rounds passed, in all (0 if unknown), expected then; the prices of labels."""

    passed: int
    horizon: int
    expected: int
    prices: Array
    lessons: bool
    outright: bool


class PriorTerms(NamedTuple):
    """What is believed of all types, as how many labels it counts, and when it is learnt again."""

    mean: float
    std: float
    worth: float
    learns: bool
    unknown: bool
    due_at: float


class _Numbering(dict[Any, int]):
    """A new key gets the next number."""

    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self)
        return number


class Coding:
    """The types met so far: the code of a value is `lookup[value - low]`, and its type `names[code]`.

    `values` are those of the rounds taken last. One that the lookup does not reach, or that is unseen there,
    is a type still to be met.
    """

    def __init__(self, points: Points, loops: ModuleType) -> None:
        self._loops = loops
        self._numbering: _Numbering | None = None
        self.names: list[Any] = []
        self.low = 0
        self.lookup: Codes = np.empty(0, dtype=np.uint32)
        self.values: Counts = np.empty(0, dtype=np.int64)
        self.begin(points)

    def begin(self, points: Points) -> None:
        """Other rounds come; the types met so far keep their codes."""
        self._points, self._part = points, points[:0]
        if self._numbering is None and not isinstance(points, np.ndarray):
            self._number_by_name()
            self._fresh_names()

    def rest(self) -> None:
        """No rounds come for a while: let go of those that came."""
        self.begin(np.empty(0, dtype=np.int64))
        self.values = np.empty(0, dtype=np.int64)

    def _number_by_name(self) -> _Numbering:
        self._numbering = _Numbering(zip(self.names, range(len(self.names)), strict=True))
        return self._numbering

    def code_of(self, name: Any) -> int | None:
        """The code of a type, if it was met."""
        if self._numbering is not None:
            return self._numbering.get(name)
        place = name - self.low if isinstance(name, int) else -1
        code = int(self.lookup[place]) if 0 <= place < len(self.lookup) else UNSEEN
        return None if code == UNSEEN else code

    def take(self, rounds: slice) -> None:
        """Some rounds come."""
        self._part = self._points[rounds]
        if self._numbering is None:
            self.values = np.require(self._part, np.int64, ["C", "A", "W"])
        else:
            self._number(self._numbering)

    def _number(self, numbering: _Numbering) -> None:
        plain = self._part.tolist() if isinstance(self._part, np.ndarray) else self._part
        self.values = np.fromiter(map(numbering.__getitem__, plain), dtype=np.int64, count=len(plain))

    def meet(self, start: int) -> list[Any]:
        """Number the types that are new from `start` of the rounds on, and name them."""
        if self._numbering is None and not self._reach(self.values[start:]):
            self._number(self._number_by_name())
        fresh = self._fresh(self.values[start:]) if self._numbering is None else self._fresh_names()
        self.names += fresh
        return fresh

    def _reach(self, values: Counts) -> bool:
        """Widen the lookup to these values, unless that is too wide."""
        low, high, size = int(values.min()), int(values.max()), len(self.lookup)
        if size:
            low, high = min(low, self.low), max(high, self.low + size - 1)
        if high - low >= WIDEST:
            return False
        lookup = np.full(high - low + 1, UNSEEN, dtype=np.uint32)
        lookup[self.low - low : self.low - low + size] = self.lookup
        self.low, self.lookup = low, lookup
        return True

    def _fresh(self, values: Counts) -> list[Any]:
        fresh = np.empty(len(values), dtype=np.int64)
        count = self._loops.number(values, self.low, self.lookup, len(self.names), fresh)
        return list(fresh[:count].tolist())

    def _fresh_names(self) -> list[Any]:
        """What the dict holds beyond the names; its numbers are the codes."""
        assert self._numbering is not None
        self.low, self.lookup = 0, np.arange(len(self._numbering), dtype=np.uint32)
        fresh = len(self._numbering) - len(self.names)
        return list(islice(reversed(self._numbering), fresh))[::-1]

    def codes(self) -> Codes:
        """The codes of the rounds taken, all of whose types were met."""
        return self.lookup[self.values - self.low]


# -- tables ------------------------------------------------------------------------------------------


class Thresholds:
    """`theory.threshold` for types: a table by clock up to `LARGEST_TABLE`, computed beyond."""

    def __init__(self, loops: ModuleType, price: float, unit: float, scale: float) -> None:
        self._loops, self._price, self._unit, self._scale = loops, price, unit, scale
        self.table = np.array([np.nan])  # no clock shows 0

    def extend(self) -> bool:
        """Double the table; False if it is the largest already."""
        old, size = len(self.table), min(max(2 * len(self.table), SMALLEST_TABLE), LARGEST_TABLE + 1)
        self.table = np.append(self.table, self.at(np.arange(old, size)))
        return size > old

    def at(self, clocks: Counts, prices: Array | None = None) -> Array:
        """The thresholds at these clocks, for prices of their own where there are any."""
        compute = self._loops.thresholds if agrees(self._loops) else theory_thresholds
        prices = np.full(len(clocks), self._price) if prices is None else prices
        return np.asarray(compute(clocks, prices, self._unit, self._scale))


class Spreads:
    """`theory.confidence_spread` by labels of all types, for a window of counts from `first` on.

    Where types count their own labels there is no `first`: the table is by these, and grows.
    """

    def __init__(self, loops: ModuleType, belief: TypeMeans, rounds: int) -> None:
        self._loops, self._belief = loops, belief
        self._window = min(rounds // 8 + FIRST_WINDOW, WINDOW)
        self.first: int | None = None
        self.values = np.array([inf])  # without labels
        self.provide(belief.asked)

    def reach(self, labels: int) -> None:
        """Labels may have been asked for or withdrawn elsewhere: so many there are."""
        if self.first is not None and not 0 <= max(labels, 1) - self.first < len(self.values):
            self.provide(labels)

    def provide(self, labels: int) -> None:
        """Move the window to this many labels asked for, as more will follow; or double the table."""
        if self._belief.counted == "type":
            known = len(self.values)
            self.values = np.append(self.values, self._from(known, max(known, self._window)))
        else:
            self.first = max(labels, 1)
            self.values = self._from(self.first, self._window)

    def _from(self, first: int, count: int) -> Array:
        return spreads_from(self._loops, self._belief, first, count)


def spreads_from(loops: ModuleType, belief: TypeMeans, first: int, count: int) -> Array:
    """`theory.confidence_spread` of this belief for `count` numbers of labels, from `first` on."""
    compute = loops.spreads if agrees(loops) else theory_spreads
    return np.asarray(compute(first, count, belief.noise_std, belief.delta))


def theory_thresholds(clocks: Counts, prices: Array, unit: float, scale: float) -> Array:
    """What `loops.thresholds` computes, one by one."""
    exponent, cases = theory.DISCRETE_EXPONENT, zip(clocks.tolist(), prices.tolist(), strict=True)
    return np.array([theory.threshold(price, clock, exponent, unit, scale) for clock, price in cases])


def theory_spreads(first: int, count: int, noise_std: float, delta: float) -> Array:
    """What `loops.spreads` computes, one by one."""
    return np.array(
        [theory.confidence_spread(noise_std, labels, delta) for labels in range(first, first + count)]
    )


@cache
def agrees(loops: ModuleType) -> bool:
    """Whether the compiled thresholds and spreads are those of theory, to the bit."""
    clocks = np.arange(1, COMPARED_BITS)
    terms, spread = (clocks, np.full(len(clocks), np.pi), 1.3, 0.7), (1, COMPARED_BITS, 0.3, 0.05)
    return np.array_equal(loops.thresholds(*terms), theory_thresholds(*terms)) and (
        np.array_equal(loops.spreads(*spread), theory_spreads(*spread))
    )
