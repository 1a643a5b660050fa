"""Let labels test the belief, and label some of what a rule declines, at random: a change shows anywhere.

Labels that the rule buys test the belief where it is unsure. Where it is sure nobody asks, and a change
would go unnoticed. So a coin buys there, too: the larger the expected error and the lower the price, the more
often, and up to thirty times as often once labels lie further out than the belief claimed.
"""

from itertools import pairwise
from math import isfinite, sqrt
from typing import ClassVar, Literal

from msgspec.structs import replace

from breakeven.errors import expect
from breakeven.rules.rule import Rule, Wrapper
from breakeven.values import EVEN, Prediction, Verdict, View, best_offer, expected_error
from breakeven.values.decision import QUANTILE_LEVELS

CHECK_DRAWS = 2  # which of the round's random numbers checks use
CHECK_SHARE = 0.07  # of the expected error, spent on coins: docs/trust.md says what that costs and finds
NET_PART = 0.6  # of this share, at most: what coins may cost beyond what their labels are worth
NET_PART_OF_PLANS = 3.0 / 7.0  # the same where labels pay only several together: a coin carries out no plan
LEAST_IN_ALL = 2.0  # coins in the whole stream, were all of their price lost: fewer would find nothing
LEAST_TO_COME = 1.5  # of these, so that one that lies far out still has others follow it in time
LEAST_TO_COME_OF_PLANS = 4.0  # the same where labels are yes or no, or mostly one value: one says little
MOST_SUSPECTED = 30.0  # beyond that coins fall no more often


class Check(Wrapper):
    """Follow a rule, test the belief by every label bought, and buy some that the rule declines.

    An arrival is drawn with the chance `share` · expected error / price, times the suspicion that the
    belief is wrong, from 1 to 30. So what is spent on coins is on average this share of the error that is
    expected where nobody asks. Where the rule says what a label is worth, they fall less often, so that no
    more than 0.6 of the share is lost for good; 3/7 of it where labels are yes or no, or mostly one value.
    Coins fall at even distances. None falls where fewer than two are to be expected in the whole stream, were
    all of their price lost, or one and a half (there four) from now on: they would hardly find a change, or
    too late to gain by it. With a share of 0 only the labels that the rule buys test the belief.

    >>> from breakeven.rules import Value
    >>> Check(Value()).share
    0.07
    """

    share: float = CHECK_SHARE

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
        chance = self._chance(view, verdict)
        if chance == 0.0 or self.rule.forbids(view) is not None:
            return verdict
        own = verdict.propensity
        if own is None:
            own = 1.0 if verdict.wants_label else 0.0
        together = own + chance * (1.0 - own)
        if verdict.wants_label or view.evenly(CHECK_DRAWS) >= chance:
            return replace(verdict, propensity=together)
        labeller = best_offer(self.rule.offers(view)).labeller
        return replace(verdict, wants_label=True, reason="checked", propensity=together, labeller=labeller)

    def _chance(self, view: View, verdict: Verdict) -> float:
        """The chance of a coin; none falls before the belief is tested, or where it expects no error yet."""
        if view.suspicion == 0.0 or self.share == 0.0:
            return 0.0
        error, worth = verdict.worth_now, verdict.worth_now
        most, least = NET_PART_OF_PLANS, LEAST_TO_COME_OF_PLANS
        if not view.planned or error is None:
            error = error_ahead(view.prediction, "label" if self.rule.scores_labels else "f", view.level)
            worth, most, least = verdict.worth, NET_PART, LEAST_TO_COME
        if not isfinite(error):
            return 0.0
        lost = 0.0 if worth is None else max(1.0 - worth / view.price, 0.0)  # of the price, for good
        usual = self.share * error / view.price
        chance = usual * min(1.0, most / max(lost, most)) * min(max(view.suspicion, 1.0), MOST_SUSPECTED)
        left = self.rule.arrivals_left(view.round)
        if left is not None and (left * chance < least or (view.round + left) * most * usual < LEAST_IN_ALL):
            return 0.0
        return min(1.0, chance)

    @property
    def check(self) -> "Check":
        """The check itself."""
        return self


def checked(rule: Rule, share: float | None, *, averaged: bool) -> Rule:
    """A rule with the check of this share; without a share, the usual check of an averaged belief, else none.

    One fitted process is often too sure at first, and the compiled loops for types test nothing: so for
    these a check must be asked for.

    >>> from breakeven.rules import Value
    >>> checked(Value(), None, averaged=True).check.share, checked(Value(), None, averaged=False).check
    (0.07, None)
    """
    if share is None and averaged:
        share = CHECK_SHARE
    return rule if share is None else Check(rule, share)


def error_ahead(prediction: Prediction, of: Literal["f", "label"], level: float = EVEN) -> float:
    """How far off an answer is on average, as errors count at this level; of a yes or no, what it costs.

    >>> round(error_ahead(Prediction(mean=2.0, std=3.0, noise_std=4.0), "label"), 2)
    3.99
    >>> no = Prediction(mean=0.0, std=0.1, noise_std=0.5, probability=0.2)
    >>> error_ahead(no, "label"), round(error_ahead(no, "label", level=0.8), 2)  # a miss costs 4 false alarms
    (0.2, 0.32)
    """
    above, below = 2.0 * level, 2.0 * (1.0 - level)
    share, answer = prediction.probability, prediction.mean
    if share is not None:
        return below * (1.0 - share) if answer else above * share
    quantiles = prediction.f_quantiles if of == "f" else prediction.label_quantiles
    if quantiles is not None:
        expected = 0.0
        for weight, y in zip(_STANDS_FOR, quantiles, strict=True):
            expected += weight * (above * (y - answer) if y > answer else below * (answer - y))
        return expected
    noise = prediction.noise_std if of == "label" else 0.0
    return expected_error(level) * sqrt(prediction.std**2 + noise**2)


_BETWEEN = (0.0, *((a + b) / 2.0 for a, b in pairwise(QUANTILE_LEVELS)), 1.0)
_STANDS_FOR = tuple(b - a for a, b in pairwise(_BETWEEN))  # how much each quantile of a prediction does
