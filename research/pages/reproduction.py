"""Write docs/reproduction.md, what docs/value.md shows as measured, and the pictures of both.

`make reproduce` runs `breakeven reproduce` first; results that are there already are not computed again.
"""

import os
import sys
from pathlib import Path

import msgspec

from breakeven import files, report
from breakeven.report.exhibit_files import chapter
from breakeven.values import Chart, Figure, Line, Section
from breakeven_research import experiments
from breakeven_research.commands.reproduce import LEAD, TITLE

DOCS = Path(__file__).parents[2] / "docs"
IMAGES = DOCS / "images" / "reproduction"
POINTS = 60
BEGIN, END = "<!-- measured: written by `make reproduce` -->", "<!-- measured: end -->"
VALUE_TABLES = {"rules", "value-ablation"}
NOTE = (
    "This page is written by `make reproduce`, which runs everything and also draws the average errors, the "
    "curves over λ, and a table of every number."
)


def main() -> None:
    """Finish what is not done, then write the document."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "reproduction")
    asked = experiments.wish(rules=True)
    workshop = experiments.Workshop(experiments.Shelf(folder / "runs"), os.cpu_count() or 1)
    jobs = [job for phase in experiments.phases(asked).values() for job in phase]
    sections = [shown(section) for section in experiments.sections(asked, workshop.do(jobs))]
    for old in IMAGES.glob("*.svg"):
        old.unlink()
    for section in sections:
        for figure in section.figures:
            report.write_figure(figure, IMAGES, endings=("svg",))
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
    """The section with losses only, and without the many charts over λ."""
    if any(figure.name.startswith("scales-") for figure in section.figures):
        return msgspec.structs.replace(section, figures=[])
    return msgspec.structs.replace(section, figures=[losses(figure) for figure in section.figures])


def losses(figure: Figure) -> Figure:
    """The figure without its charts of errors, and with fewer points."""
    charts = [thinned(chart) for chart in figure.charts if not chart.name.endswith("-error")]
    return msgspec.structs.replace(figure, charts=charts)


def thinned(chart: Chart) -> Chart:
    """Joined lines with about so many points that a picture of this size can show."""
    return msgspec.structs.replace(chart, lines=[_thinned(line) for line in chart.lines])


def _thinned(line: Line) -> Line:
    step = len(line.x) // POINTS + 1 if line.kind in ("line", "dashed") else 1
    kept = sorted({*range(0, len(line.x), step), len(line.x) - 1})

    def some(values: list[float] | None) -> list[float] | None:
        return None if values is None else [values[i] for i in kept]

    fewer = {name: some(getattr(line, name)) for name in ("x", "y", "low", "high")}
    return msgspec.structs.replace(line, **fewer)


if __name__ == "__main__":
    main()
