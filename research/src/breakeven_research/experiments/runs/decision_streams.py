"""The streams on which decisions are measured, by name and group, and the prices that labels have there.

A price counts in standard deviations of the stream's labels, or in units of error where a stream has prices
of its own. Every stream is read as a user's table is, and is the same for the same seed.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

from breakeven_research.datasets import drawn_streams, real_streams
from breakeven_research.datasets.drawn_streams import SETTINGS, SHARES, drawn, frame_of, rare_setting
from breakeven_research.datasets.files import PARKINSONS, SUPERNOVA, Source
from breakeven_research.experiments.runs.problems import Smooth, problem_named
from breakeven_research.experiments.runs.rivals import PRICES, SHUFFLES, cases_of

if TYPE_CHECKING:
    import polars as pl

    from breakeven.tables.cases import Cases

REAL, IN_TIME, PANELS = "real", "real, in time order", "paper's streams"
SMOOTH, TAILS, RARE = "smooth functions", "tails and zeros", "rare yes"
LOANS, MOVING, SETTINGS_GROUP = "loans", "moving worlds", "settings of rare labels"
GROUPS = (REAL, IN_TIME, PANELS, SMOOTH, TAILS, RARE, LOANS, MOVING, SETTINGS_GROUP)


class DecisionStream(NamedTuple):
    """How a stream is made, and what is known of it.

    `exceptions` is the mean size of labels that are not zero, where most are: an optimal stopping rule
    stands beside those. `alone` leaves all out but the default, that rule and the extremes. `yes_no` labels
    are declared, as whoever has such labels would.
    """

    name: str
    group: str
    make: Callable[[int], "pl.DataFrame"]
    seeds: int = SHUFFLES
    noise_std: float | None = None
    prices: tuple[float, ...] = PRICES
    in_sds: bool = True
    exceptions: float | None = None
    sources: tuple[Source, ...] = ()
    alone: bool = False
    yes_no: bool = False


def _real(name: str) -> DecisionStream:
    table = real_streams.TABLES[name]
    return DecisionStream(name, REAL, partial(real_streams.shuffled, name), sources=(table.source,))


def _panel(name: str, *sources: Source) -> DecisionStream:
    problem = problem_named(name)
    assert isinstance(problem, Smooth)
    return DecisionStream(
        name, PANELS, partial(_panel_frame, name), noise_std=problem.noise_std, sources=sources
    )


def _panel_frame(name: str, seed: int) -> "pl.DataFrame":
    stream = problem_named(name).stream("text", seed)
    return frame_of(stream.points, stream.labels)


def _drawn(name: str, group: str, exceptions: float | None = None) -> DecisionStream:
    return DecisionStream(name, group, partial(drawn, name), exceptions=exceptions)


def _loans(name: str, cost: float, exceptions: float) -> DecisionStream:
    return _drawn(name, LOANS, exceptions)._replace(prices=(cost,), in_sds=False)


def _setting(number: int) -> DecisionStream:
    setting = rare_setting(number)
    return DecisionStream(
        f"rare-{number:03}", SETTINGS_GROUP, lambda seed: setting.frame(), seeds=1, prices=(setting.cost,),
        in_sds=False, exceptions=1.0, alone=True, yes_no=setting.yes_no,
    )  # fmt: skip


STREAMS = {
    one.name: one
    for one in (
        *[_real(name) for name in real_streams.TABLES],
        DecisionStream(
            "turbine-in-time", IN_TIME, lambda seed: real_streams.in_time_order(), seeds=1,
            sources=(real_streams.TABLES["turbine"].source,),
        ),
        *[_panel(name) for name in ("branin", "hartmann")],
        *[_panel(name, PARKINSONS) for name in ("parkinsons-uniform", "parkinsons-lopsided")],
        _panel("supernova", SUPERNOVA),
        *[_drawn(name, SMOOTH) for name in ("friedman1", "friedman2", "friedman3")],
        *[_drawn(name, SMOOTH) for name in ("ackley", "hartmann-even")],
        *[_drawn(name, TAILS) for name in ("heavy-noise", "skewed")],
        *[_drawn(name, TAILS, 1.0) for name in ("zeros", "zeros-useless")],
        *[
            _drawn(f"yes-{share:g}{which}", RARE, 1.0)._replace(yes_no=True)
            for which in ("", "-useless") for share in SHARES
        ],
        # a label costs 50, and a default that is missed 3,000
        _loans("loan-defaults", 50 / 3000, 1.0)._replace(yes_no=True),
        _loans("loan-losses", 200.0, drawn_streams.MEAN_LOSS),
        *[_drawn(name, MOVING) for name in ("step", "drift")],
        *[_setting(number) for number in range(SETTINGS)],
    )
}  # fmt: skip


@lru_cache(maxsize=4)
def arrivals(name: str, seed: int, rounds: int | None = None) -> "Cases":
    """The stream of a seed, or the beginning of it."""
    frame = STREAMS[name].make(seed)
    return cases_of(name, frame if rounds is None else frame[:rounds])


def label_cost(name: str, price: float, cases: "Cases") -> float:
    """What a label costs at this price, in the units of these labels."""
    return price * float(cases.labels.std()) if STREAMS[name].in_sds else price
