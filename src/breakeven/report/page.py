"""The page: sections with their sentences, tables and figures. It needs no network and no script."""

from html import escape
from pathlib import Path
from urllib.parse import quote

from breakeven.files import write
from breakeven.report.drawing import HEIGHT, WIDTH
from breakeven.report.figures import picture_name
from breakeven.report.markup import chart_words, document, joined, paragraphs, table_box
from breakeven.report.sheet import STYLE_SHEET
from breakeven.report.wording import marked
from breakeven.values.exhibit import Chart, Figure, Section, Table


def write_page(title: str, lead: str, sections: list[Section], folder: Path) -> Path:
    """Write `index.html`, which shows and links what `write_figure` and `write_table` put into the folder."""
    return write(folder, "index.html", html(title, lead, sections).encode())


def html(title: str, lead: str, sections: list[Section]) -> str:
    """The whole page."""
    numbered = list(enumerate(sections, start=1))
    body = f"""<header>
<h1>{escape(title)}</h1>
<p class="lead">{marked(lead)}</p>
</header>
<nav aria-label="Contents">
<strong>Contents</strong>
<ol>
{joined(_content(number, section) for number, section in numbered)}
</ol>
</nav>
<main>
{joined(_section(number, section) for number, section in numbered)}
</main>"""
    return document(title, body, style=STYLE_SHEET)


def _content(number: int, section: Section) -> str:
    inside = [(f"table-{table.name}", table.title) for table in section.tables]
    inside += [(f"figure-{figure.name}", figure.title) for figure in section.figures]
    links = "".join(f'<li><a href="#{quote(id)}">{escape(title)}</a></li>' for id, title in inside)
    parts = f"<ul>{links}</ul>" if links else ""
    return f'<li><a href="#section-{number}">{escape(section.title)}</a>{parts}</li>'


def _section(number: int, section: Section) -> str:
    figures = f'<div class="figures">\n{joined(map(_figure, section.figures))}\n</div>'
    return f"""<section id="section-{number}">
<h2>{escape(section.title)}</h2>
{paragraphs(section.text)}
{joined(map(_table, section.tables))}
{figures if section.figures else ""}
</section>"""


def _table(table: Table) -> str:
    return f"""<div class="table" id="table-{escape(table.name)}">
<h3>{escape(table.title)}</h3>
{table_box(table)}
<p class="files">{_link(f"{table.name}.csv", "CSV")}</p>
</div>"""


def _figure(figure: Figure) -> str:
    wide = ' class="wide"' if len(figure.charts) > 1 else ""
    caption = f"<p>{marked(figure.caption)}</p>" if figure.caption else ""
    return f"""<figure{wide} id="figure-{escape(figure.name)}">
<h3>{escape(figure.title)}</h3>
<div class="charts">
{joined(_chart(figure, chart) for chart in figure.charts)}
</div>
<figcaption>{caption}<p class="files">{_link(f"{figure.name}.csv", "CSV: every number")}</p></figcaption>
</figure>"""


def _chart(figure: Figure, chart: Chart) -> str:
    name = picture_name(figure, chart)
    size = f'width="{WIDTH * 100:.0f}" height="{HEIGHT * 100:.0f}"'
    return f"""<div>
<img src="{quote(name)}.svg" alt="{escape(chart_words(chart))}" {size} loading="lazy">
<div class="files">{_link(f"{name}.png", "PNG")}{_link(f"{name}.svg", "SVG")}</div>
</div>"""


def _link(file: str, words: str) -> str:
    return f'<a href="{quote(file)}">{words}</a>'
