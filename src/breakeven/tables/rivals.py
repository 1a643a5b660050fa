"""Other rules, other costs and other orders: each is one more run of the same cases.

Rules that do not look at what a label costs get as much money as the first rule spent.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from math import fsum

import numpy as np
from msgspec.structs import replace

from breakeven.errors.expect import Array
from breakeven.rules import Draws
from breakeven.tables.billing import cost_of_all, name_of, row_of, share_labelled
from breakeven.tables.cases import Cases
from breakeven.tables.options import PAYING_RULES, Options
from breakeven.tables.recipe import start
from breakeven.tables.run import RoundsDone, TableRun, run
from breakeven.values import BillRow
from breakeven.values.amounts import amount, listed
from breakeven.values.bill import factors

COMPARED_RULES = ("value", "threshold", "random", "variable")

AFFORDED = 250  # labels that a process may always buy: fits to that number take 2 or 3 seconds
SUM_DRIFT = 1e-9  # by which sums of many costs may be off, at most
FORCED_DRAW = -1.0  # the draw of a round that is labelled whatever its chance


class Stopped(Exception):
    """A run was interrupted and has no bill."""


class Rivals:
    """More runs of the same cases, after the first; `stop` ends them all."""

    def __init__(
        self, first: TableRun, seeds: Cases | None, progress: RoundsDone | None, stop: Callable[[], bool]
    ) -> None:
        self._first, self._seeds, self._progress, self._stop = first, seeds, progress, stop

    def _run(self, cases: Cases, options: Options, most: int | None = None) -> TableRun | None:
        """A run to its end; None where it buys the `most` labels before."""
        done = run(cases, options, seeds=self._seeds, progress=self._progress, stop=self._stop, most=most)
        if not done.whole and self._stop():
            raise Stopped
        return done if done.whole else None

    def _whole(self, cases: Cases, options: Options) -> TableRun:
        done = self._run(cases, options)
        assert done is not None  # no limit on its labels
        return done

    def rules(self) -> Iterator[BillRow]:
        """The bill of every other rule."""
        return self._rules(self._first)

    def _rules(self, first: TableRun) -> Iterator[BillRow]:
        for name, options in other_rules(first, self._seeds).items():
            yield row_of(self._whole(first.cases, options), name)

    def costs(self) -> Iterator[tuple[float, BillRow | None]]:
        """The bill at this cost of a label and at others; None where a run would take longer than the first.

        More labels are bought at lower costs, so those below one that is left out are not tried.
        """
        cases, options = self._first.cases, self._first.options
        cost, too_low = cost_of_all(cases, options) / len(cases), 0.0
        for factor in factors(cases.label_costs(options.cost)):
            row = self._at(factor) if factor > too_low else None
            too_low = too_low if row is not None else max(too_low, factor)
            yield cost * factor, row

    def _at(self, factor: float) -> BillRow | None:
        first, most = self._first, None
        if factor == 1.0 or (first.options.rule not in PAYING_RULES and first.options.budget is None):
            return row_of(first, factor=factor)
        if first.cases.columns.type_column is None:
            most = max(first.learner.ledger.labels, AFFORDED) + 1
        cases, options = at_other_cost(first.cases, first.options, factor)
        done = self._run(cases, affordable(cases, options, options.budget), most)
        return None if done is None else row_of(done, name_of(options))

    def orders(self) -> Iterator[list[BillRow]]:
        """The bill over shuffled orders: of the rule itself, and of the others where these are compared."""
        first, compare = self._first, self._first.options.compare
        for trial in range(first.options.trials):
            shuffled = np.random.default_rng([first.options.seed, trial]).permutation(len(first.cases))
            own = self._whole(first.cases.taken(shuffled), first.options)
            yield [row_of(own), *(self._rules(own) if compare else ())]


# -- the rules that one is compared with ---------------------------------------------------------------


def other_rules(first: TableRun, seeds: Cases | None) -> dict[str, Options]:
    """The options of every other rule, by the name of its row."""
    found = {}
    for rule in COMPARED_RULES:
        options = first.options.but(rule=rule, check=None)
        if rule == first.options.rule:
            continue
        if rule == "random":
            found["random, equal spend"] = _random(first, options, seeds)
        elif rule == "variable":
            found["variable, equal spend"] = _variable(first, options)
        else:
            found[name_of(options)] = options
    return found


def _random(first: TableRun, options: Options, seeds: Cases | None) -> Options:
    """Random draws, at the chance at which they spend as much as the first run."""
    cases = first.cases
    warmup = start(cases, options, seeds).learner.warmup
    draws = Draws(options.seed).many(1, len(cases))
    draws[:warmup] = FORCED_DRAW
    chance = equal_chance(draws, cases.label_costs(options.cost), _spend(first))
    return options.but(rule="never") if chance < 0.0 else options.but(chance=chance)


def _variable(first: TableRun, options: Options) -> Options:
    """Variable uncertainty, with the spend and the share of labels of the first run."""
    return affordable(first.cases, options.but(chance=share_labelled(first)), _spend(first))


def affordable(cases: Cases, options: Options, budget: float | None) -> Options:
    """The options with a budget; a budget below the cost of the first label buys nothing."""
    if budget is not None and budget < cases.label_costs(options.cost)[0]:
        return options.but(rule="never", budget=None)
    return options.but(budget=budget)


def _spend(run: TableRun) -> float:
    return run.learner.ledger.label_spend


def equal_chance(draws: Array, costs: Array, money: float) -> float:
    """The largest chance at which the cases drawn, whose draw lies below it, cost at most this money.

    >>> equal_chance(np.array([0.7, 0.2, 0.5]), np.array([4.0, 1.0, 2.0]), money=3.0)
    0.7
    """
    order = np.argsort(draws)
    draws, costs = np.append(draws[order], 1.0), costs[order]
    low, high = np.searchsorted(np.cumsum(costs), [money * (1.0 - SUM_DRIFT), money * (1.0 + SUM_DRIFT)])
    counts = range(int(high) + 1)
    count = bisect_right(counts, money, lo=int(low), key=lambda some: fsum(costs[:some])) - 1
    return float(draws[count])


# -- other costs ---------------------------------------------------------------------------------------


def at_other_cost(cases: Cases, options: Options, factor: float) -> tuple[Cases, Options]:
    """The same, with the cost of every label multiplied by `factor`."""
    costs = factor * cases.label_costs(options.cost)
    if cases.costs is None:
        return cases, options.but(cost=float(costs[0]))
    return replace(cases, costs=costs), options


def costs_left_out(bills: Mapping[float, BillRow | None]) -> list[str]:
    """A sentence on the costs of a label that have no bill, if there are any.

    >>> costs_left_out({50.0: None, 25.0: None})[0][:34]
    'Costs of 25 and 50 were left out: '
    """
    costs = [amount(cost) for cost, row in sorted(bills.items()) if row is None]
    if not costs:
        return []
    which = f"Costs of {listed(costs)} were" if len(costs) > 1 else f"A cost of {costs[0]} was"
    return [f"{which} left out: with that many labels to buy, a run would take longer than the first one."]
