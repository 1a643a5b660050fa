"""Lets things draw themselves: bills, replays and tables say what is to be seen, and `report` draws it.

The things stand below `report` and do not know it. This module sees both, and `import breakeven` connects
them. Nothing that draws is loaded before the first `.plot()` or `.report()`.
"""

from pathlib import Path
from typing import Any

from breakeven.values import Bill, Chart
from breakeven.values.showing import drawn_by


def draw(chart: Chart) -> Any:
    """A chart as a matplotlib figure."""
    from breakeven.report import picture  # when it is first needed

    return picture(chart)


def write(bill: Bill, path: Path) -> Path:
    """The page of a bill, written to a file."""
    from breakeven.report import write_bill_as

    return write_bill_as(bill, path)


def connect() -> None:
    """From now on `.plot()` and `.report()` are drawn by `breakeven.report`."""
    drawn_by(draw, write)
