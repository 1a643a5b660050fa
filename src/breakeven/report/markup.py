"""The parts that every page is made of: the document around it, tables, and the words for a chart."""

from collections.abc import Iterable
from html import escape

from breakeven.report.wording import are_numbers, marked, shown
from breakeven.values.exhibit import Cell, Chart, Table

LONG_TEXT = 40


def document(title: str, body: str, *, style: str, head: str = "") -> str:
    """A whole HTML document; `head` stands before everything that could load or run."""
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


def joined(parts: Iterable[str]) -> str:
    """One part a line."""
    return "\n".join(parts)


def paragraphs(sentences: Iterable[str]) -> str:
    """Each sentence as a paragraph of its own.

    >>> paragraphs(["**Twice**"])
    '<p><strong>Twice</strong></p>'
    """
    return joined(f"<p>{marked(sentence)}</p>" for sentence in sentences)


def table_box(table: Table) -> str:
    """A table that scrolls within a box of its own where it is wider than the screen."""
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


def chart_words(chart: Chart) -> str:
    """What a chart shows, for those who cannot see it.

    >>> chart_words(Chart(name="", title="Loss", x_label="round", y_label="loss", lines=[]))
    'Loss: loss against round'
    """
    labels = ", ".join(dict.fromkeys(line.label for line in chart.lines))
    return f"{chart.title}: {chart.y_label} against {chart.x_label}" + (f", for {labels}" if labels else "")


def _column_class(cells: list[Cell]) -> str:
    if are_numbers(cells):
        return ' class="number"'
    if any(isinstance(cell, str) and len(cell) > LONG_TEXT for cell in cells):
        return ' class="sentence"'
    return ""


def _row(row: list[Cell], columns: list[str]) -> str:
    cells = [f"<td{kind}>{shown(cell)}</td>" for cell, kind in zip(row, columns, strict=True)]
    return f"<tr>{''.join(cells)}</tr>"
