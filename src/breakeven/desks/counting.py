"""Which answers count where several people answer one request, and which verbs follow from them.

The label that follows depends only on what people say now, so it is the same however often and in whatever
pieces the answers came.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Self

from msgspec import Struct

from breakeven.errors import expect

Second = Literal["first", "mean", "labellers"]
Verb = Literal["tell", "correct", "withdraw", "reopen"]
Voice = tuple[str | None, float]  # who says it, and which label


class Counting(Struct, frozen=True):
    """What a second annotator's answer means, and whether a label that will not come is paid for.

    - "first": who answered first counts, others are ignored.
    - "mean": once `annotators` have answered, the mean of their labels counts.
    - "labellers": the first of those in `names` counts, who are told to the learner as the labellers that
      `names` says; everyone else is ignored.

    >>> Counting.of("mean:3").annotators
    3
    """

    second: Second = "first"
    annotators: int = 1
    names: Mapping[str, str] = {}
    charged: bool = False

    def __post_init__(self) -> None:
        expect.one_of("second", self.second, ("first", "mean", "labellers"))
        expect.whole("annotators", self.annotators, least=1)
        if (self.second == "labellers") != bool(self.names):
            expect.refuse("names", "names of labellers with 'labellers', and only then", dict(self.names))

    @classmethod
    def of(cls, words: str, names: Mapping[str, str] | None = None, *, charged: bool = False) -> Self:
        """From the words of a command line: first, mean:N or labellers."""
        second, _, count = words.partition(":")
        if second == "mean" and count.isdecimal() and int(count) >= 2:
            return cls("mean", int(count), charged=charged)
        if words == "labellers":
            return cls("labellers", names=names or {}, charged=charged)
        if words != "first":
            expect.refuse("second", "first, mean:N with N of at least 2, or labellers", words)
        return cls(charged=charged)

    def label(self, voices: Sequence[Voice]) -> "CountedLabel | None":
        """The label that counts of all that people say, who answered first coming first.

        >>> Counting().label([("ann", 3.0), ("ben", 5.0)])
        CountedLabel(y=3.0, labeller=None)
        >>> Counting("mean", 2).label([("ann", 3.0), ("ben", 5.0), ("eve", 100.0)]).y
        4.0
        """
        if self.second == "labellers":
            known = [(y, self.names[who]) for who, y in voices if who is not None and who in self.names]
            return CountedLabel(*known[0]) if known else None
        if len(voices) < self.annotators:
            return None
        return CountedLabel(sum(y for _, y in voices[: self.annotators]) / self.annotators)


class CountedLabel(NamedTuple):
    """A label for a learner, and who gave it where the learner wants to know."""

    y: float
    labeller: str | None = None


class VerbCall(NamedTuple):
    """One call of a verb."""

    verb: Verb
    id: str
    y: float | None = None
    labeller: str | None = None


def steps_to(
    id: str, before: CountedLabel | None, now: CountedLabel | None, *, ends: bool, withdrawn: bool = False
) -> list[VerbCall]:
    """The verbs that lead from what the learner was told to what counts now.

    `ends` says that nobody will answer a request of which nothing was told, and `withdrawn` that the learner
    was told so: a label that comes all the same takes that back, so that it is paid for as agreed.

    >>> steps_to("7", None, CountedLabel(38.9), ends=False)
    [VerbCall(verb='tell', id='7', y=38.9, labeller=None)]
    >>> steps_to("7", CountedLabel(38.9), None, ends=False)
    [VerbCall(verb='withdraw', id='7', y=None, labeller=None)]
    >>> [one.verb for one in steps_to("7", None, CountedLabel(38.9), ends=False, withdrawn=True)]
    ['reopen', 'tell']
    """
    if now is None:
        return [VerbCall("withdraw", id)] if before is not None or ends else []
    if before is None:
        again = [VerbCall("reopen", id)] if withdrawn else []
        return [*again, VerbCall("tell", id, now.y, now.labeller)]
    return [] if before.y == now.y else [VerbCall("correct", id, now.y)]
