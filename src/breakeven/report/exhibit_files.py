"""Exhibits as files: pictures of every chart, tables as CSV, and the page or the document that shows them.

`write_figure` and `write_table` put their files into a folder; `write_page` and `markdown` link to them. A
CSV file has every digit of every number, so that reading it back gives the same table.
"""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from breakeven.files import write
from breakeven.report.drawing import PICTURE_HEIGHT, PICTURE_WIDTH, draw
from breakeven.report.line_styles import styles_of
from breakeven.report.markup import (
    are_numbers,
    asset,
    chart_words,
    document,
    joined,
    marked,
    paragraphs,
    picture_name,
    shown,
    table_box,
)
from breakeven.values.exhibit import Cell, Chart, Figure, Section, Table

FIGURE_ENDINGS = ("png", "svg", "csv")


# -- tables and pictures -------------------------------------------------------------------------------------


def write_table(table: Table, folder: Path) -> Path:
    r"""Write `<name>.csv` into the folder.

    >>> from tempfile import TemporaryDirectory
    >>> bill = Table(name="bill", title="The bill", columns=["method", "loss"], rows=[["Never", 0.1]])
    >>> with TemporaryDirectory() as folder:
    ...     write_table(bill, Path(folder)).read_text()
    'method,loss\nNever,0.1\n'
    """
    return write(folder, f"{table.name}.csv", csv(table).encode())


def csv(table: Table) -> str:
    """The table as CSV (RFC 4180, with plain line ends); an empty cell is an empty field."""
    lines: list[list[Cell]] = [[*table.columns], *table.rows]
    return "".join(",".join(map(_field, line)) + "\n" for line in lines)


def _field(cell: Cell) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return "true" if cell else "false"
        case float():
            return float.__repr__(cell)  # the shortest that reads back as the same number
        case int():
            return str(cell)
    quoted = cell.replace('"', '""')
    return f'"{quoted}"' if any(sign in cell for sign in '",\r\n') else cell


def write_figure(figure: Figure, folder: Path, *, endings: Sequence[str] = FIGURE_ENDINGS) -> list[Path]:
    """Write `<figure>-<chart>.png` and `.svg` for every chart, and `<figure>.csv`: those of the `endings`.

    The pictures of a figure's only chart have the name of the figure alone.
    """
    styles = styles_of(line.label for chart in figure.charts for line in chart.lines)
    pictures = [
        write(folder, f"{picture_name(figure, chart)}.{ending}", picture)
        for chart in figure.charts
        for ending, picture in draw(chart, styles).items()
        if ending in endings
    ]
    numbers = [write(folder, f"{figure.name}.csv", csv(figure.data).encode())] if "csv" in endings else []
    return [*pictures, *numbers]


# -- the page ------------------------------------------------------------------------------------------------


def write_page(title: str, lead: str, sections: list[Section], folder: Path) -> Path:
    """Write `index.html`, which shows and links what `write_figure` and `write_table` put into the folder."""
    return write(folder, "index.html", html(title, lead, sections).encode())


def html(title: str, lead: str, sections: list[Section]) -> str:
    """The whole page; it needs no network and no script."""
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
    return document(title, body, style=asset("page.css"))


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
    size = f'width="{PICTURE_WIDTH * 100:.0f}" height="{PICTURE_HEIGHT * 100:.0f}"'
    return f"""<div>
<img src="{quote(name)}.svg" alt="{escape(chart_words(chart))}" {size} loading="lazy">
<div class="files">{_link(f"{name}.png", "PNG")}{_link(f"{name}.svg", "SVG")}</div>
</div>"""


def _link(file: str, words: str) -> str:
    return f'<a href="{quote(file)}">{words}</a>'


# -- the same sections in Markdown ---------------------------------------------------------------------------


def markdown(title: str, lead: str, sections: list[Section], images: str) -> str:
    r"""The whole document in Markdown; `images` is the folder of the pictures, as seen from the document.

    >>> print(markdown("Rates", "How loss grows.", [Section(title="In T", text=["As T^(2/3)."])], "images"))
    # Rates
    <BLANKLINE>
    How loss grows.
    <BLANKLINE>
    ## In T
    <BLANKLINE>
    As T^(2/3).
    <BLANKLINE>
    """
    return "\n\n".join([f"# {title}", lead, *(chapter(section, images) for section in sections)]) + "\n"


def chapter(section: Section, images: str) -> str:
    """One section in Markdown, for a document that has others.

    >>> print(chapter(Section(title="In T", text=["As T^(2/3)."]), "images"))
    ## In T
    <BLANKLINE>
    As T^(2/3).
    """
    parts = [f"## {section.title}", *section.text]
    parts += [_table_lines(table) for table in section.tables]
    parts += [_figure_lines(figure, images) for figure in section.figures]
    return "\n\n".join(parts)


def _table_lines(table: Table) -> str:
    numbers = [are_numbers([row[place] for row in table.rows]) for place in range(len(table.columns))]
    rule = [("---:" if number else "---") for number in numbers]
    rows = [
        [_cell(name) for name in table.columns],
        rule,
        *([_cell(cell) for cell in row] for row in table.rows),
    ]
    return f"**{table.title}**\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(cell: Cell) -> str:
    return shown(cell).replace("|", "\\|")


def _figure_lines(figure: Figure, images: str) -> str:
    pictures = [f"![{chart.title}]({images}/{picture_name(figure, chart)}.png)" for chart in figure.charts]
    caption = f"\n\n{figure.caption}" if figure.caption else ""
    return f"### {figure.title}\n\n" + "\n".join(pictures) + caption
