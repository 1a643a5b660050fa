"""The rules that one is compared with; those that ask no price get as much money as it spent."""

from bisect import bisect_right
from math import fsum

import numpy as np
from numpy.typing import NDArray

from breakeven.rules import Draws
from breakeven.tables.billing.bill import name_of, share_labelled
from breakeven.tables.options import Options
from breakeven.tables.reading.cases import Cases
from breakeven.tables.running.noise import noise_of, warmup_of
from breakeven.tables.running.run import Run

Array = NDArray[np.float64]

COMPARED = ("value", "threshold", "random", "variable")
DRIFT = 1e-9  # by which sums of many prices may be off, at most
FORCED = -1.0  # the draw of a round that is labelled whatever its chance


def rivals(first: Run, seeds: Cases | None) -> dict[str, Options]:
    """The options of every other rule, by the name of its row."""
    found = {}
    for rule in COMPARED:
        options = first.options.but(rule=rule)
        if rule == first.options.rule:
            continue
        if rule == "random":
            found["random, equal spend"] = _random(first, options, seeds)
        elif rule == "variable":
            found["variable, equal spend"] = _variable(first, options)
        else:
            found[name_of(options)] = options
    return found


def _random(first: Run, options: Options, seeds: Cases | None) -> Options:
    """At the chance at which it spends as much."""
    cases = first.cases
    warmup = warmup_of(noise_of(cases, seeds, options), cases, options, seeds)
    draws = Draws(options.seed).many(1, len(cases))
    draws[:warmup] = FORCED
    chance = equal_chance(draws, cases.prices(options.cost), _spend(first))
    return options.but(rule="never") if chance < 0.0 else options.but(chance=chance)


def _variable(first: Run, options: Options) -> Options:
    """Within the same spend, and labelling as large a part of the cases."""
    return affordable(first.cases, options.but(chance=share_labelled(first)), _spend(first))


def affordable(cases: Cases, options: Options, budget: float | None) -> Options:
    """The options with a budget; one that cannot pay for the label that comes first buys nothing."""
    if budget is not None and budget < cases.prices(options.cost)[0]:
        return options.but(rule="never", budget=None)
    return options.but(budget=budget)


def _spend(run: Run) -> float:
    return run.learner.learner.ledger.label_spend


def equal_chance(draws: Array, prices: Array, money: float) -> float:
    """The largest chance at which those whose draw lies below it cost no more than the money.

    >>> equal_chance(np.array([0.7, 0.2, 0.5]), np.array([4.0, 1.0, 2.0]), money=3.0)
    0.7
    """
    order = np.argsort(draws)
    draws, prices = np.append(draws[order], 1.0), prices[order]
    low, high = np.searchsorted(np.cumsum(prices), [money * (1.0 - DRIFT), money * (1.0 + DRIFT)])
    counts = range(int(high) + 1)
    count = bisect_right(counts, money, lo=int(low), key=lambda some: fsum(prices[:some])) - 1
    return float(draws[count])
