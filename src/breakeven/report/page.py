"""The page: sections with their sentences, tables and figures. It needs no network and no script."""

from collections.abc import Iterable
from html import escape
from pathlib import Path
from urllib.parse import quote

from breakeven.files import write
from breakeven.report.drawing import HEIGHT, WIDTH
from breakeven.report.figures import picture_name
from breakeven.report.sheet import STYLE_SHEET
from breakeven.report.wording import are_numbers, marked, shown
from breakeven.values.exhibit import Cell, Chart, Figure, Section, Table

LONG_TEXT = 40


def write_page(title: str, lead: str, sections: list[Section], folder: Path) -> Path:
    """Write `index.html`, which shows and links what `write_figure` and `write_table` put into the folder."""
    return write(folder, "index.html", html(title, lead, sections).encode())


def html(title: str, lead: str, sections: list[Section]) -> str:
    """The whole page."""
    numbered = list(enumerate(sections, start=1))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{STYLE_SHEET}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
<p class="lead">{marked(lead)}</p>
</header>
<nav aria-label="Contents">
<strong>Contents</strong>
<ol>
{_lines(_content(number, section) for number, section in numbered)}
</ol>
</nav>
<main>
{_lines(_section(number, section) for number, section in numbered)}
</main>
</body>
</html>
"""


def _content(number: int, section: Section) -> str:
    inside = [(f"table-{table.name}", table.title) for table in section.tables]
    inside += [(f"figure-{figure.name}", figure.title) for figure in section.figures]
    links = "".join(f'<li><a href="#{quote(id)}">{escape(title)}</a></li>' for id, title in inside)
    parts = f"<ul>{links}</ul>" if links else ""
    return f'<li><a href="#section-{number}">{escape(section.title)}</a>{parts}</li>'


def _section(number: int, section: Section) -> str:
    figures = f'<div class="figures">\n{_lines(map(_figure, section.figures))}\n</div>'
    return f"""<section id="section-{number}">
<h2>{escape(section.title)}</h2>
{_lines(f"<p>{marked(sentence)}</p>" for sentence in section.text)}
{_lines(map(_table, section.tables))}
{figures if section.figures else ""}
</section>"""


def _table(table: Table) -> str:
    columns = [_column_class([row[place] for row in table.rows]) for place in range(len(table.columns))]
    head = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>'
        for name, kind in zip(table.columns, columns, strict=True)
    )
    return f"""<div class="table" id="table-{escape(table.name)}">
<h3>{escape(table.title)}</h3>
<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.title)}"><table>
<thead><tr>{head}</tr></thead>
<tbody>
{_lines(_row(row, columns) for row in table.rows)}
</tbody>
</table></div>
<p class="files">{_link(f"{table.name}.csv", "CSV")}</p>
</div>"""


def _column_class(cells: list[Cell]) -> str:
    if are_numbers(cells):
        return ' class="number"'
    if any(isinstance(cell, str) and len(cell) > LONG_TEXT for cell in cells):
        return ' class="sentence"'
    return ""


def _row(row: list[Cell], columns: list[str]) -> str:
    cells = [f"<td{kind}>{shown(cell)}</td>" for cell, kind in zip(row, columns, strict=True)]
    return f"<tr>{''.join(cells)}</tr>"


def _figure(figure: Figure) -> str:
    wide = ' class="wide"' if len(figure.charts) > 1 else ""
    caption = f"<p>{marked(figure.caption)}</p>" if figure.caption else ""
    return f"""<figure{wide} id="figure-{escape(figure.name)}">
<h3>{escape(figure.title)}</h3>
<div class="charts">
{_lines(_chart(figure, chart) for chart in figure.charts)}
</div>
<figcaption>{caption}<p class="files">{_link(f"{figure.name}.csv", "CSV: every number")}</p></figcaption>
</figure>"""


def _chart(figure: Figure, chart: Chart) -> str:
    name = picture_name(figure, chart)
    lines = ", ".join(dict.fromkeys(line.label for line in chart.lines))
    words = f"{chart.title}: {chart.y_label} against {chart.x_label}, for {lines}"
    size = f'width="{WIDTH * 100:.0f}" height="{HEIGHT * 100:.0f}"'
    return f"""<div>
<img src="{quote(name)}.svg" alt="{escape(words)}" {size} loading="lazy">
<div class="files">{_link(f"{name}.png", "PNG")}{_link(f"{name}.svg", "SVG")}</div>
</div>"""


def _link(file: str, words: str) -> str:
    return f'<a href="{quote(file)}">{words}</a>'


def _lines(parts: Iterable[str]) -> str:
    return "\n".join(parts)
