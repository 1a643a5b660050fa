"""The HTML that every page is made of: the document, sentences, numbers, tables, style sheets and scripts.

Everything given is escaped; `code` and **bold** are the only markup in a sentence. Style sheets and scripts
are files beside this one. They are copied into the page, which stays one file that loads nothing.
"""

import re
from collections.abc import Iterable
from html import escape
from importlib.resources import files

from breakeven.values.amounts import amount
from breakeven.values.exhibit import Cell, Chart, Figure, Line, Table

CODE_OR_BOLD = re.compile(r"`([^`]+)`|\*\*(.+?)\*\*")
LONG_TEXT = 40  # a cell with more letters than that is a sentence and gets a wide column


# -- the document --------------------------------------------------------------------------------------------


def document(title: str, body: str, *, style: str, head: str = "") -> str:
    """A whole HTML document; `head` comes before everything that could load or run."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
{head}<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def asset(name: str) -> str:
    """The text of a style sheet or a script that lies beside this module, after a line break.

    >>> "--paper: #ffffff" in asset("page.css")
    True
    """
    return "\n" + files("breakeven.report").joinpath(name).read_text(encoding="utf-8")


def joined(parts: Iterable[str]) -> str:
    """The parts, each on a line of its own."""
    return "\n".join(parts)


# -- sentences and numbers -----------------------------------------------------------------------------------


def marked(text: str) -> str:
    """A sentence as HTML.

    >>> marked("**Twice** as `a < b`")
    '<strong>Twice</strong> as <code>a &lt; b</code>'
    """
    return CODE_OR_BOLD.sub(_tagged, escape(text))


def _tagged(found: re.Match[str]) -> str:
    code, bold = found.groups()
    return f"<code>{code}</code>" if code else f"<strong>{CODE_OR_BOLD.sub(_tagged, bold)}</strong>"


def paragraphs(sentences: Iterable[str]) -> str:
    """Each sentence as a paragraph of its own.

    >>> paragraphs(["**Twice**"])
    '<p><strong>Twice</strong></p>'
    """
    return joined(f"<p>{marked(sentence)}</p>" for sentence in sentences)


def shown(cell: Cell) -> str:
    """A cell as HTML; a number is rounded for reading, the CSV file has all its digits.

    >>> shown(0.123456), shown(12345.6), shown(True), shown(None), shown("a's")
    ('0.1235', '12,346', 'yes', '', "a's")
    """
    match cell:
        case None:
            return ""
        case bool():
            return "yes" if cell else "no"
        case int() | float():
            return amount(cell).replace("-", "−")
    return escape(cell, quote=False)


# -- tables --------------------------------------------------------------------------------------------------


def table_box(table: Table) -> str:
    """A table in a box that scrolls sideways where the screen is too narrow for it."""
    columns = [_column_class([row[place] for row in table.rows]) for place in range(len(table.columns))]
    head = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>'
        for name, kind in zip(table.columns, columns, strict=True)
    )
    return f"""<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.title)}"><table>
<thead><tr>{head}</tr></thead>
<tbody>
{joined(_row(row, columns) for row in table.rows)}
</tbody>
</table></div>"""


def are_numbers(cells: list[Cell]) -> bool:
    """Whether a column holds numbers only; cells may be empty, but not all of them.

    >>> are_numbers([1.0, None, 0]), are_numbers([True]), are_numbers([None])
    (True, False, False)
    """
    there = [cell for cell in cells if cell is not None]
    return bool(there) and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in there)


def _column_class(cells: list[Cell]) -> str:
    if are_numbers(cells):
        return ' class="number"'
    if any(isinstance(cell, str) and len(cell) > LONG_TEXT for cell in cells):
        return ' class="sentence"'
    return ""


def _row(row: list[Cell], columns: list[str]) -> str:
    cells = [f"<td{kind}>{shown(cell)}</td>" for cell, kind in zip(row, columns, strict=True)]
    return f"<tr>{''.join(cells)}</tr>"


# -- what charts and lines are called ------------------------------------------------------------------------


def chart_words(chart: Chart) -> str:
    """What a chart shows, for readers who cannot see it.

    >>> chart_words(Chart(name="", title="Loss", x_label="round", y_label="loss", lines=[]))
    'Loss: loss against round'
    """
    labels = ", ".join(dict.fromkeys(line.label for line in chart.lines))
    return f"{chart.title}: {chart.y_label} against {chart.x_label}" + (f", for {labels}" if labels else "")


def line_words(line: Line) -> str:
    """What a line is called in a legend.

    >>> line_words(Line(label="Value", x=[], y=[], remark="20 trials"))
    'Value, 20 trials'
    """
    return f"{line.label}, {line.remark}" if line.remark else line.label


def picture_name(figure: Figure, chart: Chart) -> str:
    """The name of a chart's files; the only chart of a figure has the figure's own name."""
    return figure.name if len(figure.charts) == 1 else f"{figure.name}-{chart.name}"
