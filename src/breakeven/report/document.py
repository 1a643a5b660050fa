"""The same sections as a Markdown document, for a repository's documentation.

Pictures are linked, not drawn: `write_figure` puts them where the document looks for them.
"""

from breakeven.report.figures import picture_name
from breakeven.report.wording import are_numbers, shown
from breakeven.values.exhibit import Cell, Figure, Section, Table


def markdown(title: str, lead: str, sections: list[Section], images: str) -> str:
    r"""The whole document; `images` is the folder of the pictures, as seen from the document.

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
    """One section alone, for a document that has others.

    >>> print(chapter(Section(title="In T", text=["As T^(2/3)."]), "images"))
    ## In T
    <BLANKLINE>
    As T^(2/3).
    """
    parts = [f"## {section.title}", *section.text]
    parts += [_table(table) for table in section.tables]
    parts += [_figure(figure, images) for figure in section.figures]
    return "\n\n".join(parts)


def _table(table: Table) -> str:
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


def _figure(figure: Figure, images: str) -> str:
    pictures = [f"![{chart.title}]({images}/{picture_name(figure, chart)}.svg)" for chart in figure.charts]
    caption = f"\n\n{figure.caption}" if figure.caption else ""
    return f"### {figure.title}\n\n" + "\n".join(pictures) + caption
