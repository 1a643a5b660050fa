"""Yes/no labels of types: how often each type says yes, and what types have in common.

A type's share of yeses has a Beta prior, worth `strength` labels of which the part `mean` says yes. Without
being told otherwise it is Jeffreys' Beta(½, ½), under which no share is ever certain, however many labels
were equal; "learn" finds mean and strength in the labels of all types, as soon as three types have some.
"""

from math import inf, sqrt
from typing import Any, Literal, Self

import numpy as np
from msgspec import Struct

from breakeven import theory
from breakeven.beliefs.belief import ENOUGH_TO_FIT, REFIT_GROWTH
from breakeven.beliefs.types.across_types import packed, unpacked
from breakeven.beliefs.types.history import History, Sum, Told, running_share_evidence
from breakeven.beliefs.types.share_savings import Stakes
from breakeven.beliefs.types.tallies import Tally, TypeLabels
from breakeven.beliefs.types.type_belief import TypeBelief
from breakeven.beliefs.types.type_savings import arrival_rate, familiarity
from breakeven.beliefs.types.weighing import noise_weight
from breakeven.errors import expect
from breakeven.errors.expect import Array
from breakeven.values import EVEN, Prediction, Saving, Traits, View, checked_level

LABEL_STD = 0.5  # the most that the standard deviation of a yes/no label can be
JEFFREYS = 0.5  # the yeses, and the noes, that Beta(½, ½) is worth
MEANS_TRIED = 41  # evenly in log odds, to one in a thousand
STRENGTHS_TRIED = 25
WEAKEST, STRONGEST = 1.0, 1e4
LOWER_END = 0.1  # of what is plausible, the strength is taken: types differ as much as labels allow

PriorStrength = float | Literal["learn"]


class SharePrior(Struct, frozen=True):
    """A Beta prior of the types' shares, and the level at which it is answered.

    >>> SharePrior().posterior(share=0.25, weight=4.0).probability
    0.3
    """

    mean: float = 0.5
    strength: float = 1.0
    level: float = EVEN

    @property
    def prediction(self) -> Prediction:
        """The prediction without labels."""
        return self.posterior(0.0, 0.0)

    def known(self, share: float, weight: float) -> tuple[float, float]:
        """As how many yeses and noes all of it counts, with labels of this weight and this share of yeses."""
        yes = self.mean * self.strength + share * weight
        return yes, self.strength + weight - yes

    def posterior(self, share: float, weight: float) -> Prediction:
        """The answer of least expected cost: yes iff its probability exceeds 1 − level."""
        yes, no = self.known(share, weight)
        q, labels = yes / (yes + no), yes + no
        variance = q * (1.0 - q)
        answer = 1.0 if q > 1.0 - self.level else 0.0
        std, noise_std = sqrt(variance / (labels + 1.0)), sqrt(variance * labels / (labels + 1.0))
        return Prediction(answer, std, noise_std, probability=q, centre=q)


class ShareView(View):
    """A rule's view of one arrival, with the tally behind it, if there is one, and the belief."""

    tally: Tally | None = None
    belief: Any = None

    def saves(self, noise_std: float) -> Saving:
        """What a label would take off the cost of answers, here and at arrivals to come."""
        saving: Saving = self.belief.saving(self.tally, noise_std)
        return saving


class TypeShares(TypeBelief):
    """Yes/no labels, 1 and 0, of types that need not be known in advance.

    The answer is 1 or 0, whichever costs less on average, and comes with the `probability` of a yes. Before
    its first label a type is believed to say yes with the chance `prior_mean`, as firmly as `prior_strength`
    labels make it; "learn" learns both. `delta` is the probability that a confidence radius fails. With
    `forgetting` a label counts half as much after that many rounds. `level` is the share of a miss in what a
    miss and a false alarm cost together.

    >>> belief = TypeShares()
    >>> belief.learn("flu", 1.0).probability, belief.learn("flu", 1.0).mean
    (0.75, 1.0)
    >>> TypeShares(level=0.9).learn("flu", 0.0).mean  # a miss costs nine times a false alarm
    1.0
    """

    savings_rest_on_labels = True  # on what they said, so that a late label may change a decision

    def __init__(
        self,
        prior_mean: float = 0.5,
        prior_strength: PriorStrength = 1.0,
        delta: float = 0.05,
        forgetting: float | None = None,
        level: float = EVEN,
    ) -> None:
        self.prior_mean = expect.probability("prior_mean", prior_mean, open=True)
        self.prior_strength = _checked_strength(prior_strength)
        self.delta = expect.probability("delta", delta, open=True)
        self.forgetting = None if forgetting is None else expect.positive("forgetting", forgetting)
        self.level = checked_level(level)
        self.noise_std = LABEL_STD
        self.learns = self.prior_strength == "learn"
        self._labels = TypeLabels(LABEL_STD, self.forgetting, counted=True, early=False)
        self._tallies = self._labels.tallies
        self._history = History()
        self._spread = 0.0
        self._fitted_at = 0  # types that had labels told
        self.traits = Traits(LABEL_STD, theory.DISCRETE_EXPONENT, unit=1.0, prior_std=inf)
        self._believe(self.prior_mean, 1.0 if self.learns else self.prior_strength)

    def _believe(self, mean: float, strength: Any) -> None:
        """Go on with this prior, and predict every type anew."""
        self.prior = SharePrior(mean, strength, self.level)
        self._unlabelled = self.prior.prediction
        for tally in self._tallies.values():
            tally.prediction = self._posterior(tally)

    @property
    def unlabelled(self) -> Prediction:
        """The prediction for a type without labels."""
        return self._unlabelled

    def aim(self, level: float) -> None:
        """Answer at this level from now on."""
        self.level = checked_level(level)
        self._believe(self.prior.mean, self.prior.strength)

    def label(self, name: str, y: Any) -> float:
        """Check a label: 1 for yes, 0 for no."""
        return expect.yes_no_label(name, y)

    # -- asking ----------------------------------------------------------------------------------

    def look(self, point: Any) -> View:
        """The confidence radius of this type, awaited labels counted, and the prediction."""
        tally = self._tallies.get(point)
        if tally is None:
            view = ShareView(inf, self._unlabelled, 1, 0, self.traits)
        else:
            weight, labels = self._labels.asked_of(tally), max(self._labels.recent, 1.0)
            spread = theory.confidence_spread(LABEL_STD, labels, self.delta)
            radius = sqrt(spread / weight) if weight else inf
            view = ShareView(radius, self.predict(point), tally.arrivals + 1, tally.asked, self.traits)
        view.tally, view.belief, view.planned = tally, self, True
        return view

    def predict(self, point: Any) -> Prediction:
        """The answer for this type, and its probability, given the labels told."""
        tally = self._tallies.get(point)
        if tally is None:
            return self._unlabelled
        return tally.prediction if tally.weighed is None else self._posterior(tally)

    def _posterior(self, tally: Tally) -> Prediction:
        return self.prior.posterior(*self._labels.told_of(tally))

    def _predict_anew(self, tally: Tally) -> Prediction:
        tally.prediction = self._posterior(tally)
        return tally.prediction

    # -- what a label saves ----------------------------------------------------------------------

    def _noise(self, noise_std: float | None) -> float | None:
        """A label of less noise than any yes/no label may have is one label, and no more."""
        return None if noise_std is None or noise_std <= LABEL_STD else noise_std

    def saving(self, tally: Tally | None, noise_std: float = LABEL_STD) -> Saving:
        """What a label of this noise takes off the expected cost of answers, for one more of this type."""
        tally, labels = tally or Tally(self._unlabelled), self._labels
        census = labels.count()
        share, weight = labels.told_of(tally)
        yes, no = self.prior.known(share, weight)
        miss, alarm = 2.0 * self.level, 2.0 * (1.0 - self.level)
        here = min(miss * yes, alarm * no) / (yes + no)
        rounds, types = census.arrivals + 1, census.types + (tally.arrivals == 0)
        rate, pool, others = arrival_rate(tally.arrivals + 1, rounds, types), (0.5, 0.5), 0.0
        if self.learns and not tally.asked:
            u = familiarity(types / rounds)
            elsewhere = census.overlooked - tally.arrivals
            others = (elsewhere / rounds * u + 1.0) / (1.0 + u)  # of types without labels, or new
            pool = self._pool(census.asked)
        ahead = max(round(labels.asked_of(tally) - weight), 0)
        return Stakes(
            here, 0.0, 0.0, labels.half_life, here, None,
            yes, no, ahead, rate, *pool, others, miss, alarm, min(noise_weight(LABEL_STD, noise_std), 1.0),
        )  # fmt: skip

    def _pool(self, types: int) -> tuple[float, float]:
        """What is known of types at large, as yeses and noes: each type with labels says as much as one."""
        return self.prior.mean * types + JEFFREYS, (1.0 - self.prior.mean) * types + JEFFREYS

    # -- tests of its claims ---------------------------------------------------------------------

    def rank(
        self, point: Any, y: float, noise_std: float | None = None, age: int = 0
    ) -> tuple[float, float] | None:
        """A no lies below every yes."""
        probability = self.predict(point).probability
        assert probability is not None
        return (1.0 - probability, probability) if y else (0.0, 1.0 - probability)

    def _evidence(self, told: list[Told], older: dict[Any, Sum]) -> Array:
        yes, no = self.prior.known(0.0, 0.0)
        return running_share_evidence(told, yes, no, older)

    def _relearn(self) -> None:
        self._fitted_at = 0
        self._believe(self.prior_mean, 1.0 if self.learns else self.prior_strength)

    def _widen_to(self, widened: float) -> None:
        """A share has no width of its own: what was learnt across types is learnt anew instead."""
        if widened != self._widened:
            self._widened = widened
            self._relearn()

    # -- the prior ---------------------------------------------------------------------------------

    @property
    def needs_warmup(self) -> bool:
        """Whether nothing could be learnt without a warm-up."""
        return False

    @property
    def fit_schedule(self) -> Literal["growing"] | None:
        """When something is fitted: when types with labels grew by a fifth, or never."""
        return "growing" if self.learns else None

    def fit_due(self, *, warm: bool) -> bool:
        """Whether enough types have labels told, for the first time or again."""
        told = self._labels.count().told
        return self.learns and told >= max(ENOUGH_TO_FIT, REFIT_GROWTH * self._fitted_at)

    def fit_job(self) -> dict[str, Any]:
        """The share of yeses and the weight of labels of each type that has some."""
        known = [*self._labels.known().values()]
        shares, weights = zip(*known, strict=True) if known else ((), ())
        return {"shares": packed(shares), "weights": packed(weights), "types": len(known)}

    @classmethod
    def fit(cls, job: dict[str, Any], random: "np.random.Generator") -> dict[str, Any]:
        """Mean and strength of the prior, averaged over what the labels leave open."""
        mean, strength = learnt_prior(unpacked(job["shares"]), unpacked(job["weights"]))
        return {"prior_mean": mean, "prior_strength": strength, "types": job["types"]}

    def adopt(self, parameters: dict[str, Any], labels: int | None = None) -> None:
        """Go on with what a fit found."""
        mean = expect.probability("prior_mean", parameters.get("prior_mean"), open=True)
        strength = expect.positive("prior_strength", parameters.get("prior_strength"))
        self._fitted_at = expect.whole("types", parameters.get("types", self._labels.count().told))
        self._believe(mean, strength)

    # -- keeping ---------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """What is believed of all types, and how many were seen."""
        given = {name: value for name, value in self.config().items() if value is not None}
        if self._fitted_at:
            given |= {"prior_mean": self.prior.mean, "prior_strength": self.prior.strength}
        return {**given, "types": len(self._tallies)}

    @classmethod
    def of(cls, config: dict[str, Any]) -> Self:
        """A new belief from what `config` gave."""
        return cls(**config)

    def config(self) -> dict[str, Any]:
        """The arguments it was made with."""
        return {
            "prior_mean": self.prior_mean,
            "prior_strength": self.prior_strength,
            "delta": self.delta,
            "forgetting": self.forgetting,
            **({} if self.level == EVEN else {"level": self.level}),
        }

    def state(self) -> dict[str, Any]:
        """The labels by type, and what was learnt across types."""
        learnt = [self.prior.mean, self.prior.strength, self._fitted_at] if self._fitted_at else None
        kept = {"learnt": learnt, "history": self._history.state(), "widened": self._widened}
        return {**self._labels.state(), **kept}

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` gave."""
        self._labels.load(state, self._unlabelled)
        self._tallies = self._labels.tallies
        self._widened = expect.positive("widened", state.get("widened", 1.0))
        self._history.load(state.get("history"), self._tallies, self._widened)
        mean, strength, types = state["learnt"] or (self.prior.mean, self.prior.strength, 0)
        self._fitted_at = expect.whole("types", types)
        self._believe(expect.probability("prior_mean", mean), expect.positive("prior_strength", strength))
        self._note_spread()


def learnt_prior(shares: Array, weights: Array) -> tuple[float, float]:
    """Mean and strength of types' shares: the mean of what is plausible, and the lower end of the strength.

    Plausible is what makes the labels likely, with Jeffreys' prior of the mean and none of the strength. No
    prior counts as more than all labels together.

    >>> alike = learnt_prior(np.full(20, 0.25), np.full(20, 40.0))
    >>> apart = learnt_prior(np.array([0.0, 1.0] * 10), np.full(20, 40.0))
    >>> round(alike[0], 1), alike[1] > 40.0, apart[1] < 2.0
    (0.3, True, True)
    """
    order = np.lexsort((weights, shares))  # whatever order they come in, the bits are the same
    cases, counts = np.unique(np.array([shares, weights])[:, order], axis=1, return_counts=True)
    yes, total = cases[0] * cases[1], cases[1]
    odds = np.linspace(-7.0, 7.0, MEANS_TRIED)
    means = 1.0 / (1.0 + np.exp(-odds))
    strengths = np.geomspace(WEAKEST, STRONGEST, STRENGTHS_TRIED)
    height = _log_likelihood(yes, total - yes, counts.astype(float), means, strengths)
    height += 0.5 * np.log(means * (1.0 - means))[:, None]
    plausible = np.exp(height - height.max())
    plausible /= plausible.sum()
    mean = float((plausible.sum(axis=1) * means).sum())
    place = int(np.searchsorted(np.cumsum(plausible.sum(axis=0)), LOWER_END))
    most = max(float((total * counts).sum()), WEAKEST)
    return mean, min(float(strengths[place]), most)


def _log_likelihood(yes: Array, no: Array, counts: Array, means: Array, strengths: Array) -> Array:
    """Of the labels of all types, at each mean (rows) and each strength (columns)."""
    from scipy.special import betaln  # slow to import

    heights = np.empty((len(means), len(strengths)))
    for j, strength in enumerate(strengths):
        a, b = (means * strength)[:, None], ((1.0 - means) * strength)[:, None]
        heights[:, j] = (betaln(a + yes, b + no) - betaln(a, b)) @ counts
    return heights


def _checked_strength(value: Any) -> PriorStrength:
    if isinstance(value, str):
        if value != "learn":
            expect.refuse("prior_strength", 'a positive, finite number, or "learn"', value)
        return "learn"
    return expect.positive("prior_strength", value)
