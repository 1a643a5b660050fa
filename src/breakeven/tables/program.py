"""Everything that is asked of one table, in order: the bill first, then what it is compared with."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress

import msgspec

from breakeven.errors import expect
from breakeven.tables.billing.others import Others, Stopped
from breakeven.tables.options import Options
from breakeven.tables.outcome import Outcome
from breakeven.tables.reading.cases import Cases, read_cases
from breakeven.tables.reading.source import Source
from breakeven.tables.running.run import Progress, never, run

Shown = Callable[[str], AbstractContextManager[Progress | None]]  # by title, while it runs

RULES, PRICES, ORDERS = "other rules", "other prices", "other orders"


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What to run beside the rule itself: other rules, other prices, and so many other orders.

    >>> Wish(options=Options(label="score", cost=100.0), trials=5).parts
    ['other orders']
    """

    options: Options
    compare: bool = False
    sweep: bool = False
    trials: int = 0

    def __post_init__(self) -> None:
        if expect.whole("trials", self.trials) == 1:
            expect.refuse("trials", "0, or 2 at least: one order has no interval", self.trials)

    @property
    def parts(self) -> list[str]:
        """What follows the bill."""
        wanted = {RULES: self.compare, PRICES: self.sweep, ORDERS: self.trials}
        return [part for part, some in wanted.items() if some]


def read(source: Source, wish: Wish, seeds: Source | None = None) -> tuple[Cases, Cases | None]:
    """The cases, and the labels already owned, of which none is a case's own."""
    cases, options = read_cases(source, wish.options), wish.options
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
    wish: Wish,
    *,
    seeds: Cases | None = None,
    progress: Shown = lambda title: nullcontext(),
    stop: Callable[[], bool] = never,
    tell: Callable[[Outcome], None] = lambda outcome: None,
) -> Outcome:
    """Run, `tell` the bill as soon as it is there, and go on to what is compared with it.

    What is interrupted stays in the outcome as far as it went.
    """
    with progress("cases") as shown:
        first = run(cases, wish.options, seeds=seeds, progress=shown, stop=stop)
    outcome = Outcome(first, seeds)
    tell(outcome)
    outcome.unfinished = wish.parts
    with suppress(Stopped):
        for part in wish.parts if first.whole else ():
            with progress(part) as shown:
                _add(outcome, part, wish, Others(first, seeds, shown, stop))
            outcome.unfinished.remove(part)
    return outcome


def _add(outcome: Outcome, part: str, wish: Wish, others: Others) -> None:
    """One after the other, so that those that are done stay."""
    if part == RULES:
        for row in others.rules():
            outcome.more.append(row)
    elif part == PRICES:
        for price, bill in others.prices():
            outcome.prices[price] = bill
    else:
        for rows in others.orders(wish.trials, compare=wish.compare):
            outcome.orders.append(rows)
