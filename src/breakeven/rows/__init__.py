"""Rows by the names of their columns: one row becomes a point, a cost and a label. Needs no polars.

There is no learner inside: `learner.decide(columns.point(row), cost=columns.cost(row), id=...)`.
Reading order: times (dates), reading (one value), row (one row), copies (columns that say the label),
bills (the folder that columns and learner are kept in).
"""

from breakeven.rows.bills import UnreadableBill, has_gone_on, open_bill, save_bill
from breakeven.rows.reading import Kind, Writing, read_value
from breakeven.rows.row import Column, Columns, Feature

__all__ = [
    "Column",
    "Columns",
    "Feature",
    "Kind",
    "UnreadableBill",
    "Writing",
    "has_gone_on",
    "open_bill",
    "read_value",
    "save_bill",
]
