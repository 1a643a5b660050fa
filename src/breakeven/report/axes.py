"""The axes of a chart: what part of the numbers they show, by which scale and in which unit.

Pictures and interactive charts share this. An average over rounds begins with the cost of its first label and
settles later; where only the settled part matters, the first tenth of such a line may leave the picture at
the top. Single points never do.
"""

from collections.abc import Iterable
from math import isfinite, log10

import numpy as np
from msgspec.structs import replace

from breakeven.errors.expect import Array
from breakeven.report.line_styles import JOINED_KINDS
from breakeven.values.amounts import unit_of
from breakeven.values.exhibit import Chart, Line

UNSETTLED_PART = 0.1
LONG_LINE = 20  # points from which a line has an unsettled part
ROOM_AROUND, ROOM_BY_FACTOR = 0.12, 1.3
LEVEL_SPREAD = 1e-9  # a spread smaller than this part of the numbers is a rounding error


# -- what part is shown --------------------------------------------------------------------------------------


def y_range(chart: Chart, *, settled: bool = False) -> tuple[float, float] | None:
    """The lowest and highest y to show, only of the `settled` part if wanted; None if there are no numbers.

    In a square chart x and y have the same range, so its x count, too.

    >>> average = Line(label="average", x=list(range(1, 101)), y=[100 / n for n in range(1, 101)])
    >>> chart = Chart(name="", title="", x_label="", y_label="", lines=[average])
    >>> [round(high) for low, high in (y_range(chart), y_range(chart, settled=True))]
    [112, 10]
    """
    others = [note.y for note in chart.notes] + [x for line in chart.lines for x in line.x if chart.square]
    lows = _finite(others + [y for line in chart.lines for y in line.y + _band_lows(line, chart)])
    highs = _finite(others + [y for line in chart.lines for y in _highs(line, chart, settled)])
    if chart.log_y:
        lows = [low for low in lows if low > 0]
        return (min(lows) / ROOM_BY_FACTOR, max(highs) * ROOM_BY_FACTOR) if lows else None
    return _with_room(min(lows), max(highs)) if lows and highs else None


def log_axes(chart: Chart) -> tuple[bool, bool]:
    """Whether the x and the y axis are logarithmic: where that is asked for and some numbers are above zero.

    >>> below = Line(label="", x=[-1.0], y=[2.0])
    >>> log_axes(Chart(name="", title="", x_label="", y_label="", lines=[below], log_x=True, log_y=True))
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
    if not settled or chart.log_y or line.kind not in JOINED_KINDS or len(ys) < LONG_LINE:
        return ys
    return [y for y, place in zip(ys, along(line.x, log=chart.log_x), strict=True) if place >= UNSETTLED_PART]


def _band_lows(line: Line, chart: Chart) -> list[float]:
    """The lower end of the band; on a logarithmic axis it may reach down without end and does not count."""
    return [] if line.low is None or chart.log_y else line.low


def _with_room(lowest: float, highest: float) -> tuple[float, float]:
    bottom = 0.0 if 0 <= lowest < highest / 2 else lowest
    spread = highest - bottom
    room = ROOM_AROUND * (spread if spread > LEVEL_SPREAD * abs(highest) else abs(highest) or 1.0)
    return (bottom if bottom == 0 and lowest >= 0 else bottom - room), highest + room


def _finite(values: list[float]) -> list[float]:
    return [value for value in values if isfinite(value)]


# -- in which unit -------------------------------------------------------------------------------------------


def in_units(chart: Chart) -> tuple[Chart, str, str]:
    """The chart counted in millions, billions or trillions where it needs to be, and the signs of its units.

    The signs are for x and y; "" where numbers stay as they are. A logarithmic axis stays as
    it is: each of its ticks is written with a unit of its own.

    >>> money = Line(label="", x=[1.0, 2.0], y=[0.0, 3e10])
    >>> chart, x, y = in_units(Chart(name="", title="", x_label="", y_label="", lines=[money]))
    >>> chart.lines[0].y, x, y
    ([0.0, 30.0], '', 'bn')
    """
    log_x, log_y = log_axes(chart)
    xs, ys = ([line.x for line in chart.lines], [line.y for line in chart.lines])
    if chart.square:
        xs = ys = xs + ys
    x, x_sign = (1.0, "") if log_x else _unit(xs)
    y, y_sign = (1.0, "") if log_y else _unit(ys)
    return replace(chart, lines=[_divided(line, x, y) for line in chart.lines]), x_sign, y_sign


def _unit(lists: Iterable[list[float]]) -> tuple[float, str]:
    return unit_of(max((abs(one) for some in lists for one in some if isfinite(one)), default=0.0))


def _divided(line: Line, x: float, y: float) -> Line:
    def over(values: list[float], unit: float) -> list[float]:
        return [value / unit for value in values]

    low, high = (None if end is None else over(end, y) for end in (line.low, line.high))
    return replace(line, x=over(line.x, x), y=over(line.y, y), low=low, high=high)
