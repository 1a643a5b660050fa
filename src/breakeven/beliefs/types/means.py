"""Algorithm 1's belief: one mean per type, and a confidence radius around it.

Notation: N labels in all and N_k of type k, awaited ones included; M_k arrivals of type k.
"""

from collections.abc import Iterable, Sequence
from math import inf, sqrt
from typing import Any, Literal, Self

import numpy as np

from breakeven import theory
from breakeven.beliefs.belief import Looks, OneByOne
from breakeven.beliefs.types.across import AcrossTypes, PriorStd
from breakeven.beliefs.types.labels import Settled, TypeLabels
from breakeven.beliefs.types.names import PLAIN, stored_type_name, type_name, type_names
from breakeven.beliefs.types.savings import saving
from breakeven.beliefs.types.tally import Census, Tally
from breakeven.beliefs.types.view import TypeView
from breakeven.errors import expect
from breakeven.values import Prediction, Saving, Traits, View


class TypeMeans:
    """Sample means over types that need not be known in advance.

    A type is a str, an int, bytes or a tuple of these. Before its first label a type is predicted as
    `prior_mean`, with std ∞. `delta` is the probability that a confidence radius fails.

    With a `prior_std` the types' means are believed to be normal around `prior_mean`; "learn" learns both, as
    soon as three types have labels. With `forgetting` a label counts half as much after so many rounds.

    >>> belief = TypeMeans(noise_std=0.1)
    >>> belief.learn("flu", 3.0).mean
    3.0
    >>> belief.predict("cold").std
    inf
    >>> TypeMeans(noise_std=1.0, prior_std=1.0).learn("flu", 3.0).mean
    1.5
    """

    def __init__(
        self,
        noise_std: float,
        delta: float = 0.05,
        prior_mean: float = 0.0,
        prior_std: PriorStd = None,
        forgetting: float | None = None,
    ) -> None:
        self.noise_std = expect.positive("noise_std", noise_std)
        self.delta = expect.probability("delta", delta, open=True)
        self.prior_mean = expect.finite("prior_mean", prior_mean)
        self.prior_std = _checked_prior_std(prior_std)
        self.forgetting = None if forgetting is None else expect.positive("forgetting", forgetting)
        self.traits = Traits(self.noise_std, theory.DISCRETE_EXPONENT, unit=1.0, prior_std=inf)
        self._labels = TypeLabels(self.noise_std, self.forgetting, counted=self.prior_std == "learn")
        self.across = AcrossTypes(
            self._labels, self.noise_std, self.prior_mean, self.prior_std, fades=self.forgetting is not None
        )
        self._tallies = self._labels.tallies
        self._spread = 0.0  # 2σ² log(2N³/δ)

    @property
    def labels(self) -> int:
        """Labels told or learnt, and not withdrawn."""
        return self._labels.told

    # -- points ----------------------------------------------------------------------------------

    def point(self, x: Any, name: str = "x") -> Any:
        """Check a type; one seen before needs no second look."""
        if type(x) in PLAIN and x in self._tallies:
            return x
        return type_name(x, name)

    def points(self, X: Any) -> Sequence[Any]:
        """Check a batch of types; a one-dimensional array counts as its elements."""
        return type_names(X, self._tallies)

    def plain(self, point: Any) -> Any:
        """A type is plain data already."""
        return point

    def recall(self, plain: Any) -> Any:
        """A type, read back from storage."""
        return type_name(stored_type_name(plain))

    def _tally(self, point: Any) -> Tally:
        tally = self._tallies.get(point)
        if tally is None:
            tally = self._tallies[point] = Tally(self.across.unlabelled)
        return tally

    # -- asking ----------------------------------------------------------------------------------

    def look(self, point: Any) -> View:
        """The confidence radius of this type and its mean."""
        tally = self._tallies.get(point)
        if tally is None:
            view = TypeView(inf, self.across.unlabelled, 1, 0, self.traits)
        elif tally.weighed is None:
            asked = tally.asked
            radius = sqrt(self._spread / asked) if asked else inf  # theory.radius, its spread kept
            view = TypeView(radius, tally.prediction, tally.arrivals + 1, asked, self.traits)
        else:
            radius, prediction = self._radius(tally), self._labels.posterior(tally, self.across.prior)
            view = TypeView(radius, prediction, tally.arrivals + 1, tally.asked, self.traits)
        view.tally, view.belief = tally, self
        return view

    def look_many(self, points: Sequence[Any]) -> Looks:
        """Look at each in turn."""
        return OneByOne(self, points)

    def predict(self, point: Any) -> Prediction:
        """The mean of this type, given the labels told: under a flat prior that of the labels, std σ/√n."""
        tally = self._tallies.get(point)
        if tally is None:
            return self.across.unlabelled
        return tally.prediction if tally.weighed is None else self._labels.posterior(tally, self.across.prior)

    def predict_many(self, points: Sequence[Any]) -> list[Prediction]:
        """The predictions for many types."""
        return [self.predict(point) for point in points]

    def _radius(self, tally: Tally) -> float:
        """The confidence radius where labels do not count alike."""
        weight, labels = self._labels.asked_of(tally), max(self._labels.recent, 1.0)
        spread = theory.confidence_spread(self.noise_std, labels, self.delta)
        return sqrt(spread / weight) if weight else inf

    # -- what a label saves ----------------------------------------------------------------------

    def watch(self, most: int) -> None:
        """Counts by type stand for past arrivals, however many."""
        self._labels.census = self._labels.count()

    def saving(self, tally: Tally | None, noise_std: float) -> Saving:
        """What a label of this noise would take off the expected error, for one more of this type."""
        return saving(self._labels, self.across, tally or Tally(self.across.unlabelled), noise_std)

    # -- events ----------------------------------------------------------------------------------

    def arrive(self, point: Any, view: Any = None) -> None:
        """Count an arrival of this type."""
        self._labels.arrive(self._tally(point) if view is None or view.tally is None else view.tally)

    def ask(
        self, id: str | None, point: Any, view: View | None = None, noise_std: float | None = None
    ) -> None:
        """Count a label asked for; it narrows the radius at once."""
        self._labels.ask(id, self._tally(point), noise_std)
        self._note_spread()

    def tell(self, id: str, point: Any, y: float, noise_std: float | None = None) -> Prediction:
        """A label enters the mean of its type."""
        tally = self._tally(point)
        self._labels.tell(id, tally, y, noise_std)
        return self._predict_anew(tally)

    def correct(self, id: str, point: Any, old: float, new: float) -> None:
        """One value in the mean is exchanged for another."""
        tally = self._tally(point)
        self._labels.correct(id, tally, old, new)
        self._predict_anew(tally)

    def withdraw(self, id: str, point: Any, y: float | None) -> None:
        """The label leaves N and N_k, and the mean if it was told; M_k stays."""
        tally = self._tally(point)
        self._labels.withdraw(id, tally, y)
        self._note_spread()
        self._predict_anew(tally)

    def learn(
        self, point: Any, y: float, id: str | None = None, noise_std: float | None = None, age: int = 0
    ) -> Prediction:
        """A label nobody asked for: N and N_k grow, M_k does not."""
        tally = self._tally(point)
        self._labels.enter(tally, self._labels.ask(id, tally, noise_std, age), y)
        self._note_spread()
        return self._predict_anew(tally)

    def _predict_anew(self, tally: Tally) -> Prediction:
        """The labels told of this type have changed."""
        self.across.note_change()
        if self.across.unknown:
            self.across.guess()
        else:
            tally.prediction = self._labels.posterior(tally, self.across.prior)
        return tally.prediction

    def _note_spread(self) -> None:
        if self._labels.asked:
            self._spread = theory.confidence_spread(self.noise_std, self._labels.asked, self.delta)

    # -- a replayed stream -----------------------------------------------------------------------

    @property
    def asked(self) -> int:
        """Labels asked for, of all types: N."""
        return self._labels.asked

    @property
    def even(self) -> bool:
        """Whether all labels count alike, for ever."""
        return self._labels.even

    def count(self) -> Census:
        """The counts over all types."""
        return self._labels.count()

    def known(self) -> dict[Any, tuple[float, float]]:
        """The mean of the labels of each type that has any told, and what they weigh."""
        return self._labels.known()

    def tallies(self, types: Sequence[Any]) -> list[Tally]:
        """What is known of each of these types, to be read."""
        unknown = Tally(self.across.unlabelled)
        return [self._tallies.get(point, unknown) for point in types]

    def settle(self, rows: Iterable[Settled]) -> None:
        """Take up where a stream ended: type, M_k, N_k, labels told, parts of their sum; new ones last."""
        for tally in self._labels.settle(rows, self.across.unlabelled):
            tally.prediction = self._labels.posterior(tally, self.across.prior)
        self._note_spread()

    # -- a prior learnt across types -------------------------------------------------------------

    needs_warmup = False

    @property
    def fit_schedule(self) -> Literal["growing"] | None:
        """When the prior is learnt: whenever the types with labels grew by a fifth, or never."""
        return "growing" if self.prior_std == "learn" else None

    def fit_due(self, *, warm: bool) -> bool:
        """Whether three types have labels, and a fifth more than at the last fit; no warm-up is needed."""
        return self.across.due()

    def fit_job(self) -> dict[str, Any]:
        """The parameters found: they come from sums, so there is nothing left to compute elsewhere."""
        return self.across.fit()

    @classmethod
    def fit(cls, job: dict[str, Any], random: "np.random.Generator") -> dict[str, Any]:
        """The mean of the types' means, and the upper end of their spread."""
        return job

    def adopt(self, parameters: dict[str, Any], labels: int | None = None) -> None:
        """Go on with this prior."""
        self.across.adopt(parameters)

    # -- keeping ---------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """How many types were seen, and what was learnt across them."""
        given = {name: value for name, value in self.config().items() if value is not None}
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
            "noise_std": self.noise_std,
            "delta": self.delta,
            "prior_mean": self.prior_mean,
            "prior_std": self.prior_std,
            "forgetting": self.forgetting,
        }

    def state(self) -> dict[str, Any]:
        """The labels by type, and what was learnt across them."""
        return {**self._labels.state(), "learnt": self.across.state()}

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` gave."""
        self._labels.load(state, self.across.unlabelled)
        self.across.load(state["learnt"])
        self._tallies = self._labels.tallies
        self._note_spread()


def _checked_prior_std(value: Any) -> PriorStd:
    """A spread of the types' means, or how to come by one."""
    if not isinstance(value, str | None):
        return expect.positive("prior_std", value)
    if value in (None, "learn"):
        return "learn" if value else None
    expect.refuse("prior_std", 'a positive, finite number, None or "learn"', value)
