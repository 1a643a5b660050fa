"""A chart that answers to the pointer: the same lines as in a picture, as plain data that `bill.js` draws.

The page draws them itself, as SVG in the reader's colours, and needs no library. A style is a class of the
page's style sheet, so that dark and light differ in the sheet alone. Notes and names along y are drawn in
pictures only.
"""

from math import floor, isfinite, log10
from typing import Any

from breakeven.report.axes import ROOM_BY_FACTOR, in_units, log_axes, y_range
from breakeven.report.line_styles import (
    JOINED_KINDS,
    KIND_DASHES,
    LINE_STYLES,
    MANY_DOTS,
    MARKERS_A_LINE,
    REFERENCE_STYLE,
    LineStyle,
    style_of,
)
from breakeven.report.markup import line_words, shown
from breakeven.values.exhibit import Chart, Line

TICK_STEPS = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8))  # within a power of ten
FEWEST_TICKS = 3  # the first of the steps that gives as many is taken
PLOTTED_DIGITS = 6  # finer than any screen
CROWD_OF_DOTS = 1_000  # above this number, dots are drawn smallest


def plotted(chart: Chart, styles: dict[str, LineStyle]) -> dict[str, Any]:
    """The chart as the page's script reads it.

    >>> drawn = plotted(Chart(name="", title="", x_label="round", y_label="loss", lines=[]), {})
    >>> drawn["x"]["label"]
    'round'
    """
    chart, x_sign, y_sign = in_units(chart)
    joined = all(line.kind in JOINED_KINDS for line in chart.lines)
    return {
        "x": {"label": chart.x_label, "sign": x_sign, **_x_axis(chart)},
        "y": {"label": chart.y_label, "sign": y_sign, **_y_axis(chart)},
        "square": chart.square,
        "joined": joined,
        "marks": [{"x": mark.x, "text": mark.text} for mark in chart.marks],
        "lines": [_line(line, style_of(line, styles)) for line in chart.lines],
    }


def style_sheet() -> str:
    """The colours of all styles, light and dark, as rules of a style sheet."""
    styles = [*LINE_STYLES, REFERENCE_STYLE]
    light = "\n".join(f".{class_of(one)} {{ --line: {one.colour}; }}" for one in styles)
    dark = "\n".join(f"  .{class_of(one)} {{ --line: {one.dark}; }}" for one in styles)
    return f"\n{light}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}\n"


def class_of(style: LineStyle) -> str:
    """The class of a style.

    >>> class_of(LINE_STYLES[2]), class_of(REFERENCE_STYLE)
    ('style-2', 'style-reference')
    """
    return f"style-{LINE_STYLES.index(style)}" if style in LINE_STYLES else "style-reference"


# -- axes ----------------------------------------------------------------------------------------------------


def _x_axis(chart: Chart) -> dict[str, Any]:
    if chart.square:
        extent = y_range(chart)
        return {} if extent is None else {"range": list(extent)}
    log, _ = log_axes(chart)
    seen = [x for line in chart.lines for x in line.x if isfinite(x) and (x > 0 or not log)]
    seen += [mark.x for mark in chart.marks if mark.x > 0 or not log]
    if not seen:
        return {}
    if log:
        return _log_axis(min(seen) / ROOM_BY_FACTOR, max(seen) * ROOM_BY_FACTOR)
    low, high = min(seen), max(seen)
    room = 0.02 * (high - low) or 1.0
    return {"range": [low - room, high + room]}


def _y_axis(chart: Chart) -> dict[str, Any]:
    extent = y_range(chart)
    if extent is None:
        return {}
    _, log = log_axes(chart)
    return _log_axis(*extent) if log else {"range": list(extent)}


def _log_axis(low: float, high: float) -> dict[str, Any]:
    """A logarithmic axis with ticks at powers of ten, and between them where there would be too few."""
    powers = range(floor(log10(low)), floor(log10(high)) + 1)
    for steps in TICK_STEPS:
        ticks = [step * 10.0**power for power in powers for step in steps]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) >= FEWEST_TICKS:
            break
    return {"log": True, "range": [low, high], "ticks": [[tick, shown(tick)] for tick in ticks]}


# -- lines ---------------------------------------------------------------------------------------------------


def _line(line: Line, style: LineStyle) -> dict[str, Any]:
    found = {
        "name": line_words(line),
        "kind": line.kind,
        "style": class_of(style),
        "x": _numbers(line.x),
        "y": _numbers(line.y),
    }
    if line.names:
        found["names"] = line.names
    if line.kind not in JOINED_KINDS:
        return found | {"size": _size(line), "sign": style.cross if line.kind == "crosses" else style.marker}
    if line.low and line.high:
        found |= {"low": _numbers(line.low), "high": _numbers(line.high)}
    if line.kind != "line":
        return found | {"dashes": list(KIND_DASHES)}
    return found | {"dashes": list(style.dashes), "sign": style.marker, "signs": MARKERS_A_LINE}


def _size(line: Line) -> float:
    """The size of a point; the more there are, the smaller."""
    return 8.0 if len(line.x) <= MANY_DOTS else 5.0 if len(line.x) <= CROWD_OF_DOTS else 3.5


def _numbers(values: list[float]) -> list[float | None]:
    return [float(f"{value:.{PLOTTED_DIGITS}g}") if isfinite(value) else None for value in values]
