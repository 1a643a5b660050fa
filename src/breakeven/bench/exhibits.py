"""A run as what a report shows: a table for each benchmark, and the charts with every number behind them."""

from breakeven.bench.catalogue import BENCHMARKS
from breakeven.bench.charts import charts
from breakeven.bench.results import Reading, Result, Run
from breakeven.values import Cell, Figure, Section, Table

TITLE = "Benchmarks"
LEAD = (
    "How fast and how small breakeven is. Every line compares two things measured in turn in one run, warm, "
    "on one core: trust the ratios, not the times. Times are medians, with quartiles in brackets."
)
CAPTION = (
    "Of rounds at n labels one in ten is labelled; streams follow the paper's rule. The exponent by a name "
    "is the slope of its line: over all n, and over the last factor of ten of a stream."
)
COLUMNS = ["what", "ratio", "target", "reached", "measured", "beside it"]


def sections(run: Run) -> list[Section]:
    """The charts first, then a table for each benchmark, and where all of it was measured."""
    pictures = _figure(run)
    return [
        *([Section(title="At a glance", figures=[pictures])] if pictures.charts else []),
        Section(
            title="Line by line", tables=[_table(name, results) for name, results in run.benchmarks.items()]
        ),
        Section(title="Where", text=[f"{run.machine} The whole run took {run.seconds / 60:.1f} minutes."]),
    ]


def _table(name: str, results: list[Result]) -> Table:
    rows: list[list[Cell]] = [
        [one.what, one.ratio, one.target, one.reached, one.measured, one.beside] for one in results
    ]
    return Table(name=name, title=BENCHMARKS[name].title, columns=COLUMNS, rows=rows)


def _figure(run: Run) -> Figure:
    readings = [one for results in run.benchmarks.values() for result in results for one in result.readings]
    rows: list[list[Cell]] = [
        [one.chart, one.series, one.at, _unit(one), one.median, one.low, one.high] for one in readings
    ]
    columns = ["chart", "series", "at", "unit", "median", "lower quartile", "upper quartile"]
    return Figure(
        name="benchmarks",
        title="Rates, and how costs grow",
        charts=charts(readings),
        data=Table(name="benchmarks", title="", columns=columns, rows=rows),
        caption=CAPTION,
    )


def _unit(one: Reading) -> str:
    return "bytes" if one.chart == "memory" else "seconds"
