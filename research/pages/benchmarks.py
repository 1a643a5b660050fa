"""Write docs/benchmarks.md and its pictures from the numbers of `breakeven bench`; `make bench` runs both."""

import sys
from pathlib import Path

import msgspec
from msgspec.structs import replace

from breakeven import files, report
from breakeven.values import Figure, Section
from breakeven_research import bench
from pages.pictures import write_pictures

DOCS = Path(__file__).parents[2] / "docs"
IMAGES = "images/benchmarks"
SHOWN = {"rates", "round-d2", "stream"}  # of the charts
NOTE = (
    "This page is written by `make bench`, which brings the other libraries into `.venv`; "
    "`breakeven bench` measures with what is there, and draws more charts than these."
)


def main() -> None:
    """Turn the numbers of a run into the document."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "bench")
    numbers = (folder / "benchmarks.json").read_bytes()
    write_document(msgspec.json.decode(numbers, type=bench.Run), DOCS)


def write_document(found: bench.Run, docs: Path) -> None:
    """Write the document and its pictures into a folder, in place of older ones."""
    sections = [shown(section) for section in bench.sections(found)]
    write_pictures([figure for section in sections for figure in section.figures], docs / IMAGES)
    text = report.markdown(bench.TITLE, f"{bench.LEAD}\n\n{NOTE}", sections, IMAGES)
    files.write(docs, "benchmarks.md", text.encode())


def shown(section: Section) -> Section:
    """The section with some of its charts only."""
    return replace(section, figures=[_some_charts(figure) for figure in section.figures])


def _some_charts(figure: Figure) -> Figure:
    return replace(figure, charts=[chart for chart in figure.charts if chart.name in SHOWN])


if __name__ == "__main__":
    main()
