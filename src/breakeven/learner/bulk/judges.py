"""Our rules as chunks of decisions: by limits known before the rounds, or by one that moves with them.

How often a type came does not depend on what was asked, so the paper's thresholds are known ahead. A rule
that does not look at the uncertainty is a limit as well: below everything for yes, above everything for no.
"""

from collections.abc import Callable, Iterable
from itertools import repeat
from math import inf
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from breakeven.learner.bulk.arrays import Before, Columns, Counts, Given, Limits, Moving, Outcome, Truths
from breakeven.learner.bulk.tables import Thresholds
from breakeven.learner.bulk.worths import ByWorth
from breakeven.learner.learner import Learner
from breakeven.rules import Always, Draws, Never, RandomSelect, Threshold, Value, VariableUncertainty
from breakeven.rules.variable_uncertainty import READINGS, REASONS

RULES = (Always, Never, RandomSelect, Threshold, Value, VariableUncertainty)

NO_LIMITS = Limits(np.empty(0), by_type=False, shown=True)


class Judge(Protocol):
    """Decides on chunks of rounds, as its rule does on each."""

    propensity: float | None
    """The chance of a label where that is drawn."""

    def prepare(self, round: int, count: int) -> None:
        """A chunk of so many rounds comes, from this one on."""
        ...

    def decide(self, given: Given, start: int) -> Outcome:
        """Run the compiled loop from `start` of the chunk: rounds done, labels so far, why it stopped."""
        ...

    def extend(self, start: int, clocks: Callable[[], Counts]) -> None:
        """There is no limit for `start`; from there on, `clocks` counts the arrivals of the types."""
        ...

    def reasons(self, answers: Columns, before: Before, untold: Truths) -> list[str]:
        """Why the chunk was answered so; `untold` are the rounds of types without a label told."""
        ...

    def worths(self, before: Before) -> Iterable[float | None]:
        """What the labels of the chunk would be worth, where the rule says so."""
        ...

    def settle(self) -> None:
        """Leave the learner's rule, and what was fitted, as the rounds would have."""
        ...


def judge_for(learner: Learner, names: list[Any], loops: ModuleType) -> Judge:
    """The judge of a learner that has one of our rules; `names` will have the types that were met."""
    match rule := learner.rule:
        case Value():
            return ByWorth(learner, rule, names)
        case VariableUncertainty():
            return ByMovingLimit(rule, loops)
        case Threshold():
            traits = learner.belief.traits
            price, scale = learner._quote.price / traits.label_scale, rule.scale * traits.unit
            return ByThreshold(rule, Thresholds(loops, price, scale), loops)
        case RandomSelect():
            return ByLot(rule.probability, learner._draws, loops)
        case _:
            return ByNature(isinstance(rule, Always), loops)


class ByLimits:
    """Limits known ahead."""

    propensity: float | None = None

    def __init__(self, loops: ModuleType, *, shown: bool = False) -> None:
        self._loops = loops
        self._limits = NO_LIMITS._replace(shown=shown)

    def decide(self, given: Given, start: int) -> Outcome:
        """Compare with the limits."""
        values, by_type, shown = self._limits
        limits = Limits(values if by_type else values[start:], by_type, shown)
        outcome: Outcome = self._loops.decide(*given, limits, None)
        return outcome

    def extend(self, start: int, clocks: Callable[[], Counts]) -> None:
        """Limits by round are always enough."""

    def worths(self, before: Before) -> Iterable[None]:
        """Nobody says."""
        return repeat(None)

    def settle(self) -> None:
        """Nothing is remembered."""


class ByThreshold(ByLimits):
    """`Threshold`, by either clock."""

    def __init__(self, rule: Threshold, thresholds: Thresholds, loops: ModuleType) -> None:
        super().__init__(loops, shown=True)
        self._clock, self._thresholds = rule.clock, thresholds

    def prepare(self, round: int, count: int) -> None:
        """Take the table, or compute the thresholds of the chunk."""
        if self._clock == "type":
            self._limits = Limits(self._thresholds.table, by_type=True, shown=True)
        else:
            thresholds = self._thresholds.at(np.arange(round, round + count))
            self._limits = self._limits._replace(values=thresholds)

    def extend(self, start: int, clocks: Callable[[], Counts]) -> None:
        """Take a larger table, or compute the rest of the chunk if there is none."""
        if self._thresholds.extend():
            self._limits = self._limits._replace(values=self._thresholds.table)
        else:
            rest = np.append(np.empty(start), self._thresholds.at(clocks()))
            self._limits = self._limits._replace(values=rest, by_type=False)

    def reasons(self, answers: Columns, before: Before, untold: Truths) -> list[str]:
        """Among those labelled the first of a type, among the others those that wait for a label."""
        wanted, first = answers.wants_label, np.isinf(answers.uncertainty)
        words = ("sure", "on_their_way", "unsure", "first_of_type")
        return _worded(words, 2 * wanted + np.where(wanted, first, untold))


class ByLot(ByLimits):
    """`RandomSelect`."""

    def __init__(self, probability: float, draws: Draws, loops: ModuleType) -> None:
        super().__init__(loops)
        self.propensity = self._probability = probability
        self._draws = draws

    def prepare(self, round: int, count: int) -> None:
        """Draw for the chunk."""
        drawn = self._draws.many(round, count) < self._probability
        self._limits = self._limits._replace(values=np.where(drawn, -inf, inf))

    def reasons(self, answers: Columns, before: Before, untold: Truths) -> list[str]:
        """Drawn or not."""
        return _worded(("not_drawn", "drawn"), answers.wants_label)


class ByNature(ByLimits):
    """`Always` and `Never`."""

    def __init__(self, always: bool, loops: ModuleType) -> None:
        super().__init__(loops)
        self._limit, self._reason = (-inf, "always") if always else (inf, "never")

    def prepare(self, round: int, count: int) -> None:
        """The same for all."""
        self._limits = self._limits._replace(values=np.full(count, self._limit))

    def reasons(self, answers: Columns, before: Before, untold: Truths) -> list[str]:
        """The same for all."""
        return [self._reason] * len(untold)


class ByMovingLimit:
    """`VariableUncertainty` in all its readings."""

    propensity: float | None = None

    def __init__(self, rule: VariableUncertainty, loops: ModuleType) -> None:
        self._loops, self._rule, self._reading = loops, rule, READINGS[rule.reading]
        self._moving = Moving(
            memory=np.array([rule.theta, rule.lately]),
            confidence=self._reading.compare == "confidence",
            below=self._reading.compare == "below",
            after_yes=self._reading.after_yes,
            after_no=self._reading.after_no,
            budget=inf if rule.budget is None else rule.budget,
        )
        self._lately = rule.lately

    def prepare(self, round: int, count: int) -> None:
        """The limit comes with the rounds."""
        self._lately = float(self._moving.memory[1])

    def decide(self, given: Given, start: int) -> Outcome:
        """Compare with θ, and move it."""
        outcome: Outcome = self._loops.decide(*given, NO_LIMITS, self._moving)
        return outcome

    def extend(self, start: int, clocks: Callable[[], Counts]) -> None:
        """One limit is enough."""

    def worths(self, before: Before) -> Iterable[None]:
        """Nobody says."""
        return repeat(None)

    def reasons(self, answers: Columns, before: Before, untold: Truths) -> list[str]:
        """The first of a type, then the budget, then θ."""
        wanted = answers.wants_label
        over = self._loops.over_budget(wanted, self._lately, self._moving.budget)
        by_theta = np.where(over, 2, ~wanted)
        words = (*REASONS[self._reading.compare], "over_budget", "first_of_type")
        return _worded(words, np.where(np.isinf(answers.uncertainty), 3, by_theta))

    def settle(self) -> None:
        """Leave θ, and the labels of late."""
        self._rule.theta, self._rule.lately = self._moving.memory.tolist()


def _worded(words: tuple[str, ...], which: NDArray[Any]) -> list[str]:
    return list(map(words.__getitem__, which.tolist()))
