"""VAR-UNCERTAINTY (Žliobaitė et al. 2014), in every reading that the paper allows.

A limit θ, 1 at first, moves by a factor after each answer; it counts in the belief's label scale. The paper's
text, its figures and the original disagree on the comparison and the factors; `READINGS` holds them all. None
of them looks at the price.
"""

from math import isinf, nan
from typing import Literal

import msgspec

from breakeven.errors import expect
from breakeven.rules.rule import Rule
from breakeven.values import Verdict, View


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
MEMORY = 100  # rounds over which the original estimates the share it labelled
LEAST, MOST = 1e-300, 1e300

REASONS = {
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
    lately: float = 0.0  # labels among about the last MEMORY arrivals, fading

    def __post_init__(self) -> None:
        expect.one_of("reading", self.reading, READINGS)
        if self.budget is not None:
            self.budget = expect.probability("budget", self.budget)
        elif self.reading == "original":
            expect.refuse("budget", "a share in [0, 1], which the original reading needs", None)
        self.theta = expect.number("theta", self.theta, LEAST, MOST)
        self.lately = expect.number("lately", self.lately, 0.0, MEMORY)

    def decide(self, view: View) -> Verdict:
        """Compare with θ, unless the budget is used up."""
        if isinf(view.uncertainty):
            return Verdict(True, nan, "first_of_type")
        compare = READINGS[self.reading].compare
        limit = max(1.0 / self.theta - 1.0, 0.0) if compare == "confidence" else self.theta
        limit *= view.traits.label_scale
        if self.budget is not None and self.lately / MEMORY >= self.budget:
            return Verdict(False, limit, "over_budget")
        yes = view.uncertainty < limit if compare == "below" else view.uncertainty > limit
        return Verdict(yes, limit, REASONS[compare][not yes])

    def observe(self, *, labelled: bool) -> None:
        """Move θ, and the share labelled lately. θ rests while the budget is used up."""
        over = self.budget is not None and self.lately / MEMORY >= self.budget
        self.lately = self.lately * (MEMORY - 1) / MEMORY + labelled
        if labelled or not over:
            reading = READINGS[self.reading]
            moved = self.theta * (reading.after_yes if labelled else reading.after_no)
            self.theta = min(max(moved, LEAST), MOST)
