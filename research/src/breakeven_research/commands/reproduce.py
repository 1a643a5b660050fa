"""`breakeven reproduce`: run the paper's experiments and write the page that compares them with the paper.

What was finished before is not run again; the page is written last, and only when everything is there. With
`--streams` decisions are measured on streams of all kinds instead, and the page is also there as Markdown.
"""

import os
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from breakeven.cli.output import AsJson, bar, bars, print_json
from breakeven.errors import expect

if TYPE_CHECKING:
    from breakeven.values import Section
    from breakeven_research.experiments import Job, Results, StreamWish, Wish

TITLE = "The paper, reproduced"
QUICK_TRIALS = 2
LEAD = (
    "Results of “Active Cost-aware Labeling of Streaming Data” (Cai & Kandasamy, AISTATS 2023) beside "
    "what breakeven measures, in two recipes: `figures`, the settings that the published figures were "
    "computed with, and `text`, what the paper says."
)


def reproduce(
    panels: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names, beginnings of names, panels, ablations; none means all of the paper. With --streams "
            "names or groups of streams; none means all of them.",
            show_default=False,
        ),
    ] = None,
    rules: Annotated[
        bool, typer.Option("--rules", help="Also Value beside the paper's rule, on these panels.")
    ] = False,
    streams: Annotated[
        bool, typer.Option("--streams", help="Measure decisions on streams of all kinds instead.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Two trials of each; with --streams: a short look at a few.")
    ] = False,
    recipe: Annotated[str, typer.Option(help="text, figures or both.")] = "both",
    trials: Annotated[
        int | None, typer.Option(help="Trials of everything; as many as the paper unless given.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes side by side; one for each core unless given.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("reproduction"),
    show: Annotated[bool, typer.Option("--list", help="Show what there is, and run nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Reproduce the paper's figures, tables and bounds, and write one page about them."""
    from breakeven import files, report
    from breakeven_research import experiments

    if streams and (rules or recipe != "both"):
        expect.refuse("streams", "neither --rules nor --recipe beside it", "one of them", described=True)
    if show:
        _list(experiments.ALL_STREAMS if streams else experiments.EXHIBITS, as_json)
        return
    processes = expect.whole("workers", os.cpu_count() or 1 if workers is None else workers, least=1)
    if streams:
        _reproduce_streams(
            experiments.stream_wish(panels or (), trials, quick=quick), processes, out, as_json
        )
        return
    asked = experiments.wish(
        panels or (), recipe, QUICK_TRIALS if quick and trials is None else trials, rules=rules
    )
    experiments.check_data(asked)
    report.check_matplotlib()
    files.check_folder(out / "runs")
    results, times = _run(experiments.phases(asked), processes, out, as_json)
    page = _write(TITLE, LEAD, experiments.sections(asked, results), out, as_json)
    _tell(asked, results, times, page, as_json)


def _reproduce_streams(asked: "StreamWish", processes: int, out: Path, as_json: bool) -> None:
    from breakeven import files, report
    from breakeven_research import experiments

    experiments.check_stream_data(asked)
    files.check_folder(out / "runs")
    results, times = _run(experiments.stream_phases(asked), processes, out, as_json)
    sections, every_number = experiments.stream_sections(results)
    report.write_table(every_number, out)
    text = report.markdown(experiments.STREAM_TITLE, asked.lead, sections, "images")
    document = files.write(out, "decisions.md", text.encode())
    page = _write(experiments.STREAM_TITLE, asked.lead, sections, out, as_json)
    if as_json:
        records = [dict(zip(every_number.columns, row, strict=True)) for row in every_number.rows]
        print_json({"page": page, "document": document, "seconds": times, "runs": records})
        return
    for sentence in sections[0].text:
        print(sentence)
    _tell_times(times, page)


def _list(exhibits: dict[str, str], as_json: bool) -> None:
    if as_json:
        print_json(exhibits)
        return
    for name, title in exhibits.items():
        print(f"{name:<30}{title}")


def _run(
    phases: "dict[str, list[Job]]", workers: int, out: Path, quiet: bool
) -> tuple["Results", dict[str, float]]:
    """All results, and how many seconds each phase took."""
    from breakeven_research import experiments

    shelf, results, times = experiments.Shelf(out / "runs"), [], {}
    for phase, jobs in phases.items():
        begun = monotonic()
        with bars(phase, hidden=quiet) as progress:
            results += experiments.Workshop(shelf, workers, progress).do(jobs)
        times[phase] = monotonic() - begun
    return results, times


def _write(title: str, lead: str, sections: list["Section"], out: Path, quiet: bool) -> Path:
    """Tables, figures, and last the page."""
    from breakeven import report

    (out / "index.html").unlink(missing_ok=True)  # it would show a mixture, should this be interrupted
    figures = [figure for section in sections for figure in section.figures]
    for section in sections:
        for table in section.tables:
            report.write_table(table, out)
    with bar("Drawing", hidden=quiet or not figures) as progress:
        for done, figure in enumerate(figures, start=1):
            report.write_figure(figure, out)
            if progress is not None:
                progress(done, len(figures))
    return report.write_page(title, lead, sections, out)


def _tell(asked: "Wish", results: "Results", times: dict[str, float], page: Path, as_json: bool) -> None:
    from breakeven_research import experiments

    points = experiments.compared(results, asked.panels)
    if as_json:
        print_json({"page": page, "exhibits": asked.names, "seconds": times, "end_points": points})
        return
    _print_points(points)
    _tell_times(times, page)


def _tell_times(times: dict[str, float], page: Path) -> None:
    for phase, seconds in times.items():
        print(f"{phase}: {seconds // 60:.0f} min {seconds % 60:.0f} s")
    print(f"Open {page}")


def _print_points(points: list[dict[str, Any]]) -> None:
    known = [point for point in points if point["agrees"] is not None]
    if not known:
        return
    print(f"{'panel':<28}{'method':<20}{'paper':>8}{'ours':>8}{'ratio':>8}")
    for point in known:
        mark = "" if point["agrees"] else "  differs"
        numbers = f"{point['paper']:>8.4g}{point['figures']:>8.4g}{point['ratio']:>8.3f}"
        print(f"{point['panel']:<28}{point['method']:<20}{numbers}{mark}")
