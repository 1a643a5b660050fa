"""A chart as a picture: a PNG on white, and an SVG that is light or dark as the reader's system is.

The only module that knows matplotlib, which it imports when the first chart is drawn. The words of a note are
put near their point, over as little of the chart as possible.
"""

from collections.abc import Iterable
from functools import cache
from io import BytesIO
from itertools import product
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from breakeven.errors import BreakevenError, how_to_install
from breakeven.errors.expect import Array
from breakeven.report.axes import along, log_axes, y_range
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
    styles_of,
)
from breakeven.report.markup import line_words
from breakeven.values.exhibit import Chart, Line, Note

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Transform

PICTURE_WIDTH, PICTURE_HEIGHT = 5.2, 3.4
LETTERS_A_TITLE = 52
LETTERS_A_NOTE = 28
MOST_LEGEND_COLUMNS = 4
PICTURE_LOOK = {
    "svg.hashsalt": "breakeven",
    "font.size": 10.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": GRID_COLOUR,
    "grid.linewidth": 0.7,
    "lines.linewidth": 1.7,
    "lines.markersize": 5.0,
    "legend.frameon": False,
}
LETTER_WIDTH, ROW_HEIGHT = 5.4, 12.5  # of a note's words, as all below in points of print
STEPS_ASIDE, STEPS_AWAY = (6.0, 18.0, 34.0), (12.0, 26.0, 44.0, 66.0, 92.0)  # tried around the point
MARKER_EDGE = np.array([(right, up) for right in (-4.0, 0.0, 4.0) for up in (-4.0, 0.0, 4.0)])
HARM_OF_COVERING, HARM_OF_LEAVING = 10.0, 1000.0  # a drawn point; the frame, or another note's box


class MissingMatplotlib(BreakevenError, ImportError):
    """Pictures need matplotlib, and it is not installed.

    >>> issubclass(MissingMatplotlib, ImportError)
    True
    """


def check_matplotlib() -> None:
    """Raise `MissingMatplotlib` if it is not installed: call it before the work for pictures is done."""
    try:
        import matplotlib  # noqa: F401  (whether it can be imported is the question)
    except ImportError as error:
        raise MissingMatplotlib(
            f"matplotlib is needed to draw figures; {how_to_install('report')}"
        ) from error


def draw(chart: Chart, styles: dict[str, LineStyle]) -> dict[str, bytes]:
    """The picture of a chart, by the ending of its file: png and svg."""
    figure = figure_of_chart(chart, styles)
    from matplotlib.style import context

    with context(["default", PICTURE_LOOK]):
        png = _saved(figure, format="png", dpi=200, metadata={"Software": None})
        svg = _saved(figure, format="svg", metadata={"Date": None, "Creator": None, "Title": chart.title})
    return {"png": png, "svg": svg.replace(b"</style>", _after_dark().encode() + b"</style>", 1)}


@cache
def _shown_figure() -> type["Figure"]:
    """The kind of figure that a notebook shows as a picture, whatever backend is in use."""
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        """A figure that knows its picture."""

        def _repr_png_(self) -> bytes:
            return _saved(self, format="png", dpi=144)

    return ShownFigure


def figure_of_chart(chart: Chart, styles: dict[str, LineStyle]) -> "Figure":
    """A chart as a matplotlib figure."""
    check_matplotlib()
    from matplotlib.style import context

    with context(["default", PICTURE_LOOK]):
        size = (PICTURE_WIDTH, PICTURE_HEIGHT)
        figure = _shown_figure()(figsize=size, layout="constrained", facecolor=PAPER_COLOUR)
        axes = figure.add_subplot(facecolor=PAPER_COLOUR)
        drawn = {
            line_words(line): _draw_line(axes, line, style_of(line, styles), chart)
            for line in chart.lines[::-1]
        }
        _scale(axes, chart)
        _draw_marks(axes, chart)
        _name(figure, chart.title, {words: drawn[words] for words in map(line_words, chart.lines)})
        axes.set_xlabel(_plain(fill(chart.x_label, LETTERS_A_TITLE)))
        axes.set_ylabel(_plain(fill(chart.y_label, LETTERS_A_NOTE)))
        figure.draw_without_rendering()  # lays it out: only then is it known where on the paper a point lies
        figure.set_layout_engine("none")
        _draw_notes(figure, axes, chart)
    return figure


def picture(chart: Chart) -> Any:
    """A chart as a matplotlib figure, which a notebook shows, and which can be saved or changed."""
    labels = list(dict.fromkeys(line.label for line in chart.lines))
    return figure_of_chart(chart, styles_of(labels, labels))


def _draw_line(axes: "Axes", line: Line, style: LineStyle, chart: Chart) -> Any:
    """Draw one line and its band; what is drawn later lies on top of it."""
    y = _seen(line.y)
    (drawn,) = axes.plot(line.x, y, color=style.colour, **_look(line, style, chart))
    if line.low is None or line.high is None:
        return drawn
    if line.kind in JOINED_KINDS:
        axes.fill_between(
            line.x, _seen(line.low), _seen(line.high), color=style.colour, alpha=0.16, linewidth=0
        )
    else:
        axes.vlines(line.x, _seen(line.low), _seen(line.high), color=style.colour, linewidth=1.1)
    return drawn


def _look(line: Line, style: LineStyle, chart: Chart) -> dict[str, Any]:
    dashes = (0, style.dashes) if style.dashes else "solid"
    match line.kind:
        case "line":
            return {"linestyle": dashes, "marker": style.marker, "markevery": _marked(line, chart)}
        case "dashed" | "reference":
            return {"linestyle": (0, KIND_DASHES), "linewidth": 1.4}
        case "dots":
            size = 6.5 if len(line.x) <= MANY_DOTS else 3.5
            return {"linestyle": "none", "marker": style.marker, "markersize": size}
        case "rings":
            return {"linestyle": "none", "marker": style.marker, "markersize": 8, "markerfacecolor": "none"}
        case "crosses":
            return {"linestyle": "none", "marker": style.cross, "markersize": 7.5, "markeredgewidth": 1.8}


def _marked(line: Line, chart: Chart) -> list[int]:
    """Which points of a line carry its marker: all if they are few, otherwise some at even distances."""
    if len(line.x) <= MARKERS_A_LINE:
        return list(range(len(line.x)))
    order = [one.label for one in chart.lines].index(line.label)
    places = (np.arange(MARKERS_A_LINE) + (order + 1) / (len(chart.lines) + 1)) / MARKERS_A_LINE
    near = np.abs(along(line.x, log=chart.log_x)[:, None] - places).argmin(axis=0)
    return sorted({int(index) for index in near})


def _scale(axes: "Axes", chart: Chart) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    shown = y_range(chart, settled=True)
    log_x, log_y = log_axes(chart)
    axes.set_xscale("log" if log_x else "linear")
    axes.set_yscale("log" if log_y else "linear")
    axes.margins(x=0.03)
    if shown is not None:
        axes.set_ylim(*shown)
    if chart.square:
        axes.set_box_aspect(1)
        axes.set_xlim(*axes.get_ylim())
    for axis in (axes.xaxis, axes.yaxis):
        low, high = axis.get_view_interval()
        if axis.get_scale() == "log":
            axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,), numticks=8))
            axis.set_minor_formatter(NullFormatter())
        axis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
    if chart.y_names:
        axes.set_yticks(range(len(chart.y_names)), [_plain(name) for name in chart.y_names])
        axes.set_ylim(len(chart.y_names) - 0.5, -0.5)


def _draw_marks(axes: "Axes", chart: Chart) -> None:
    """Draw the vertical lines, each with its words beside it at the top."""
    for mark in chart.marks:
        axes.axvline(mark.x, color=INK, linewidth=1.0, linestyle=":")
        axes.annotate(
            _plain(mark.text),
            (mark.x, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(4, -4),
            textcoords="offset points",
            va="top",
            fontsize=8,
        )


def _draw_notes(figure: "Figure", axes: "Axes", chart: Chart) -> None:
    """Write the words of each note beside its point, with a thin line between the two."""
    frame = WordBox(*_on_paper(figure, axes.transAxes, [(0.0, 0.0), (1.0, 1.0)]).ravel())
    lines = [
        inked(
            _on_paper(figure, axes.transData, zip(line.x, line.y, strict=True)),
            joined=line.kind in JOINED_KINDS,
        )
        for line in chart.lines
    ]
    taken: list[WordBox] = []
    for note in chart.notes:
        ((x, y),) = _on_paper(figure, axes.transData, [(note.x, note.y)])
        text = fill(note.text, LETTERS_A_NOTE)
        taken.append(best_box(text, (x, y), np.vstack([np.empty((0, 2)), *lines]), taken, frame))
        _draw_note(axes, note, text, taken[-1].left - x, taken[-1].bottom - y)


def _on_paper(figure: "Figure", transform: "Transform", places: Iterable[tuple[float, float]]) -> Array:
    pixels = transform.transform(np.array(list(places)).reshape(-1, 2))
    return np.asarray(pixels) * 72 / figure.dpi


def _draw_note(axes: "Axes", note: Note, text: str, right: float, up: float) -> None:
    axes.annotate(
        _plain(text),
        (note.x, note.y),
        xytext=(right, up),
        textcoords="offset points",
        ha="left",
        va="bottom",
        fontsize=9.5,
        bbox={"facecolor": PAPER_COLOUR, "edgecolor": "none", "alpha": 0.7, "pad": 0.5},
        arrowprops={
            "arrowstyle": "-",
            "color": INK,
            "linewidth": 0.7,
            "shrinkA": 0,
            "shrinkB": 2,
            "relpos": (0 if right > 0 else 1, 0 if up > 0 else 1),
        },
        zorder=5,
    )


def _name(figure: "Figure", title: str, drawn: dict[str, Any]) -> None:
    """The title and, below it, the names of the lines: above the axes, where they cover nothing."""
    for columns in range(MOST_LEGEND_COLUMNS, 0, -1):
        legend = figure.legend(
            list(drawn.values()),
            [_plain(fill(label, LETTERS_A_TITLE)) for label in drawn],
            title=_plain(fill(title, LETTERS_A_TITLE)),
            title_fontproperties={"weight": "bold", "size": 11.5},
            loc="outside upper left",
            alignment="left",
            ncols=columns,
            fontsize=9.5,
            handlelength=2.8,
            columnspacing=1.2,
            labelspacing=0.25,
            borderpad=0.2,
            borderaxespad=0.2,
        )
        if columns == 1 or legend.get_window_extent().width < figure.bbox.width:
            return
        legend.remove()


def _plain(text: str) -> str:
    return text.replace("$", r"\$")  # an amount of money, not the start of a formula


def _seen(values: list[float]) -> Any:
    numbers = np.array(values, dtype=np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _saved(figure: "Figure", **how: Any) -> bytes:
    file = BytesIO()
    figure.savefig(file, **how)
    return file.getvalue()


def _after_dark() -> str:
    """A style sheet that turns every colour into its dark one where the reader's system is dark."""
    rules = [
        f'[style*="{use}: {light}"]{{{use}:{dark}!important}}'
        for light, dark in AFTER_DARK.items()
        for use in ("fill", "stroke")
    ]
    return "\n@media (prefers-color-scheme: dark){\n" + "\n".join(rules) + "\n}\n"


# -- where the words of a note go ----------------------------------------------------------------------------


class WordBox(NamedTuple):
    """A rectangle that words fill, in points of print (1/72 inch) from the picture's lower left corner."""

    left: float
    bottom: float
    right: float
    top: float

    def covers(self, points: Array) -> int:
        """How many of the points lie in it."""
        x, y = points[:, 0], points[:, 1]
        inside = (x > self.left) & (x < self.right) & (y > self.bottom) & (y < self.top)
        return int(inside.sum())

    def meets(self, other: "WordBox") -> bool:
        """Whether the two overlap."""
        apart = self.right < other.left or other.right < self.left
        return not (apart or self.top < other.bottom or other.top < self.bottom)

    def inside(self, other: "WordBox") -> bool:
        """Whether it lies within the other."""
        across = other.left <= self.left and self.right <= other.right
        return across and other.bottom <= self.bottom and self.top <= other.top


def best_box(
    text: str, point: tuple[float, float], drawn: Array, taken: list[WordBox], frame: WordBox
) -> WordBox:
    """Where words about a point cover least of what is drawn and of the boxes already taken.

    >>> frame = WordBox(0, 0, 300, 200)
    >>> best_box("here", (10, 10), np.empty((0, 2)), [], frame).left > 10
    True
    """
    x, y = point
    rows = text.split("\n")
    width, height = LETTER_WIDTH * max(map(len, rows)), ROW_HEIGHT * len(rows)

    def harm(box: WordBox) -> float:
        distance = abs((box.left + box.right) / 2 - x) / 4 + abs((box.bottom + box.top) / 2 - y)
        crowded = HARM_OF_LEAVING * (not box.inside(frame)) + HARM_OF_LEAVING * sum(map(box.meets, taken))
        return distance + crowded + HARM_OF_COVERING * box.covers(drawn)

    lefts = [x + aside for aside in STEPS_ASIDE] + [x - aside - width for aside in STEPS_ASIDE]
    bottoms = [y + away for away in STEPS_AWAY] + [y - away - height for away in STEPS_AWAY]
    boxes = [WordBox(left, low, left + width, low + height) for left, low in product(lefts, bottoms)]
    return min(boxes, key=harm)


def inked(points: Array, *, joined: bool) -> Array:
    """Points all along what a line puts on the paper, so close together that no box fits between them."""
    points = points[np.isfinite(points).all(axis=1)]
    if not joined or len(points) < 2:
        return np.asarray(points[:, None] + MARKER_EDGE).reshape(-1, 2)
    steps = np.linspace(0, len(points) - 1, 2 * len(points) + 200)
    return np.column_stack([np.interp(steps, np.arange(len(points)), column) for column in points.T])
