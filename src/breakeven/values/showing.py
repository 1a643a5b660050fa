"""How things show themselves in a notebook: small tables as HTML, and charts handed to whoever can draw.

Nothing here draws: who does is an entry point of the installed package (`breakeven.drawing`), loaded with the
first figure. Tables have no colours of their own, so they are readable on light and on dark pages.
"""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from breakeven.values.bill import Bill
from breakeven.values.exhibit import Chart

NUMBER_STYLE = ' style="text-align:right"'
NAME_STYLE = ' style="text-align:left;white-space:nowrap"'
TEXT_STYLE = ' style="text-align:left"'


def plotted(chart: Chart) -> Any:
    """A chart as a matplotlib figure."""
    return _who_draws("chart")(chart)


def page_written(bill: Bill, path: Path) -> Path:
    """The page of a bill, written to a file."""
    written: Path = _who_draws("page")(bill, path)
    return written


def _who_draws(what: str) -> Callable[..., Any]:
    """What draws a chart as a matplotlib figure, or writes the page of a bill to a file."""
    found: Callable[..., Any] = next(iter(entry_points(group="breakeven.drawing", name=what))).load()
    return found


def facts_table(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """Names and values below a title.

    >>> facts_table("bill <1>", [("labels", "72")]).count("<td"), "&lt;1&gt;" in facts_table("bill <1>", [])
    (1, True)
    """
    rows = "".join(
        f"<tr><th{NAME_STYLE}>{escape(name)}</th><td{TEXT_STYLE}>{escape(value)}</td></tr>"
        for name, value in facts
    )
    return f"<table>{_caption(title)}<tbody>{rows}</tbody></table>"


def columns_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Named columns and their rows: the first is a name, the others are numbers."""
    head = "".join(
        f'<th scope="col"{NUMBER_STYLE if i else NAME_STYLE}>{escape(name)}</th>'
        for i, name in enumerate(columns)
    )
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in rows)
    return f"<table>{_caption(title)}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(row: Sequence[str]) -> str:
    name, *numbers = row
    cells = "".join(f"<td{NUMBER_STYLE}>{escape(number)}</td>" for number in numbers)
    return f'<th scope="row"{NAME_STYLE}>{escape(name)}</th>{cells}'


def _caption(title: str) -> str:
    return f"<caption{NAME_STYLE}><b>{escape(title)}</b></caption>"


def lines_table(title: str, text: str) -> str:
    """Lines of a name, a gap of two spaces or more, and a value, as a table; other lines stay whole.

    >>> lines_table("bill", "rounds            4").count("<td")
    1
    """
    facts = []
    for line in text.splitlines():
        name, _, value = line.partition("  ")
        facts.append((name.strip(), value.strip()) if value.strip() else ("", line.strip()))
    return facts_table(title, facts)
