"""An archive of Parquet files through learners: larger than memory, on one machine, and resumed after a kill.

`archive` reads the files part by part, `stream_learners` decides, `ledger_of_parts` remembers what is done,
and `backfilling` holds it together. The command is `breakeven backfill`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from breakeven.tables.backfill.backfill_options import BackfillOptions

if TYPE_CHECKING:
    from breakeven.tables.backfill.backfilling import Backfill, run_backfill
    from breakeven.tables.backfill.ledger_of_parts import ArchiveBill, OtherBackfill

__all__ = ["ArchiveBill", "Backfill", "BackfillOptions", "OtherBackfill", "run_backfill"]

NEED_POLARS = {
    "ArchiveBill": "ledger_of_parts",
    "Backfill": "backfilling",
    "OtherBackfill": "ledger_of_parts",
    "run_backfill": "backfilling",
}


def __getattr__(name: str) -> Any:
    """What needs polars is loaded when it is first asked for."""
    if name in NEED_POLARS:
        return getattr(import_module(f"breakeven.tables.backfill.{NEED_POLARS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
