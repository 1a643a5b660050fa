"""What a rule may know of one arrival, and what it answers.

A belief fills in the view, the learner adds the round and the price. A rule sees nothing else.
"""

from collections.abc import Callable
from math import nan

from msgspec import Struct

from breakeven.values.prediction import Prediction


class Traits(Struct, frozen=True):
    """What holds for every point of a belief, until it is fitted again.

    `exponent` and `unit` shape the paper's threshold: unit · (price / clock) ** exponent.
    `prior_std` is the uncertainty before any label, and `dim` is None where points are types.
    """

    noise_std: float
    exponent: float
    unit: float
    prior_std: float
    dim: int | None = None


class View(Struct, gc=False):
    """One arrival through the eyes of a rule.

    `arrivals` counts this type's arrivals including this one (None where there are no types), `labels`
    the labels it rests on, awaited ones included. `draw` gives the round's seeded uniform number. The exact
    uncertainty lies within a factor of `stretch`, both ways; 1 says that this is it.
    """

    uncertainty: float
    prediction: Prediction
    arrivals: int | None
    labels: int
    traits: Traits
    round: int = 0
    price: float = nan
    draw: Callable[[int], float] | None = None
    stretch: float = 1.0

    def ambiguous(self, threshold: float) -> bool:
        """Whether the exact uncertainty may lie on the other side of a threshold."""
        return self.stretch > 1.0 and (
            self.uncertainty / self.stretch <= threshold <= self.uncertainty * self.stretch
        )

    def uniform(self) -> float:
        """The seeded random number in [0, 1) that belongs to this round."""
        assert self.draw is not None  # the learner always sets it
        return self.draw(self.round)


class Verdict(Struct, frozen=True, gc=False):
    """A rule's answer: label or not, against which threshold, why, and with what probability.

    `reason` is a code of `breakeven.values.decision.WORDING` or a sentence of your own, in which
    {mean}, {uncertainty}, {threshold}, {cost} and {chance} are filled in. `propensity` is the chance
    of a label where that was drawn; left out, the answer was certain.

    >>> Verdict(True, reason="Label it: it costs only {cost}.").wants_label
    True
    """

    wants_label: bool
    threshold: float = nan
    reason: str = "own_rule"
    propensity: float | None = None
