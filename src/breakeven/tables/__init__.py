"""From a table of past cases to the bill: what paying only for labels worth their cost would have saved.

`from_table` takes a frame; the command `breakeven simulate` takes a file. Reading needs polars, the extra
`tables`, which is imported only when a table is read. What it writes is opened by `breakeven.rows.open_bill`.
"""

from typing import TYPE_CHECKING, Any

from breakeven.tables.table import MissingPolars, check_polars, from_table

if TYPE_CHECKING:
    from breakeven.tables.outcome import Outcome

__all__ = ["MissingPolars", "Outcome", "check_polars", "from_table"]


def __getattr__(name: str) -> Any:
    """What needs polars is loaded when it is first asked for."""
    if name == "Outcome":
        check_polars()
        from breakeven.tables.outcome import Outcome

        return Outcome
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
