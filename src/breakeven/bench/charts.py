"""The readings of a run as charts: rates as dots beside their names, costs against n or t on log scales."""

from collections.abc import Iterable
from typing import NamedTuple

from breakeven.bench.growth import exponent
from breakeven.bench.results import Reading
from breakeven.values import Chart, Line

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
