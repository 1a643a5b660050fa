"""Our rules as chunks of decisions: by limits known before the rounds, or by one that moves with them.

How often a type came does not depend on what was asked, so the paper's thresholds are known ahead. A rule
that does not look at the uncertainty is a limit as well: below everything for yes, above everything for no.
"""

from collections.abc import Callable
from math import inf
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from breakeven.learner.bulk.arrays import Counts, Moving
from breakeven.learner.bulk.tables import Thresholds
from breakeven.rules import Always, Draws, Never, RandomSelect, Rule, Threshold, VariableUncertainty
from breakeven.rules.variable_uncertainty import READINGS

RULES = (Always, Never, RandomSelect, Threshold, VariableUncertainty)

Given = tuple[Any, ...]
Outcome = tuple[int, int, int]


class Judge(Protocol):
    """Decides on chunks of rounds, as its rule does on each."""

    def prepare(self, round: int, count: int) -> None:
        """A chunk of so many rounds comes, from this one on."""
        ...

    def decide(self, given: Given, start: int) -> Outcome:
        """Run the compiled loop from `start` of the chunk: rounds done, labels so far, why it stopped."""
        ...

    def extend(self, start: int, clocks: Callable[[], Counts]) -> None:
        """There is no limit for `start`; from there on, `clocks` counts the arrivals of the types."""
        ...

    def settle(self) -> None:
        """Leave the rule as the rounds would have."""
        ...


def judge_for(rule: Rule, price: float, draws: Draws, loops: ModuleType) -> Judge:
    """The judge of one of our rules."""
    match rule:
        case VariableUncertainty():
            return ByMovingLimit(rule, loops)
        case Threshold():
            return ByThreshold(rule, Thresholds(loops, price, rule.scale), loops)
        case RandomSelect():
            return ByLot(rule.probability, draws, loops)
        case _:
            return ByLot(1.0 if isinstance(rule, Always) else 0.0, None, loops)


class ByLimits:
    """Limits known ahead, by round or by the arrivals of a type; `shown` are those that a trace shows."""

    shown = False

    def __init__(self, loops: ModuleType) -> None:
        self._loops = loops
        self._limits = np.empty(0)
        self._by_type = False

    def decide(self, given: Given, start: int) -> Outcome:
        """Compare with the limits."""
        limits = self._limits if self._by_type else self._limits[start:]
        outcome: Outcome = self._loops.by_limit(*given, limits, self._by_type, self.shown)
        return outcome

    def extend(self, start: int, clocks: Callable[[], Counts]) -> None:
        """Limits by round are always enough."""

    def settle(self) -> None:
        """Nothing is remembered."""


class ByThreshold(ByLimits):
    """`Threshold`, by either clock."""

    shown = True

    def __init__(self, rule: Threshold, thresholds: Thresholds, loops: ModuleType) -> None:
        super().__init__(loops)
        self._clock, self._thresholds = rule.clock, thresholds

    def prepare(self, round: int, count: int) -> None:
        """Take the table, or compute the thresholds of the chunk."""
        self._by_type = self._clock == "type"
        if self._by_type:
            self._limits = self._thresholds.table
        else:
            self._limits = self._thresholds.at(np.arange(round, round + count))

    def extend(self, start: int, clocks: Callable[[], Counts]) -> None:
        """Take a larger table, or compute the rest of the chunk if there is none."""
        if self._thresholds.extend():
            self._limits = self._thresholds.table
        else:
            self._by_type = False
            self._limits = np.append(np.empty(start), self._thresholds.at(clocks()))


class ByLot(ByLimits):
    """`RandomSelect`; without draws, `Always` and `Never`."""

    def __init__(self, probability: float, draws: Draws | None, loops: ModuleType) -> None:
        super().__init__(loops)
        self._probability, self._draws = probability, draws

    def prepare(self, round: int, count: int) -> None:
        """Draw for the chunk."""
        lots = np.zeros(count)
        if self._draws is not None:
            lots = np.fromiter(map(self._draws, range(round, round + count)), float, count)
        self._limits = np.where(lots < self._probability, -inf, inf)


class ByMovingLimit:
    """`VariableUncertainty` in all its readings."""

    def __init__(self, rule: VariableUncertainty, loops: ModuleType) -> None:
        self._loops, self._rule = loops, rule
        reading = READINGS[rule.reading]
        self._reading = Moving(
            confidence=reading.compare == "confidence",
            below=reading.compare == "below",
            after_yes=reading.after_yes,
            after_no=reading.after_no,
            budget=inf if rule.budget is None else rule.budget,
        )
        self._memory = np.array([rule.theta, rule.lately])

    def prepare(self, round: int, count: int) -> None:
        """The limit comes with the rounds."""

    def decide(self, given: Given, start: int) -> Outcome:
        """Compare with θ, and move it."""
        outcome: Outcome = self._loops.by_moving_limit(*given, self._reading, self._memory)
        return outcome

    def extend(self, start: int, clocks: Callable[[], Counts]) -> None:
        """One limit is enough."""

    def settle(self) -> None:
        """Leave θ, and the labels of late."""
        self._rule.theta, self._rule.lately = self._memory.tolist()
