"""Algorithm 1's belief: one mean for each type, and a confidence radius around it.

What it is not given (noise, mean and scale of labels) it finds in the first labels, once, as fitted
parameters. Everything is in the unit of the labels.

Notation: N labels in all and N_k of type k, awaited ones included; M_k arrivals of type k.
"""

from collections.abc import Callable, Iterable, Sequence
from math import erfc, hypot, inf, sqrt
from typing import Any, ClassVar, Literal, Self

import numpy as np

from breakeven import theory
from breakeven.beliefs.belief import ENOUGH_TO_FIT
from breakeven.beliefs.types.across_types import (
    AcrossTypes,
    PriorStd,
    checked_prior,
    fit_across,
    learning_job,
    noise_between,
    search,
    search_job,
)
from breakeven.beliefs.types.history import History, Sum, Told, running_evidence
from breakeven.beliefs.types.tallies import (
    Census,
    Settled,
    Tally,
    TypeLabels,
    TypesElsewhere,
)
from breakeven.beliefs.types.type_belief import TypeBelief
from breakeven.beliefs.types.type_savings import saving
from breakeven.beliefs.types.weighing import TypePrior
from breakeven.errors import expect
from breakeven.errors.expect import Array
from breakeven.values import EVEN, Prediction, Saving, Traits, Unwritten, View, checked_level, normal_answer
from breakeven.values.error_costs import standard_quantile

FromLabels = Literal["fit"]


class TypeView(View):
    """A rule's view of one arrival, with the tally behind it, if there is one, and the belief."""

    tally: Tally | None = None
    belief: Any = None

    def saves(self, noise_std: float) -> Saving:
        """What a label of this noise would take off the errors, here and at arrivals to come."""
        saving: Saving = self.belief.saving(self.tally, noise_std)
        return saving


class TypeMeans(TypeBelief):
    """Sample means over types that need not be known in advance.

    A type is a str, an int, bytes or a tuple of these. Before its first label a type is predicted as
    `prior_mean`, with std ∞. `delta` is the probability that a confidence radius fails.

    With a `prior_std` the types' means are believed to be normal around `prior_mean`; "learn" learns both, as
    soon as three types have labels. With `forgetting` a label counts half as much after that many rounds.

    Without a `noise_std` the noise is measured when the warm-up is over, from labels told of the same type;
    until then labels do not narrow the std. At the same moment `prior_mean="fit"` takes the mean of the
    labels told, and `label_scale="fit"` their standard deviation: the paper's λ then counts in units of that
    scale. `level` is which quantile of the label is answered: ½, the median, unless answers too low and too
    high cost differently.

    >>> belief = TypeMeans(noise_std=0.1)
    >>> belief.learn("flu", 3.0).mean
    3.0
    >>> belief.predict("cold").std
    inf
    >>> TypeMeans(noise_std=1.0, prior_std=1.0).learn("flu", 3.0).mean
    1.5
    """

    counted: ClassVar[Literal["all", "type"]] = "all"
    """Whose labels the logarithm of the confidence radius counts: those of all types, or of its own."""

    def __init__(
        self,
        noise_std: float | None = None,
        delta: float = 0.05,
        prior_mean: float | FromLabels = 0.0,
        prior_std: PriorStd = None,
        forgetting: float | None = None,
        label_scale: float | FromLabels = 1.0,
        level: float = EVEN,
    ) -> None:
        self.level = checked_level(level)
        given = None if noise_std is None else expect.positive("noise_std", noise_std)
        self.delta = expect.probability("delta", delta, open=True)
        mean, scale = _checked_mean(prior_mean), _checked_scale(label_scale)
        self.prior_std = _checked_prior_std(prior_std)
        self.forgetting = None if forgetting is None else expect.positive("forgetting", forgetting)
        self._given = {"noise_std": given, "prior_mean": mean, "label_scale": scale}
        self._given_mean = None if isinstance(mean, str) else mean
        self._wanted = [name for name, value in self._given.items() if value in (None, "fit")]
        self._found: dict[str, Any] | None = None
        self._claimed_noise = given or 1.0  # before claims became wider
        self.noise_std = self._claimed_noise  # in use, as are the next two
        self.prior_mean = self._given_mean or 0.0
        self.label_scale = 1.0 if isinstance(scale, str) else scale
        learns = self.prior_std == "learn"
        self._labels = TypeLabels(given, self.forgetting, counted=learns, early=bool(self._wanted))
        self.across = AcrossTypes(
            self._labels,
            self.noise_std,
            self.prior_mean,
            self.prior_std,
            half_life=self.forgetting,
            shift=standard_quantile(self.level),
        )
        self._tallies = self._labels.tallies
        self._history = History()
        self._spread = 0.0  # 2σ² log(2N³/δ)
        self._set_traits()

    def _set_traits(self) -> None:
        self._searching = bool(self._wanted) and self._found is None
        self.traits = Traits(
            self.noise_std,
            theory.DISCRETE_EXPONENT,
            unit=self.label_scale,
            prior_std=inf,
            label_scale=self.label_scale,
            noise_known=not (self._searching and "noise_std" in self._wanted),
        )

    @property
    def unlabelled(self) -> Prediction:
        """The prediction for a type without labels."""
        return self.across.unlabelled

    def aim(self, level: float) -> None:
        """Answer this quantile of the label from now on."""
        self.level = checked_level(level)
        self.across.aim(standard_quantile(self.level))

    # -- asking ----------------------------------------------------------------------------------

    def look(self, point: Any) -> View:
        """The confidence radius of this type and its mean."""
        tally = self._tallies.get(point)
        if tally is None:
            return TypeView(inf, self.across.unlabelled, 1, 0, self.traits, belief=self)
        asked = tally.asked
        if tally.weighed is None and not self._searching:
            prediction = tally.prediction
            radius = sqrt(self._spread / asked) if asked else inf  # theory.radius, its spread kept
        else:
            radius, prediction = self._radius(tally), self._posterior(tally)
        arrivals = tally.arrivals + 1
        return TypeView(radius, prediction, arrivals, asked, self.traits, tally=tally, belief=self)

    def predict(self, point: Any) -> Prediction:
        """The mean of this type, given the labels told: under a flat prior that of the labels, std σ/√n."""
        tally = self._tallies.get(point)
        if tally is None:
            return self.across.unlabelled
        if tally.weighed is None and not self._searching:
            return tally.prediction
        return self._posterior(tally)

    def _posterior(self, tally: Tally) -> Prediction:
        """The prediction for this type as of now; until the noise is measured, labels narrow nothing."""
        found = self._labels.posterior(tally, self.across.prior)
        if self.traits.noise_known:
            return found
        mean = found.mean if found.centre is None else found.centre
        return normal_answer(mean, self.across.prior.std, self.noise_std, self.across.prior.shift)

    def _radius(self, tally: Tally) -> float:
        """The confidence radius where labels do not count alike."""
        weight, labels = self._labels.asked_of(tally), max(self._labels.recent, 1.0)
        spread = theory.confidence_spread(self.noise_std, labels, self.delta)
        return sqrt(spread / weight) if weight else inf

    # -- what a label saves ----------------------------------------------------------------------

    def saving(self, tally: Tally | None, noise_std: float) -> Saving:
        """What a label of this noise would take off the expected error, for one more of this type."""
        tally = tally or Tally(self.across.unlabelled)
        return saving(self._labels, self.across, tally, noise_std, self.level)

    def _predict_anew(self, tally: Tally) -> Prediction:
        """The labels told of this type have changed."""
        self.across.note_change()
        if self._searching:
            self._lean_on_labels()
            return self._posterior(tally)
        if self.across.unknown:
            self.across.guess()
        else:
            tally.prediction = self._labels.posterior(tally, self.across.prior)
        return tally.prediction

    def _lean_on_labels(self) -> None:
        """Before the mean is fitted, a type without labels is predicted as the mean of all labels told."""
        if "prior_mean" in self._wanted or self.across.learns:
            mean = self._labels.early_mean
            self.prior_mean = (self._given_mean or 0.0) if mean is None else mean
            self.across.lean_on(self.prior_mean)

    # -- tests of its claims ---------------------------------------------------------------------

    def rank(
        self, point: Any, y: float, noise_std: float | None = None, age: int = 0
    ) -> tuple[float, float] | None:
        """The normal probability of a label below y; nothing is claimed of a type that has no spread yet."""
        prediction = self.predict(point)
        if not self.traits.noise_known or prediction.std == inf:
            return None
        noise = self.noise_std if noise_std is None else self._widened * noise_std
        mean = prediction.mean if prediction.centre is None else prediction.centre
        return 0.5 * erfc((mean - y) / (sqrt(2.0) * hypot(prediction.std, noise))), 0.0

    def _evidence(self, told: list[Told], older: dict[Any, Sum]) -> Array:
        """Labels are normal around their type's mean; where its prior is flat, it is as wide as labels."""
        prior = self.across.prior
        if prior.std == inf:
            y = np.array([one for _, one in (self._history.labels or {}).values()])
            prior = TypePrior(prior.noise_std, float(y.mean()), max(float(y.std()), prior.noise_std))
        return running_evidence(told, prior, older)

    def _relearn(self) -> None:
        self.across.unlearn()

    def _widen_to(self, widened: float) -> None:
        """Claims are this many times as wide as without any alarm."""
        if widened != self._widened:
            self.across.widen(widened * self._claimed_noise, widened / self._widened, widened)
            self._widened, self.noise_std = widened, widened * self._claimed_noise
            self._set_traits()
            self._note_spread()

    # -- types in arrays -------------------------------------------------------------------------

    @property
    def even(self) -> bool:
        """Whether all labels count alike, for ever, and nothing is still to be found in them."""
        return not self._searching and self._labels.even

    def tallies(self, types: Sequence[Any]) -> list[Tally] | None:
        """What is known here of each of these types, none of which lies elsewhere, to be read.

        None if nothing is known here of any type.
        """
        self._labels.predict_written(self.across.prior)
        unknown, written = Tally(self.across.unlabelled), self._labels.written
        return [written.get(point, unknown) for point in types] if written else None

    def settle(self, rows: Iterable[Settled]) -> None:
        """Take up where a stream ended: type, M_k, N_k, labels told, parts of their sum; new ones last."""
        for tally in self._labels.settle(rows, self.across.unlabelled):
            tally.prediction = self._labels.posterior(tally, self.across.prior)
        self._note_spread()

    def lend(self, types: TypesElsewhere, asked: int, told: int, census: Census | None) -> None:
        """These types lie elsewhere from now on, with so many labels asked for and told, of all types.

        They are written out here as soon as anybody asks for a tally.
        """
        labels, more = self._labels, told > self._labels.told
        if labels.elsewhere is None:
            labels.tallies = self._tallies = Unwritten(self.write_out)
        labels.elsewhere, labels.asked, labels.told = types, asked, told
        if census is not None:
            labels.census = census
        self._note_spread()
        if more and self.across.unknown:
            self.across.guess()

    @property
    def keeps_count(self) -> bool:
        """Whether counts over all types are kept."""
        return self._labels.census is not None

    def write_out(self) -> dict[Any, Tally]:
        """Take back what was lent: all tallies."""
        self._tallies = tallies = self._labels.write_out(self.across.prior)
        return tallies

    def lent(self, types: TypesElsewhere) -> bool:
        """Whether what is known of types still lies there."""
        return self._labels.elsewhere is types

    # -- what is found in the labels -------------------------------------------------------------

    @property
    def needs_warmup(self) -> bool:
        """Whether the noise is still to be measured, from the labels of a warm-up."""
        return not self.traits.noise_known

    @property
    def fit_schedule(self) -> Literal["after_warmup", "growing"] | None:
        """When something is fitted: after the warm-up, when types with labels grew by a fifth, or never."""
        if self._wanted:
            return "after_warmup"
        return "growing" if self.prior_std == "learn" else None

    def fit_due(self, *, warm: bool) -> bool:
        """Whether the first labels are told; later, whether a prior is to be learnt anew."""
        if self._searching:
            return warm and self._labels.told >= ENOUGH_TO_FIT
        return self.across.due()

    def fit_job(self) -> dict[str, Any]:
        """The first labels, or means and weights by type: all that `fit` needs."""
        learns = self.across.learns and self._labels.count().told >= ENOUGH_TO_FIT
        if self._searching:
            learning = learning_job(self._labels, self.across) if learns else None
            return {"search": search_job(self._labels, self._wanted, self.noise_std), "learning": learning}
        return {"search": None, "learning": self.across.job() if learns else None}

    @classmethod
    def fit(cls, job: dict[str, Any], random: "np.random.Generator") -> dict[str, Any]:
        """What was searched for, then the mean of the types' means and the upper end of their spread."""
        found = {} if job["search"] is None else search(job["search"])
        if job["learning"] is None:
            return found
        noise_std = found.get("noise_std") or (job["search"] or job["learning"])["noise_std"]
        return found | fit_across(job["learning"] | {"noise_std": noise_std})

    def adopt(self, parameters: dict[str, Any], labels: int | None = None) -> None:
        """Go on with these parameters; what was searched for is fixed from now on."""
        found = self._checked_found(parameters) if self._searching else None
        learnt = self.across.learns and (found is None or "prior_std" in parameters)
        if learnt:
            checked_prior(parameters)
        if found is not None:
            self._take(found)
        if learnt:
            self.across.adopt(parameters)

    def _checked_found(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """What was searched for, and how the noise was measured."""
        checks = {"noise_std": expect.positive, "prior_mean": expect.finite, "label_scale": expect.positive}
        found = {name: checks[name](name, parameters.get(name)) for name in self._wanted}
        how: dict[str, Callable[[str, Any], Any]] = {"noise_from": expect.text, "repeats": expect.whole}
        return found | {name: how[name](name, parameters[name]) for name in how if name in parameters}

    def _take(self, found: dict[str, Any]) -> None:
        """Noise, mean and scale are these from now on; every type is predicted anew."""
        self._found = found
        self._claimed_noise = found.get("noise_std", self._claimed_noise)
        self.noise_std = self._widened * self._claimed_noise
        self.label_scale = found.get("label_scale", self.label_scale)
        self.prior_mean = found["prior_mean"] if self._given_mean is None else self._given_mean
        self._set_traits()
        self._labels.measured(self.noise_std)
        self.across.rebase(self.noise_std, self.prior_mean)
        self._note_spread()

    # -- keeping ---------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """How many types were seen, what was found in their labels, and what was learnt across them."""
        given = {name: value for name, value in self.config().items() if value is not None}
        given |= self._found or {}
        if (between := noise_between(given)) is not None:
            given["noise_between"] = between
        if self.across.fitted_at:
            given |= {"prior_mean": self.across.prior.mean, "prior_std": self.across.prior.std}
        return {**given, "types": len(self._tallies)}

    @classmethod
    def of(cls, config: dict[str, Any]) -> Self:
        """A new belief from what `config` gave."""
        return cls(**config)

    def config(self) -> dict[str, Any]:
        """The arguments it was made with."""
        return {
            "noise_std": self._given["noise_std"],
            "delta": self.delta,
            "prior_mean": self._given["prior_mean"],
            "prior_std": self.prior_std,
            "forgetting": self.forgetting,
            "label_scale": self._given["label_scale"],
            **({} if self.level == EVEN else {"level": self.level}),
        }

    def state(self) -> dict[str, Any]:
        """The labels by type, what was found in them, and what was learnt across types."""
        return {
            **self._labels.state(),
            "found": self._found,
            "learnt": self.across.state(),
            "history": self._history.state(),
            "widened": self._widened,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` gave."""
        self._labels.load(state, self.across.unlabelled)
        self._tallies = self._labels.tallies
        if state["found"] is not None:
            self._take(self._checked_found(state["found"]))
        self._widen_to(expect.positive("widened", state.get("widened", 1.0)))
        self._history.load(state.get("history"), self._tallies, self._widened)
        self.across.load(state["learnt"])
        if self._searching:
            self._lean_on_labels()
        self._note_spread()


def _checked_prior_std(value: Any) -> PriorStd:
    """A spread of the types' means, or how to come by one."""
    if not isinstance(value, str | None):
        return expect.positive("prior_std", value)
    if value in (None, "learn"):
        return "learn" if value else None
    expect.refuse("prior_std", 'a positive, finite number, None or "learn"', value)


def _checked_mean(value: Any) -> float | FromLabels:
    """What a type without labels is predicted as, or how to come by it."""
    return "fit" if isinstance(value, str) and value == "fit" else expect.finite("prior_mean", value)


def _checked_scale(value: Any) -> float | FromLabels:
    """The scale of labels in which the paper's λ counts, or how to come by it."""
    return "fit" if isinstance(value, str) and value == "fit" else expect.positive("label_scale", value)
