"""What part of the numbers a chart shows.

An average over rounds begins with the price of its first label and settles later. Where only what has settled
matters, the first tenth of such a line may leave the picture at the top; single points never do.
"""

from math import isfinite, log10

import numpy as np
from numpy.typing import NDArray

from breakeven.report.styles import JOINED
from breakeven.values.exhibit import Chart, Line

Array = NDArray[np.float64]

UNSETTLED = 0.1
MANY_POINTS = 20
ROOM, ROOM_BY_FACTOR = 0.12, 1.3
LEVEL = 1e-9  # a spread below that part of a number is rounding


def y_range(chart: Chart, *, settled: bool = False) -> tuple[float, float] | None:
    """The lowest and highest y in the picture, or of what has `settled`; None if there is nothing to see.

    A square picture goes by its x, too.

    >>> average = Line(label="average", x=list(range(1, 101)), y=[100 / n for n in range(1, 101)])
    >>> chart = Chart(name="", title="", x_label="", y_label="", lines=[average])
    >>> [round(high) for low, high in (y_range(chart), y_range(chart, settled=True))]
    [112, 10]
    """
    others = [note.y for note in chart.notes] + [x for line in chart.lines for x in line.x if chart.square]
    lows = _finite(others + [y for line in chart.lines for y in line.y + _band(line.low, chart)])
    highs = _finite(others + [y for line in chart.lines for y in _highs(line, chart, settled)])
    if chart.log_y:
        lows = [low for low in lows if low > 0]
        return (min(lows) / ROOM_BY_FACTOR, max(highs) * ROOM_BY_FACTOR) if lows else None
    return _with_room(min(lows), max(highs)) if lows and highs else None


def by_factors(chart: Chart) -> tuple[bool, bool]:
    """Whether x and y can be shown by factors, as asked: only where something lies above zero.

    >>> below = Line(label="", x=[-1.0], y=[2.0])
    >>> by_factors(Chart(name="", title="", x_label="", y_label="", lines=[below], log_x=True, log_y=True))
    (False, True)
    """
    log_x = chart.log_x and any(x > 0 for line in chart.lines for x in line.x)
    return log_x, chart.log_y and y_range(chart) is not None


def along(x: list[float], *, log: bool) -> Array:
    """Where each x lies on its axis, from 0 at the left end to 1 at the right.

    >>> along([1, 10, 100], log=True).tolist()
    [0.0, 0.5, 1.0]
    """
    place = np.array([log10(one) if log and one > 0 else -np.inf if log else one for one in x])
    seen = place[np.isfinite(place)]
    if seen.size == 0 or seen.max() == seen.min():
        return np.ones(len(x))
    return np.asarray((place - seen.min()) / (seen.max() - seen.min()))


def _highs(line: Line, chart: Chart, settled: bool) -> list[float]:
    ys = [max(pair) for pair in zip(line.y, line.high or line.y, strict=True)]
    if not settled or chart.log_y or line.kind not in JOINED or len(ys) < MANY_POINTS:
        return ys
    return [y for y, place in zip(ys, along(line.x, log=chart.log_x), strict=True) if place >= UNSETTLED]


def _band(low: list[float] | None, chart: Chart) -> list[float]:
    return [] if low is None or chart.log_y else low  # by factors, a band may reach down without end


def _with_room(lowest: float, highest: float) -> tuple[float, float]:
    bottom = 0.0 if 0 <= lowest < highest / 2 else lowest
    spread = highest - bottom
    room = ROOM * (spread if spread > LEVEL * abs(highest) else abs(highest) or 1.0)
    return (bottom if bottom == 0 and lowest >= 0 else bottom - room), highest + room


def _finite(values: list[float]) -> list[float]:
    return [value for value in values if isfinite(value)]
