"""`breakeven backfill`: an archive of Parquet files through learners, and one bill for all of it.

Its options are those of `BackfillOptions`, declared once there.
"""

import sys
from collections.abc import Iterator
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from msgspec import NODEFAULT, Meta
from msgspec.structs import FieldInfo, fields

from breakeven.cli.failures import interruptible
from breakeven.cli.output import AsJson, amount, as_line, print_json, rounds, table
from breakeven.starting import ending_at_once
from breakeven.tables.backfill.backfill_options import BackfillOptions

if TYPE_CHECKING:
    from breakeven.tables.backfill import Backfill


def _parameters() -> Iterator[Parameter]:
    """The argument FOLDER, and an option for every other field of `BackfillOptions`."""
    hints = get_type_hints(BackfillOptions, include_extras=True)
    for field in fields(BackfillOptions):
        yield _parameter(field, hints[field.name])
    yield Parameter("as_json", Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)


def _parameter(field: FieldInfo, hint: Any) -> Parameter:
    kind, (meta,) = get_args(hint)[0], hint.__metadata__
    assert isinstance(meta, Meta)
    if field.name == "folder":
        words: Any = typer.Argument(metavar="FOLDER", help=meta.description, show_default=False)
    else:
        default = None if field.default is NODEFAULT else field.default
        names = [f"--{field.name.replace('_', '-')}"] if default is False else []  # no --no- for what is off
        words = typer.Option(*names, help=meta.description, **(meta.extra or {}))
    if field.name == "features":
        kind = str | None
    default = Parameter.empty if field.default is NODEFAULT else field.default
    return Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, words])


def backfill(**given: Any) -> None:
    """Run an archive of Parquet files through learners, and draw up one bill for all of it.

    Every row is decided on in its order, and its label told where it is asked for. Writes a folder of
    decisions, the learners to go on from, and last summary.json. After Ctrl-C or a crash the same command
    goes on where it was, and leads to the same bits.
    """
    with ending_at_once():
        from breakeven.tables import check_polars

        check_polars()
        from breakeven.tables.backfill import run_backfill

    as_json = given.pop("as_json")
    if given["features"] is not None:
        given["features"] = tuple(name.strip() for name in given["features"].split(",") if name.strip())
    options = BackfillOptions(**given)
    with interruptible() as stop:
        with rounds("rows", hidden=as_json) as progress:
            done = run_backfill(options, progress=progress, stop=stop)
        if as_json:
            print_json(_document(done))
        else:
            print("\n".join(_told(done)))
        if not done.whole:
            print(
                f"stopped after {done.bill.rows:,} of {done.rows:,} rows; the same command goes on there",
                file=sys.stderr,
            )
            raise KeyboardInterrupt


def _document(done: "Backfill") -> dict[str, Any]:
    return {
        "folder": done.folder,
        "bill": done.bill,
        "rows": done.rows,
        "resumed": done.resumed,
        "whole": done.whole,
    }


def _told(done: "Backfill") -> list[str]:
    """The bill in a few lines."""
    bill = done.bill
    lines = []
    if done.resumed:
        lines.append(f"went on after {done.resumed:,} rows that were decided on before")
    if bill.dropped:
        lines.append(f"{bill.dropped:,} rows with missing values were left out")
    rate = bill.rows / bill.cpu_seconds if bill.cpu_seconds else 0.0
    lines.append(f"{bill.rows:,} rows in {bill.cpu_seconds:,.1f} s of processor time: {rate:,.0f} a second")
    rows = [
        ("", "labels", "spend", "error", "total"),
        ("label everyone", f"{bill.rows:,}", amount(bill.everyone), "0", amount(bill.everyone)),
        ("breakeven", f"{bill.labels:,}", amount(bill.spend), f"{bill.mean_error:.4g}", amount(bill.total)),
    ]
    lines += [
        "",
        *table(rows),
        "",
        "error: its mean over all rows, against the labels, whose noise it contains",
    ]
    return [*lines, f"decisions, learners and summary.json are in {as_line(done.folder)}"]


backfill.__signature__ = Signature(list(_parameters()))  # type: ignore[attr-defined]  # what typer reads
