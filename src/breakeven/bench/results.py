"""What a benchmark finds: lines for people, with the raw numbers behind them for charts and machines."""

from msgspec import Struct

from breakeven.bench.machine import Machine
from breakeven.bench.timing import Timing


class Reading(Struct, frozen=True, kw_only=True):
    """One number with its quartiles: a point of a named series in a chart, `at` its x where it has one.

    Times are seconds a round, sizes bytes.
    """

    chart: str
    series: str
    at: float | None = None
    median: float
    low: float
    high: float


class Result(Struct, frozen=True, kw_only=True):
    """One line of the table: what was measured, beside what, and the target; None where nothing is known."""

    what: str
    measured: str = ""
    beside: str = ""
    ratio: str = ""
    target: str = ""
    reached: bool | None = None
    readings: list[Reading] = []


class Run(Struct, frozen=True, kw_only=True):
    """Everything that one run found, by benchmark, and where."""

    machine: Machine
    full: bool
    seconds: float
    benchmarks: dict[str, list[Result]]


def reading(chart: str, series: str, timing: Timing, at: float | None = None) -> Reading:
    """A timing as a point of a chart.

    >>> reading("rates", "one by one", Timing(2.0, 1.0, 3.0)).high
    3.0
    """
    return Reading(chart=chart, series=series, at=at, median=timing.median, low=timing.low, high=timing.high)
