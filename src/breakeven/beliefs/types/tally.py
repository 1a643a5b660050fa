"""What is known of one type, and counts over all of them.

Notation: M_k arrivals of type k among t in all, N_k labels asked for, awaited ones included.
"""

from collections.abc import Iterable

from msgspec import Struct

from breakeven.beliefs.types.weights import NOTHING, Weighed
from breakeven.values import ExactSum, Prediction


class Tally(Struct, gc=False):
    """One type: its counts, and the sum of its labels; `weighed` has that where labels do not count alike."""

    prediction: Prediction  # as of its last label
    arrivals: int = 0  # M_k
    asked: int = 0  # N_k
    told: int = 0
    sum: ExactSum = NOTHING
    weighed: Weighed | None = None

    def weigh(self) -> Weighed:
        """From now on its labels do not count alike; so far each weighs 1."""
        if self.weighed is None:
            counts = NOTHING.plus(float(self.asked)), NOTHING.plus(float(self.told))
            self.weighed, self.sum = Weighed(*counts, self.sum), NOTHING
        return self.weighed


class Census(Struct):
    """How many arrivals there were, of how many types, how many of these have labels asked for, and told.

    `overlooked` are the arrivals of types without a label asked for.
    """

    arrivals: int = 0  # t
    types: int = 0
    asked: int = 0
    told: int = 0
    overlooked: int = 0

    @staticmethod
    def of(tallies: Iterable[Tally]) -> "Census":
        """Count these."""
        census = Census()
        for tally in tallies:
            census.arrivals += tally.arrivals
            census.types += tally.arrivals > 0
            census.asked += tally.asked > 0
            census.told += tally.told > 0
            census.overlooked += 0 if tally.asked else tally.arrivals
        return census

    def arrive(self, tally: Tally) -> None:
        """One of this type is about to be counted."""
        self.arrivals += 1
        self.types += not tally.arrivals
        self.overlooked += not tally.asked

    def ask(self, tally: Tally) -> None:
        """A label of this type was asked for."""
        if tally.asked == 1:
            self.asked += 1
            self.overlooked -= tally.arrivals

    def withdraw(self, tally: Tally) -> None:
        """A label of this type, asked for, was withdrawn."""
        if tally.asked == 0:
            self.asked -= 1
            self.overlooked += tally.arrivals

    def tell(self, tally: Tally) -> None:
        """A label of this type was told."""
        self.told += tally.told == 1

    def untell(self, tally: Tally) -> None:
        """A label of this type, told, was withdrawn."""
        self.told -= tally.told == 0
