"""Our rules as chunks of decisions: by limits known before the rounds, by one that moves, or by worth.

How often a type came does not depend on what was asked, so the paper's thresholds are known ahead. A rule
that does not look at the uncertainty is a limit as well: below everything for yes, above everything for no.
A judge says which facts a reason rests on; the reason itself is the rule's own function of these facts.
"""

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from itertools import product
from math import inf
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from msgspec.structs import astuple

from breakeven.beliefs import TypeMeans
from breakeven.beliefs.types import type_savings
from breakeven.beliefs.types.across_types import AcrossTypes
from breakeven.beliefs.types.tallies import Census
from breakeven.beliefs.types.weighing import TypePrior, posterior_mean
from breakeven.errors.expect import Array
from breakeven.learner.bulk.arrays import (
    NEEDS_FIT,
    Answers,
    Before,
    Counts,
    Given,
    LimitTable,
    MovingLimit,
    PriorTerms,
    Stop,
    Thresholds,
    Truths,
    TypeArrays,
    ValueTerms,
)
from breakeven.learner.state import State
from breakeven.rules import Always, Never, RandomSelect, Rule, Threshold, Value, VariableUncertainty
from breakeven.rules.baselines import ALWAYS, NEVER, READINGS
from breakeven.rules.value import EXPECTED_IN_ALL
from breakeven.values import Reasons

COMPILED_RULES = (Always, Never, RandomSelect, Threshold, Value, VariableUncertainty)
ClocksOfTypes = Callable[[], Counts]
NO_LIMITS = LimitTable(np.empty(0), by_type=False, shown=True)
SHORTEST_FOR_TABLE = 2**13  # rounds for which thresholds are worth a table
COMPARED_RATES = 2**12  # numbers on which the compiled rates must agree with the belief's


def reasons_from(reason: Callable[..., str], *facts: Truths, rounds: int) -> Reasons:
    """The reasons that a rule gives for these facts, each of which is true or false in every round."""
    codes = np.zeros(rounds, dtype=np.uint8)
    for fact in facts:
        codes <<= 1
        codes |= fact.view(np.uint8)
    return Reasons(codes, tuple(reason(*case) for case in product((False, True), repeat=len(facts))))


def threshold_reasons(rule: Threshold, answers: Answers, before: Before) -> Reasons:
    """The reasons of `Threshold`: a type has no prior that could be sure from the start."""
    wanted, first, untold = answers.wants_label, np.isinf(answers.uncertainty), np.isinf(before.std)
    never = np.zeros(len(wanted), dtype=bool)
    return reasons_from(rule.reason, wanted, first, never, untold, rounds=len(wanted))


def moving_reasons(rule: VariableUncertainty, answers: Answers, over: Truths) -> Reasons:
    """The reasons of `VariableUncertainty`, given in which rounds the budget was used up."""
    wanted, first = answers.wants_label, np.isinf(answers.uncertainty)
    return reasons_from(rule.reason, wanted, first, over, rounds=len(wanted))


def worth_reasons(rule: Value, answers: Answers, before: Before, rounds: Counts) -> Reasons:
    """The reasons of `Value`, given the numbers of the rounds."""
    wanted, worth = answers.wants_label, before.worth
    late = np.zeros(len(wanted), dtype=bool) if rule.horizon is None else rounds > rule.horizon
    return reasons_from(rule.reason, wanted, np.isinf(worth), worth == 0.0, late, rounds=len(wanted))


def moving_limit(rule: VariableUncertainty, memory: Array, scale: float) -> MovingLimit:
    """What a reading of VAR-UNCERTAINTY compares, and how its θ moves; `memory`: θ, the labels of late."""
    reading = READINGS[rule.reading]
    return MovingLimit(
        memory=memory,
        confidence=reading.compare == "confidence",
        below=reading.compare == "below",
        after_yes=reading.after_yes,
        after_no=reading.after_no,
        budget=inf if rule.budget is None else rule.budget,
        scale=scale,
    )


def value_terms(rule: Value, passed: int, prices: Array) -> ValueTerms:
    """What `Value` weighs after this many rounds, at these prices of the labels."""
    return ValueTerms(
        passed=passed,
        horizon=rule.horizon or 0,
        expected=EXPECTED_IN_ALL if rule.horizon is None else 0,
        prices=prices,
        lessons=rule.lessons,
        outright=rule.scores_labels,
    )


class Judge(Protocol):
    """Decides on chunks of rounds, as its rule does on each."""

    propensity: float | None
    """The chance of a label where that is drawn."""

    values_labels: bool
    """Whether it says what labels are worth."""

    counts: Counts | None
    """Those over all types, in the order of a `Census`, where the rule needs them."""

    @property
    def fitted_after(self) -> Sequence[int]:
        """Rounds of this stream, from 0, after whose label a fit was made."""
        ...

    def begin(self, first: int, rounds: int, prices: Array | None) -> None:
        """So many rounds come from this one on; `prices` are those of the labels where they differ."""
        ...

    def prepare(self, round: int, count: int, clocks: ClocksOfTypes) -> None:
        """Get ready for a chunk of this many rounds, beginning with this one."""
        ...

    def decide(self, given: Given, start: int) -> Stop:
        """Run the compiled loop from `start` of the chunk: rounds done, labels so far, why it stopped."""
        ...

    def extend(self, start: int, clocks: ClocksOfTypes) -> None:
        """There is no limit for `start`; from there on, `clocks` counts the arrivals of the types."""
        ...

    def reasons(self, answers: Answers, before: Before) -> Reasons:
        """Why the chunk was answered so."""
        ...

    def settle(self) -> None:
        """Leave the rule, and what was fitted, as the rounds would have."""
        ...


def judge_for(state: State, names: list[Any], loops: ModuleType, *, told: bool) -> Judge:
    """The judge of a learner that has one of our rules; `names` will have the types that were met.

    `told`: whether labels are told as soon as they are asked for, and not awaited.
    """
    match rule := state.rule:
        case Value():
            return ByWorth(state, rule, names) if told else ByWorthAwaited(state, rule)
        case VariableUncertainty():
            return ByMovingLimit(rule, state.belief.traits.label_scale, loops)
        case Threshold():
            return ByThreshold(rule, state, loops)
        case RandomSelect():
            return ByLot(rule, state, loops)
        case _:
            return ByNature(rule, loops)


class ByLimits:
    """Rules whose limits are known before the rounds."""

    propensity: float | None = None
    values_labels = False
    counts: Counts | None = None
    fitted_after: Sequence[int] = ()

    def __init__(self, loops: ModuleType, *, shown: bool = False) -> None:
        self._loops = loops
        self._limits = NO_LIMITS._replace(shown=shown)

    def begin(self, first: int, rounds: int, prices: Array | None) -> None:
        """Nothing depends on where they begin, nor on prices."""

    def decide(self, given: Given, start: int) -> Stop:
        """Compare with the limits."""
        values, by_type, shown = self._limits
        limits = LimitTable(values if by_type else values[start:], by_type, shown)
        outcome: Stop = self._loops.decide(*given, limits, None)
        return outcome

    def extend(self, start: int, clocks: ClocksOfTypes) -> None:
        """Limits by round are always enough."""

    def settle(self) -> None:
        """Nothing is remembered."""


class ByThreshold(ByLimits):
    """`Threshold`, by either clock."""

    def __init__(self, rule: Threshold, state: State, loops: ModuleType) -> None:
        super().__init__(loops, shown=True)
        traits = state.belief.traits
        self._rule, self._scale, self._rounds = rule, traits.label_scale, 0
        self._thresholds = Thresholds(loops, state.quote.price / self._scale, traits.unit, rule.scale)
        self._chunk: Array | None = None  # the prices of a chunk

    def begin(self, first: int, rounds: int, prices: Array | None) -> None:
        """A table is worth its while once many rounds came, unless labels differ in their prices."""
        self._first, self._prices = first, None if prices is None else prices / self._scale
        self._rounds += rounds
        self._by_table = self._rule.clock == "type" and prices is None and self._rounds >= SHORTEST_FOR_TABLE

    def prepare(self, round: int, count: int, clocks: ClocksOfTypes) -> None:
        """Take the table, or compute the thresholds of the chunk."""
        low = round - self._first
        self._chunk = None if self._prices is None else self._prices[low : low + count]
        if self._by_table:
            self._limits = LimitTable(self._thresholds.table, by_type=True, shown=True)
        else:
            times = np.arange(round, round + count) if self._rule.clock == "stream" else clocks()
            self._limits = self._limits._replace(values=self._thresholds.at(times, self._chunk))

    def extend(self, start: int, clocks: ClocksOfTypes) -> None:
        """Take a larger table, or compute the rest of the chunk if there is none."""
        if self._thresholds.extend():
            self._limits = self._limits._replace(values=self._thresholds.table)
        else:
            rest = np.append(np.empty(start), self._thresholds.at(clocks()))
            self._limits = self._limits._replace(values=rest, by_type=False)

    def reasons(self, answers: Answers, before: Before) -> Reasons:
        """By what is labelled and told of the type."""
        return threshold_reasons(self._rule, answers, before)


class ByLot(ByLimits):
    """`RandomSelect`."""

    def __init__(self, rule: RandomSelect, state: State, loops: ModuleType) -> None:
        super().__init__(loops)
        self.propensity = self._probability = rule.probability
        self._rule, self._draws = rule, state.draws

    def prepare(self, round: int, count: int, clocks: ClocksOfTypes) -> None:
        """Draw for the chunk."""
        drawn = self._draws.many(round, count) < self._probability
        self._limits = self._limits._replace(values=np.where(drawn, -inf, inf))

    def reasons(self, answers: Answers, before: Before) -> Reasons:
        """Drawn or not."""
        return reasons_from(self._rule.reason, answers.wants_label, rounds=len(answers.wants_label))


class ByNature(ByLimits):
    """`Always` and `Never`."""

    def __init__(self, rule: Rule, loops: ModuleType) -> None:
        super().__init__(loops)
        verdict = ALWAYS if isinstance(rule, Always) else NEVER
        self._limit, self._reason = -inf if verdict.wants_label else inf, verdict.reason

    def prepare(self, round: int, count: int, clocks: ClocksOfTypes) -> None:
        """The same for every round."""
        self._limits = self._limits._replace(values=np.full(count, self._limit))

    def reasons(self, answers: Answers, before: Before) -> Reasons:
        """The same for every round."""
        return reasons_from(lambda: self._reason, rounds=len(answers.wants_label))


class ByMovingLimit:
    """`VariableUncertainty` in all its readings."""

    propensity: float | None = None
    values_labels = False
    counts: Counts | None = None
    fitted_after: Sequence[int] = ()

    def __init__(self, rule: VariableUncertainty, scale: float, loops: ModuleType) -> None:
        self._loops, self._rule = loops, rule
        self._moving = moving_limit(rule, np.array([rule.theta, rule.lately]), scale)
        self._lately = rule.lately

    def begin(self, first: int, rounds: int, prices: Array | None) -> None:
        """The limit goes on from where it is."""

    def prepare(self, round: int, count: int, clocks: ClocksOfTypes) -> None:
        """The limit comes with the rounds."""
        self._lately = float(self._moving.memory[1])

    def decide(self, given: Given, start: int) -> Stop:
        """Compare with θ, and move it."""
        outcome: Stop = self._loops.decide(*given, NO_LIMITS, self._moving)
        return outcome

    def extend(self, start: int, clocks: ClocksOfTypes) -> None:
        """One limit is enough."""

    def reasons(self, answers: Answers, before: Before) -> Reasons:
        """The first of a type, then the budget, then θ."""
        over = self._loops.over_budget(answers.wants_label, self._lately, self._moving.budget)
        return moving_reasons(self._rule, answers, over)

    def settle(self) -> None:
        """Leave θ, and the labels of late."""
        self._rule.theta, self._rule.lately = self._moving.memory.tolist()


@cache
def rates_agree() -> bool:
    """Whether the compiled rates have the bits of the belief's, whose logarithms may be another library's."""
    from breakeven.learner.bulk import worth_loop  # which needs numba

    varieties = np.geomspace(1e-12, 1.0, COMPARED_RATES).tolist()
    return list(map(worth_loop.familiarity, varieties)) == list(map(type_savings.familiarity, varieties))


KnownTypes = dict[Any, tuple[float, float]]  # the mean of a type's labels, and what they weigh


class Met:
    """The labels of all types while a stream passes: of those met as arrays, of the others as they were."""

    def __init__(
        self, names: Sequence[Any], before: Callable[[], KnownTypes], census: Counts, types: TypeArrays
    ) -> None:
        self._names, self._look_before, self.census, self.types = names, before, census, types

    @cached_property
    def _before(self) -> KnownTypes:
        return self._look_before()  # only if it is needed: it walks over all types

    @property
    def told(self) -> int:
        """How many labels were told, of all types."""
        return int(sum(count for _, count in self.known().values()))

    def count(self) -> Census:
        """The counts over all types."""
        return Census(*self.census.tolist())

    def known(self) -> KnownTypes:
        """The mean of the labels of each type that has any told, and how many they are."""
        told, means, counts = self._told()
        names = map(self._names.__getitem__, told.tolist())
        return self._before | dict(zip(names, zip(means.tolist(), counts.tolist(), strict=True), strict=True))

    def predict(self, prior: TypePrior) -> None:
        """Predict every type that was met under this prior."""
        told, means, counts = self._told()
        self.types.mean[:] = prior.mean
        self.types.mean[told] = posterior_mean(means, counts, prior.mean, prior.worth)

    def _told(self) -> tuple[Counts, Array, Array]:
        """The codes of types with labels told, their means, and how many they are."""
        told = np.flatnonzero(self.types.told)
        counts = self.types.told[told]
        return told, self.types.parts[told, 0] / counts, counts


class ByWorthAwaited:
    """`Value`, where labels are awaited: what the belief has learnt across types stays as it is."""

    propensity: float | None = None
    values_labels = True
    counts: Counts | None
    fitted_after: Sequence[int] = ()

    def __init__(self, state: State, rule: Value) -> None:
        from breakeven.learner.bulk import worth_loop  # which needs numba

        belief = state.belief
        assert isinstance(belief, TypeMeans)
        self._loop, self._state, self._rule, self._belief = worth_loop.decide, state, rule, belief
        self.begin(state.rounds + 1, 0, None)

    def begin(self, first: int, rounds: int, prices: Array | None) -> None:
        """Take the counts and the prior of the belief."""
        self._first, self._prices = first, prices
        self.counts = np.array(astuple(self._belief.count()))
        self._across = self._belief.across

    def prepare(self, round: int, count: int, clocks: ClocksOfTypes) -> None:
        """Only prices are known ahead."""
        low = round - self._first
        same, own = self._state.quote.price, self._prices
        self._round, self._chunk = round, np.full(count, same) if own is None else own[low : low + count]

    def decide(self, given: Given, start: int) -> Stop:
        """Compare with the price."""
        assert self.counts is not None
        terms = value_terms(self._rule, self._round - 1 + start, self._chunk[start:])
        outcome: Stop = self._loop(*given, terms, prior_terms(self._across), self.counts)
        return outcome

    def extend(self, start: int, clocks: ClocksOfTypes) -> None:
        """There are no limits."""

    def reasons(self, answers: Answers, before: Before) -> Reasons:
        """By what the label is worth, and whether the horizon has passed."""
        rounds = np.arange(self._round, self._round + len(answers.wants_label))
        return worth_reasons(self._rule, answers, before, rounds)

    def settle(self) -> None:
        """Nothing was learnt."""


class ByWorth(ByWorthAwaited):
    """`Value`, where labels are told at once: the prior is learnt from arrays, and the belief takes it up."""

    def __init__(self, state: State, rule: Value, names: list[Any]) -> None:
        self._names = names
        super().__init__(state, rule)

    def begin(self, first: int, rounds: int, prices: Array | None) -> None:
        """Begin with what the belief has learnt; fits are those of these rounds."""
        super().begin(first, rounds, prices)
        belief = self._belief
        assert self.counts is not None
        self._met = Met(self._names, belief.known, self.counts, TypeArrays.of([]))
        self._across = AcrossTypes(self._met, belief.noise_std, belief.prior_mean, belief.prior_std)
        self._across.load(belief.across.state())
        self.fitted_after: list[int] = []  # rounds of this stream, from 0, after whose label a fit was made

    def decide(self, given: Given, start: int) -> Stop:
        """Compare with the price; where enough types have labels, learn what they have in common."""
        self._look_at(given.types)
        outcome = super().decide(given, start)
        if outcome[2] == NEEDS_FIT:
            self._fit(given, start, outcome[0])
        return outcome

    def _look_at(self, types: TypeArrays) -> None:
        """Types newly met are to be predicted; so are all where labels told since have changed the guess."""
        more = len(types.mean) > len(self._met.types.mean)
        self._met.types = types
        if more or self._across.unknown:
            self._across.load(self._across.state())

    def _fit(self, given: Given, start: int, done: int) -> None:
        """Fit, and predict the last round anew, which was told the label that made a fit due."""
        self._across.adopt(self._across.fit())
        self.fitted_after.append(self._round - self._first + start + done - 1)
        assert given.told is not None
        if given.told.true:
            last = given.lookup[given.values[done - 1] - given.low]
            given.out.prediction[done - 1] = given.types.mean[last]

    def settle(self) -> None:
        """Leave what was learnt across types."""
        if self._across.learns:
            self._belief.across.load(self._across.state())
            self._state.fits += len(self.fitted_after)
            self._state.number += len(self.fitted_after)


def prior_terms(across: AcrossTypes) -> PriorTerms:
    """What is believed of all types, as the loops want it."""
    prior = across.prior
    return PriorTerms(prior.mean, prior.std, prior.worth, across.learns, across.unknown, across.due_at)
