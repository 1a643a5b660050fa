"""A bill on the terminal, and the files that come of it."""

import textwrap
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from breakeven.cli.interrupt import interruptible
from breakeven.cli.output import amount, as_line, print_json, table
from breakeven.cli.progress import rounds

if TYPE_CHECKING:
    from breakeven.tables.outcome import Outcome
    from breakeven.tables.program import Wish
    from breakeven.tables.reading.cases import Cases
    from breakeven.values import BillRow, Sweep

WIDTH = 80
HEAD = ("labels", "spend", "mean error", "total", "saved")


def present(
    cases: "Cases", wish: "Wish", *, seeds: "Cases | None", out: Path, as_json: bool, ids: bool = False
) -> None:
    """Run the cases, print and write the bill as soon as it is there, compare, and write that, too.

    The page says which case a point is only where `ids` are wanted. Ctrl-C ends the run after its round: the
    bill so far is printed and what is done is written.
    """
    from breakeven import report
    from breakeven.tables.outcome import check_folder
    from breakeven.tables.program import carry_out

    def tell(first: "Outcome") -> None:
        if not as_json:
            print(_first(first), flush=True)
        first.ids = ids
        first.write(out, report.write_bill)

    with interruptible() as stop:
        report.check_plotly()
        check_folder(out)
        shown = partial(rounds, hidden=as_json)
        outcome = carry_out(cases, wish, seeds=seeds, progress=shown, stop=stop, tell=tell)
        if wish.parts:
            outcome.write_again(out, report.write_bill)
        if as_json:
            print_json({**outcome.summary(), "folder": out})
        else:
            print(_rest(outcome, out))
        if stop():
            raise KeyboardInterrupt


def _first(outcome: "Outcome") -> str:
    """The bill of the rule that was asked for."""
    run = outcome.run
    cases = "1 case" if len(run.cases) == 1 else f"{len(run.cases):,} cases"
    return "\n".join(
        [
            f"{as_line(run.cases.name)}: {cases} in {run.seconds:.1f} s",
            "",
            *table_of_ways(outcome.rows),
            "",
            *filled(outcome.notes),
        ]
    )


def _rest(outcome: "Outcome", out: Path) -> str:
    """What it was compared with, and where everything is."""
    parts = []
    if outcome.more:
        parts += ["", "Other rules on the same cases:", *table_of_ways(outcome.more)]
    if outcome.sweep is not None:
        parts += ["", "At other prices of a label:", *table_of_prices(outcome.sweep)]
    if outcome.trials:
        parts += ["", "Over shuffled orders, means and the 95% interval of the mean total:"]
        parts += table_of_ways(outcome.trials, intervals=True)
    if outcome.remarks:
        parts += ["", *filled(outcome.remarks)]
    return "\n".join([*parts, "", f"Open {as_line(out / 'report.html')}"])


def table_of_ways(rows: "Sequence[BillRow]", *, intervals: bool = False) -> list[str]:
    """A row for each way to go about the stream."""
    if not intervals:
        return table([("", *HEAD), *map(cells, rows)])
    return table([("", *HEAD, "total from", "to"), *((*cells(row), *_interval(row)) for row in rows)])


def cells(row: "BillRow") -> tuple[str, ...]:
    """One row of the table.

    >>> from breakeven.values import BillRow
    >>> cells(BillRow(name="breakeven", labels=6, spend=60, mean_error=0.25, total=75, saved=25))
    ('breakeven', '6', '60', '0.25', '75', '25 (25%)')
    """
    saved = f"{amount(row.saved)} ({row.share_saved:.0%})" if row.saved else "0"
    return row.name, *_numbers(row.labels, row.spend, row.mean_error, row.total), saved


def _interval(row: "BillRow") -> tuple[str, str]:
    """Where the mean total lies, if that is known."""
    return ("", "") if row.low is None or row.high is None else (amount(row.low), amount(row.high))


def table_of_prices(sweep: "Sweep") -> list[str]:
    """A row for each price."""
    numbers = map(_numbers, sweep.labels, sweep.spend, sweep.mean_error, sweep.total)
    rows = zip(sweep.label_costs, numbers, sweep.saved, strict=True)
    return table(
        [("a label costs", *HEAD), *((amount(price), *some, amount(saved)) for price, some, saved in rows)]
    )


def _numbers(labels: float, spend: float, error: float, total: float) -> tuple[str, ...]:
    return f"{labels:,.1f}".removesuffix(".0"), amount(spend), f"{error:.4g}", amount(total)


def filled(notes: Sequence[str]) -> list[str]:
    """Notes in lines that are not too long."""
    return [textwrap.fill(as_line(note), WIDTH) for note in notes]
