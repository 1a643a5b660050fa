"""Let labels test the belief, and label some of what a rule declines, at random: a change shows anywhere.

Labels that the rule buys test the belief where it is unsure. Where it is sure nobody asks, and a change
would go unnoticed. So a coin buys there, too: the larger the expected error and the lower the price, the more
often, and up to ten times as often once labels speak against the belief.
"""

from math import isfinite
from typing import ClassVar

from msgspec.structs import replace

from breakeven import theory
from breakeven.errors import expect
from breakeven.rules.rule import Wrapper
from breakeven.values import Verdict, View, best_offer

CHECK_DRAWS = 2  # which of the round's random numbers checks use
MOST_DOUBT = 10.0  # the evidence beyond which coins fall no more often


class Check(Wrapper):
    """Follow a rule, test the belief by every label bought, and buy some that the rule declines.

    An arrival is drawn with the chance `share` · expected error / price, times the evidence against the
    belief, from 1 to 10. So what is spent on coins is on average this share of the error that is expected
    where nobody asks. With a share of 0 only the labels that the rule buys test the belief.

    >>> from breakeven.rules import Value
    >>> Check(Value()).share
    0.1
    """

    share: float = 0.1

    reads_prediction: ClassVar[bool] = True  # labels told say how often coins fall

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rule.check is not None:
            expect.refuse("rule", "one that is not checked already", self.rule)
        if self.rule.audit is not None:
            expect.refuse("rule", "one without an audit: put the audit around the check", self.rule)
        self.share = expect.probability("share", self.share)

    def decide(self, view: View) -> Verdict:
        """Yes if the arrival is drawn, else the rule's answer; nothing is drawn that may not be bought."""
        verdict = self.rule.decide(view)
        chance = self._chance(view)
        if chance == 0.0 or self.rule.forbids(view) is not None:
            return verdict
        own = verdict.propensity
        if own is None:
            own = 1.0 if verdict.wants_label else 0.0
        together = own + chance * (1.0 - own)
        if verdict.wants_label or view.uniform(CHECK_DRAWS) >= chance:
            return replace(verdict, propensity=together)
        labeller = best_offer(self.rule.offers(view)).labeller
        return Verdict(True, verdict.threshold, "checked", together, verdict.worth, labeller)

    def _chance(self, view: View) -> float:
        """The chance of a coin; none falls before the belief is tested, or where it expects no error yet."""
        if view.evidence == 0.0 or self.share == 0.0:
            return 0.0
        error = self._expected_error(view)
        if not isfinite(error):
            return 0.0
        doubt = min(max(view.evidence, 1.0), MOST_DOUBT)
        return min(1.0, self.share * doubt * error / view.price)

    def _expected_error(self, view: View) -> float:
        """Against f, or against labels, as the rule inside counts errors."""
        prediction = view.prediction
        against_labels = getattr(self.rule.layers[-1], "scored", "truth") == "labels"
        variance = prediction.std**2 + (prediction.noise_std**2 if against_labels else 0.0)
        return theory.EXPECTED_ERROR * float(variance**0.5)

    @property
    def check(self) -> "Check":
        """The check itself."""
        return self
