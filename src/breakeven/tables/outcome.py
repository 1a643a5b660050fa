"""What came of a table: the run, its bill, and what other rules, prices and orders would have cost."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from breakeven import files
from breakeven.tables.bill import final_noise, first_rows, name_of, noise_share, row_of
from breakeven.tables.cases import Cases
from breakeven.tables.learner import SNAPSHOT, SUMMARY, TableLearner
from breakeven.tables.run import Run
from breakeven.tables.story import configuration, sections
from breakeven.values import Bill, BillRow, Sweep

DECISIONS = "decisions.parquet"


class Outcome:
    """A run and what is said of it; `more` rows, a `sweep` and `trials` come after, where they are wanted."""

    def __init__(self, run: Run, seeds: Cases | None = None) -> None:
        self.run, self.seeds = run, seeds
        self.more: list[BillRow] = []
        self.sweep: Sweep | None = None
        self.trials: list[BillRow] = []
        self.folder = "bill"  # to go on from; known once it is written

    @property
    def learner(self) -> TableLearner:
        """The learner after the last case, to go on with."""
        return self.run.learner

    @property
    def rows(self) -> list[BillRow]:
        """The bill: everyone, no one, the rule, and what it is compared with."""
        run = self.run
        return [*first_rows(run.cases, run.options), row_of(run), *self.more]

    @property
    def decisions(self) -> pl.DataFrame:
        """One row for every case: its id, all that was decided, the label and how far off the answer was."""
        return self.run.decisions.collect()

    @property
    def notes(self) -> list[str]:
        """How to read the bill."""
        run = self.run
        said = [
            "Errors are against the labels as they are, noise included: what is labelled counts as right. "
            f"Label noise alone, of a standard deviation of {final_noise(run):.3g} ({run.noise.words}), "
            f"would give perfect predictions a mean error of about {noise_share(run):.3g}.",
            "* Label no one, and predict the average of all labels, which is known only afterwards.",
        ]
        if run.options.delay:
            said.append(
                f"Labels come {run.options.delay:,} rounds late; a labelled case still counts as answered by "
                "its label."
            )
        if not run.whole:
            said.insert(0, f"Interrupted: all numbers are of the first {len(run.cases):,} cases.")
        return said + run.cases.notes

    @property
    def bill(self) -> Bill:
        """The bill with all there is to see."""
        run = self.run
        return Bill(
            title=Path(run.cases.name).name or run.cases.name,
            rows=self.rows,
            chosen=name_of(run.options),
            sections=sections(run),
            sweep=self.sweep,
            configuration=configuration(run, self.folder),
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
        self.folder = folder.name
        (folder / SUMMARY).unlink(missing_ok=True)
        files.write_by(folder, DECISIONS, lambda file: self.run.decisions.sink_parquet(file.name))
        files.write(folder, SNAPSHOT, self.learner.learner.snapshot())
        if report is not None:
            report(self.bill, folder)
        files.write(folder, SUMMARY, msgspec.json.format(msgspec.json.encode(self.summary())))
