"""A rule over the arrivals of many keys: which compiled loop, its limits, prices and priors, and its reasons.

The formulas are those of the loops, tables and reasons that long streams of one learner use.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from breakeven.beliefs import TypeMeans
from breakeven.errors.expect import Array
from breakeven.learner.bulk import loops
from breakeven.learner.bulk.arrays import (
    Answers,
    Before,
    Counts,
    LimitTable,
    Thresholds,
    TypeArrays,
    spreads_from,
)
from breakeven.learner.bulk.judges import (
    NO_LIMITS,
    moving_limit,
    moving_reasons,
    reasons_from,
    threshold_reasons,
    value_terms,
    worth_reasons,
)
from breakeven.learner.fleet import passing
from breakeven.learner.fleet.indexed_columns import GrowingColumns
from breakeven.learner.state import State
from breakeven.rules import Always, Draws, RandomSelect, Threshold, Value, VariableUncertainty
from breakeven.rules.baselines import ALWAYS, NEVER
from breakeven.values import Reasons


class Arrivals(NamedTuple):
    """Arrivals in the order of their keys: keys, where each begins, cells, rounds, and prices if given."""

    touched: Counts
    starts: Counts
    cells: Counts
    rounds: Counts
    prices: Array | None

    @property
    def longest(self) -> int:
        """The most arrivals of one key."""
        return int(np.diff(self.starts).max(initial=0))


class Judging:
    """Decides on arrivals as the rule of the configuration does, key by key."""

    def __init__(self, state: State, members: GrowingColumns, cells: GrowingColumns) -> None:
        belief = state.belief
        assert isinstance(belief, TypeMeans)  # as was checked
        self._state, self._belief, self._rule = state, belief, state.rule
        self._members, self._cells = members, cells
        self._spreads = np.array([inf] if belief.counted == "type" else [])
        traits = belief.traits
        self._scale = traits.label_scale
        price = state.quote.price / self._scale
        scale = state.rule.scale if isinstance(state.rule, Threshold) else 1.0
        self._thresholds = Thresholds(loops, price, traits.unit, scale)
        self.propensity = state.rule.probability if isinstance(state.rule, RandomSelect) else None

    def decide(self, arrivals: Arrivals, names: list[str], out: Answers, before: Before) -> Reasons:
        """Decide on all of them; `names` are those of the streams of the keys, where the rule draws."""
        if isinstance(self._rule, Value):
            return self._by_worth(self._rule, arrivals, out, before)
        return self._by_limits(arrivals, names, out, before)

    def _given(self, arrivals: Arrivals) -> passing.Passing:
        """What both loops are given."""
        own = self._belief.counted == "type"
        asked = self._cells["asked"] if own else self._members["asked"]
        self._lengthen_spreads(int(asked.max(initial=0)) + arrivals.longest + 2)
        types = TypeArrays(*(self._cells[name] for name in TypeArrays._fields))
        return passing.Passing(
            arrivals.touched,
            arrivals.starts,
            arrivals.cells,
            types,
            self._members["asked"],
            np.float64(self._belief.noise_std),  # divided by 0 it is ∞, compiled or not
            self._spreads,
            None if own else 1,
            room_for_sums(types.parts),
        )

    def _lengthen_spreads(self, needed: int) -> None:
        known = len(self._spreads)
        if known < needed:
            first = known if self._belief.counted == "type" else known + 1
            more = spreads_from(loops, self._belief, first, max(needed, known + known // 4) - known)
            self._spreads = np.append(self._spreads, more)

    # -- limits ----------------------------------------------------------------------------------

    def _by_limits(self, arrivals: Arrivals, names: list[str], out: Answers, before: Before) -> Reasons:
        count, rule, moving = len(arrivals.cells), self._rule, None
        if isinstance(rule, VariableUncertainty):
            moving, limits = moving_limit(rule, np.empty(2), self._scale), NO_LIMITS
        else:
            limits = self._limits(arrivals, names)
        over = np.zeros(count if moving else 0, dtype=bool)
        passing.decide_by_limits(
            self._given(arrivals), out, before, limits, moving, self._members["memory"], over
        )
        match rule:
            case VariableUncertainty():
                return moving_reasons(rule, out, over)
            case Threshold():
                return threshold_reasons(rule, out, before)
            case RandomSelect():
                return reasons_from(rule.reason, out.wants_label, rounds=count)
        reason = (ALWAYS if isinstance(rule, Always) else NEVER).reason
        return reasons_from(lambda: reason, rounds=count)

    def _limits(self, arrivals: Arrivals, names: list[str]) -> LimitTable:
        match self._rule:
            case Threshold(clock=clock):
                return self._thresholds_of(arrivals, clock)
            case RandomSelect(probability=probability):
                drawn = self._draw(arrivals, names) < probability
                return LimitTable(np.where(drawn, -inf, inf), by_type=False, shown=False)
        limit = -inf if isinstance(self._rule, Always) else inf
        return LimitTable(np.full(len(arrivals.cells), limit), by_type=False, shown=False)

    def _thresholds_of(self, arrivals: Arrivals, clock: str) -> LimitTable:
        if clock == "type" and arrivals.prices is None:
            most = int(self._cells["arrivals"].max(initial=0)) + arrivals.longest
            if most >= len(self._thresholds.table):
                most += int(np.bincount(arrivals.cells).max(initial=0)) - arrivals.longest
            while len(self._thresholds.table) <= most:
                if not self._thresholds.extend():
                    break
            else:
                return LimitTable(self._thresholds.table, by_type=True, shown=True)
        clocks = arrivals.rounds
        if clock == "type":
            counted = self._cells["arrivals"].copy()
            clocks = loops.clocks(arrivals.cells, 0, None, counted)
        prices = None if arrivals.prices is None else arrivals.prices / self._scale
        return LimitTable(self._thresholds.at(clocks, prices), by_type=False, shown=True)

    def _draw(self, arrivals: Arrivals, names: list[str]) -> Array:
        """The random numbers of the arrivals: every key has its own."""
        pieces = [
            Draws(self._state.seed, name).many(int(arrivals.rounds[a]), int(b - a))
            for name, a, b in zip(names, arrivals.starts, arrivals.starts[1:], strict=False)
        ]
        return np.concatenate(pieces) if pieces else np.empty(0)

    # -- worth -----------------------------------------------------------------------------------

    def _by_worth(self, rule: Value, arrivals: Arrivals, out: Answers, before: Before) -> Reasons:
        prices = arrivals.prices
        if prices is None:
            prices = np.full(len(arrivals.cells), self._state.quote.price)
        members = self._members
        priors = passing.Priors(
            members["prior_mean"],
            members["prior_std"],
            members["prior_worth"],
            self._belief.prior_std == "learn",
        )
        passing.decide_by_worth(
            self._given(arrivals),
            out,
            before,
            value_terms(rule, 0, prices),
            arrivals.rounds,
            priors,
            members["census"],
        )
        return worth_reasons(rule, out, before, arrivals.rounds)


def room_for_sums(parts: Array) -> Array:
    """Where sums of this many parts are worked out."""
    return np.empty((2, 2 * parts.shape[1] + 4))
