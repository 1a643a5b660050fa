"""Everything that is asked of one table, in order: the bill first, then what it is compared with."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

from breakeven.tables.cases import Cases, read_cases
from breakeven.tables.options import Options
from breakeven.tables.outcome import Outcome
from breakeven.tables.rivals import (
    COMPARED_RULES,
    CostSearch,
    Errand,
    OneCost,
    OneOrder,
    OneRule,
    Stopped,
    Task,
    looks_at_costs,
    other_rules,
    same_decisions_at,
    sample_of,
    spent_by,
)
from breakeven.tables.run import RoundsDone, never, run
from breakeven.tables.sources import TableSource
from breakeven.tables.workers import PAYS_FROM, Crew, cores_there
from breakeven.values.amounts import duration, listed
from breakeven.values.bill import AT_RANDOM

PartShown = Callable[[str], AbstractContextManager[RoundsDone | None]]  # by title, while it runs
Estimated = Callable[[str], None]  # told how long what follows will take, where that is long

AT_RANDOM_PART, OTHER_RULES = "labelling at random", "other rules"
OTHER_COSTS, OTHER_ORDERS = "other costs", "other orders"
LONG = 20.0  # seconds: what takes longer is announced
COSTS_RUN = 9  # other costs that are run, as a rule: low ones buy more labels than the own, high ones fewer


def parts_of(options: Options) -> list[str]:
    """What follows the bill of our rule.

    >>> parts_of(Options(label="score", cost=100.0, trials=5))
    ['labelling at random', 'other costs', 'other orders']
    """
    wanted = {
        AT_RANDOM_PART: options.rule != "random",
        OTHER_RULES: options.compare,
        OTHER_COSTS: options.sweep,
        OTHER_ORDERS: options.trials,
    }
    return [part for part, some in wanted.items() if some]


def read_both(
    source: TableSource, options: Options, seeds: TableSource | None = None
) -> tuple[Cases, Cases | None]:
    """The cases, and the labels already owned; an owned label that belongs to one of the cases is refused."""
    cases = read_cases(source, options)
    if seeds is None:
        return cases, None
    id = options.id if options.id in seeds.columns else None
    owned = read_cases(seeds, options.but(order=None, id=id, cost_column=None, cost=1.0), cases.columns)
    if cases.ids is not None and owned.ids is not None:
        both = owned.ids.is_in(cases.ids)
        if both.any():
            place = int(both.arg_max() or 0)
            row, came = int(owned.rows[place]), f"{owned.ids[place]!r}, which is a case of {source.name}"
            seeds.refuse("labels of other cases", came, row=row, column=id)
    return cases, owned


def carry_out(
    cases: Cases,
    options: Options,
    *,
    seeds: Cases | None = None,
    progress: PartShown = lambda title: nullcontext(),
    stop: Callable[[], bool] = never,
    tell: Callable[[Outcome], None] = lambda outcome: None,
    announce: Estimated = lambda words: None,
) -> Outcome:
    """Run the cases and `tell` their bill, then run what it is compared with.

    Long work is announced before it begins. An interrupted run keeps what it had by then.
    """
    with progress("cases") as shown:
        first = run(cases, options, seeds=seeds, progress=shown, stop=stop)
    outcome = Outcome(first, seeds)
    tell(outcome)
    outcome.unfinished = parts_of(options)
    if first.whole and outcome.unfinished:
        sample = sample_of(cases, options)
        _Besides(outcome, Task(cases=cases, sample=sample, options=options, seeds=seeds), stop, announce).run(
            progress
        )
    return outcome


class _Besides:
    """What is run besides the first run, part after part; each bill is kept as soon as it is there."""

    def __init__(self, outcome: Outcome, task: Task, stop: Callable[[], bool], announce: Estimated) -> None:
        self._outcome, self._task, self._stop = outcome, task, stop
        self._rules = other_rules(task.cases, task.options, task.seeds, spent_by(outcome.run))
        self._seconds = seconds_besides(task, outcome.run.seconds)
        self._cores = self._worth_using()
        if self._seconds / self._cores >= LONG:
            announce(self._words())
        self._done = self._whole = 0

    def _worth_using(self) -> int:
        options, typed = self._task.options, self._task.cases.columns.type_column is not None
        if options.cores is not None:
            return options.cores
        one_run = self._outcome.unfinished == [AT_RANDOM_PART]
        return cores_there() if self._seconds >= PAYS_FROM and not (typed or one_run) else 1

    def _words(self) -> str:
        """How long it takes, and what is run."""
        task, parts = self._task, list(self._outcome.unfinished)
        if OTHER_COSTS in parts and task.sampled:
            which = f"{len(task.sample):,} of the {len(task.cases):,} cases"
            parts[parts.index(OTHER_COSTS)] = f"{OTHER_COSTS} of a label on {which}"
        cores = "1 core" if self._cores == 1 else f"{self._cores} cores"
        return (
            f"About {duration(self._seconds / self._cores)} more on {cores}: {listed(parts)}. Ctrl-C ends it "
            "and keeps what is done by then."
        )

    def run(self, progress: PartShown) -> None:
        """All parts, under one bar."""
        outcome = self._outcome
        parts: dict[str, Callable[[Crew], None]] = {
            AT_RANDOM_PART: self._at_random,
            OTHER_RULES: self._other_rules,
            OTHER_COSTS: self._costs,
            OTHER_ORDERS: self._orders,
        }
        self._whole = rounds_besides(self._task)
        with suppress(Stopped), progress("comparing") as shown:
            self._shown = shown
            with Crew(self._task, self._cores, self._passed, self._stop) as crew:
                for part in list(outcome.unfinished):
                    parts[part](crew)
                    outcome.unfinished.remove(part)

    def _passed(self, rounds: int) -> None:
        self._done += rounds
        if self._shown is not None:
            self._shown(min(self._done, self._whole), self._whole, 0.0)

    def _results(self, crew: Crew, errands: Sequence[Errand]) -> Iterator[Any]:
        """Each result; the bar moves to where it must be by then, whatever was told on the way."""
        aim = self._done
        for errand, found in zip(errands, crew.results(errands), strict=True):
            aim += errand.rounds(self._task)
            if aim > self._done:
                self._passed(aim - self._done)
            yield found

    def _at_random(self, crew: Crew) -> None:
        some = [OneRule(name, asked) for name, asked in self._rules.items() if name == AT_RANDOM]
        self._outcome.at_random.extend(self._results(crew, some))

    def _other_rules(self, crew: Crew) -> None:
        some = [OneRule(name, asked) for name, asked in self._rules.items() if name != AT_RANDOM]
        for row in self._results(crew, some):
            self._outcome.more.append(row)

    def _costs(self, crew: Crew) -> None:
        outcome, task = self._outcome, self._task
        search = CostSearch(task)
        outcome.swept_cases = len(task.sample)
        at_random = next(iter(outcome.at_random), None)
        rerun = looks_at_costs(task.options)
        while factors := search.next():
            kept = [one for one in factors if not rerun or (one == 1.0 and not task.sampled)]
            search.points |= {one: same_decisions_at(outcome.run, one, at_random) for one in kept}
            asked = [one for one in factors if one not in kept]
            for factor, point in zip(
                asked, self._results(crew, [OneCost(one) for one in asked]), strict=True
            ):
                search.points[factor] = point
                outcome.points = list(search.points.values())
            outcome.points = list(search.points.values())

    def _orders(self, crew: Crew) -> None:
        some = [OneOrder(trial) for trial in range(self._task.options.trials)]
        for rows in self._results(crew, some):
            self._outcome.orders.append(rows)


def rounds_besides(task: Task) -> int:
    """About how many rounds are run after the first run."""
    options, cases = task.options, len(task.cases)
    rules = (options.rule != "random") + (len(COMPARED_RULES) - 1 if options.compare else 0)
    costs = COSTS_RUN * OneCost(1.0).rounds(task) if options.sweep and looks_at_costs(options) else 0
    return rules * cases + costs + options.trials * OneOrder(0).rounds(task)


def seconds_besides(task: Task, first: float) -> float:
    """About how long what follows takes on one core, where the first run took this long."""
    return first * rounds_besides(task) / max(len(task.cases), 1)
