"""One answer of a learner, and its reason in words.

A reason is stored as a short code; the sentence is made only when somebody reads `why`. A code that
is not in `WORDING` is taken as the sentence itself, so a rule of your own can bring its own words.
"""

from msgspec import Struct

from breakeven.values.prediction import Prediction

WORDING = {
    "unsure": "Label it: the prediction {mean} is uncertain by {uncertainty}, more than the {threshold} "
    "that is worth accepting when a label costs {cost}.",
    "sure": "No label: the prediction {mean} is uncertain by only {uncertainty}, within the {threshold} "
    "that is worth accepting when a label costs {cost}.",
    "sure_from_start": "No label: even without any labels the uncertainty would stay within the {threshold} "
    "that is worth accepting when a label costs {cost}.",
    "on_their_way": "No label: enough labels of this type are already on their way.",
    "first_of_type": "Label it: nothing of this type has been labelled yet.",
    "warmup": "Label it: it is among the first, which are all labelled to learn how the data behave.",
    "person_asked": "Label it: a person asked for it.",
    "person_declined": "No label: a person decided against it.",
    "drawn": "Label it: it was drawn at random, at a chance of {chance}.",
    "not_drawn": "No label: it was not drawn at random; its chance was {chance}.",
    "always": "Label it: everything is labelled.",
    "never": "No label: nothing is labelled.",
    "above_moving": "Label it: the uncertainty {uncertainty} is above the moving limit {threshold}.",
    "not_above_moving": "No label: the uncertainty {uncertainty} is not above the moving limit {threshold}.",
    "below_moving": "Label it: the uncertainty {uncertainty} is below the moving limit {threshold}.",
    "not_below_moving": "No label: the uncertainty {uncertainty} is not below the moving limit {threshold}.",
    "own_rule": "So said a rule that gave no reason.",
    "over_budget": "No label: the share of arrivals labelled lately has reached its budget.",
    "worth_it": "Label it: a label would save about {worth} in errors to come, more than the {cost} it "
    "costs.",
    "not_worth_it": "No label: one would save about {worth} in errors to come, less than the {cost} it "
    "costs.",
    "worth_it_late": "Label it: a label would save about {worth} in errors to come, more than the {cost} it "
    "costs; the horizon has passed, so as many arrivals again as seen are expected.",
    "not_worth_it_late": "No label: one would save about {worth} in errors to come, less than the {cost} it "
    "costs; the horizon has passed, so as many arrivals again as seen are expected.",
    "nothing_known": "Label it: nothing is known yet of how large errors are.",
    "enough_on_their_way": "No label: the first labels, which will say how large errors are, "
    "are on their way.",
    "audited": "Label it: it was drawn at random to audit the rule, at a chance of {chance}.",
    "no_audit_money": "No label: an audit of it could not have been paid for, so audits end here.",
    "no_money": "No label: its price would exceed the budget.",
    "kept_for_later": "No label: one would save about {worth} in errors to come, more than the {cost} it "
    "costs, but too little for what is left of the budget.",
    "unsure_in_budget": "Label it: the prediction {mean} is uncertain by {uncertainty}, more than the "
    "{threshold} that is worth accepting with what is left of the budget.",
    "sure_in_budget": "No label: the prediction {mean} is uncertain by {uncertainty}, within the "
    "{threshold} that is worth accepting with what is left of the budget.",
    "queue_full": "No label: as many labels are awaited as are allowed at once.",
}


class Decision(Struct, frozen=True, gc=False):
    """Whether one arrival's label is worth its price, and what we predict either way.

    `uncertainty` is what the rule compared with `threshold`: unlike `prediction.std` it already counts
    labels that are awaited. `propensity` is the probability with which the label was asked for. `cost`
    is the price of the label, paid only if it was wanted. `exact` says that nothing was approximated,
    and `ambiguous` that for all we know the exact uncertainty lies on the other side of the threshold:
    it is within a factor of `stretch` of ours, both ways. `labeller` is whom to ask, where there is a choice,
    and `worth` what the label would save, in money, where the rule says so.
    """

    id: str
    wants_label: bool
    prediction: Prediction
    uncertainty: float
    threshold: float
    cost: float
    propensity: float
    reason: str
    exact: bool = True
    ambiguous: bool = False
    stretch: float = 1.0
    labeller: str | None = None
    worth: float | None = None

    @property
    def why(self) -> str:
        """The reason in one sentence.

        >>> p = Prediction(mean=151.6, std=20.0, noise_std=50.0)
        >>> Decision("7", True, p, 31.2, 28.4, 10.0, 1.0, "first_of_type").why
        'Label it: nothing of this type has been labelled yet.'
        """
        sentence = WORDING.get(self.reason, self.reason)
        try:
            return sentence.format(
                mean=_words(self.prediction.mean),
                uncertainty=_words(self.uncertainty),
                threshold=_words(self.threshold),
                cost=f"{self.cost:,.10g}",
                chance=f"{100 * self.propensity:.3g}%",
                worth="an unknown amount" if self.worth is None else _words(self.worth),
                labeller=self.labeller,
            )
        except (LookupError, ValueError, AttributeError, TypeError):  # braces in a sentence of the user's own
            return sentence


def _words(number: float) -> str:
    """Three digits, written out as long as that is readable."""
    short = f"{number:.3g}"
    return f"{float(short):,.0f}" if 1e3 <= abs(float(short)) < 1e9 else short
