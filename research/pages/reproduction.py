"""Write docs/reproduction.md, what docs/value.md shows as measured, and the pictures of both.

`make reproduce` runs `breakeven reproduce` first; results that are there already are not computed again.
"""

import os
import sys
from pathlib import Path

from msgspec.structs import replace

from breakeven import files, report
from breakeven.report.exhibit_files import chapter
from breakeven.report.markup import picture_name
from breakeven.values import Figure, Section
from breakeven_research import experiments
from breakeven_research.commands.reproduce import LEAD, TITLE
from pages.pictures import write_pictures

DOCS = Path(__file__).parents[2] / "docs"
IMAGES = DOCS / "images" / "reproduction"
SHOWN = {
    "first-figure",
    "discrete-k10-uniform-b10-figures-loss",
    "branin-b10-figures-loss",
    "parkinsons-uniform-b10-figures-loss",
    "supernova-b10-figures-loss",
    "bounds-10-types",
    "rates-T",
    "skew-types",
    "rules-figure-types",
    "rules-figure-numbers",
}
BEGIN, END = "<!-- measured: written by `make reproduce` -->", "<!-- measured: end -->"
VALUE_TABLES = {"rules", "apart", "value-ablation"}
NOTE = (
    "This page is written by `make reproduce`, which runs everything. It shows a few of the pictures; all of "
    "them, with the average errors, the curves over λ and a table of every number, are in the folder "
    "`reproduction` afterwards, behind `index.html`."
)


def main() -> None:
    """Finish what is not done, then write the document."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "reproduction")
    asked = experiments.wish(rules=True)
    workshop = experiments.Workshop(experiments.Shelf(folder / "runs"), os.cpu_count() or 1)
    jobs = [job for phase in experiments.phases(asked).values() for job in phase]
    found = [shown(section) for section in experiments.sections(asked, workshop.do(jobs))]
    sections = [section for section in found if section.text or section.tables or section.figures]
    write_pictures([figure for section in sections for figure in section.figures], IMAGES)
    of_value = [section for section in sections if VALUE_TABLES & {table.name for table in section.tables}]
    of_paper = [section for section in sections if section not in of_value]
    text = report.markdown(TITLE, f"{LEAD}\n\n{NOTE}", of_paper, "images/reproduction")
    files.write(DOCS, "reproduction.md", text.encode())
    measured = "\n\n".join(chapter(section, "images/reproduction") for section in of_value)
    files.write(DOCS, "value.md", inserted((DOCS / "value.md").read_text(), measured).encode())


def inserted(page: str, measured: str) -> str:
    """The page with this between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    assert mark, f"docs/value.md has lost {BEGIN} or {END}"
    return f"{before}{BEGIN}\n\n{measured}\n\n{END}{after}"


def shown(section: Section) -> Section:
    """The section with the pictures that the documents show; a figure without any is left out."""
    figures = [some_charts(figure) for figure in section.figures]
    return replace(section, figures=[figure for figure in figures if figure.charts])


def some_charts(figure: Figure) -> Figure:
    """The figure with the charts that the documents show."""
    charts = [chart for chart in figure.charts if picture_name(figure, chart) in SHOWN]
    return replace(figure, charts=charts)


if __name__ == "__main__":
    main()
