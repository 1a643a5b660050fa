"""The board: spend beside labelling everyone, errors by audit, and what is open; it follows the feed.

Its charts show what happened lately. That is read from the log, the last entries alone, and goes on where it
ended: a long log costs no more than a short one. What lies before is known from where the learner stands now.
"""

import asyncio
from collections import deque
from typing import Any
from weakref import WeakKeyDictionary

from msgspec import Struct

from breakeven.folding import EVENT_KINDS, event_of
from breakeven.service.handlers.stream_handlers import overview_of
from breakeven.service.live_stream import LiveStream
from breakeven.service.pages.desk_page import unit_of_label
from breakeven.service.pages.rendering import Page, Visit, shown_amount
from breakeven.service.pages.svg_charts import LiveChart, Series, live_chart
from breakeven.store import Store
from breakeven.values import Arrived, AuditReport, Reopened, Told, Withdrawn

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
        self._given_back: dict[str, float] = {}  # of the last that were withdrawn
        self._closed: dict[str, None] = {}  # ids of the last arrivals whose label is not awaited
        self.upto: int | None = None

    def read(self, upto: int) -> None:
        """Go on to this entry."""
        if self.upto is None or upto < self.upto:
            self.steps.clear()
            self._costs.clear()
            self._given_back.clear()
            self._closed.clear()
            self.upto = max(upto - LAST_ENTRIES, 0)
        for entry in self._store.entries(self._stream, self.upto, upto):
            if entry.kind in EVENT_KINDS:
                step = self._step(event_of(entry), entry.at)
                if step is not None:
                    self.steps.append(step)
            self.upto = entry.seq  # what fails on the way goes on from here
        self.upto = upto

    def _step(self, event: object, at: float) -> SeriesStep | None:
        if isinstance(event, Arrived):
            one = event.decision
            if not one.wants_label:
                self._close(one.id)
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
            self._given_back.pop(event.id, None)  # a label that comes late costs nothing
            return SeriesStep(at, 0.0, 0.0, -self._close(event.id))
        if isinstance(event, Reopened):
            self._closed.pop(event.id, None)
            cost = self._given_back.pop(event.id, 0.0)
            if cost:
                self._costs[event.id] = cost
            return SeriesStep(at, cost, 0.0, 1)
        if isinstance(event, Withdrawn):
            cost = 0.0 if event.charged else self._costs.pop(event.id, 0.0)
            if cost:
                self._given_back[event.id] = cost
            return SeriesStep(at, -cost, 0.0, -self._close(event.id))
        return None

    def _close(self, id: str) -> int:
        """A label is not awaited; 1 where it was, as far as is known, else 0."""
        if id in self._closed:
            return 0
        self._closed[id] = None
        if len(self._closed) > LAST_ENTRIES:
            del self._closed[next(iter(self._closed))]
        return 1


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


# -- the page ---------------------------------------------------------------------------------------------

_SERIES: WeakKeyDictionary[LiveStream, StreamSeries] = WeakKeyDictionary()
_READING: WeakKeyDictionary[LiveStream, asyncio.Lock] = WeakKeyDictionary()
A_MINUTE, IN_A_DAY = 60.0, 1440


async def board(visit: Visit) -> Page:
    """The whole board."""
    return Page("board.html", await _values(visit))


async def board_now(visit: Visit) -> Page:
    """What of the board changes."""
    return Page("board_now.html", await _values(visit))


async def _values(visit: Visit) -> dict[str, Any]:
    live = visit.live
    seen, as_of = await live.look("board", lambda now: overview_of(live, now))
    ledger = seen.learner.ledger
    values = {
        "ledger": ledger,
        "audit": ledger.audit,
        "error_known": ledger.audit is not None and has_errors(ledger.audit),
        "standing": ledger.standing,
        "spend": ledger.label_spend,
        "everyone": seen.everyone,
        "open": seen.open,
        "oldest": seen.oldest,
        "unit": unit_of_label(seen.config, seen.columns),
        "currency": seen.config.currency,
        "words": str(seen.learner),
        "alarms": [one.words for one in seen.alarms],
    }
    series = await _series(live, live.written)
    charts = _charts(values, series, visit.service.clock.now())
    arrivals = [one for one in series.steps if one.asked is not None]
    span = arrivals[-1].at - arrivals[0].at if len(arrivals) > 1 else 0.0
    asked = sum(bool(one.asked) for one in arrivals)
    share = 100.0 * asked / len(arrivals) if arrivals else None
    return values | {
        "charts": charts,
        "as_of": as_of,
        "pace": pace_of(len(arrivals), span),
        "share": share,
        "state": live.state,
    }


def has_errors(audit: AuditReport) -> bool:
    """Whether an estimate rests on a label; without one it is 0, which says nothing."""
    every_label_came = audit.audited > 0 and not audit.awaited and not audit.missing
    return every_label_came or audit.absolute.estimate not in (None, 0.0)


def pace_of(count: int, seconds: float) -> str:
    """How many came in a minute or, where that is less than one, in a day.

    >>> pace_of(90, 60.0), pace_of(3, 86_400.0), pace_of(1, 0.0)
    ('90 a minute lately', '3 a day lately', '')
    """
    if seconds < A_MINUTE:
        return ""
    minutely = count * A_MINUTE / seconds
    pace, unit = (minutely, "minute") if minutely >= 1.0 else (IN_A_DAY * minutely, "day")
    return f"{shown_amount(float(f'{pace:.2g}'))} a {unit} lately"


async def _series(live: LiveStream, upto: int) -> StreamSeries:
    """The series of a stream, read on to an entry; one reader at a time."""
    series = _SERIES.setdefault(live, StreamSeries(live.store, live.number))
    async with _READING.setdefault(live, asyncio.Lock()):
        if series.upto != upto:
            await asyncio.to_thread(series.read, upto)
    return series


def _charts(values: dict[str, Any], series: StreamSeries, now: float) -> list[LiveChart]:
    steps = list(series.steps)
    if not steps:
        return []
    course = course_of(steps, values["spend"], values["everyone"], values["open"], now)
    rate_at, rate = rate_of(steps)
    count = list(map(float, course.open))
    charts = [
        live_chart(
            "spend",
            "Spend beside labelling everyone",
            values["currency"],
            [
                Series("everyone", course.at, course.everyone, "other", "steps"),
                Series("spent", course.at, course.spend, "ours", "steps"),
            ],
        ),
        _reasons(values, [one for one in steps if one.asked is not None]),
        live_chart("open", "Open requests", "", [Series("open", course.at, count, "ours", "steps")]),
        live_chart("rate", "Arrivals whose label is wanted", "%", [Series("share", rate_at, rate, "ours")]),
    ]
    return [one for one in charts if one.svg]  # where every number is infinite there is nothing to draw


def _reasons(values: dict[str, Any], arrivals: list[SeriesStep]) -> LiveChart:
    """What decisions rested on: what labels would save beside their cost, or uncertainty and threshold."""
    worth = [one for one in arrivals if one.worth is not None]
    if 2 * len(worth) >= len(arrivals):
        at = [one.at for one in worth]
        series = [
            Series("would save", at, [one.worth or 0.0 for one in worth], "ours", "dots"),
            Series("costs", at, [one.cost for one in worth], "other", "steps"),
        ]
        return live_chart("worth", "What each label would save, and its cost", values["currency"], series)
    at = [one.at for one in arrivals]
    series = [
        Series("uncertainty", at, [one.uncertainty for one in arrivals], "ours", "dots"),
        Series("threshold", at, [one.threshold for one in arrivals], "other", "steps"),
    ]
    return live_chart("uncertainty", "Uncertainty of each arrival and its threshold", values["unit"], series)
