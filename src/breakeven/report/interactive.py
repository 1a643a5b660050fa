"""A chart that answers to the pointer: the same lines as in a picture, as plotly reads them.

A figure is plain data, and plotly itself runs in the reader's browser. Its JavaScript comes with the Python
package, which is imported when the first page needs it. Notes and names along y are drawn in pictures only.
"""

from html import escape
from math import floor, isfinite, log10
from textwrap import wrap
from typing import Any

from breakeven.errors import BreakevenError
from breakeven.errors.installing import how_to_install
from breakeven.report.axes import ROOM_BY_FACTOR, in_units, log_axes, y_range
from breakeven.report.line_styles import (
    AFTER_DARK,
    GRID_COLOUR,
    INK,
    JOINED_KINDS,
    KIND_DASHES,
    MANY_DOTS,
    MARKERS_A_LINE,
    PAPER_COLOUR,
    LineStyle,
    style_of,
)
from breakeven.report.markup import line_words, shown
from breakeven.values.exhibit import Chart, Line

PLOTLY_FONT = {"family": 'system-ui, "Segoe UI", Roboto, sans-serif', "size": 13, "color": INK}
PLOTLY_LEGEND = {
    "orientation": "h", "traceorder": "reversed", "bgcolor": PAPER_COLOUR,
    "x": 0, "xanchor": "left", "y": 1.1, "yanchor": "bottom",  # above the name of y, where it covers nothing
}  # fmt: skip
PLOTLY_AXIS = {
    "automargin": True,
    "color": INK,
    "gridcolor": GRID_COLOUR,
    "linecolor": GRID_COLOUR,
    "zeroline": False,
    "exponentformat": "none",
    "separatethousands": True,
    "hoverformat": ",.6~r",
}
TICK_STEPS = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8))  # within a power of ten
FEWEST_TICKS = 3  # the first of the steps that gives as many is taken
PHONE_LETTERS = 30  # what fits into a row on a phone
PLOTLY_LINE_WIDTH = 2.0
PLOTTED_DIGITS = 7  # finer than any screen
CROWD_OF_DOTS = 1_000  # above this number, dots are drawn smallest
PLOTLY_SYMBOLS = {
    "o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down", "P": "cross",
    "X": "x", "<": "triangle-left", ">": "triangle-right", "p": "pentagon", "d": "diamond-tall",
    "h": "hexagon", "*": "star", "8": "octagon", "x": "x-thin", "+": "cross-thin",
}  # fmt: skip


class MissingPlotly(BreakevenError, ImportError):
    """The report needs plotly, and it is not installed.

    >>> issubclass(MissingPlotly, ImportError)
    True
    """


def check_plotly() -> None:
    """Raise `MissingPlotly` if plotly is not installed: call it before the work for a report is done."""
    try:
        import plotly  # noqa: F401  (whether it can be imported is the question)
    except ImportError as error:
        raise MissingPlotly(f"plotly is needed to write the report; {how_to_install('report')}") from error


def plotly_script() -> str:
    """Plotly's own JavaScript, which a page needs once."""
    check_plotly()
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def plotted(chart: Chart, styles: dict[str, LineStyle]) -> dict[str, Any]:
    """The chart as plotly's `data` and `layout`, in light colours.

    >>> drawn = plotted(Chart(name="", title="", x_label="round", y_label="loss", lines=[]), {})
    >>> drawn["layout"]["xaxis"]["title"]["text"]
    'round'
    """
    chart, x_sign, y_sign = in_units(chart)
    layout = _layout(chart) | {"xaxis": _x_axis(chart, x_sign), "yaxis": _y_axis(chart, y_sign)}
    return {"data": traces(chart.lines, styles), "layout": layout}


def _layout(chart: Chart) -> dict[str, Any]:
    joined = all(line.kind in JOINED_KINDS for line in chart.lines)
    return {
        "font": PLOTLY_FONT,
        "paper_bgcolor": PAPER_COLOUR,
        "plot_bgcolor": PAPER_COLOUR,
        "margin": {"l": 8, "r": 14, "t": 30, "b": 8},
        "legend": PLOTLY_LEGEND,
        "showlegend": len(chart.lines) > 1,
        "hovermode": "x unified" if joined else "closest",
        "hoverlabel": {
            "bgcolor": PAPER_COLOUR,
            "bordercolor": GRID_COLOUR,
            "font": {"color": INK},
            "namelength": -1,
        },
        "annotations": [_y_name(chart)],
    }


def _x_axis(chart: Chart, sign: str) -> dict[str, Any]:
    title = {"text": rows_of(chart.x_label), "standoff": 8, "font": {"size": PLOTLY_FONT["size"]}}
    axis = PLOTLY_AXIS | {"title": title, "tickangle": 0, "ticksuffix": sign}
    if chart.square:
        return axis | {"range": y_range(chart), "constrain": "domain", "constraintoward": "left"}
    log, _ = log_axes(chart)
    seen = [x for line in chart.lines for x in line.x if isfinite(x) and x > 0]
    return axis | (_log_axis(min(seen) / ROOM_BY_FACTOR, max(seen) * ROOM_BY_FACTOR) if log else {})


def _y_axis(chart: Chart, sign: str) -> dict[str, Any]:
    axis, extent = PLOTLY_AXIS | {"ticksuffix": sign}, y_range(chart)
    if extent is None:
        return axis
    _, log = log_axes(chart)
    same = {"scaleanchor": "x", "constrain": "domain", "constraintoward": "top"} if chart.square else {}
    return axis | same | (_log_axis(*extent) if log else {"range": extent})


def _log_axis(low: float, high: float) -> dict[str, Any]:
    """A logarithmic axis with ticks at powers of ten, and between them where there would be too few."""
    powers = range(floor(log10(low)), floor(log10(high)) + 1)
    for steps in TICK_STEPS:
        ticks = [step * 10.0**power for power in powers for step in steps]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) >= FEWEST_TICKS:
            break
    ends = {"type": "log", "range": [log10(low), log10(high)]}
    return ends | {"tickvals": ticks, "ticktext": [shown(tick) for tick in ticks]}


def _y_name(chart: Chart) -> dict[str, Any]:
    """The name of y, written across above its axis: upright it would take width from a phone."""
    place = {
        "xref": "paper",
        "x": 0,
        "xanchor": "left",
        "yref": "paper",
        "y": 1,
        "yanchor": "bottom",
        "yshift": 4,
    }
    return place | {"text": rows_of(chart.y_label, rows=1), "showarrow": False}


# -- lines ---------------------------------------------------------------------------------------------------


def traces(lines: list[Line], styles: dict[str, LineStyle]) -> list[dict[str, Any]]:
    """The bands and lines as plotly draws them: what comes later lies on top, so the first line comes last.

    >>> style = LineStyle("#0072b2", "#56b4e9", (6, 1.5), "o", "x")
    >>> traces([Line(label="Value", x=[1.0], y=[2.0])], {"Value": style})[0]["line"]["dash"]
    '12px,3px'
    """
    upwards = [(line, style_of(line, styles)) for line in lines[::-1]]
    bands = [
        _band(line, style) for line, style in upwards if line.low and line.high and line.kind in JOINED_KINDS
    ]
    return [*bands, *(_trace(line, style) for line, style in upwards)]


def after_dark() -> dict[str, str]:
    """The dark colour for every light colour, also for those of bands."""
    return AFTER_DARK | {_faint(light): _faint(dark) for light, dark in AFTER_DARK.items()}


def rows_of(words: str, rows: int = 2, letters: int = PHONE_LETTERS) -> str:
    """Words in a few rows, cut if they are too long; escaped, because plotly has some markup of its own.

    >>> rows_of("a <b> c", letters=5), rows_of("too long", rows=1, letters=5)
    ('a &lt;b&gt;<br>c', 'too…')
    """
    there = wrap(words, letters, max_lines=rows, placeholder="…")
    return "<br>".join(escape(row, quote=False) for row in there)


def _trace(line: Line, style: LineStyle) -> dict[str, Any]:
    points = {"name": rows_of(line_words(line)), "x": _numbers(line.x), "y": _numbers(line.y)}
    names = {"text": [rows_of(name) for name in line.names]} if line.names else {}
    return {"type": "scatter", **points, **names, **_look(line, style)}


def _look(line: Line, style: LineStyle) -> dict[str, Any]:
    symbol, colour = PLOTLY_SYMBOLS[style.marker], style.colour
    match line.kind:
        case "line":
            marker = {"color": colour, "symbol": symbol, "size": 8, "maxdisplayed": MARKERS_A_LINE}
            return {"mode": "lines+markers", "line": _stroke(colour, style.dashes), "marker": marker}
        case "dashed" | "reference":
            return {"mode": "lines", "line": _stroke(colour, KIND_DASHES)}
        case "dots":
            return _points(color=colour, symbol=symbol, size=_size(line, 9), opacity=_opacity(line))
        case "rings":
            ring = {"symbol": f"{symbol}-open", "size": _size(line, 10), "line": {"width": 1.5}}
            return _points(color=colour, opacity=_opacity(line), **ring)
        case "crosses":
            stroke = {"color": colour, "width": 2.0 if len(line.x) <= CROWD_OF_DOTS else 1.2}
            return _points(color=colour, symbol=PLOTLY_SYMBOLS[style.cross], size=_size(line, 8), line=stroke)


def _size(line: Line, few: int) -> int:
    """The size of a point; the more there are, the smaller."""
    return few if len(line.x) <= MANY_DOTS else 6 if len(line.x) <= CROWD_OF_DOTS else 4


def _opacity(line: Line) -> float:
    return 1.0 if len(line.x) <= MANY_DOTS else 0.8  # a fainter dot could hardly be seen alone


def _stroke(colour: str, dashes: tuple[float, ...]) -> dict[str, Any]:
    lengths = ",".join(f"{length * PLOTLY_LINE_WIDTH:g}px" for length in dashes)
    return {"color": colour, "width": PLOTLY_LINE_WIDTH, "dash": lengths or "solid"}


def _points(**marker: Any) -> dict[str, Any]:
    return {"mode": "markers", "marker": marker}


def _band(line: Line, style: LineStyle) -> dict[str, Any]:
    """The band around a line: there along its upper end and back along its lower end."""
    ends = zip(line.x, line.low or [], line.high or [], strict=True)
    seen = [end for end in ends if all(map(isfinite, end))]
    return {
        "type": "scatter",
        "x": _numbers([x for x, _, _ in seen] + [x for x, _, _ in seen[::-1]]),
        "y": _numbers([high for _, _, high in seen] + [low for _, low, _ in seen[::-1]]),
        "mode": "lines",
        "line": {"width": 0},
        "fill": "toself",
        "fillcolor": _faint(style.colour),
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.16)"


def _numbers(values: list[float]) -> list[float | None]:
    return [float(f"{value:.{PLOTTED_DIGITS}g}") if isfinite(value) else None for value in values]
