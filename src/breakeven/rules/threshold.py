"""The paper's rule: label what is more uncertain than a threshold that rises with the price."""

from math import inf
from typing import Literal

from breakeven.errors import expect
from breakeven.rules.rule import Rule, while_noise_is_unknown
from breakeven.theory import flipping_cost, threshold
from breakeven.values import Decision, Traits, Verdict, View

CLOCKS = ("type", "stream")


def threshold_reason(wanted: bool, first: bool, sure_prior: bool, untold: bool) -> str:
    """Why it was decided so.

    `first`: nothing of this type was labelled; `sure_prior`: even without labels the uncertainty would be
    small enough; `untold`: no label of this type has been told.
    """
    if wanted:
        return "first_of_type" if first else "unsure"
    if sure_prior:
        return "sure_from_start"
    return "on_their_way" if untold else "sure"


# looked up by the loop, which is too quick for a call: [first], and [sure_prior][untold]
_WANTED = tuple(threshold_reason(True, first, False, False) for first in (False, True))
_DECLINED = tuple(
    tuple(threshold_reason(False, False, sure_prior, untold) for untold in (False, True))
    for sure_prior in (False, True)
)


class Threshold(Rule):
    """Label iff the uncertainty exceeds scale · unit · (price / label_scale / clock) ** exponent.

    Belief and kernel give unit and exponent. `clock="type"` counts the arrivals of this type (the paper's
    text), `"stream"` all rounds (its discrete figures); a Gaussian process always counts rounds.

    >>> Threshold(scale=0.5)
    Threshold(scale=0.5, clock='type')
    """

    scale: float = 1.0
    clock: Literal["type", "stream"] = "type"

    def __post_init__(self) -> None:
        self.scale = expect.positive("scale", self.scale)
        expect.one_of("clock", self.clock, CLOCKS)

    def decide(self, view: View) -> Verdict:
        """Algorithm 1, line 4, and Algorithm 2, line 2."""
        traits, arrivals = view.traits, view.arrivals
        if not traits.noise_known and (waiting := while_noise_is_unknown(view)) is not None:
            return waiting
        clock = view.round if arrivals is None or self.clock == "stream" else arrivals
        price = view.price / traits.label_scale
        limit = threshold(price, clock, traits.exponent, traits.unit, self.scale)
        if view.uncertainty > limit:
            return Verdict(True, limit, _WANTED[arrivals is not None and view.labels == 0])
        untold = arrivals is not None and view.prediction.std == inf
        return Verdict(False, limit, _DECLINED[traits.prior_std <= limit][untold])

    def flips_at(self, decision: Decision, traits: Traits) -> float | None:
        """Where the threshold, which grows as cost ** exponent, meets the uncertainty of this decision."""
        uncertainty, limit = decision.uncertainty, decision.threshold
        if limit != limit:
            return None
        try:
            flip: float = flipping_cost(decision.cost, uncertainty / limit, traits.exponent)
        except OverflowError:
            return inf
        return flip

    reason = staticmethod(threshold_reason)
