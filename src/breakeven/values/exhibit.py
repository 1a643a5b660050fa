"""What a report shows, as plain data: charts, tables and the sections that hold them.

These values say what is shown; how it is drawn is decided in `breakeven.report`.
"""

from typing import Literal

from msgspec import Struct

Cell = str | int | float | bool | None
"""What a cell of a table may hold."""


class Line(Struct, frozen=True, kw_only=True):
    """One named series of points; `low` and `high` are the band around it.

    A `remark` stands behind the label, and unlike it says nothing of how the line looks. A "reference" is
    what the others are read against. `names` say which each point is, where a reader can ask.

    >>> Line(label="Random Select", x=[1, 2], y=[10.0, 5.0]).kind
    'line'
    """

    label: str
    x: list[float]
    y: list[float]
    low: list[float] | None = None
    high: list[float] | None = None
    kind: Literal["line", "dashed", "reference", "dots", "rings", "crosses"] = "line"
    remark: str = ""
    names: list[str] = []


class Note(Struct, frozen=True):
    """Words at a place of a chart.

    >>> Note(3.0, 1.5, "crossed here").text
    'crossed here'
    """

    x: float
    y: float
    text: str


class Mark(Struct, frozen=True):
    """A vertical line through a chart, with words beside it.

    >>> Mark(12.0, "your cost").text
    'your cost'
    """

    x: float
    text: str


class Chart(Struct, frozen=True, kw_only=True):
    """One pair of axes. `name` tells it from the other charts of its figure and is part of a file's name.

    With `y_names` the y axis has names instead of numbers, from the top: y = 0, 1, … are their places. Where
    it is `square`, x and y are of one kind and share their scale.

    >>> Chart(name="loss", title="Branin", x_label="round", y_label="average loss", lines=[]).log_x
    False
    """

    name: str
    title: str
    x_label: str
    y_label: str
    lines: list[Line]
    notes: list[Note] = []
    marks: list[Mark] = []
    log_x: bool = False
    log_y: bool = False
    y_names: list[str] = []
    square: bool = False


class Table(Struct, frozen=True, kw_only=True):
    """Named columns and their rows; numbers stay numbers, to the last digit.

    >>> Table(name="bill", title="The bill", columns=["method", "loss"], rows=[["Never", 0.25]]).rows[0][1]
    0.25
    """

    name: str
    title: str
    columns: list[str]
    rows: list[list[Cell]]


class Figure(Struct, frozen=True, kw_only=True):
    """Charts that belong together, and the table of every number behind them.

    >>> table = Table(name="branin", title="", columns=[], rows=[])
    >>> Figure(name="branin", title="Branin", charts=[], data=table).caption
    ''
    """

    name: str
    title: str
    charts: list[Chart]
    data: Table
    caption: str = ""


class Section(Struct, frozen=True, kw_only=True):
    """A part of a report: some sentences, then its tables and figures.

    >>> Section(title="Rates", text=["Upper bounds: smaller is no contradiction."]).figures
    []
    """

    title: str
    text: list[str] = []
    tables: list[Table] = []
    figures: list[Figure] = []
