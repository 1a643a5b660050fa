"""Charts in the units that their numbers are read in: an axis of billions counts billions."""

from collections.abc import Iterable
from math import isfinite

from msgspec.structs import replace

from breakeven.report.ranges import by_factors
from breakeven.values.amounts import unit_of
from breakeven.values.exhibit import Chart, Line


def in_units(chart: Chart) -> tuple[Chart, str, str]:
    """The chart, and the signs of the units of its x and y; an axis by factors writes out each tick.

    >>> money = Line(label="", x=[1.0, 2.0], y=[0.0, 3e10])
    >>> chart, x, y = in_units(Chart(name="", title="", x_label="", y_label="", lines=[money]))
    >>> chart.lines[0].y, x, y
    ([0.0, 30.0], '', 'bn')
    """
    log_x, log_y = by_factors(chart)
    xs, ys = ([line.x for line in chart.lines], [line.y for line in chart.lines])
    if chart.square:
        xs = ys = xs + ys
    x, x_sign = (1.0, "") if log_x else _unit(xs)
    y, y_sign = (1.0, "") if log_y else _unit(ys)
    return replace(chart, lines=[_divided(line, x, y) for line in chart.lines]), x_sign, y_sign


def _unit(lists: Iterable[list[float]]) -> tuple[float, str]:
    return unit_of(max((abs(one) for some in lists for one in some if isfinite(one)), default=0.0))


def _divided(line: Line, x: float, y: float) -> Line:
    def over(values: list[float], unit: float) -> list[float]:
        return [value / unit for value in values]

    low, high = (None if end is None else over(end, y) for end in (line.low, line.high))
    return replace(line, x=over(line.x, x), y=over(line.y, y), low=low, high=high)
