"""What a line looks like: colour, dashes and marker, each enough to tell it from the others.

Well-known labels always look the same. Any other label starts from a place of its own among the styles,
and moves on only if a label before it took that place. The second half repeats the colours of the first.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

from breakeven.values.exhibit import Line

INK, QUIET, GRID, PAPER = "#1f2328", "#59626e", "#d9dde2", "#ffffff"
JOINED = ("line", "dashed", "reference")  # the kinds of line whose points hang together
DASHES = (4, 2.2)  # of lines that are dashed by their kind
MARKERS_A_LINE = 7
MANY_DOTS = 50  # beyond that they are drawn smaller
AFTER_DARK = {INK: "#e4e7eb", QUIET: "#a3acb8", GRID: "#363b43", PAPER: "#16181c"}


class Style(NamedTuple):
    """How one label is drawn. `dashes` are lengths drawn and left out, in line widths; none is solid."""

    colour: str
    dark: str
    dashes: tuple[float, ...]
    marker: str
    cross: str


REFERENCE = Style(QUIET, AFTER_DARK[QUIET], DASHES, "o", "x")
FIRST = (
    Style("#0072b2", "#56b4e9", (), "o", "x"),
    Style("#c94f00", "#ff8c42", (), "s", "+"),
    Style("#00795a", "#2fcfa0", (6, 1.5), "^", "x"),
    Style("#b0477f", "#f09ac8", (4, 1.2, 1, 1.2), "D", "+"),
    Style("#9a6b00", "#f0c040", (9, 2), "v", "x"),
    Style("#6b7280", "#a7afba", (1.2, 1.2), "P", "+"),
    Style("#33383f", "#d5d9df", (3, 1.2, 1, 1.2, 1, 1.2), "X", "x"),
    Style("#6a4fc4", "#b3a1ff", (2.5, 1.2), "<", "+"),
)
STYLES = FIRST + tuple(
    style._replace(dashes=other.dashes, marker=marker, cross=other.cross)
    for style, other, marker in zip(FIRST, FIRST[3:] + FIRST[:3], ">pdh*8XP", strict=True)
)
KNOWN = (
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
AFTER_DARK |= {style.colour: style.dark for style in STYLES}


def styles_of(labels: Iterable[str], known: Sequence[str] = KNOWN) -> dict[str, Style]:
    """A style for each label, a `known` one's by its place; as many differ as there are styles.

    >>> styles_of(["Random Select"])["Random Select"].marker
    '^'
    """
    wanted = list(dict.fromkeys(labels))
    places = {label: known.index(label) % len(STYLES) for label in wanted if label in known}
    for label in wanted:
        if label not in places:
            places[label] = _place(label, set(places.values()))
    return {label: STYLES[place] for label, place in places.items()}


def style_of(line: Line, styles: dict[str, Style]) -> Style:
    """The style of a line; all references look the same."""
    return REFERENCE if line.kind == "reference" else styles[line.label]


def _place(label: str, taken: set[int]) -> int:
    start, half = crc32(label.encode()), len(FIRST)
    places = [(start + step) % half + step // half * half for step in range(len(STYLES))]
    return next((place for place in places if place not in taken), places[0])
