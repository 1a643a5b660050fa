"""Write docs/benchmarks.md and its pictures from the numbers of `breakeven bench`; `make bench` runs both."""

import sys
from pathlib import Path

import msgspec

from breakeven import files, report
from breakeven_research import bench

DOCS = Path(__file__).parents[2] / "docs"
IMAGES = "images/benchmarks"
NOTE = (
    "This page is written by `make bench`, which brings the other libraries into `.venv`; "
    "`breakeven bench` measures with what is there."
)


def main() -> None:
    """Turn the numbers of a run into the document."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "bench")
    numbers = (folder / "benchmarks.json").read_bytes()
    write_document(msgspec.json.decode(numbers, type=bench.Run), DOCS)


def write_document(found: bench.Run, docs: Path) -> None:
    """Write the document and its pictures into a folder, in place of older ones."""
    sections = bench.sections(found)
    for old in (docs / IMAGES).glob("*.svg"):
        old.unlink()
    for section in sections:
        for figure in section.figures:
            report.write_figure(figure, docs / IMAGES, endings=("svg",))
    text = report.markdown(bench.TITLE, f"{bench.LEAD}\n\n{NOTE}", sections, IMAGES)
    files.write(docs, "benchmarks.md", text.encode())


if __name__ == "__main__":
    main()
