"""Exhibits as files: pictures, tables, the page that holds them, and the report of a bill.

The same exhibit always gives the same bytes. Pictures need matplotlib and the report of a bill needs plotly,
both in the extra `report`; the rest needs neither.
"""

from breakeven.report.bill_page import write_bill
from breakeven.report.drawing import MissingMatplotlib, check_matplotlib
from breakeven.report.exhibit_files import markdown, write_figure, write_page, write_table
from breakeven.report.interactive import MissingPlotly, check_plotly
from breakeven.report.single_picture import picture, write_bill_as

__all__ = [
    "MissingMatplotlib",
    "MissingPlotly",
    "check_matplotlib",
    "check_plotly",
    "markdown",
    "picture",
    "write_bill",
    "write_bill_as",
    "write_figure",
    "write_page",
    "write_table",
]
