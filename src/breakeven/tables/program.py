"""Everything that is asked of one table, in order: the bill first, then what it is compared with."""

from collections.abc import Callable
from contextlib import suppress

import msgspec

from breakeven.tables.cases import Cases, read_cases
from breakeven.tables.options import Options
from breakeven.tables.others import Others, Stopped
from breakeven.tables.outcome import Outcome
from breakeven.tables.run import Progress, run
from breakeven.tables.source import Source


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What to run beside the rule itself: other rules, other prices, other orders."""

    options: Options
    compare: bool = False
    sweep: bool = False
    trials: int = 0


def never() -> bool:
    """Nobody interrupts."""
    return False


def read(source: Source, wish: Wish, seeds: Source | None = None) -> tuple[Cases, Cases | None]:
    """The cases, and the labels already owned."""
    cases, options = read_cases(source, wish.options), wish.options
    if seeds is None:
        return cases, None
    return cases, read_cases(
        seeds, options.but(order=None, id=None, cost_column=None, cost=1.0), cases.columns
    )


def carry_out(
    cases: Cases,
    wish: Wish,
    *,
    seeds: Cases | None = None,
    progress: Callable[[str], Progress | None] = lambda title: None,
    stop: Callable[[], bool] = never,
    tell: Callable[[Outcome], None] = lambda outcome: None,
) -> Outcome:
    """Run, `tell` the bill as soon as it is there, and go on to what is compared with it."""
    outcome = Outcome(run(cases, wish.options, seeds=seeds, progress=progress("cases"), stop=stop), seeds)
    tell(outcome)
    with suppress(Stopped):
        _go_on(outcome, wish, progress, stop)
    return outcome


def _go_on(
    outcome: Outcome, wish: Wish, progress: Callable[[str], Progress | None], stop: Callable[[], bool]
) -> None:
    if not outcome.run.whole:
        return

    def others(title: str) -> Others:
        return Others(outcome.run, outcome.seeds, progress(title), stop)

    if wish.compare:
        for row in others("other rules").compared():
            outcome.more.append(row)
    if wish.sweep:
        outcome.sweep = others("other prices").sweep()
    if wish.trials:
        outcome.trials = others("other orders").trials(wish.trials, outcome.rows)
