"""Other ways, other costs and other orders: what is to be run besides, and what one errand of it does.

An errand is plain data, so that it runs in this process or in another, with the same result to the bit. Rules
that do not look at what a label costs get as much money as our rule spent.
"""

from bisect import bisect_right
from collections.abc import Callable
from math import fsum, sqrt
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from breakeven.errors.expect import Array
from breakeven.rules import Draws
from breakeven.tables.billing import cost_of_all, first_rows, name_of, row_of, share_labelled
from breakeven.tables.cases import Cases
from breakeven.tables.options import PAYING_RULES, Options
from breakeven.tables.recipe import start
from breakeven.tables.run import RoundsDone, TableRun, never, run
from breakeven.values import BillRow
from breakeven.values.bill import (
    AT_RANDOM,
    COST_STEP,
    NO_ONE,
    BreakEven,
    CostPoint,
    Crossing,
    break_even,
    can_cost,
)

COMPARED_RULES = ("value", "threshold", "variable")
MOST_UNSURE = "where most unsure, same money"
ABOUT_RULES = {
    "the paper's threshold": "labels where the uncertainty lies above the threshold of Cai & Kandasamy "
    "(2023), at its scale λ = 1",
    MOST_UNSURE: "labels where the uncertainty lies above a limit that moves with every answer (variable "
    "uncertainty, Žliobaitė et al. 2014), within the same money",
}

SUM_DRIFT = 1e-9  # by which sums of many costs may be off, at most
FORCED_DRAW = -1.0  # the draw of a round that is labelled whatever its chance
COSTS_A_SIDE = 10  # costs on either side of the own one, each a factor of `COST_STEP` from the next
HARDLY_ANY, HARDLY_ANY_SHARE = 5, 0.01  # labels, and their part of the cases: as good as no one is labelled
CLOSE_ENOUGH = 1.5  # the factor between two costs that are run around a break-even cost


class Stopped(Exception):
    """A run was interrupted and has no bill."""


class Task(Struct, frozen=True, kw_only=True):
    """What all errands have in common: the cases, the part of them for other costs, and the options."""

    cases: Cases
    sample: Cases
    options: Options
    seeds: Cases | None = None

    @property
    def sampled(self) -> bool:
        """Whether other costs are run on a part of the cases only."""
        return len(self.sample) < len(self.cases)


def sample_of(cases: Cases, options: Options) -> Cases:
    """The cases on which other costs are run: all of them, or an even part in the order of arrival.

    Streams of types run fast and need their repeats, so they are run as they are, or, where there are very
    many types, with all cases of an even part of the types.
    """
    most = options.sweep_rows
    if len(cases) <= most:
        return cases
    if cases.columns.type_column is not None:
        return _with_fewer_types(cases, most)
    return cases.taken(evenly_spread(len(cases), most))


def _with_fewer_types(cases: Cases, most: int) -> Cases:
    types = cases.points.unique(maintain_order=True)
    if len(types) <= most:
        return cases
    kept = cases.points.is_in(types[evenly_spread(len(types), most)].implode())
    return cases.taken(kept.arg_true().to_numpy().astype(np.int64))


def evenly_spread(count: int, most: int) -> NDArray[np.int64]:
    """So many of `count` places, the first and the last among them.

    >>> evenly_spread(10, most=4).tolist()
    [0, 3, 6, 9]
    """
    return np.linspace(0, count - 1, most).round().astype(np.int64)


# -- errands -------------------------------------------------------------------------------------------


class OneRule(Struct, frozen=True):
    """Another way to go about the same cases."""

    name: str
    options: Options

    def done(self, task: Task, runner: "Runner") -> BillRow:
        """Its bill."""
        found = runner.run(task.cases, self.options, task.seeds)
        return row_of(found, self.name, simple=self.name == AT_RANDOM)

    def rounds(self, task: Task) -> int:
        """How many rounds that takes."""
        return len(task.cases)


class OneCost(Struct, frozen=True):
    """Every label at `factor` times its cost."""

    factor: float

    def done(self, task: Task, runner: "Runner") -> CostPoint:
        """Our bill and that of the simple ways."""
        cases, options = at_other_cost(task.sample, task.options, self.factor)
        own = runner.run(cases, affordable(cases, options, options.budget), task.seeds)
        own_row = row_of(own, name_of(options))
        return point_of(cases, options, own_row, self._at_random(cases, options, own, task.seeds, runner))

    def _at_random(
        self, cases: Cases, options: Options, own: TableRun, seeds: Cases | None, runner: "Runner"
    ) -> float | None:
        """What labelling at random costs for the same money; whoever can label everyone need not draw."""
        if options.rule == "random":
            return None
        if own.learner.ledger.labels == len(cases):
            return min(row.total for row in first_rows(cases, options) if row.name != NO_ONE)
        asked = at_random_for(cases, options, seeds, _spend(own))
        return row_of(runner.run(cases, asked, seeds)).total

    def rounds(self, task: Task) -> int:
        """How many rounds that takes."""
        return 2 * len(task.sample)


class OneOrder(Struct, frozen=True):
    """The same cases in a shuffled order."""

    trial: int

    def done(self, task: Task, runner: "Runner") -> list[BillRow]:
        """The bills of our rule and of the ways that it is compared with."""
        shuffled = np.random.default_rng([task.options.seed, self.trial]).permutation(len(task.cases))
        cases, options, seeds = task.cases.taken(shuffled), task.options, task.seeds
        own = runner.run(cases, options, seeds)
        others = [
            OneRule(name, asked).done(replace(task, cases=cases), runner)
            for name, asked in other_rules(cases, options, seeds, spent_by(own)).items()
        ]
        return [row_of(own), *others]

    def rounds(self, task: Task) -> int:
        """How many rounds that takes."""
        others = len(COMPARED_RULES) - 1 if task.options.compare else 0
        return (2 + others) * len(task.cases)


Errand = OneRule | OneCost | OneOrder


class Runner:
    """Runs cases to their end; `stop` ends a run, and with it the errand. Rounds are told as they pass."""

    def __init__(self, progress: RoundsDone | None = None, stop: Callable[[], bool] = never) -> None:
        self._progress, self._stop = progress, stop

    def run(self, cases: Cases, options: Options, seeds: Cases | None) -> TableRun:
        """A run to its end."""
        done = run(cases, options, seeds=seeds, progress=self._progress, stop=self._stop)
        if not done.whole:
            raise Stopped
        return done


# -- the ways that ours is compared with ---------------------------------------------------------------


class Spent(NamedTuple):
    """What our rule spent, and the part of the cases that it labelled."""

    money: float
    share: float


def spent_by(run: TableRun) -> Spent:
    """What a run spent."""
    return Spent(_spend(run), share_labelled(run))


def other_rules(cases: Cases, options: Options, seeds: Cases | None, spent: Spent) -> dict[str, Options]:
    """The options of every other rule, by the name of its row: labelling at random always comes first."""
    found = {}
    if options.rule != "random":
        found[AT_RANDOM] = at_random_for(cases, options, seeds, spent.money)
    plain = without_limits(options)
    for rule in COMPARED_RULES if options.compare else ():
        if rule == options.rule:
            continue
        if rule == "variable":
            found[MOST_UNSURE] = affordable(cases, plain.but(rule=rule, chance=spent.share), spent.money)
        else:
            found[name_of(plain.but(rule=rule))] = plain.but(rule=rule)
    return found


def without_limits(options: Options) -> Options:
    """The options without what limits or checks the own rule."""
    return options.but(check=None, budget=None, per=None, audit=None, audit_bound=None)


def at_random_for(cases: Cases, options: Options, seeds: Cases | None, money: float) -> Options:
    """Random draws, at the chance at which they spend at most this money."""
    options = without_limits(options).but(rule="random")
    warmup = start(cases, options, seeds).learner.warmup
    draws = Draws(options.seed).many(1, len(cases))
    draws[:warmup] = FORCED_DRAW
    chance = equal_chance(draws, cases.label_costs(options.base_cost), money)
    return options.but(rule="never") if chance < 0.0 else options.but(chance=chance)


def affordable(cases: Cases, options: Options, budget: float | None) -> Options:
    """The options with a budget; a budget below the cost of the first label buys nothing."""
    first = cases.label_costs(options.base_cost)[0]
    if (budget is not None and budget < first) or (options.per is not None and options.per[0] < first):
        return options.but(rule="never", budget=None, per=None)
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
    if options.labeller is not None:
        dearer = {name: replace(one, cost=factor * one.cost) for name, one in options.labellers.items()}
        return cases, options.but(labeller=dearer)
    costs = factor * cases.label_costs(options.cost)
    if cases.costs is None:
        return cases, options.but(cost=float(costs[0]))
    return replace(cases, costs=costs), options


def point_of(cases: Cases, options: Options, own: BillRow, at_random: float | None) -> CostPoint:
    """What every way costs at the cost of a label that these cases and options have."""
    simple = first_rows(cases, options)
    return CostPoint(
        label_cost=cost_of_all(cases, options) / len(cases),
        own=own,
        everyone=min(row.total for row in simple if row.name != NO_ONE),
        no_one=next(row.total for row in simple if row.name == NO_ONE),
        at_random=at_random,
    )


def same_decisions_at(first: TableRun, factor: float, at_random: BillRow | None) -> CostPoint:
    """The bill of a run whose decisions do not depend on what a label costs, at `factor` times the cost."""
    cases, options = at_other_cost(first.cases, first.options, factor)
    random = None if at_random is None else at_random.total + (factor - 1.0) * at_random.spend
    return point_of(cases, options, row_of(first, factor=factor), random)


def looks_at_costs(options: Options) -> bool:
    """Whether decisions depend on what a label costs."""
    return options.rule in PAYING_RULES or options.budget is not None or options.per is not None


class CostSearch:
    """Which costs of a label to run next.

    From the own cost it goes up until as good as no one is labelled and labelling no one is cheaper, and down
    until everyone is; then it looks closer at both break-even costs.
    """

    def __init__(self, task: Task) -> None:
        self._costs = task.sample.label_costs(task.options.base_cost)
        self._cases, self._pays = len(task.sample), looks_at_costs(task.options)
        self.points: dict[float, CostPoint] = {}

    def next(self) -> list[float]:
        """The factors of the own cost to run next; none when there is enough to see."""
        if not self.points:
            return [1.0]
        low, high = min(self.points), max(self.points)
        ends = [] if self._down_done else [low / COST_STEP]
        ends += [] if self._up_done else [high * COST_STEP]
        ends = [one for one in ends if self._can_run(one)]
        return ends or self._closer(break_even(list(self.points.values())))

    def _can_run(self, factor: float) -> bool:
        steps = COST_STEP**COSTS_A_SIDE
        return 1.0 / steps <= factor <= steps and can_cost(self._costs, factor)

    @property
    def _down_done(self) -> bool:
        point = self.points[min(self.points)]
        return point.own.labels >= self._cases or point.everyone <= min(point.own.total, point.no_one)

    @property
    def _up_done(self) -> bool:
        top = max(self.points)
        if len(self.points) < 2:
            return False
        point = self.points[top]
        few = point.own.labels <= max(HARDLY_ANY, HARDLY_ANY_SHARE * self._cases)
        fewest = point.own.labels == min(one.own.labels for place, one in self.points.items() if place < top)
        return point.own.total >= point.no_one and (few or fewest or not self._pays)

    def _closer(self, found: BreakEven) -> list[float]:
        middles = [_middle(one) for one in (found.worth_asking, found.buy_all)]
        own = next(iter(self.points.values())).label_cost  # the first is the own one, at factor 1
        wanted = {middle / own for middle in middles if middle is not None}
        return sorted(wanted - set(self.points))


def _middle(found: Crossing) -> float | None:
    """The cost to run next around a break-even cost; None where it is known well enough."""
    if found.cost is None or found.high is None or found.high <= CLOSE_ENOUGH * found.low:
        return None
    return sqrt(found.low * found.high)
