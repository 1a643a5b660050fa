"""What the compiled loops read and write, as named arrays, and why they stop."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs.types.tallies import Tally

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
Codes = NDArray[np.uint32]
Truths = NDArray[np.bool_]

UNSEEN = 2**32 - 1  # the code of no type
FINISHED, NEW_TYPE, NEEDS_SPREADS, NEEDS_LIMITS, NEEDS_PARTS, NEEDS_GUESS, NEEDS_FIT = range(7)


Outcome = tuple[int, int, int]  # rounds done, labels so far, why it stopped


class Columns(NamedTuple):
    """What was answered in every round."""

    wants_label: Truths
    prediction: Array
    uncertainty: Array
    threshold: Array

    @classmethod
    def empty(cls, rounds: int) -> "Columns":
        """Room for so many rounds."""
        return cls(np.empty(rounds, dtype=bool), *(np.empty(rounds) for _ in range(3)))

    def part(self, rounds: slice) -> "Columns":
        """Some rounds of them; writing there writes here."""
        wants_label, *others = self
        return Columns(wants_label[rounds], *(column[rounds] for column in others))


class Before(NamedTuple):
    """What was believed in every round before its label, and the error that saves: NaN if nobody says."""

    prediction: Array
    std: Array
    worth: Array

    @classmethod
    def empty(cls, rounds: int) -> "Before":
        """Room for so many rounds."""
        return cls(np.empty(rounds), np.empty(rounds), np.full(rounds, np.nan))

    def part(self, rounds: slice) -> "Before":
        """Some rounds of them; writing there writes here."""
        return Before(*(column[rounds] for column in self))


class Types(NamedTuple):
    """What is known of every type, by code: a row of `parts` is the exact sum of its labels."""

    arrivals: Counts
    asked: Array
    told: Array
    mean: Array
    parts: Array

    @classmethod
    def of(cls, tallies: Sequence[Tally], room: int = 2) -> "Types":
        """The types with these tallies, and room for so many parts or more."""
        parts = np.zeros((len(tallies), max([room, *(len(tally.sum.parts) for tally in tallies)])))
        for k, tally in enumerate(tallies):
            if tally.told:
                parts[k, : len(tally.sum.parts)] = tally.sum.parts
        return cls(
            np.array([tally.arrivals for tally in tallies], dtype=np.int64),
            np.array([tally.asked for tally in tallies], dtype=float),
            np.array([tally.told for tally in tallies], dtype=float),
            np.array([tally.prediction.mean for tally in tallies]),
            parts,
        )

    def with_more(self, tallies: Sequence[Tally]) -> "Types":
        """These and others behind them."""
        more = Types.of(tallies, room=self.parts.shape[1])
        own = self.with_room(more.parts.shape[1])
        return Types(*(np.concatenate(pair) for pair in zip(own, more, strict=True)))

    def with_room(self, room: int) -> "Types":
        """The same with room for so many parts in every sum."""
        missing = np.zeros((len(self.parts), room - self.parts.shape[1]))
        return self._replace(parts=np.hstack([self.parts, missing]))


class Labels(NamedTuple):
    """The labels of the rounds, whether a true value is met, and room for the codes and labels bought."""

    y: Array
    true: bool
    codes: Codes
    bought: Array

    def part(self, rounds: slice, bought: int) -> "Labels":
        """Those of some rounds, before which so many were bought."""
        return Labels(self.y[rounds], self.true, self.codes[bought:], self.bought[bought:])


class Given(NamedTuple):
    """What every loop is given: the types of the rounds, their labels if they are told, and what is known.

    It answers in `out`, and says what was believed `before` where there is room for it.
    """

    values: Counts
    low: int
    lookup: Codes
    told: Labels | None
    types: Types
    labels: int
    noise_std: float
    spreads: Array
    first: int
    space: Array
    out: Columns
    before: Before | None


class Limits(NamedTuple):
    """Limits known ahead, by round or by the arrivals of a type; `shown` says that a decision shows them."""

    values: Array
    by_type: bool
    shown: bool


class Moving(NamedTuple):
    """A reading of VAR-UNCERTAINTY: θ and the labels of late, what is compared, and how θ moves."""

    memory: Array
    confidence: bool
    below: bool
    after_yes: float
    after_no: float
    budget: float


class Terms(NamedTuple):
    """What `Value` weighs: rounds passed, and in all (0 if unknown), and the price of a label."""

    passed: int
    horizon: int
    price: float
    lessons: bool
    outright: bool


class Prior(NamedTuple):
    """What is believed of all types, as how many labels it counts, and when it is learnt again."""

    mean: float
    std: float
    worth: float
    learns: bool
    unknown: bool
    due_at: float
