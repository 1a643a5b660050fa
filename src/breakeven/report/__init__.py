"""Exhibits as files: pictures, tables and the page that holds them.

The same exhibit always gives the same bytes. Drawing needs matplotlib, the extra `report`; the rest does not.
"""

from breakeven.report.document import markdown
from breakeven.report.drawing import MissingMatplotlib, check_matplotlib
from breakeven.report.figures import write_figure
from breakeven.report.page import write_page
from breakeven.report.tables import write_table

__all__ = ["MissingMatplotlib", "check_matplotlib", "markdown", "write_figure", "write_page", "write_table"]
