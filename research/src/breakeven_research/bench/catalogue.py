"""Every benchmark by name, a run of some of them, and the run as what a report shows.

A report has a table for each benchmark, and charts with every number behind them: rates as dots beside their
names, costs as lines against n or t on log scales.
"""

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import NamedTuple

from msgspec.structs import replace

from breakeven.errors import expect
from breakeven.values import Cell, Chart, Figure, Line, Section, Table
from breakeven_research.bench import (
    archives,
    averages,
    fitting,
    fleets,
    footprint,
    gp_rounds,
    keeping,
    long_streams,
    restarting,
    serving,
    spark_streams,
    types,
)
from breakeven_research.bench.results import Measurement, Reading, Result, Run, Sizes, this_machine
from breakeven_research.bench.timing import exponent, one_core

Progress = Callable[[str, int, int], None]


def _nothing(results: list[Result]) -> Iterable[Result]:
    return ()


class Benchmark(NamedTuple):
    """What is measured, and what follows from all of it together."""

    title: str
    measurements: Callable[[Sizes], list[Measurement]]
    conclusions: Callable[[list[Result]], Iterable[Result]] = _nothing


BENCHMARKS = {
    "types": Benchmark("Algorithm 1, one arrival at a time", types.measurements),
    "types-bulk": Benchmark("Algorithm 1, long streams and batches", types.bulk_measurements),
    "archives": Benchmark("Archives of Parquet files", archives.measurements),
    "fleets": Benchmark("Fleets: one learner for every key", fleets.measurements),
    "spark": Benchmark("Types on a local Spark", spark_streams.measurements),
    "gp-round": Benchmark("A round of a Gaussian process", gp_rounds.measurements, gp_rounds.conclusions),
    "gp-batch": Benchmark("Batches at a Gaussian process", gp_rounds.batch_measurements),
    "gp-value": Benchmark("Value at a Gaussian process", gp_rounds.value_measurements),
    "averages": Benchmark("The default belief for rows of numbers", averages.measurements),
    "gp-stream": Benchmark("Long streams, exact and with a dictionary", long_streams.measurements),
    "fitting": Benchmark("Fitting a kernel", fitting.measurements),
    "keeping": Benchmark("Snapshots, restores and stores", keeping.measurements),
    "service": Benchmark("Decisions over HTTP", serving.measurements),
    "restart": Benchmark("The service after a restart", restarting.measurements),
    "footprint": Benchmark("Import time and memory", footprint.measurements),
}


def wish(names: Iterable[str] = ()) -> tuple[str, ...]:
    """Check the names of benchmarks; none mean all. They run in the order of the catalogue.

    >>> wish(["types-bulk", "types"])
    ('types', 'types-bulk')
    """
    asked = [expect.one_of("name", name, BENCHMARKS) for name in names]
    return tuple(name for name in BENCHMARKS if name in asked or not asked)


def run(names: Iterable[str], sizes: Sizes, progress: Progress | None = None) -> Run:
    """Measure on one core, and tell how far each benchmark has come."""
    start, plan = perf_counter(), {name: BENCHMARKS[name].measurements(sizes) for name in names}
    tell = progress or (lambda name, done, whole: None)
    for name, measurements in plan.items():
        tell(name, 0, len(measurements))
    with one_core():
        found = {name: _results(name, measurements, tell) for name, measurements in plan.items()}
        machine = this_machine()
    if not sizes.full:
        found = {name: [_without_target(one) for one in results] for name, results in found.items()}
    return Run(machine=machine, full=sizes.full, seconds=perf_counter() - start, benchmarks=found)


def _results(name: str, measurements: list[Measurement], tell: Progress) -> list[Result]:
    found: list[Result] = []
    for done, measurement in enumerate(measurements, start=1):
        found += [one for one in measurement.results() if one not in found]  # a peer is missed once
        tell(name, done, len(measurements))
    return [*found, *BENCHMARKS[name].conclusions(found)]


def _without_target(result: Result) -> Result:
    return replace(result, target="", reached=None)


# -- what a report shows -------------------------------------------------------------------------------------


TITLE = "Benchmarks"
LEAD = (
    "How fast and how small breakeven is. Every line compares two things measured in turn in one run, warm, "
    "in CPU time of one core: trust the ratios, not the times. Times are medians, with quartiles in brackets."
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


# -- charts --------------------------------------------------------------------------------------------------


FEWEST = 3  # points that an exponent is fitted through


class Look(NamedTuple):
    """How a chart of costs is drawn: what its axes show, in which unit, and where exponents are fitted."""

    title: str
    x_label: str
    y_label: str
    unit: float
    letter: str
    fitted: float = 1e9  # from the last x down to so many times less


LOOKS = {
    "round-d2": Look("A round at n labels, d = 2", "labels n", "µs a round", 1e-6, "n"),
    "round-d9": Look("A round at n labels, d = 9", "labels n", "µs a round", 1e-6, "n"),
    "stream": Look("An arrival, after t of them", "arrivals t", "µs an arrival", 1e-6, "t", 10),
    "memory": Look("Memory, after t arrivals", "arrivals t", "MB", 1e6, "t", 10),
}
RATES, OURS = "rates", "Algorithm 1"


def charts(readings: list[Reading]) -> list[Chart]:
    """A chart for each group of readings that has any."""
    rates = [one for one in readings if one.chart == RATES]
    return [
        *([_rates(rates)] if rates else []),
        *[
            _costs(name, look, found)
            for name, look in LOOKS.items()
            if (found := [one for one in readings if one.chart == name and one.median > 0])
        ],
    ]


def _rates(readings: list[Reading]) -> Chart:
    order = sorted(readings, key=lambda one: one.median)
    ours = [one.series.startswith(OURS) for one in order]
    return Chart(
        name=RATES,
        title="Rounds of a stream of types",
        x_label="million rounds a second",
        y_label="",
        lines=[_dots(OURS, order, ours), _dots("others", order, [not one for one in ours])],
        log_x=True,
        y_names=[one.series.removeprefix(f"{OURS}, ") for one in order],
    )


def _dots(label: str, order: list[Reading], chosen: list[bool]) -> Line:
    places = [place for place, mine in enumerate(chosen) if mine]
    return Line(
        label=label,
        x=[1e-6 / order[place].median for place in places],
        y=[*map(float, places)],
        kind="dots",
    )


def _costs(name: str, look: Look, readings: list[Reading]) -> Chart:
    series = dict.fromkeys(one.series for one in readings)
    lines = [_cost(look, [one for one in readings if one.series == label]) for label in series]
    return Chart(
        name=name,
        title=look.title,
        x_label=look.x_label,
        y_label=look.y_label,
        lines=lines,
        log_x=True,
        log_y=True,
    )


def _cost(look: Look, readings: list[Reading]) -> Line:
    x = [one.at or 1.0 for one in readings]
    medians, lows, highs = (
        [getattr(one, part) / look.unit for one in readings] for part in ("median", "low", "high")
    )
    return Line(
        label=readings[0].series, remark=_growth(look, x, medians), x=x, y=medians, low=lows, high=highs
    )


def _growth(look: Look, x: list[float], y: Iterable[float]) -> str:
    """The fitted exponent, for the legend."""
    points = [point for point in zip(x, y, strict=True) if point[0] * look.fitted >= max(x)]
    if len(points) < FEWEST:
        return ""
    return f"{look.letter}^{exponent(*zip(*points, strict=True)):.2f}"
