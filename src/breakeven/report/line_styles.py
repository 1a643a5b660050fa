"""What a line looks like: colour, dashes and marker, each of which is enough to tell it from the others.

Well-known labels always look the same. Any other label gets a style that follows from its letters, or the
next free one if another label of the figure has it already. There are twice as many styles as colours: the
second half has the colours of the first with other dashes and markers.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

from breakeven.values.exhibit import Line

INK, QUIET_INK, GRID_COLOUR, PAPER_COLOUR = "#1f2328", "#59626e", "#d9dde2", "#ffffff"
PAGE_AFTER_DARK = {INK: "#e4e7eb", QUIET_INK: "#a3acb8", GRID_COLOUR: "#363b43", PAPER_COLOUR: "#16181c"}
JOINED_KINDS = ("line", "dashed", "reference")  # kinds of line whose points are joined
KIND_DASHES = (4, 2.2)  # of the kinds "dashed" and "reference", whatever the label
MARKERS_A_LINE = 7
MANY_DOTS = 50  # above this number, dots are drawn smaller


class LineStyle(NamedTuple):
    """How one label is drawn. `dashes` are lengths drawn and left out, in line widths; () is a solid line."""

    colour: str
    dark: str
    dashes: tuple[float, ...]
    marker: str
    cross: str


REFERENCE_STYLE = LineStyle(QUIET_INK, PAGE_AFTER_DARK[QUIET_INK], KIND_DASHES, "o", "x")
FIRST_STYLES = (
    LineStyle("#0072b2", "#56b4e9", (), "o", "x"),
    LineStyle("#c94f00", "#ff8c42", (), "s", "+"),
    LineStyle("#00795a", "#2fcfa0", (6, 1.5), "^", "x"),
    LineStyle("#b0477f", "#f09ac8", (4, 1.2, 1, 1.2), "D", "+"),
    LineStyle("#9a6b00", "#f0c040", (9, 2), "v", "x"),
    LineStyle("#6b7280", "#a7afba", (1.2, 1.2), "P", "+"),
    LineStyle("#33383f", "#d5d9df", (3, 1.2, 1, 1.2, 1, 1.2), "X", "x"),
    LineStyle("#6a4fc4", "#b3a1ff", (2.5, 1.2), "<", "+"),
)
LINE_STYLES = FIRST_STYLES + tuple(
    style._replace(dashes=other.dashes, marker=marker, cross=other.cross)
    for style, other, marker in zip(
        FIRST_STYLES, FIRST_STYLES[3:] + FIRST_STYLES[:3], ">pdh*8XP", strict=True
    )
)
AFTER_DARK = PAGE_AFTER_DARK | {style.colour: style.dark for style in LINE_STYLES}
KNOWN_LABELS = (
    "Algorithm 1",
    "Algorithm 2",
    "Random Select",
    "VAR-UNCERTAINTY",
    "Naive Algorithm 1",
    "Label all",
    "Never",
    "Random, best p",
    "Value",
    "Value, horizon unknown",
)


def styles_of(labels: Iterable[str], known: Sequence[str] = KNOWN_LABELS) -> dict[str, LineStyle]:
    """A style for each label; a `known` label gets the style of its place in that list.

    No two labels share a style, unless there are more labels than styles.

    >>> styles_of(["Random Select"])["Random Select"].marker
    '^'
    """
    wanted = list(dict.fromkeys(labels))
    places = {label: known.index(label) % len(LINE_STYLES) for label in wanted if label in known}
    for label in wanted:
        if label not in places:
            places[label] = _place(label, set(places.values()))
    return {label: LINE_STYLES[place] for label, place in places.items()}


def style_of(line: Line, styles: dict[str, LineStyle]) -> LineStyle:
    """The style of a line; all references look the same."""
    return REFERENCE_STYLE if line.kind == "reference" else styles[line.label]


def _place(label: str, taken: set[int]) -> int:
    start, half = crc32(label.encode()), len(FIRST_STYLES)
    places = [(start + step) % half + step // half * half for step in range(len(LINE_STYLES))]
    return next((place for place in places if place not in taken), places[0])
