"""The board: spend beside labelling everyone, errors by audit, and what is open; it follows the feed."""

import asyncio
from typing import Any
from weakref import WeakKeyDictionary

from breakeven.service.alarms import alarms_of
from breakeven.service.handlers import stream_handlers
from breakeven.service.live_stream import Folded, LiveStream
from breakeven.service.pages.desk_page import unit_of_label
from breakeven.service.pages.page_calls import Page, Visit
from breakeven.service.pages.rendering import shown_amount
from breakeven.service.pages.svg_charts import LiveChart, Series, live_chart
from breakeven.service.stream_series import SeriesStep, StreamSeries, course_of, rate_of

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

    def work(now: Folded) -> dict[str, Any]:
        found = now.learner.summary()
        return {
            "ledger": found.ledger,
            "audit": found.ledger.audit,
            "standing": found.ledger.standing,
            "spend": found.ledger.label_spend,
            "everyone": found.ledger.rounds * found.label_cost,
            "open": len(now.desk),
            "oldest": stream_handlers.oldest_of(now),
            "unit": unit_of_label(now.config, now.columns),
            "currency": now.config.currency,
            "words": str(found),
            "deadline": now.config.deadline,
            "alarms": [one.words for one in alarms_of(live, now)],
        }

    values, as_of = await live.look("board", work)
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
    return [
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
