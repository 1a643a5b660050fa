"""`Value` as chunks of decisions: what a label is worth, and what its types have in common."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
from msgspec.structs import astuple

from breakeven.beliefs import TypeMeans
from breakeven.beliefs.types import type_savings
from breakeven.beliefs.types.across_types import AcrossTypes
from breakeven.beliefs.types.tallies import Census
from breakeven.beliefs.types.weighing import TypePrior, posterior_mean
from breakeven.learner.bulk.arrays import (
    NEEDS_FIT,
    Array,
    Before,
    Columns,
    Counts,
    Given,
    Outcome,
    Prior,
    Terms,
    Truths,
    Types,
)
from breakeven.learner.learner import Learner
from breakeven.rules import Value

COMPARED = 2**12  # numbers on which the compiled rates must agree with the belief's


@cache
def rates_agree() -> bool:
    """Whether the compiled rates have the bits of the belief's, whose logarithms may be another library's."""
    from breakeven.learner.bulk import worth_loop  # which needs numba

    varieties = np.geomspace(1e-12, 1.0, COMPARED).tolist()
    return list(map(worth_loop.familiarity, varieties)) == list(map(type_savings.familiarity, varieties))


class Met:
    """The labels of all types while a stream passes: of those met as arrays, of the others as they were."""

    def __init__(self, belief: TypeMeans, names: list[Any]) -> None:
        self._before, self._names = belief.known(), names
        self.types = Types.of([])
        self.census = np.array(astuple(belief.count()))

    def count(self) -> Census:
        """The counts over all types."""
        return Census(*self.census.tolist())

    def known(self) -> dict[Any, tuple[float, float]]:
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


class ByWorth:
    """`Value`. The prior is learnt from arrays, and the belief takes it up at the end."""

    propensity: float | None = None

    def __init__(self, learner: Learner, rule: Value, names: list[Any]) -> None:
        from breakeven.learner.bulk import worth_loop  # which needs numba

        belief = learner.belief
        assert isinstance(belief, TypeMeans)
        self._loop, self._learner, self._rule, self._belief = worth_loop.decide, learner, rule, belief
        self._met = Met(belief, names)
        self._across = AcrossTypes(self._met, belief.noise_std, belief.prior_mean, belief.prior_std)
        self._across.load(belief.across.state())
        self._fits = 0

    def prepare(self, round: int, count: int) -> None:
        """Nothing is known ahead."""
        self._round = round

    def decide(self, given: Given, start: int) -> Outcome:
        """Compare with the price; where enough types have labels, learn what they have in common."""
        self._look_at(given.types)
        outcome: Outcome = self._loop(*given, self._terms(start), self._prior(), self._met.census)
        if outcome[2] == NEEDS_FIT:
            self._fit(given, *outcome[:2])
        return outcome

    def _look_at(self, types: Types) -> None:
        """Types newly met are to be predicted; so are all where labels told since have changed the guess."""
        more = len(types.mean) > len(self._met.types.mean)
        self._met.types = types
        if more or self._across.unknown:
            self._across.load(self._across.state())

    def _terms(self, start: int) -> Terms:
        rule = self._rule
        return Terms(
            passed=self._round - 1 + start,
            horizon=rule.horizon or 0,
            price=self._learner._quote.price,
            lessons=rule.lessons,
            outright=rule.scored == "labels",
        )

    def _prior(self) -> Prior:
        across, prior = self._across, self._across.prior
        return Prior(prior.mean, prior.std, prior.worth, across.learns, across.unknown, across.due_at)

    def _fit(self, given: Given, done: int, labels: int) -> None:
        """Fit, and predict the last round anew, which was told the label that made a fit due."""
        self._across.adopt(self._across.fit())
        self._fits += 1
        assert given.told is not None
        if given.told.true:
            last = given.told.codes[labels - given.labels - 1]
            given.out.prediction[done - 1] = given.types.mean[last]

    def extend(self, start: int, clocks: Callable[[], Counts]) -> None:
        """There are no limits."""

    def reasons(self, answers: Columns, before: Before, untold: Truths) -> list[str]:
        """As the rule gives them."""
        price = self._learner._quote.price
        return [
            self._rule.reason(worth, price, round)
            for round, worth in enumerate(before.worth.tolist(), self._round)
        ]

    def worths(self, before: Before) -> Iterable[float | None]:
        """In money."""
        return list((before.worth * self._learner.error_cost).tolist())

    def settle(self) -> None:
        """Leave what was learnt across types."""
        if self._across.learns:
            self._belief.across.load(self._across.state())
            self._learner._fits += self._fits
