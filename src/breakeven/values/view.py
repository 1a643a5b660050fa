"""What a rule may know of one arrival, and what it answers.

A belief fills in the view, the learner adds the round and the price. A rule sees nothing else. A cost is
money; a price is a cost divided by what a unit of error costs, so it is in units of error.
"""

from collections.abc import Callable, Iterable
from math import exp, expm1, inf, log, nan

from msgspec import Struct
from msgspec.structs import force_setattr

from breakeven.errors import expect
from breakeven.values.decision import Offer, Prediction
from breakeven.values.error_costs import EVEN


class Traits(Struct, frozen=True):
    """What holds for every point of a belief, until it is fitted again.

    `exponent`, `unit` and `label_scale` shape the paper's threshold: unit · (price / label_scale / clock) **
    exponent. `label_scale` is 1 where the paper's λ counts in the user's units, else the scale found in the
    labels. `prior_std` is the uncertainty before any label, and `dim` is None where points are types. While
    `noise_known` is False, `noise_std` is only a guess.
    """

    noise_std: float
    exponent: float
    unit: float
    prior_std: float
    dim: int | None = None
    label_scale: float = 1.0
    noise_known: bool = True


class Saving(Struct, frozen=True, gc=False):
    """What a label would take off the expected absolute error of predictions.

    `here` is at the arrival itself, `later` at an arrival still to come, on average over these, and `lesson`
    there too, by what the label teaches about the belief's own parameters. ∞ where nothing is known yet.
    `outright` is the expected distance of the prediction from the label itself: it is saved entirely where
    a labelled arrival is answered by its label. A belief that forgets says its `half_life` in rounds: savings
    fade as certainty does. `later_labels` is `later` where errors count against labels, so that their noise
    counts at arrivals to come, too; None where a belief does not tell the two apart.
    """

    here: float
    later: float
    lesson: float = 0.0
    half_life: float = inf
    outright: float = inf
    later_labels: float | None = None

    def now(self, *, labels: bool, price: float) -> float:
        """What it takes off the error of the arrival itself, against labels or against f."""
        return self.outright if labels else self.here

    def over(self, left: int, *, lessons: bool, labels: bool = False, price: float = inf) -> float:
        """What the label takes off the errors of all arrivals `left`, with what it teaches or without.

        With `labels` errors count against labels, else against f. Each of these arrivals may be labelled
        itself at this `price`; only some beliefs can make use of that.

        >>> Saving(1.0, 0.5, lesson=0.1).over(10, lessons=True)
        6.0
        >>> round(Saving(1.0, 0.5, half_life=10.0).over(100, lessons=False), 2)  # they fade by 4^(-age/10)
        3.36
        """
        later = self.later_labels if labels and self.later_labels is not None else self.later
        each = later + self.lesson if lessons else later
        if self.half_life == inf:
            return left * each
        fading = log(4.0) / self.half_life
        return exp(-fading) * expm1(-fading * left) / expm1(-fading) * each


GOLDEN_STEP = (5.0**0.5 - 1.0) / 2.0  # multiples of it, modulo 1, fill [0, 1) more evenly than any others
UNKNOWN = Saving(inf, inf)
"""What a label saves while nothing says how large errors are."""
COMING = Saving(0.0, 0.0, outright=0.0)
"""What one more label saves while the first labels, which say how large errors are, are awaited."""


NUMBERS_BESIDE_LABELLERS = "numbers beside labellers: their noise is that of a number"
"""What labels are expected to be where several labellers give them."""


class Labeller(Struct, frozen=True, gc=False):
    """Who gives labels: what each costs, and the standard deviation of its noise.

    >>> Labeller(cost=50, noise_std=0.5)
    Labeller(cost=50.0, noise_std=0.5)
    """

    cost: float
    noise_std: float

    def __post_init__(self) -> None:
        force_setattr(self, "cost", expect.positive("cost", self.cost))
        force_setattr(self, "noise_std", expect.positive("noise_std", self.noise_std))


def best_offer(offers: Iterable[Offer]) -> Offer:
    """Who gives most information for the money; ties go by name.

    >>> best_offer([Offer(2.0, 3.0, "nurse"), Offer(50.0, 0.5, "mri")]).labeller
    'mri'
    """
    return min(offers, key=lambda one: (one.per_information, one.labeller or ""))


class View(Struct, gc=False):
    """One arrival through the eyes of a rule.

    `arrivals` counts this type's arrivals including this one (None where there are no types), `labels`
    the labels it rests on, awaited ones included. `draw` gives the round's seeded uniform number. The exact
    uncertainty lies within a factor of `stretch`, both ways; 1 means that nothing is approximated. `price`,
    in units of error, is that of the offer with the most information for it; `offers` has all offers, where
    there are several. `cost` is the same in money, `spent` all that was spent before, and `awaited` counts
    labels not yet told. `suspicion` is how much labels lately lie further out than was claimed; 0 where
    it is not tested, or not yet. A label above the answer costs 2 · `level` for each unit that it is off, one
    below it 2 · (1 − `level`); both cost the same unless the user says otherwise. `planned` says that what a
    label saves later is its part of what several save together.
    """

    uncertainty: float
    prediction: Prediction
    arrivals: int | None
    labels: int
    traits: Traits
    round: int = 0
    price: float = nan
    draw: Callable[..., float] | None = None
    stretch: float = 1.0
    offers: tuple[Offer, ...] = ()
    cost: float = nan
    spent: float = 0.0
    awaited: int = 0
    suspicion: float = 0.0
    level: float = EVEN
    planned: bool = False

    def saves(self, noise_std: float) -> Saving:
        """What a label of this noise would take off the errors; a belief that can say so overrides this."""
        raise NotImplementedError

    def ambiguous(self, threshold: float) -> bool:
        """Whether the exact uncertainty may lie on the other side of a threshold."""
        return self.stretch > 1.0 and (
            self.uncertainty / self.stretch <= threshold <= self.uncertainty * self.stretch
        )

    def offer(self, labeller: str | None = None) -> Offer:
        """What this labeller offers; None means the one who is asked by default."""
        for offer in self.offers:
            if offer.labeller == labeller:
                return offer
        return Offer(self.price, self.traits.noise_std, None, self.cost)

    def uniform(self, series: int = 0) -> float:
        """The seeded random number in [0, 1) that belongs to this round in a series."""
        assert self.draw is not None  # the learner sets it for every rule that draws
        return self.draw(self.round, series) if series else self.draw(self.round)

    def evenly(self, series: int) -> float:
        """A number in [0, 1) that belongs to this round in a series, as likely to lie anywhere as another.

        It is the last round's plus the golden ratio, modulo 1, from a random one on. So of rounds in a row as
        many have one below p as the chance p says, at distances of about 1/p: none has to wait for luck.
        """
        assert self.draw is not None
        return (self.draw(0, series) + self.round * GOLDEN_STEP) % 1.0


class Verdict(Struct, frozen=True, gc=False):
    """A rule's answer: label or not, against which threshold, why, and with what probability.

    `reason` is a code of `breakeven.values.decision.WORDING` or a sentence of your own, in which {mean},
    {uncertainty}, {threshold}, {cost}, {chance}, {worth} and {labeller} are filled in. `propensity` is the
    chance of a label where that was drawn; left out, the answer was certain. `worth` is what the label would
    save, in units of error, and `labeller` whom to ask, where the rule has a say in it. `worth_now` is the
    part of the worth that is saved at this arrival itself, and `scarcity` the factor by which the rule took
    the price to be higher because money is short.

    >>> Verdict(True, reason="Label it: it costs only {cost}.").wants_label
    True
    """

    wants_label: bool
    threshold: float = nan
    reason: str = "own_rule"
    propensity: float | None = None
    worth: float | None = None
    labeller: str | None = None
    worth_now: float | None = None
    scarcity: float = 1.0
