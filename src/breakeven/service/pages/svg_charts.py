"""Charts as SVG, made of plain values: lines, dots, a limit, and the scale of one answer.

Colours and sizes of words come from the style sheet. A chart has a title, a description for those who cannot
see it, and a table of its numbers.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from math import ceil, floor, isfinite, log10

from markupsafe import Markup
from msgspec import Struct

from breakeven.service.pages.rendering import moment, shown_amount

WIDE, HIGH = 460.0, 240.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 12.0, 12.0, 30.0  # at the left, for a few digits at least
A_SIGN = 8.5  # wide, of those beside a line, where they are largest
TICKS, DRAWN_POINTS, MOST_ROWS = 4, 240, 30
ROUND_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
TWO_DAYS, TEN_MINUTES = 172_800.0, 600.0  # from which on times are written with days, and without seconds


Placed = Callable[[float], float]
"""Where a time, or a value, lies in a chart."""


class Series(Struct, frozen=True):
    """A named line: times, values, and how it looks (a class of the style sheet)."""

    name: str
    at: list[float]
    values: list[float]
    look: str
    kind: str = "line"


class LiveChart(Struct, frozen=True):
    """A drawn chart with its table."""

    name: str
    title: str
    svg: Markup
    legend: list[Series]
    columns: list[str]
    rows: list[list[str]]


def live_chart(
    name: str, title: str, unit: str, series: list[Series], *, from_zero: bool = True
) -> LiveChart:
    """A chart over time, with the unit in its title."""
    title = f"{title}, in {unit}" if unit else title
    series = [_thin(one) for one in series]
    times = [at for one in series for at in one.at]
    values = [value for one in series for value in one.values if isfinite(value)]
    rows = _rows(series)
    columns = ["time (UTC)", *(f"{one.name} ({unit})" if unit else one.name for one in series)]
    if not times or not values:
        return LiveChart(name, title, Markup(""), series, columns, rows)
    early, late = min(times), max(times)
    late = late if late > early else early + 1.0
    low, high = (min(0.0, *values) if from_zero else min(values)), max(values)
    ticks = _ticks(low, high if high > low else low + 1.0)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    left = max(LEFT, 12.0 + A_SIGN * max(len(shown_amount(one)) for one in ticks))

    def x(at: float) -> float:
        return left + (at - early) / (late - early) * (WIDE - left - RIGHT)

    def y(value: float) -> float:
        return HIGH - BOTTOM - (value - low) / (high - low) * (HIGH - TOP - BOTTOM)

    parts = [
        *_value_ticks(ticks, left, y),
        *_time_ticks(early, late, x),
        *(_drawn(one, x, y) for one in series),
    ]
    words = f"{title}: " + ", ".join(
        f"{one.name} {shown_amount(one.values[-1], unit)}" for one in series if one.values
    )
    svg = Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        int(WIDE), int(HIGH), words, Markup("").join(parts)
    )
    return LiveChart(name, title, svg, series, columns, rows)


def _thin(one: Series) -> Series:
    places = places_of(len(one.at), DRAWN_POINTS)
    return Series(one.name, [one.at[i] for i in places], [one.values[i] for i in places], one.look, one.kind)


def places_of(length: int, most: int) -> list[int]:
    """At most so many places, evenly apart, with the first and the last.

    >>> places_of(5, 10), places_of(9, 3)
    ([0, 1, 2, 3, 4], [0, 4, 8])
    """
    if length <= most:
        return list(range(length))
    found = [round(place * (length - 1) / (most - 1)) for place in range(most)]
    return [found[0], *(after for before, after in pairwise(found) if after != before)]


def _drawn(one: Series, x: Placed, y: Placed) -> Markup:
    points = [(x(at), y(value)) for at, value in zip(one.at, one.values, strict=True) if isfinite(value)]
    if one.kind == "dots":
        dots = (Markup('<circle cx="{}" cy="{}" r="2.2"/>').format(_place(a), _place(b)) for a, b in points)
        return Markup('<g class="dots {}">{}</g>').format(one.look, Markup("").join(dots))
    path = ""
    for place, (across, down) in enumerate(points):
        step = (
            f"H{_place(across)}V{_place(down)}"
            if one.kind == "steps"
            else f"L{_place(across)} {_place(down)}"
        )
        path += f"M{_place(across)} {_place(down)}" if not place else step
    return Markup('<path class="stroke {}" d="{}"/>').format(one.look, path)


def _place(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers from the lowest to the highest.

    >>> _ticks(0.0, 97.0)
    [0.0, 25.0, 50.0, 75.0, 100.0]
    """
    rough = (high - low) / TICKS
    size = 10.0 ** floor(log10(rough))
    step = size * next(one for one in ROUND_STEPS if size * one >= rough * (1 - 1e-9))
    return [one * step for one in range(floor(low / step), ceil(high / step - 1e-9) + 1)]


def _value_ticks(ticks: list[float], left: float, y: Placed) -> list[Markup]:
    """Lines across the chart, and what each is worth."""
    line = Markup('<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>')
    words = Markup('<text class="tick" x="{}" y="{}" text-anchor="end">{}</text>')
    lines = [line.format(_place(left), WIDE - RIGHT, _place(y(one)), _place(y(one))) for one in ticks]
    return lines + [words.format(_place(left - 6), _place(y(one) + 4), shown_amount(one)) for one in ticks]


def _time_ticks(early: float, late: float, x: Placed) -> list[Markup]:
    span = late - early
    form = "%d %b" if span > TWO_DAYS else "%H:%M" if span > TEN_MINUTES else "%H:%M:%S"
    ends = [(early, "start"), ((early + late) / 2, "middle"), (late, "end")]
    return [
        Markup('<text class="tick" x="{}" y="{}" text-anchor="{}">{}</text>').format(
            _place(x(at)), HIGH - 8, side, datetime.fromtimestamp(at, UTC).strftime(form)
        )
        for at, side in ends
    ]


def _rows(series: list[Series]) -> list[list[str]]:
    """Numbers behind a chart: of each time the value that each line has there, or had last."""
    times = sorted({at for one in series for at in one.at})
    times = [times[place] for place in places_of(len(times), MOST_ROWS)]
    rows = []
    for at in times:
        cells = [moment(at)]
        for one in series:
            before = [value for when, value in zip(one.at, one.values, strict=True) if when <= at]
            cells.append(shown_amount(before[-1]) if before else "")
        rows.append(cells)
    return rows


# -- one answer ----------------------------------------------------------------------------------------


def answer_scale(y: float, mean: float, low: float, high: float) -> Markup:
    """Where an answer lies beside the prediction and the interval that was to hold it."""
    least, most = min(y, low), max(y, high)
    room = (most - least or 1.0) * 0.08

    def x(value: float) -> str:
        return _place(10 + 280 * (value - least + room) / (most - least + 2 * room))

    ends = f"from {shown_amount(low)} to {shown_amount(high)}"
    words = f"expected {shown_amount(mean)}, {ends}; answer {shown_amount(y)}"
    return Markup(
        '<svg class="scale" viewBox="0 0 300 34" role="img" aria-label="{}">'
        '<line class="grid" x1="10" x2="290" y1="17" y2="17"/>'
        '<rect class="interval" x="{}" y="10" width="{}" height="14" rx="3"/>'
        '<line class="expected" x1="{}" x2="{}" y1="7" y2="27"/>'
        '<circle class="answer" cx="{}" cy="17" r="6"/></svg>'
    ).format(words, x(low), _place(max(float(x(high)) - float(x(low)), 1.0)), x(mean), x(mean), x(y))
