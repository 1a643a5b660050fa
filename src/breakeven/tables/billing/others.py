"""Other rules, other prices and other orders: each is one more run of the same cases."""

from collections.abc import Callable, Iterator

import numpy as np

from breakeven.tables.billing.bill import name_of, price_of_all, row_of
from breakeven.tables.billing.prices import repriced
from breakeven.tables.billing.rivals import affordable, rivals
from breakeven.tables.options import OF_PRICES, Options
from breakeven.tables.reading.cases import Cases
from breakeven.tables.running.run import Progress, Run, run
from breakeven.values import BillRow
from breakeven.values.bill import factors

ENOUGH = 250  # labels that a process may always buy: fits to so many take 2 or 3 seconds


class Stopped(Exception):
    """A run was interrupted; what it would have shown is left out."""


class Others:
    """Runs of the same cases that are asked about after the first; all stop when the first one would."""

    def __init__(
        self, first: Run, seeds: Cases | None, progress: Progress | None, stop: Callable[[], bool]
    ) -> None:
        self._first, self._seeds, self._progress, self._stop = first, seeds, progress, stop

    def _run(self, cases: Cases, options: Options, most: int | None = None) -> Run | None:
        """A run to its end; None where it buys the `most` labels before."""
        done = run(cases, options, seeds=self._seeds, progress=self._progress, stop=self._stop, most=most)
        if not done.whole and self._stop():
            raise Stopped
        return done if done.whole else None

    def _whole(self, cases: Cases, options: Options) -> Run:
        done = self._run(cases, options)
        assert done is not None  # it may buy as much as it likes
        return done

    def rules(self) -> Iterator[BillRow]:
        """The bill of every other rule."""
        return self._rules(self._first)

    def _rules(self, first: Run) -> Iterator[BillRow]:
        for name, options in rivals(first, self._seeds).items():
            yield row_of(self._whole(first.cases, options), name)

    def prices(self) -> Iterator[tuple[float, BillRow | None]]:
        """The bill at this price and others; None where a process would take longer than at this one.

        It buys more at lower prices, so those below one that is left out are not tried.
        """
        cases, options = self._first.cases, self._first.options
        price, too_low = price_of_all(cases, options) / len(cases), 0.0
        for factor in factors(cases.prices(options.cost)):
            row = self._at(factor) if factor > too_low else None
            too_low = too_low if row is not None else max(too_low, factor)
            yield price * factor, row

    def _at(self, factor: float) -> BillRow | None:
        first, most = self._first, None
        if factor == 1.0 or (first.options.rule not in OF_PRICES and first.options.budget is None):
            return row_of(first, factor=factor)
        if first.cases.columns.type is None:
            most = max(first.learner.learner.ledger.labels, ENOUGH) + 1
        cases, options = repriced(first.cases, first.options, factor)
        done = self._run(cases, affordable(cases, options, options.budget), most)
        return None if done is None else row_of(done, name_of(options))

    def orders(self, count: int, *, compare: bool) -> Iterator[list[BillRow]]:
        """The bill over shuffled orders: of the rule itself, and of the others where these are compared."""
        first = self._first
        for trial in range(count):
            shuffled = np.random.default_rng([first.options.seed, trial]).permutation(len(first.cases))
            own = self._whole(first.cases.taken(shuffled), first.options)
            yield [row_of(own), *(self._rules(own) if compare else ())]
