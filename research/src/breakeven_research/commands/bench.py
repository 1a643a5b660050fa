"""`breakeven bench`: how fast and how small it is, beside its peers, on this machine."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from breakeven.cli.output import AsJson, bars, facts, print_json

if TYPE_CHECKING:
    from breakeven_research.bench import Result, Run


def bench(
    names: Annotated[
        list[str] | None, typer.Argument(help="What to measure; nothing means all.", show_default=False)
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Tiny sizes: does all of it run?")] = False,
    out: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("bench"),
    show: Annotated[bool, typer.Option("--list", help="Show what there is, and run nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure speed and memory beside other libraries, and write one page about it.

    All of it takes some minutes, on one core. What is not installed is left out, and said.
    """
    from breakeven import files, report
    from breakeven_research import bench as benchmarks

    if show:
        _list({name: one.title for name, one in benchmarks.BENCHMARKS.items()}, as_json)
        return
    asked = benchmarks.wish(names or ())
    report.check_matplotlib()
    files.check_folder(out)
    with bars("Benchmarks", hidden=as_json) as progress:
        found = benchmarks.run(asked, benchmarks.QUICK if quick else benchmarks.FULL, progress)
    page = _write(found, out)
    if as_json:
        print_json(found)
    else:
        _print(found, page)


def _list(titles: dict[str, str], as_json: bool) -> None:
    if as_json:
        print_json(titles)
        return
    for name, title in titles.items():
        print(f"{name:<14}{title}")


def _write(found: "Run", out: Path) -> Path:
    """The numbers as JSON, tables, figures, and last the page."""
    from breakeven import files, report
    from breakeven_research import bench

    sections = bench.sections(found)
    files.write(out, "benchmarks.json", msgspec.json.format(msgspec.json.encode(found)))
    for section in sections:
        for table in section.tables:
            report.write_table(table, out)
        for figure in section.figures:
            report.write_figure(figure, out)
    return report.write_page(bench.TITLE, bench.LEAD, sections, out)


def _print(found: "Run", page: Path) -> None:
    for results in found.benchmarks.values():
        for result in results:
            print(facts(result.what, _rows(result)))
    print(f"{found.machine}\n{found.seconds / 60:.1f} minutes. Open {page}")


def _rows(result: "Result") -> dict[str, str]:
    target = result.target and f"{result.target}: {'reached' if result.reached else 'not reached'}"
    rows = {"measured": result.measured, "beside": result.beside, "ratio": result.ratio, "target": target}
    return {name: value for name, value in rows.items() if value}
