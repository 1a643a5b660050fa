"""A chart that answers to the pointer: the same lines and notes as the picture, as plotly reads them.

A figure is plain data; plotly itself runs in the reader's browser. Its JavaScript comes with the Python
package, which is loaded when the first page needs it.
"""

from math import floor, isfinite, log10
from typing import Any

from breakeven.errors import BreakevenError
from breakeven.report.ranges import along, by_factors, y_range
from breakeven.report.styles import GRID, INK, JOINED, PAPER, Style
from breakeven.report.traces import rows_of, traces
from breakeven.report.wording import shown
from breakeven.values.exhibit import Chart, Note

A_NOTE = {"rows": 4, "letters": 24}
A_NAME = {"rows": 2, "letters": 20}
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
    return {"data": traces(chart.lines, styles), "layout": _layout(chart)}


def _layout(chart: Chart) -> dict[str, Any]:
    joined = all(line.kind in JOINED for line in chart.lines)
    return {
        "font": FONT,
        "paper_bgcolor": PAPER,
        "plot_bgcolor": PAPER,
        "margin": {"l": 8, "r": 14, "t": 30, "b": 8},
        "xaxis": _x_axis(chart),
        "yaxis": _y_axis(chart),
        "legend": LEGEND,
        "showlegend": len(chart.lines) > 1,
        "hovermode": "x unified" if joined else "closest",
        "hoverlabel": {"bgcolor": PAPER, "bordercolor": GRID, "font": {"color": INK}, "namelength": -1},
        "annotations": [_y_name(chart), *(_note(note, chart) for note in chart.notes)],
    }


def _x_axis(chart: Chart) -> dict[str, Any]:
    log, _ = by_factors(chart)
    title = {"text": rows_of(chart.x_label), "standoff": 8, "font": {"size": FONT["size"]}}
    axis = AXIS | {"title": title, "nticks": 6, "tickangle": 0}
    seen = [x for line in chart.lines for x in line.x if isfinite(x) and x > 0]
    return axis | (_factors(min(seen), max(seen)) if log else {})


def _y_axis(chart: Chart) -> dict[str, Any]:
    _, log = by_factors(chart)
    extent = y_range(chart)
    if chart.y_names:
        places, names = (
            list(range(len(chart.y_names))),
            [rows_of(name, **A_NAME) for name in chart.y_names],
        )
        return AXIS | {"tickvals": places, "ticktext": names, "range": [len(names) - 0.5, -0.5]}
    if extent is None:
        return AXIS
    return AXIS | {"range": [_place(end, log) for end in extent]} | (_factors(*extent) if log else {})


def _factors(low: float, high: float) -> dict[str, Any]:
    """An axis by factors: ticks at powers of ten, and at their two- and fivefold where these are few."""
    steps = (1, 2, 5) if high < 100 * low else (1,)
    ticks = [
        step * 10.0**power for power in range(floor(log10(low)), floor(log10(high)) + 2) for step in steps
    ]
    return {"type": "log", "tickvals": ticks, "ticktext": [shown(tick) for tick in ticks]}


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


def _note(note: Note, chart: Chart) -> dict[str, Any]:
    """Words beside their point, on the side where there is more room."""
    log_x, log_y = by_factors(chart)
    right = along([x for line in chart.lines for x in line.x] + [note.x], log=log_x)[-1] < 0.5
    low, high = (_place(end, log_y) for end in y_range(chart) or (note.y, note.y))
    up = _place(note.y, log_y) < (low + high) / 2
    look = {"align": "left", "arrowhead": 0, "arrowwidth": 1, "arrowcolor": INK, "bgcolor": PAPER}
    return look | {
        "x": _place(note.x, log_x),
        "y": _place(note.y, log_y),
        "text": rows_of(note.text, **A_NOTE),
        "ax": 24 if right else -24,
        "ay": -28 if up else 28,
        "xanchor": "left" if right else "right",
    }


def _place(value: float, log: bool) -> float:
    return log10(value) if log and value > 0 else value
