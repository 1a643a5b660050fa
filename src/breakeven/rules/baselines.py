"""The rules that others are measured against: label everything, nothing, or at random.

VAR-UNCERTAINTY (Žliobaitė et al. 2014) is here in every reading that the paper allows. A limit θ, 1 at first,
moves by a factor after each answer; it counts in the belief's label scale. The paper's text, its figures and
the original disagree on the comparison and the factors; `READINGS` holds them all. None of these rules looks
at the price.
"""

from math import isinf, nan
from typing import ClassVar, Literal

import msgspec

from breakeven.errors import expect
from breakeven.rules.rule import Rule, while_noise_is_unknown
from breakeven.values import Verdict, View

ALWAYS = Verdict(True, reason="always")
NEVER = Verdict(False, reason="never")


class Always(Rule):
    """Label everything."""

    def decide(self, view: View) -> Verdict:
        """Yes."""
        return ALWAYS


class Never(Rule):
    """Label nothing."""

    def decide(self, view: View) -> Verdict:
        """No."""
        return NEVER


class RandomSelect(Rule):
    """Label with a fixed probability, whatever is known.

    >>> RandomSelect(probability=0.1)
    RandomSelect(probability=0.1)
    """

    draws: ClassVar[bool] = True

    probability: float = 0.5

    def __post_init__(self) -> None:
        self.probability = expect.probability("probability", self.probability)

    def decide(self, view: View) -> Verdict:
        """Compare the round's seeded random number with the probability."""
        drawn = view.uniform() < self.probability
        return Verdict(drawn, reason=self.reason(drawn), propensity=self.probability)

    @staticmethod
    def reason(drawn: bool) -> str:
        """Why it was decided so."""
        return "drawn" if drawn else "not_drawn"


class Reading(msgspec.Struct, frozen=True):
    """Which side of θ is labelled, and what θ is multiplied by after a yes and after a no."""

    compare: Literal["below", "above", "confidence"]
    after_yes: float
    after_no: float


READINGS = {
    "printed": Reading("below", 0.5, 2.0),
    "figures": Reading("below", 0.5, 1.5),
    "figures_gp": Reading("below", 0.5 * 1.5, 1.5),  # ×0.5 on a label, ×1.5 every round
    "uncertain": Reading("above", 2.0, 0.5),
    "original": Reading("confidence", 0.99, 1.01),
}
LATELY_ROUNDS = 100  # over which the original estimates the share it labelled
LEAST_THETA, MOST_THETA = 1e-300, 1e300

MOVING_REASONS = {
    "below": ("below_moving", "not_below_moving"),
    "above": ("above_moving", "not_above_moving"),
    "confidence": ("above_moving", "not_above_moving"),
}


class VariableUncertainty(Rule):
    """Label where the uncertainty is above (or below) a limit that moves with every answer.

    `reading` is one of "uncertain", "printed", "figures", "figures_gp", "original". `budget` is the largest
    share of recent arrivals to label; "original" needs one. A type without labels is always labelled.
    "original" compares a confidence, 1 / (1 + uncertainty), which it wants below θ.

    >>> VariableUncertainty(reading="original", budget=0.1).theta
    1.0
    """

    reading: Literal["uncertain", "printed", "figures", "figures_gp", "original"] = "uncertain"
    budget: float | None = None
    theta: float = 1.0
    lately: float = 0.0  # labels among about the last LATELY_ROUNDS arrivals, fading

    def __post_init__(self) -> None:
        expect.one_of("reading", self.reading, READINGS)
        if self.budget is not None:
            self.budget = expect.probability("budget", self.budget)
        elif self.reading == "original":
            expect.refuse("budget", "a share in [0, 1], which the original reading needs", None)
        self.theta = expect.number("theta", self.theta, LEAST_THETA, MOST_THETA)
        self.lately = expect.number("lately", self.lately, 0.0, LATELY_ROUNDS)

    def decide(self, view: View) -> Verdict:
        """Compare with θ, unless the budget is used up."""
        if (waiting := while_noise_is_unknown(view)) is not None:
            return waiting
        if isinf(view.uncertainty):
            return Verdict(True, nan, self.reason(True, True, False))
        compare, over = READINGS[self.reading].compare, self._over_budget
        limit = max(1.0 / self.theta - 1.0, 0.0) if compare == "confidence" else self.theta
        limit *= view.traits.label_scale
        yes = view.uncertainty < limit if compare == "below" else view.uncertainty > limit
        yes = yes and not over
        return Verdict(yes, limit, self.reason(yes, False, over))

    def reason(self, wanted: bool, first: bool, over: bool) -> str:
        """Why it was decided so; `first`: of a type without labels, `over`: the budget was used up."""
        if first:
            return "first_of_type"
        return "over_budget" if over else MOVING_REASONS[READINGS[self.reading].compare][not wanted]

    @property
    def _over_budget(self) -> bool:
        return self.budget is not None and self.lately / LATELY_ROUNDS >= self.budget

    def observe(self, *, labelled: bool) -> None:
        """Move θ, and the share labelled lately. θ rests while the budget is used up."""
        over = self._over_budget
        self.lately = self.lately * (LATELY_ROUNDS - 1) / LATELY_ROUNDS + labelled
        if labelled or not over:
            reading = READINGS[self.reading]
            moved = self.theta * (reading.after_yes if labelled else reading.after_no)
            self.theta = min(max(moved, LEAST_THETA), MOST_THETA)
