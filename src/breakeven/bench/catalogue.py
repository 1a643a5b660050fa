"""Every benchmark by name, and a run of some of them."""

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import NamedTuple

from msgspec.structs import replace

from breakeven.bench import (
    fitting,
    footprint,
    gp_batches,
    gp_rounds,
    gp_value,
    long_streams,
    types_bulk,
    types_single,
)
from breakeven.bench.machine import this_machine
from breakeven.bench.measurement import Measurement
from breakeven.bench.one_core import one_core
from breakeven.bench.results import Result, Run
from breakeven.bench.sizes import Sizes
from breakeven.errors import expect

Progress = Callable[[str, int, int], None]


def _nothing(results: list[Result]) -> Iterable[Result]:
    return ()


class Benchmark(NamedTuple):
    """What is measured, and what follows from all of it together."""

    title: str
    measurements: Callable[[Sizes], list[Measurement]]
    conclusions: Callable[[list[Result]], Iterable[Result]] = _nothing


BENCHMARKS = {
    "types": Benchmark("Algorithm 1, one arrival at a time", types_single.measurements),
    "types-bulk": Benchmark("Algorithm 1, long streams and batches", types_bulk.measurements),
    "gp-round": Benchmark("A round of a Gaussian process", gp_rounds.measurements, gp_rounds.conclusions),
    "gp-batch": Benchmark("Batches at a Gaussian process", gp_batches.measurements),
    "gp-value": Benchmark("Value at a Gaussian process", gp_value.measurements),
    "gp-stream": Benchmark("Long streams, exact and with a dictionary", long_streams.measurements),
    "fitting": Benchmark("Fitting a kernel", fitting.measurements),
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
