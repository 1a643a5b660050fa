"""What came of a table: the run, its bill, what it is compared with, and the folder of it all."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from breakeven import files
from breakeven.beliefs import says_yes_or_no
from breakeven.learner import Learner
from breakeven.rows import Columns, save_bill
from breakeven.rows.bills import SUMMARY_FILE, digest_of, has_gone_on
from breakeven.tables.billing import cost_of_all, final_noise, first_rows, name_of, row_of
from breakeven.tables.cases import Cases
from breakeven.tables.continuation import configuration
from breakeven.tables.faults import OptionWords, as_argument
from breakeven.tables.over_time import about_trust, stretches, warnings
from breakeven.tables.pictures import costs_differ
from breakeven.tables.reasons import why_section
from breakeven.tables.rivals import ABOUT_RULES
from breakeven.tables.run import TableRun
from breakeven.tables.story import (
    about_belief,
    about_copies,
    about_errors,
    about_limits,
    about_turns,
    facts,
    lead,
    sections,
)
from breakeven.values import Bill, BillRow, Explanation, Sweep
from breakeven.values.amounts import amount, listed
from breakeven.values.bill import (
    Comparison,
    CostPoint,
    compared,
    mean_row,
    sweep_of,
)
from breakeven.values.bill_words import about_no_one, headline, rests_on, sweep_words
from breakeven.values.showing import columns_table, page_written, plotted

FIGURES = ("labels", "spend", "mean error", "total")  # of a way, as they are shown
DECISIONS_FILE = "decisions.parquet"


class Outcome:
    """A run and what is said of it; other ways, other costs and other orders come after, where wanted."""

    def __init__(self, run: TableRun, seeds: Cases | None = None) -> None:
        self.run, self.seeds = run, seeds
        self.at_random: list[BillRow] = []  # labelling at random for the same money, once it was run
        self.more: list[BillRow] = []  # other rules
        self.points: list[CostPoint] = []  # the bill at other costs of a label
        self.swept_cases = len(run.cases)  # on how many cases these were run
        self.orders: list[list[BillRow]] = []  # the rule and what it is compared with, over each of them
        self.unfinished: list[str] = []  # what was asked for besides, and interrupted
        self.folder = "bill"  # to go on from; known once it is written
        self.learner_digest: str | None = None  # of the learner as it was written
        self.kept_in: str | None = None  # where what was in the folder before is now
        self.ids = False  # whether the report says which case a point is

    @property
    def learner(self) -> Learner:
        """The learner after the last case, to go on with."""
        return self.run.learner

    @property
    def columns(self) -> Columns:
        """What the columns of the table mean, to read rows that come later."""
        return self.run.cases.columns

    def __repr__(self) -> str:
        """One line: the table, and what the rule's own way costs."""
        row, cases = self.own_row, len(self.run.cases)
        return f"<Outcome: {self._title}, {cases:,} cases, {row.labels:,} labels, total {amount(row.total)}>"

    def __str__(self) -> str:
        """A line for each way to go about the table."""
        ways = [f"{row.name}: {', '.join(_figures(row))}" for row in self.rows]
        return "\n".join([f"{self._title}, {len(self.run.cases):,} cases", *ways, f"{self.headline}."])

    def _repr_html_(self) -> str:
        rows = [(row.name, *_numbers(row)) for row in self.rows]
        return columns_table(f"{self._title}, {len(self.run.cases):,} cases", ("", *FIGURES), rows)

    def plot(self) -> Any:
        """Money spent over time, as a matplotlib figure."""
        first = next(figure for section in self.bill.sections for figure in section.figures)
        return plotted(first.charts[0])

    def report(self, path: Path | str = "report.html") -> Path:
        """Write the page of the bill to a file, and return its path."""
        return page_written(self.bill, Path(path))

    @property
    def _title(self) -> str:
        return Path(self.run.cases.name).name or self.run.cases.name

    def explain(self, id: str | int) -> Explanation:
        """Why a case was decided on as it was, in the words of the table; cases are numbered from 1 on.

        Where the table has an id column, that is its name. The learner remembers the last cases only.
        """
        return self.columns.explained(self.learner.explain(str(id)))

    @property
    def rows(self) -> list[BillRow]:
        """The bill: the simple ways, our rule, and other rules that it is compared with."""
        return [*self._first_rows, *self.at_random, self.own_row, *self.more]

    @cached_property
    def _first_rows(self) -> list[BillRow]:
        return first_rows(self.run.cases, self.run.options)

    @cached_property
    def own_row(self) -> BillRow:
        """The bill of our rule."""
        return row_of(self.run)

    @property
    def comparison(self) -> Comparison:
        """Our rule beside the cheapest simple way."""
        found = compared(self.own_row, self.rows)
        assert found is not None  # labelling everyone and no one are always there
        return found

    @property
    def bill_cost(self) -> float:
        """What a label costs; the mean where some cost more than others."""
        run = self.run
        return cost_of_all(run.cases, run.options) / len(run.cases)

    @property
    def headline(self) -> str:
        """What was saved against the cheapest simple way, or that this way is cheaper, and by how much."""
        return headline(self.own_row, self.comparison, self.run.options.currency)

    @property
    def sweep(self) -> Sweep | None:
        """The bill at other costs of a label, and the break-even costs."""
        return sweep_of(self.points, self.swept_cases, len(self.run.cases))

    @property
    def break_even(self) -> list[str]:
        """The break-even costs in words; none where no other costs were run."""
        if (sweep := self.sweep) is None:
            return []
        return sweep_words(sweep, self.own_row.name, self.run.options.currency)

    @property
    def rests_on(self) -> str:
        """What the break-even costs rest on."""
        if (sweep := self.sweep) is None or sweep.break_even is None:
            return ""
        return rests_on(sweep.break_even, sweep.label_costs, sweep.cases, sweep.of_cases)

    @property
    def warnings(self) -> list[str]:
        """What must be known before anything else: labels that refuted the belief, columns that give them."""
        return [*warnings(self.run), *self._copies]

    @property
    def trials(self) -> list[BillRow]:
        """The rows as means over shuffled orders, with the 95% interval of each mean total."""
        if len(self.orders) < 2:
            return []
        means = [mean_row(found[0].name, found) for found in zip(*self.orders, strict=True)]
        own, *others = means
        simple = [row for row in others if row.simple]
        return [*self._first_rows, *simple, own, *(row for row in others if not row.simple)]

    @property
    def remarks(self) -> list[str]:
        """What was asked for besides the bill and was interrupted."""
        if not self.unfinished:
            return []
        return [
            f"Interrupted: {listed(self.unfinished)} were not run to the end; what was done by then is shown."
        ]

    @property
    def decisions(self) -> pl.DataFrame:
        """One row for every case: its id, all that was decided, the label and how far off the answer was."""
        return self.run.decisions.collect()

    @property
    def notes(self) -> list[str]:
        """How to read the bill."""
        run = self.run
        said = [
            about_no_one(run.options.errors, yes_no=says_yes_or_no(run.learner.belief)),
            about_errors(run),
        ]
        said += [f"`{row.name}` {ABOUT_RULES[row.name]}." for row in self.more if row.name in ABOUT_RULES]
        if run.options.delay:
            said.append(
                f"Labels come {run.options.delay:,} rounds late; a labelled case still counts as answered by "
                "its label."
            )
        said += about_limits(run)
        if (standing := run.learner.ledger.standing) is not None:
            said.append(about_trust(standing))
        if self.seeds is not None:
            said += [f"{len(self.seeds):,} labels were owned from the start.", *self.seeds.notes]
        if not run.whole:
            said.insert(0, f"Interrupted: all numbers are of the first {len(run.cases):,} cases.")
        said += [*about_belief(run), *about_turns(run)]
        return said + run.cases.notes + self.remarks

    @cached_property
    def _copies(self) -> list[str]:
        return about_copies(self.run, self.seeds)

    @property
    def bill(self) -> Bill:
        """The bill with all there is to see."""
        run = self.run
        return Bill(
            title=self._title,
            warnings=self.warnings,
            headline=self.headline,
            lead=lead(run, self.own_row, self.comparison),
            break_even=self.break_even,
            rests_on=self.rests_on,
            rows=self.rows,
            chosen=name_of(run.options),
            facts=facts(run),
            trials=self.trials,
            costs_differ=costs_differ(run),
            sections=[*sections(run, ids=self.ids), *why_section(run, ids=self.ids)],
            sweep=self.sweep,
            configuration=configuration(run, self.folder, seeds=self.seeds is not None),
            notes=self.notes,
            currency=run.options.currency,
            unit=run.options.unit,
        )

    def summary(self) -> dict[str, Any]:
        """Everything but the decisions, as plain data."""
        run = self.run
        return {
            "table": run.cases.name,
            "cases": len(run.cases),
            "whole": run.whole,
            "warnings": self.warnings,
            "headline": self.headline,
            "comparison": self.comparison,
            "break_even": self.break_even,
            "rests_on": self.rests_on,
            "rows": self.rows,
            "trials": self.trials,
            "sweep": self.sweep,
            "unfinished": self.unfinished,
            "notes": self.notes,
            "noise_std": final_noise(run),
            "standing": run.learner.ledger.standing,
            "refuted": [
                {"case": one.round, "outdated": one.outdated, "widened": one.widened} for one in run.refuted
            ],
            "stretches": stretches(run).to_dicts(),
            "audit": run.learner.ledger.audit,
            "options": run.options,
            "seconds": run.seconds,
            "learner_digest": self.learner_digest,
            "kept_in": self.kept_in,
        }

    def write(
        self,
        folder: Path | str,
        report: Callable[[Bill, Path], object] | None = None,
        *,
        overwrite: bool = False,
    ) -> None:
        """Decisions, learner, columns, the page of a `report` and the summary: all of them, or nothing.

        `report` is `breakeven.report.write_bill`, or nothing where no page is wanted. A folder whose learner
        has gone on since its bill was written is refused, unless with `overwrite` it is kept beside the new
        one, under another name.
        """
        folder = Path(folder)
        files.check_folder(folder)
        with files.claimed(folder):
            check_folder(folder, overwrite=overwrite, option=self.run.cases.option)
            if has_gone_on(folder):
                self.kept_in = str(files.kept_beside(folder))
            with files.staged(folder, last=SUMMARY_FILE) as stage:
                files.write_by(stage, DECISIONS_FILE, lambda file: _sink(self.run.decisions, file.name))
                save_bill(stage, self.learner, self.columns)
                self.learner_digest = digest_of(stage)
                self._say(stage, folder, report)

    def write_again(self, folder: Path | str, report: Callable[[Bill, Path], object] | None = None) -> None:
        """The page and the summary only: there is more to say of the same decisions."""
        folder = Path(folder)
        with files.staged(folder, last=SUMMARY_FILE) as stage:
            self._say(stage, folder, report)

    def _say(self, stage: Path, folder: Path, report: Callable[[Bill, Path], object] | None) -> None:
        self.folder = str(folder)
        if report is not None:
            report(self.bill, stage)
        files.write(stage, SUMMARY_FILE, msgspec.json.format(msgspec.json.encode(self.summary())))


def _numbers(row: BillRow) -> list[str]:
    return [amount(one) for one in (row.labels, row.spend, row.mean_error, row.total)]


def _figures(row: BillRow) -> list[str]:
    return [f"{name} {number}" for name, number in zip(FIGURES, _numbers(row), strict=True)]


class _Mark(msgspec.Struct):
    """Two fields that every summary of a bill has."""

    table: str
    options: dict[str, Any]


def check_folder(folder: Path, *, overwrite: bool = False, option: OptionWords = as_argument) -> None:
    """Make a folder, and raise where nothing can be written to it, or where something would be lost.

    That is so where a summary is not one of ours, and where the learner has gone on since.
    """
    files.check_folder(folder)
    if (folder / SUMMARY_FILE).exists():
        try:
            msgspec.json.decode((folder / SUMMARY_FILE).read_bytes(), type=_Mark)
        except (OSError, ValueError) as error:
            raise files.UnwritableFolder(
                f"{folder}: expected a new folder, or that of a bill, got one whose {SUMMARY_FILE} is "
                "something else; choose another"
            ) from error
    if has_gone_on(folder) and not overwrite:
        raise files.UnwritableFolder(
            f"{folder}: expected a new folder, or a learner as its bill left it, got one that has gone on "
            "since, or whose bill is not finished; choose another folder, or say "
            f"{option('overwrite')}, which keeps what is there under another name"
        )


def _sink(decisions: pl.LazyFrame, path: str) -> None:
    """Write the decisions; an error of polars becomes an OSError, as for any other file."""
    try:
        decisions.sink_parquet(path)
    except pl.exceptions.PolarsError as error:
        raise OSError(str(error)) from error
