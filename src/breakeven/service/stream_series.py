"""What happened lately in a stream, for charts: spend, open requests, and how unsure each decision was.

It is read from the log, the last entries alone, and goes on where it ended: a long log costs no more than a
short one. What lies before is known from where the learner stands now.
"""

from collections import deque
from itertools import pairwise

from msgspec import Struct

from breakeven.folding import EVENT_KINDS, event_of
from breakeven.store import Store
from breakeven.values import Arrived, Reopened, Told, Withdrawn

LAST_ENTRIES = 20_000
LONGEST_RATE = 100  # arrivals that a rate is counted over


class SeriesStep(Struct, frozen=True, gc=False):
    """One change: when, and what it adds to the spend, to everyone's, and to what is open."""

    at: float
    spend: float
    everyone: float
    open: int
    asked: bool | None = None  # of an arrival: whether its label was wanted
    uncertainty: float = 0.0
    threshold: float = 0.0
    worth: float | None = None
    cost: float = 0.0


class StreamSeries:
    """The last changes of a stream."""

    def __init__(self, store: Store, stream: int) -> None:
        self._store, self._stream = store, stream
        self.steps: deque[SeriesStep] = deque(maxlen=LAST_ENTRIES)
        self._costs: dict[str, float] = {}  # of the last labels that were asked for
        self.upto: int | None = None

    def read(self, upto: int) -> None:
        """Go on to this entry."""
        if self.upto is None or upto < self.upto:
            self.steps.clear()
            self._costs.clear()
            self.upto = max(upto - LAST_ENTRIES, 0)
        for entry in self._store.entries(self._stream, self.upto, upto):
            if entry.kind in EVENT_KINDS:
                step = self._step(event_of(entry), entry.at)
                if step is not None:
                    self.steps.append(step)
        self.upto = upto

    def _step(self, event: object, at: float) -> SeriesStep | None:
        if isinstance(event, Arrived):
            one = event.decision
            if not one.wants_label:
                return SeriesStep(
                    at, 0.0, one.cost, 0, False, one.uncertainty, one.threshold, one.worth, one.cost
                )
            self._costs[one.id] = one.cost
            if len(self._costs) > LAST_ENTRIES:
                del self._costs[next(iter(self._costs))]
            return SeriesStep(
                at, one.cost, one.cost, 1, True, one.uncertainty, one.threshold, one.worth, one.cost
            )
        if isinstance(event, Told):
            return SeriesStep(at, 0.0, 0.0, -1)
        if isinstance(event, Reopened):
            return SeriesStep(at, 0.0, 0.0, 1)
        if isinstance(event, Withdrawn):
            cost = 0.0 if event.charged else self._costs.pop(event.id, 0.0)
            return SeriesStep(at, -cost, 0.0, -1)
        return None


class Course(Struct, frozen=True):
    """Spend, everyone's and open requests at some times, the last of which is now."""

    at: list[float]
    spend: list[float]
    everyone: list[float]
    open: list[int]


def course_of(steps: list[SeriesStep], spend: float, everyone: float, count: int, now: float) -> Course:
    """Where the sums stood after each step, given where they stand now.

    >>> steps = [SeriesStep(1.0, 2.0, 2.0, 1), SeriesStep(2.0, 0.0, 2.0, 0)]
    >>> course_of(steps, spend=10.0, everyone=20.0, count=3, now=5.0)
    Course(at=[1.0, 2.0, 5.0], spend=[10.0, 10.0, 10.0], everyone=[18.0, 20.0, 20.0], open=[3, 3, 3])
    """
    found = Course([now], [spend], [everyone], [count])
    for step in reversed(steps):
        found.at.append(min(step.at, found.at[-1]))
        found.spend.append(spend)
        found.everyone.append(everyone)
        found.open.append(max(count, 0))
        spend, everyone, count = spend - step.spend, everyone - step.everyone, count - step.open
    for one in (found.at, found.spend, found.everyone, found.open):
        one.reverse()
    return found


def rate_of(steps: list[SeriesStep]) -> tuple[list[float], list[float]]:
    """The share of the last arrivals whose labels were wanted, in percent, by the time of each."""
    arrivals = [one for one in steps if one.asked is not None]
    width = max(min(LONGEST_RATE, len(arrivals) // 5), 1)
    sums = [0]
    for one in arrivals:
        sums.append(sums[-1] + bool(one.asked))
    times = [one.at for one in arrivals[width - 1 :]]
    return times, [100.0 * (high - low) / width for low, high in zip(sums, sums[width:], strict=False)]


def thinned(values: list[float], places: list[int]) -> list[float]:
    """The values at these places."""
    return [values[place] for place in places]


def places_of(length: int, most: int) -> list[int]:
    """At most so many places, evenly apart, with the first and the last.

    >>> places_of(5, 10), places_of(9, 3)
    ([0, 1, 2, 3, 4], [0, 4, 8])
    """
    if length <= most:
        return list(range(length))
    found = [round(place * (length - 1) / (most - 1)) for place in range(most)]
    return [found[0], *(after for before, after in pairwise(found) if after != before)]
