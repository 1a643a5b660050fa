"""Exhibits as files: pictures, tables, the page that holds them, and the report of a bill.

The same exhibit always gives the same bytes. Pictures need matplotlib, the extra `report`; the report of a
bill draws its own charts and needs nothing.
"""

from breakeven.report.bill_page import write_bill, write_bill_as
from breakeven.report.drawing import MissingMatplotlib, check_matplotlib, picture
from breakeven.report.exhibit_files import markdown, write_figure, write_page, write_table

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
