"""One chart as a matplotlib figure, and the page of a bill under a name of the caller's own."""

from pathlib import Path
from typing import Any

from breakeven.files import write
from breakeven.report.bill_page import html
from breakeven.report.drawing import figure_of_chart
from breakeven.report.line_styles import styles_of
from breakeven.values.bill import Bill
from breakeven.values.exhibit import Chart


def picture(chart: Chart) -> Any:
    """A chart as a matplotlib figure, which a notebook shows, and which can be saved or changed."""
    labels = list(dict.fromkeys(line.label for line in chart.lines))
    return figure_of_chart(chart, styles_of(labels, labels))


def write_bill_as(bill: Bill, path: Path) -> Path:
    """Write the page of a bill to this file."""
    return write(path.parent, path.name, html(bill).encode())
