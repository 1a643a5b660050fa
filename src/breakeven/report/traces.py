"""Lines as plotly reads them: the same kinds, colours, dashes and markers as in a picture."""

from html import escape
from math import isfinite
from textwrap import wrap
from typing import Any

from breakeven.report.styles import AFTER_DARK, DASHES, JOINED, MANY_DOTS, MARKERS_A_LINE, Style, style_of
from breakeven.report.wording import line_words
from breakeven.values.exhibit import Line

LETTERS_A_ROW = 30  # what fits on a phone
LINE_WIDTH = 2.0
DIGITS = 7  # finer than any screen
CROWD = 1_000  # dots, beyond which they are smallest
SYMBOLS = {
    "o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down", "P": "cross",
    "X": "x", "<": "triangle-left", ">": "triangle-right", "p": "pentagon", "d": "diamond-tall",
    "h": "hexagon", "*": "star", "8": "octagon", "x": "x-thin", "+": "cross-thin",
}  # fmt: skip


def traces(lines: list[Line], styles: dict[str, Style]) -> list[dict[str, Any]]:
    """The bands, then the lines; what comes later lies on top, and the first line does.

    >>> style = Style("#0072b2", "#56b4e9", (6, 1.5), "o", "x")
    >>> traces([Line(label="Value", x=[1.0], y=[2.0])], {"Value": style})[0]["line"]["dash"]
    '12px,3px'
    """
    upwards = [(line, style_of(line, styles)) for line in lines[::-1]]
    bands = [_band(line, style) for line, style in upwards if line.low and line.high and line.kind in JOINED]
    return [*bands, *(_trace(line, style) for line, style in upwards)]


def after_dark() -> dict[str, str]:
    """The dark colour for every light one, those of bands too."""
    return AFTER_DARK | {_faint(light): _faint(dark) for light, dark in AFTER_DARK.items()}


def rows_of(words: str, rows: int = 2, letters: int = LETTERS_A_ROW) -> str:
    """Words in a few rows, escaped: plotly knows some markup of its own.

    >>> rows_of("a <b> c", letters=5), rows_of("too long", rows=1, letters=5)
    ('a &lt;b&gt;<br>c', 'too…')
    """
    there = wrap(words, letters, max_lines=rows, placeholder="…")
    return "<br>".join(escape(row, quote=False) for row in there)


def _trace(line: Line, style: Style) -> dict[str, Any]:
    points = {"name": rows_of(line_words(line)), "x": _numbers(line.x), "y": _numbers(line.y)}
    names = {"text": [rows_of(name) for name in line.names]} if line.names else {}
    return {"type": "scatter", **points, **names, **_look(line, style)}


def _look(line: Line, style: Style) -> dict[str, Any]:
    symbol, colour = SYMBOLS[style.marker], style.colour
    match line.kind:
        case "line":
            marker = {"color": colour, "symbol": symbol, "size": 8, "maxdisplayed": MARKERS_A_LINE}
            return {"mode": "lines+markers", "line": _stroke(colour, style.dashes), "marker": marker}
        case "dashed" | "reference":
            return {"mode": "lines", "line": _stroke(colour, DASHES)}
        case "dots":
            return _points(color=colour, symbol=symbol, size=_size(line, 9), opacity=_opacity(line))
        case "rings":
            ring = {"symbol": f"{symbol}-open", "size": _size(line, 10), "line": {"width": 1.5}}
            return _points(color=colour, opacity=_opacity(line), **ring)
        case "crosses":
            stroke = {"color": colour, "width": 2.0 if len(line.x) <= CROWD else 1.2}
            return _points(color=colour, symbol=SYMBOLS[style.cross], size=_size(line, 8), line=stroke)


def _size(line: Line, few: int) -> int:
    """Smaller, the more there are."""
    return few if len(line.x) <= MANY_DOTS else 6 if len(line.x) <= CROWD else 4


def _opacity(line: Line) -> float:
    return 1.0 if len(line.x) <= MANY_DOTS else 0.8  # fainter ones could hardly be seen alone


def _stroke(colour: str, dashes: tuple[float, ...]) -> dict[str, Any]:
    lengths = ",".join(f"{length * LINE_WIDTH:g}px" for length in dashes)
    return {"color": colour, "width": LINE_WIDTH, "dash": lengths or "solid"}


def _points(**marker: Any) -> dict[str, Any]:
    return {"mode": "markers", "marker": marker}


def _band(line: Line, style: Style) -> dict[str, Any]:
    """The band around a line: along its upper end, and back along the lower one."""
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
    return [float(f"{value:.{DIGITS}g}") if isfinite(value) else None for value in values]
