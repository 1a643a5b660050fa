"""Exhibits as files: pictures, tables, the page that holds them, and the report of a bill.

The same exhibit always gives the same bytes. Pictures need matplotlib, the extra `report`; the report of a
bill draws its own charts and needs nothing.
"""

from breakeven.report.bill_page import write_bill
from breakeven.report.drawing import MissingMatplotlib, check_matplotlib
from breakeven.report.exhibit_files import markdown, write_figure, write_page, write_table
from breakeven.report.single_picture import picture, write_bill_as

__all__ = [
    "MissingMatplotlib",
    "check_matplotlib",
    "markdown",
    "picture",
    "write_bill",
    "write_bill_as",
    "write_figure",
    "write_page",
    "write_table",
]
