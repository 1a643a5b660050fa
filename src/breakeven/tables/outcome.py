"""What came of a table: the run, its bill, and what other rules, prices and orders would have cost."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from breakeven import files
from breakeven.tables.billing.bill import final_noise, first_rows, name_of, noise_share, row_of
from breakeven.tables.billing.prices import prices_left_out
from breakeven.tables.reading.cases import Cases
from breakeven.tables.running.learner import SNAPSHOT, SUMMARY, TableLearner
from breakeven.tables.running.run import Run
from breakeven.tables.telling.bought import prices_differ
from breakeven.tables.telling.configuration import configuration
from breakeven.tables.telling.story import about_errors, facts, sections
from breakeven.values import Bill, BillRow, Sweep
from breakeven.values.amounts import listed
from breakeven.values.bill import ABOUT_NO_ONE, mean_row, sweep_of

DECISIONS = "decisions.parquet"


class Outcome:
    """A run and what is said of it; `more` rows, other `prices` and `orders` come after, where wanted."""

    def __init__(self, run: Run, seeds: Cases | None = None) -> None:
        self.run, self.seeds = run, seeds
        self.more: list[BillRow] = []
        self.prices: dict[float, BillRow | None] = {}  # the bill by price; None where that was left out
        self.orders: list[list[BillRow]] = []  # the rule and what it is compared with, over each of them
        self.unfinished: list[str] = []  # what was asked for besides, and interrupted
        self.folder = "bill"  # to go on from; known once it is written
        self.ids = False  # whether the report says which case a point is

    @property
    def learner(self) -> TableLearner:
        """The learner after the last case, to go on with."""
        return self.run.learner

    @property
    def rows(self) -> list[BillRow]:
        """The bill: everyone, no one, the rule, and what it is compared with."""
        return [*self._first_rows, self._own_row, *self.more]

    @cached_property
    def _first_rows(self) -> list[BillRow]:
        return first_rows(self.run.cases, self.run.options)

    @cached_property
    def _own_row(self) -> BillRow:
        return row_of(self.run)

    @property
    def sweep(self) -> Sweep | None:
        """The bill at other prices of a label."""
        return sweep_of(self.prices)

    @property
    def trials(self) -> list[BillRow]:
        """The rows as means over shuffled orders, with the 95% interval of each mean total."""
        if len(self.orders) < 2:
            return []
        means = [mean_row(found[0].name, found) for found in zip(*self.orders, strict=True)]
        return [*self._first_rows, *means]

    @property
    def remarks(self) -> list[str]:
        """What was asked for besides the bill and is not there, or not all of it."""
        said = prices_left_out(self.prices)
        if self.unfinished:
            said.append(
                f"Interrupted: {listed(self.unfinished)} were not run to the end; what was done by then is "
                "shown."
            )
        return said

    @property
    def decisions(self) -> pl.DataFrame:
        """One row for every case: its id, all that was decided, the label and how far off the answer was."""
        return self.run.decisions.collect()

    @property
    def notes(self) -> list[str]:
        """How to read the bill."""
        run = self.run
        said = [about_errors(run), ABOUT_NO_ONE]
        if run.options.delay:
            said.append(
                f"Labels come {run.options.delay:,} rounds late; a labelled case still counts as answered by "
                "its label."
            )
        if self.seeds is not None:
            said += [f"{len(self.seeds):,} labels were owned from the start.", *self.seeds.notes]
        if not run.whole:
            said.insert(0, f"Interrupted: all numbers are of the first {len(run.cases):,} cases.")
        return said + run.cases.notes + self.remarks

    @property
    def bill(self) -> Bill:
        """The bill with all there is to see."""
        run = self.run
        return Bill(
            title=Path(run.cases.name).name or run.cases.name,
            rows=self.rows,
            chosen=name_of(run.options),
            facts=facts(run),
            trials=self.trials,
            costs_differ=prices_differ(run),
            sections=sections(run, ids=self.ids),
            sweep=self.sweep,
            configuration=configuration(run, self.folder, seeds=self.seeds is not None),
            notes=self.notes,
        )

    def summary(self) -> dict[str, Any]:
        """Everything but the decisions, as plain data."""
        run = self.run
        return {
            "table": run.cases.name,
            "cases": len(run.cases),
            "whole": run.whole,
            "rows": self.rows,
            "trials": self.trials,
            "sweep": self.sweep,
            "unfinished": self.unfinished,
            "notes": self.notes,
            "noise_std": final_noise(run),
            "mean_error_of_noise": noise_share(run),
            "options": run.options,
            "columns": run.learner.columns,
            "scales": run.learner.scales,
            "seconds": run.seconds,
        }

    def write(self, folder: Path | str, report: Callable[[Bill, Path], object] | None = None) -> None:
        """Decisions, snapshot, the page of a `report` and, as the mark that all is there, the summary.

        `report` is `breakeven.report.write_bill`, or nothing where no page is wanted.
        """
        folder = Path(folder)
        check_folder(folder)
        (folder / SUMMARY).unlink(missing_ok=True)
        files.write_by(folder, DECISIONS, lambda file: _sink(self.run.decisions, file.name))
        files.write(folder, SNAPSHOT, self.learner.learner.snapshot())
        self.write_again(folder, report)

    def write_again(self, folder: Path | str, report: Callable[[Bill, Path], object] | None = None) -> None:
        """The page and the summary only: there is more to say of the same decisions."""
        folder = Path(folder)
        self.folder = str(folder)
        if report is not None:
            report(self.bill, folder)
        files.write(folder, SUMMARY, msgspec.json.format(msgspec.json.encode(self.summary())))


class _Mark(msgspec.Struct):
    """What every summary of ours says."""

    table: str
    options: dict[str, Any]


def check_folder(folder: Path) -> None:
    """Make a folder, and raise where nothing can be written to it, or where a summary is not one of ours."""
    files.check_folder(folder)
    if not (folder / SUMMARY).exists():
        return
    try:
        msgspec.json.decode((folder / SUMMARY).read_bytes(), type=_Mark)
    except (OSError, ValueError) as error:
        raise files.UnwritableFolder(
            f"{folder}: expected a new folder, or that of a bill, got one whose {SUMMARY} is something else; "
            "choose another"
        ) from error


def _sink(decisions: pl.LazyFrame, path: str) -> None:
    """Write them; what polars cannot write is told as for any other file."""
    try:
        decisions.sink_parquet(path)
    except pl.exceptions.PolarsError as error:
        raise OSError(str(error)) from error
