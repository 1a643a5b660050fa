"""What a benchmark finds, and what it needs to find it: sizes, peers, the machine.

Results are lines for people, with the raw numbers behind them for charts and machines. A measurement that
lacks something here leaves one line that says why; other libraries are loaded only when their turn comes.
"""

import os
import platform
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from breakeven_research.bench.timing import Timing


class Sizes(Struct, frozen=True, kw_only=True):
    """The sizes of one run; targets hold only for the `full` ones.

    A Gaussian process has so many `labels` and `dims`; `stretch` arrivals in a row are timed together.
    """

    full: bool
    repeats: int
    rounds: int
    long_rounds: int
    batch: int
    peer_rounds: int
    labels: tuple[int, ...]
    dims: tuple[int, ...] = (2, 9)
    stretch: int
    arrivals: int
    exact_arrivals: int
    kept_labels: int
    imports: int
    fits: int


FULL = Sizes(
    full=True,
    repeats=9,
    rounds=100_000,
    long_rounds=10_000_000,
    batch=1_000_000,
    peer_rounds=2_000,
    labels=(100, 300, 1000, 3000),
    stretch=512,
    arrivals=1_000_000,
    exact_arrivals=20_000,
    kept_labels=4000,
    imports=20,
    fits=6,
)

QUICK = Sizes(
    full=False,
    repeats=2,
    rounds=2_000,
    long_rounds=200_000,
    batch=2_000,
    peer_rounds=20,
    labels=(30, 60, 120),
    stretch=64,
    arrivals=2_000,
    exact_arrivals=1_000,
    kept_labels=300,
    imports=1,
    fits=1,
)


# -- the machine ---------------------------------------------------------------------------------------------


PACKAGES = (
    "breakeven",
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "river",
    "scikit-activeml",
    "torch",
    "gpytorch",
)


class Machine(Struct, frozen=True):
    """What the numbers depend on besides the code."""

    processor: str
    cores: int
    system: str
    python: str
    blas: str
    versions: dict[str, str]

    def __str__(self) -> str:
        packages = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        where = f"one of {self.cores} cores of {self.processor}, {self.system}"
        return f"Measured on {where}, Python {self.python}, {self.blas}, {packages}."


def this_machine() -> Machine:
    """The machine that this runs on."""
    return Machine(
        processor=_processor(),
        cores=os.cpu_count() or 1,
        system=platform.system(),
        python=platform.python_version(),
        blas=_blas(),
        versions={name: found for name in PACKAGES if (found := _version(name))},
    )


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    rows = told.read_text().splitlines() if told.exists() else []
    names = (row.partition(":")[2].strip() for row in rows if row.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def _blas() -> str:
    from threadpoolctl import threadpool_info

    found = {(one["internal_api"], one["version"]) for one in threadpool_info() if one["user_api"] == "blas"}
    return ", ".join(f"{name} {number}" for name, number in sorted(found, key=str)) or "an unknown BLAS"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


# -- results -------------------------------------------------------------------------------------------------


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


# -- one thing to measure ------------------------------------------------------------------------------------


class NotMeasured(Exception):
    """Something is missing here that a measurement needs; the message says what."""


class Measurement(NamedTuple):
    """One thing to measure: what it is called where it cannot be, and how."""

    what: str
    measure: Callable[[], Iterable[Result]]

    def results(self) -> list[Result]:
        """What was found, or one line that says why nothing was.

        >>> def fail():
        ...     raise NotMeasured("not installed")
        >>> Measurement("Rounds, beside river", fail).results()[0].beside
        'not installed'
        """
        try:
            return list(self.measure())
        except NotMeasured as reason:
            return [Result(what=self.what, beside=str(reason))]


# -- other libraries -----------------------------------------------------------------------------------------


NOT_BROUGHT = ("torch", "gpytorch")  # too large to be anyone's extra


class MissingPeer(NotMeasured):
    """A library to compare with is not installed; the message says how it would be."""


def peer(module: str) -> Any:
    """A module of a peer.

    >>> peer("no_such_library.parts")
    Traceback (most recent call last):
    breakeven_research.bench.results.MissingPeer: not installed (pip install 'breakeven-research[bench]')
    """
    try:
        return import_module(module)
    except ImportError as error:
        brought = module.partition(".")[0] not in NOT_BROUGHT
        how = "pip install 'breakeven-research[bench]'" if brought else "no extra brings it"
        raise MissingPeer(f"not installed ({how})") from error
