"""One answer of a learner: the decision, the prediction that comes with it, and its reason in words.

A reason is stored as a short code; the sentence is made only when somebody reads `why`. A code that is not in
`WORDING` is taken as the sentence itself, so a rule of your own can bring its own words.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import cache, lru_cache
from math import hypot, inf, isfinite, nan, sqrt
from operator import attrgetter
from typing import Any, Literal

from msgspec import Struct

from breakeven.errors import expect

By = Literal["rule", "warmup", "person"]
"""Who decided: the rule, the warm-up or a person."""

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
    "own_rule": "The rule decided so, and gave no reason.",
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
    "checked": "Label it: it was drawn at random to check the belief, at a chance of {chance}.",
    "no_audit_money": "No label: an audit of it could not have been paid for, so audits end here.",
    "no_money": "No label: it would cost more than what is left of the budget.",
    "kept_for_later": "No label: one would save about {worth} in errors to come, more than the {cost} it "
    "costs, but too little for what is left of the budget.",
    "unsure_in_budget": "Label it: the prediction {mean} is uncertain by {uncertainty}, more than the "
    "{threshold} that is worth accepting with what is left of the budget.",
    "sure_in_budget": "No label: the prediction {mean} is uncertain by {uncertainty}, within the "
    "{threshold} that is worth accepting with what is left of the budget.",
    "queue_full": "No label: as many labels are awaited as are allowed at once.",
}
"""The sentence for every reason code; `Decision.why` fills in the numbers."""

NUMBERS_OF = {
    "mean": "prediction.mean", "uncertainty": "uncertainty", "threshold": "threshold", "worth": "worth"
}  # fmt: skip
FILLED_IN = re.compile(r"\{(" + "|".join(NUMBERS_OF) + r")\}")

QUANTILE_LEVELS = (0.005, 0.025, 0.1, 0.16, 0.25, 0.5, 0.75, 0.84, 0.9, 0.975, 0.995)
"""Levels of the quantiles that a prediction carries; between them normal scores are interpolated."""

LEAST_VARIANCE, LEAST_COUNT = 1e-16, 1e-3  # of a share, and of its yeses and noes: what can be computed with


class Prediction(Struct, frozen=True, gc=False, omit_defaults=True):
    """What is believed of f at one point: the answer there, and how sure it is.

    `mean` is the answer: the mean of a normal belief or, where it answers another quantile because errors
    cost more one way than the other, that quantile, and then `centre` is the mean. `std` is of f itself and
    rests on labels *told*; a label still awaited teaches nothing yet. A belief that is not normal says its
    quantiles. Where labels are yes or no, the answer is 1 or 0, and `probability` that of a yes.

    >>> low, high = Prediction(mean=2.0, std=0.5, noise_std=1.2).interval(0.95)
    >>> round(low, 2), round(high, 2)
    (1.02, 2.98)
    """

    mean: float
    std: float
    noise_std: float
    f_quantiles: tuple[float, ...] | None = None
    label_quantiles: tuple[float, ...] | None = None
    probability: float | None = None
    centre: float | None = None

    def interval(self, level: float = 0.95, *, of: Literal["f", "label"] = "f") -> tuple[float, float]:
        """Ends of the central interval that holds f, or a new label, with probability `level`.

        >>> low, high = Prediction(mean=0.0, std=3.0, noise_std=4.0).interval(0.9, of="label")
        >>> round(high, 3)
        8.224
        """
        from statistics import NormalDist  # slow to import, rarely needed

        level = expect.probability("level", level, open=True)
        expect.one_of("of", of, ("f", "label"))
        tail = (1.0 - level) / 2.0
        if self.probability is not None:
            if of == "f":
                return _share_between(self.probability, self.std, tail)
            return float(self.probability >= 1.0 - tail), float(self.probability > tail)
        quantiles = self.f_quantiles if of == "f" else self.label_quantiles
        if quantiles is not None:
            return _between(quantiles, tail), _between(quantiles, (1.0 + level) / 2.0)
        spread = self.std if of == "f" else hypot(self.std, self.noise_std)
        half = -NormalDist().inv_cdf(tail) * spread if isfinite(spread) else inf
        centre = self.mean if self.centre is None else self.centre
        return centre - half, centre + half

    def normal_score(self, y: float) -> float:
        """How far out a label lies: 0 in the middle of what is expected, ±1.96 at an end of the 95% interval.

        Intervals of a label hold it from that level on.

        >>> prediction = Prediction(mean=0.0, std=3.0, noise_std=4.0)
        >>> round(prediction.normal_score(prediction.interval(0.95, of="label")[0]), 2)
        -1.96
        """
        if self.probability is not None:
            return _score_of_answer(self.probability, y)
        if self.label_quantiles is not None:
            return _score_between(self.label_quantiles, y)
        centre = self.mean if self.centre is None else self.centre
        return (y - centre) / sqrt(self.std * self.std + self.noise_std * self.noise_std)


def _share_between(mean: float, std: float, tail: float) -> tuple[float, float]:
    """Between which a share of yeses lies but for a `tail` on either side: a Beta of this mean and std."""
    from scipy.special import betaincinv  # slow to import

    strength = mean * (1.0 - mean) / max(std * std, LEAST_VARIANCE) - 1.0
    yes, no = (max(strength * part, LEAST_COUNT) for part in (mean, 1.0 - mean))
    return float(betaincinv(yes, no, tail)), float(betaincinv(yes, no, 1.0 - tail))


def _between(quantiles: tuple[float, ...], level: float) -> float:
    """The quantile at this level, from those at QUANTILE_LEVELS: straight lines over normal scores."""
    from statistics import NormalDist

    score = NormalDist().inv_cdf
    right = min(max(bisect_right(QUANTILE_LEVELS, level), 1), len(QUANTILE_LEVELS) - 1)
    low, high = score(QUANTILE_LEVELS[right - 1]), score(QUANTILE_LEVELS[right])
    share = (score(level) - low) / (high - low)
    return quantiles[right - 1] + share * (quantiles[right] - quantiles[right - 1])


@cache
def _carried_scores() -> tuple[float, ...]:
    from statistics import NormalDist

    return tuple(map(NormalDist().inv_cdf, QUANTILE_LEVELS))


def _score_between(quantiles: tuple[float, ...], y: float) -> float:
    """The normal score whose quantile is y, by the same straight lines; of several the one nearest to 0."""
    middle = len(quantiles) // 2
    if y < quantiles[middle]:
        return -_score_between(tuple(-one for one in reversed(quantiles)), -y)
    right = min(bisect_left(quantiles, y, lo=middle), len(quantiles) - 1)
    if right == middle:
        return 0.0
    low, high = _carried_scores()[right - 1 : right + 1]
    width = quantiles[right] - quantiles[right - 1]
    return low + (y - quantiles[right - 1]) / width * (high - low) if width > 0.0 else inf


def _score_of_answer(probability: float, y: float) -> float:
    """The normal score of a yes or no, which intervals hold as a whole or not at all."""
    from statistics import NormalDist

    other = 1.0 - probability if y > 0.5 else probability
    if other <= 0.5:
        return 0.0
    score = NormalDist().inv_cdf(other) if other < 1.0 else inf
    return score if y > 0.5 else -score


def normal_answer(mean: float, std: float, noise_std: float, shift: float) -> Prediction:
    """The answer that lies `shift` standard deviations of a label above the mean of a normal belief.

    >>> normal_answer(2.0, 3.0, 4.0, shift=1.0).mean, normal_answer(2.0, 3.0, 4.0, shift=1.0).centre
    (7.0, 2.0)
    """
    if not shift or std == inf:
        return Prediction(mean, std, noise_std)
    return Prediction(mean + shift * hypot(std, noise_std), std, noise_std, centre=mean)


class Offer(Struct, frozen=True, gc=False):
    """What one labeller offers: the price in units of error, the noise, and the cost in money."""

    price: float
    noise_std: float
    labeller: str | None = None
    cost: float = nan

    @property
    def per_information(self) -> float:
        """The price of as much information as one label of noise 1 gives."""
        return self.price * self.noise_std**2


class Decision(Struct, frozen=True, gc=False):
    """Whether one arrival's label is worth its cost, and what we predict either way.

    `uncertainty` is what the rule compared with `threshold`: unlike `prediction.std` it already counts labels
    that are awaited. `cost` is what the label costs, paid only if it was wanted, and `propensity` the
    probability with which it was asked for. `exact` says that nothing was approximated; else the exact
    uncertainty lies within a factor of `stretch` of ours, and `ambiguous` says that it may lie on the other
    side of the threshold. `labeller` is whom to ask and `offers` are all that could be asked, where there is
    a choice. `worth` is what the label would save, in money, where the rule says so. The decision was made
    `by` the rule, the warm-up or a person, in this `round`. `doubt` says in words how the belief stands,
    where it is checked and labels speak against it. `worth_now` is the part of the worth that is saved at
    this arrival itself, and `scarcity` the factor by which a budget made the label count as dearer.
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
    by: By = "rule"
    round: int = 0
    offers: tuple[Offer, ...] = ()
    doubt: str | None = None
    worth_now: float | None = None
    scarcity: float = 1.0

    @property
    def why(self) -> str:
        """The reason in one sentence; while labels speak against the belief, it says so.

        >>> p = Prediction(mean=151.6, std=20.0, noise_std=50.0)
        >>> Decision("7", True, p, 31.2, 28.4, 10.0, 1.0, "first_of_type").why
        'Label it: nothing of this type has been labelled yet.'
        """
        sentence = self._sentence
        if self.doubt is None:
            return sentence
        return f"{sentence.removesuffix('.')}; the belief is {self.doubt}."

    def __str__(self) -> str:
        """The id, and the reason in one sentence."""
        return f"{self.id}: {self.why}"

    def _repr_html_(self) -> str:
        from breakeven.values.showing import facts_table  # which knows charts, and they know nothing of this

        answer = self.prediction
        facts = [
            ("answer", "label it" if self.wants_label else "no label"),
            ("prediction", words(answer.mean) + (f" ± {words(answer.std)}" if isfinite(answer.std) else "")),
            ("cost of a label", f"{self.cost:,.10g}"),
            *([] if self.worth is None else [("worth of a label", words(self.worth))]),
            ("why", self.why),
        ]
        return facts_table(f"case {self.id}", facts)

    @property
    def _sentence(self) -> str:
        pattern, numbers = _pattern(self.reason, self.cost)
        if numbers is None:
            return self._written_out
        try:
            sentence = pattern % numbers(self)
        except TypeError:  # a worth that is not known
            return self._written_out
        return self._written_out if "e+" in sentence else sentence  # which `words` may write out

    @property
    def _written_out(self) -> str:
        """The sentence of any reason, whatever is to be filled in."""
        sentence = WORDING.get(self.reason, self.reason)
        if "{" not in sentence and "}" not in sentence:
            return sentence
        try:
            return sentence.format(
                mean=words(self.prediction.mean),
                uncertainty=words(self.uncertainty),
                threshold=words(self.threshold),
                cost=f"{self.cost:,.10g}",
                chance=f"{100 * self.propensity:.3g}%",
                worth="an unknown amount" if self.worth is None else words(self.worth),
                labeller=self.labeller,
            )
        except (LookupError, ValueError, AttributeError, TypeError):  # braces in a sentence of the user's own
            return sentence


@lru_cache(maxsize=1024)
def _pattern(reason: str, cost: float) -> tuple[str, Callable[[Decision], Any] | None]:
    """The sentence of a reason of ours, ready for its numbers, and what takes those from a decision.

    Nearly every decision has the reason and the cost of many others, and its sentence is asked for. Where
    anything else is to be filled in, there is nothing that takes it.
    """
    sentence = WORDING.get(reason, "").replace("{cost}", f"{cost:,.10g}").replace("%", "%%")
    fields = FILLED_IN.findall(sentence)
    pattern = FILLED_IN.sub("%.3g", sentence)
    if not fields or not cost or "{" in pattern:  # a cost of -0 is written otherwise than one of 0
        return reason, None
    return pattern, attrgetter(*(NUMBERS_OF[field] for field in fields))


def words(number: float) -> str:
    """Three digits, written out as long as that is readable."""
    short = f"{number:.3g}"
    if "e+" not in short:
        return short
    return f"{float(short):,.0f}" if 1e3 <= abs(float(short)) < 1e9 else short
