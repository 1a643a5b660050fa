"""Other rules, other prices and other orders: each is one more run of the same cases."""

from collections.abc import Callable, Iterator
from math import sqrt

import numpy as np
from msgspec.structs import replace

from breakeven.tables.bill import first_rows, name_of, row_of, share_labelled
from breakeven.tables.cases import Cases
from breakeven.tables.options import Options
from breakeven.tables.run import Progress, Run, run
from breakeven.values import BillRow, Sweep

COMPARED = ("value", "threshold", "random", "variable")
EQUAL = {"random": "random, equal spend", "variable": "variable, equal spend"}
MORE, ENOUGH = 4, 500  # a sweep buys so many times the labels at most, or so many: time grows as their square
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # of the price, in a sweep

Stop = Callable[[], bool]


class Stopped(Exception):
    """A run was interrupted; what it would have shown is left out."""


class Others:
    """Runs of the same cases that are asked about after the first; all stop when the first one would."""

    def __init__(self, first: Run, seeds: Cases | None, progress: Progress | None, stop: Stop) -> None:
        self._first, self._seeds, self._progress, self._stop = first, seeds, progress, stop

    def _run(self, cases: Cases, options: Options) -> Run:
        done = run(cases, options, seeds=self._seeds, progress=self._progress, stop=self._stop)
        if not done.whole:
            raise Stopped
        return done

    def rules(self) -> list[Options]:
        """The options of every other rule; those that ask no price label as large a part as the first did."""
        asked, share = self._first.options, share_labelled(self._first)
        return [asked.but(rule=name, chance=share) for name in COMPARED if name != asked.rule]

    def compared(self) -> Iterator[BillRow]:
        """The bill of every other rule."""
        for options in self.rules():
            name = EQUAL.get(options.rule) or name_of(options)
            yield row_of(self._run(self._first.cases, options), name)

    def sweep(self) -> Sweep:
        """The bill at other prices; those are left out at which a process would take far longer."""
        price = float(self._first.cases.prices(self._first.options.cost).mean())
        found = {factor: self._at(factor) for factor in FACTORS}
        rows = [row for row in found.values() if row is not None]
        return Sweep(
            prices=[price * factor for factor, row in found.items() if row is not None],
            labels=[row.labels for row in rows],
            spend=[row.spend for row in rows],
            mean_error=[row.mean_error for row in rows],
            total=[row.total for row in rows],
            saved=[row.saved for row in rows],
        )

    def _at(self, factor: float) -> BillRow | None:
        first, most = self._first, None
        if factor == 1.0:
            return row_of(first)
        if first.cases.columns.type is None:
            most = max(MORE * first.learner.learner.ledger.labels, ENOUGH)
        cases, options = _repriced(first.cases, first.options, factor)
        done = run(cases, options, seeds=self._seeds, progress=self._progress, stop=self._stop, most=most)
        if self._stop():
            raise Stopped
        return row_of(done) if done.whole else None

    def trials(self, count: int, rows: list[BillRow]) -> list[BillRow]:
        """These rows as means over shuffled orders, with the 95% interval of each mean total."""
        rules = [self._first.options, *self.rules()][: max(1, len(rows) - 2)]
        totals: list[list[BillRow]] = [[] for _ in rules]
        for trial in range(count):
            random = np.random.default_rng([self._first.options.seed, trial])
            cases = self._first.cases.taken(random.permutation(len(self._first.cases)))
            for found, options in zip(totals, rules, strict=True):
                found.append(row_of(self._run(cases, options)))
        means = [_mean(row.name, found) for row, found in zip(rows[2:], totals, strict=True)]
        return [*first_rows(self._first.cases, self._first.options), *means]


def _repriced(cases: Cases, options: Options, factor: float) -> tuple[Cases, Options]:
    costs = None if cases.costs is None else cases.costs * factor
    cost = None if options.cost is None else options.cost * factor
    return replace(cases, costs=costs), options.but(cost=cost)


def _mean(name: str, found: list[BillRow]) -> BillRow:
    """The mean of some rows; its total lies in [low, high] at 95% confidence."""

    def mean(field: str) -> float:
        return float(np.mean([getattr(row, field) for row in found]))

    total = mean("total")
    half = _student(len(found) - 1) * float(np.std([row.total for row in found], ddof=1)) / sqrt(len(found))
    return BillRow(
        name=name,
        labels=mean("labels"),
        spend=mean("spend"),
        mean_error=mean("mean_error"),
        total=total,
        saved=mean("saved"),
        low=total - half,
        high=total + half,
    )


def _student(freedom: int) -> float:
    """How many standard errors hold the mean at 95% confidence.

    >>> round(_student(9), 3)
    2.262
    """
    from scipy.special import stdtrit  # slow to import, rarely needed

    return float(stdtrit(freedom, 0.975))
