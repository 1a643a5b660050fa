"""A chart that answers to the pointer: the same lines as in a picture, as plotly reads them.

A figure is plain data; plotly itself runs in the reader's browser. Its JavaScript comes with the Python
package, which is loaded when the first page needs it. Notes, and names along y, are for pictures alone.
"""

from math import floor, isfinite, log10
from typing import Any

from breakeven.errors import BreakevenError
from breakeven.report.ranges import ROOM_BY_FACTOR, by_factors, y_range
from breakeven.report.styles import GRID, INK, JOINED, PAPER, Style
from breakeven.report.traces import rows_of, traces
from breakeven.report.units import in_units
from breakeven.report.wording import shown
from breakeven.values.exhibit import Chart

FONT = {"family": 'system-ui, "Segoe UI", Roboto, sans-serif', "size": 13, "color": INK}
LEGEND = {
    "orientation": "h", "traceorder": "reversed", "bgcolor": PAPER,
    "x": 0, "xanchor": "left", "y": 1.1, "yanchor": "bottom",  # over the name of y, where it covers nothing
}  # fmt: skip
AXIS = {
    "automargin": True,
    "color": INK,
    "gridcolor": GRID,
    "linecolor": GRID,
    "zeroline": False,
    "exponentformat": "none",
    "separatethousands": True,
    "hoverformat": ",.6~r",
}
STEPS = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8))  # within a power of ten, the fewest that are enough
ENOUGH_TICKS = 3


class MissingPlotly(BreakevenError, ImportError):
    """The report needs plotly, and it is not installed.

    >>> issubclass(MissingPlotly, ImportError)
    True
    """


def check_plotly() -> None:
    """Raise where no report can be written, before the work for it is done."""
    try:
        import plotly  # noqa: F401  (whether it can be imported is the question)
    except ImportError as error:
        raise MissingPlotly(
            "plotly is needed to write the report; install it with `pip install 'breakeven[report]'`"
        ) from error


def plotly_script() -> str:
    """Plotly's own JavaScript, to be put into a page once."""
    check_plotly()
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def plotted(chart: Chart, styles: dict[str, Style]) -> dict[str, Any]:
    """The chart as plotly's `data` and `layout`, in the colours of light.

    >>> drawn = plotted(Chart(name="", title="", x_label="round", y_label="loss", lines=[]), {})
    >>> drawn["layout"]["xaxis"]["title"]["text"]
    'round'
    """
    chart, x_sign, y_sign = in_units(chart)
    layout = _layout(chart) | {"xaxis": _x_axis(chart, x_sign), "yaxis": _y_axis(chart, y_sign)}
    return {"data": traces(chart.lines, styles), "layout": layout}


def _layout(chart: Chart) -> dict[str, Any]:
    joined = all(line.kind in JOINED for line in chart.lines)
    return {
        "font": FONT,
        "paper_bgcolor": PAPER,
        "plot_bgcolor": PAPER,
        "margin": {"l": 8, "r": 14, "t": 30, "b": 8},
        "legend": LEGEND,
        "showlegend": len(chart.lines) > 1,
        "hovermode": "x unified" if joined else "closest",
        "hoverlabel": {"bgcolor": PAPER, "bordercolor": GRID, "font": {"color": INK}, "namelength": -1},
        "annotations": [_y_name(chart)],
    }


def _x_axis(chart: Chart, sign: str) -> dict[str, Any]:
    title = {"text": rows_of(chart.x_label), "standoff": 8, "font": {"size": FONT["size"]}}
    axis = AXIS | {"title": title, "tickangle": 0, "ticksuffix": sign}
    if chart.square:
        return axis | {"range": y_range(chart), "constrain": "domain", "constraintoward": "left"}
    log, _ = by_factors(chart)
    seen = [x for line in chart.lines for x in line.x if isfinite(x) and x > 0]
    return axis | (_factors(min(seen) / ROOM_BY_FACTOR, max(seen) * ROOM_BY_FACTOR) if log else {})


def _y_axis(chart: Chart, sign: str) -> dict[str, Any]:
    axis, extent = AXIS | {"ticksuffix": sign}, y_range(chart)
    if extent is None:
        return axis
    _, log = by_factors(chart)
    same = {"scaleanchor": "x", "constrain": "domain", "constraintoward": "top"} if chart.square else {}
    return axis | same | (_factors(*extent) if log else {"range": extent})


def _factors(low: float, high: float) -> dict[str, Any]:
    """An axis by factors, with ticks at powers of ten, and between them where these are few."""
    powers = range(floor(log10(low)), floor(log10(high)) + 1)
    for steps in STEPS:
        ticks = [step * 10.0**power for power in powers for step in steps]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) >= ENOUGH_TICKS:
            break
    ends = {"type": "log", "range": [log10(low), log10(high)]}
    return ends | {"tickvals": ticks, "ticktext": [shown(tick) for tick in ticks]}


def _y_name(chart: Chart) -> dict[str, Any]:
    """What y is, level over its axis: upright it would take width from a phone."""
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
