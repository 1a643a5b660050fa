"""Everything that is asked of one table, in order: the bill first, then what it is compared with."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress

from breakeven.tables.cases import Cases, read_cases
from breakeven.tables.options import Options
from breakeven.tables.outcome import Outcome
from breakeven.tables.rivals import Rivals, Stopped
from breakeven.tables.run import RoundsDone, never, run
from breakeven.tables.sources import TableSource

PartShown = Callable[[str], AbstractContextManager[RoundsDone | None]]  # by title, while it runs

OTHER_RULES, OTHER_COSTS, OTHER_ORDERS = "other rules", "other costs", "other orders"


def parts_of(options: Options) -> list[str]:
    """What follows the bill.

    >>> parts_of(Options(label="score", cost=100.0, trials=5))
    ['other costs', 'other orders']
    """
    wanted = {OTHER_RULES: options.compare, OTHER_COSTS: options.sweep, OTHER_ORDERS: options.trials}
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
) -> Outcome:
    """Run the cases and `tell` their bill, then run what it is compared with.

    An interrupted run keeps what it had by then.
    """
    with progress("cases") as shown:
        first = run(cases, options, seeds=seeds, progress=shown, stop=stop)
    outcome = Outcome(first, seeds)
    tell(outcome)
    parts = parts_of(options)
    outcome.unfinished = list(parts)
    with suppress(Stopped):
        for part in parts if first.whole else ():
            with progress(part) as shown:
                _add(outcome, part, Rivals(first, seeds, shown, stop))
            outcome.unfinished.remove(part)
    return outcome


def _add(outcome: Outcome, part: str, rivals: Rivals) -> None:
    """Run one part; each of its bills is kept as soon as it is there."""
    if part == OTHER_RULES:
        for row in rivals.rules():
            outcome.more.append(row)
    elif part == OTHER_COSTS:
        for cost, bill in rivals.costs():
            outcome.costs[cost] = bill
    else:
        for rows in rivals.orders():
            outcome.orders.append(rows)
