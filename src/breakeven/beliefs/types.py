"""Algorithm 1's belief: one mean per type, and a confidence radius around it.

Notation: N labels in all and N_k of type k, awaited ones included; M_k arrivals of type k.
Sums are exact, so labels in any order, corrected or withdrawn, leave the same bits behind.
"""

from collections.abc import Iterable, Sequence
from math import inf, sqrt
from typing import Any, Self

import numpy as np
from msgspec import Struct

from breakeven import theory
from breakeven.beliefs.looks import Looks, OneByOne
from breakeven.beliefs.type_names import stored_type_name, type_name
from breakeven.errors import expect
from breakeven.values import ExactSum, Prediction, Traits, View

NOTHING = ExactSum()


class Tally(Struct, gc=False):
    """What is known of one type."""

    prediction: Prediction
    arrivals: int = 0  # M_k
    asked: int = 0  # N_k
    told: int = 0
    sum: ExactSum = NOTHING


class TypeView(View):
    """A rule's view of one arrival, with the tally behind it."""

    tally: Tally | None = None


class TypeMeans:
    """Sample means over types that need not be known in advance.

    A type is a str, an int, bytes or a tuple of these. Before its first label a type is predicted as
    `prior_mean`, with std ∞. `delta` is the probability that a confidence radius fails.

    >>> belief = TypeMeans(noise_std=0.1)
    >>> belief.learn("flu", 3.0).mean
    3.0
    >>> belief.predict("cold").std
    inf
    """

    def __init__(self, noise_std: float, delta: float = 0.05, prior_mean: float = 0.0) -> None:
        self.noise_std = expect.positive("noise_std", noise_std)
        self.delta = expect.probability("delta", delta, open=True)
        self.prior_mean = expect.finite("prior_mean", prior_mean)
        self.traits = Traits(self.noise_std, theory.DISCRETE_EXPONENT, unit=1.0, prior_std=inf)
        self.labels = 0
        self._prior = Prediction(self.prior_mean, inf, self.noise_std)
        self._tallies: dict[Any, Tally] = {}
        self._asked = 0  # N
        self._spread = 0.0  # 2σ² log(2N³/δ)

    # -- points ----------------------------------------------------------------------------------

    def point(self, x: Any, name: str = "x") -> Any:
        """Check a type; one seen before needs no second look."""
        kind = type(x)
        if (kind is str or kind is int or kind is bytes) and x in self._tallies:
            return x
        return type_name(x, name)

    def points(self, X: Any) -> Sequence[Any]:
        """Check a batch of types; a one-dimensional array counts as its elements."""
        plain = isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "iuUS"
        rows = X.tolist() if plain else expect.rows("X", X)
        seen: set[Any] = set()  # what was checked once is not checked again
        points = []
        for i, x in enumerate(rows):
            kind = type(x)
            if not (kind is str or kind is int or kind is bytes):
                x = self.point(x, f"X[{i}]")
            elif x not in seen:
                seen.add(self.point(x, f"X[{i}]"))
            points.append(x)
        return points

    def plain(self, point: Any) -> Any:
        """A type is plain data already."""
        return point

    def recall(self, plain: Any) -> Any:
        """A type, read back from storage."""
        return type_name(stored_type_name(plain))

    def _tally(self, point: Any) -> Tally:
        tally = self._tallies.get(point)
        if tally is None:
            tally = self._tallies[point] = Tally(self._prior)
        return tally

    # -- asking ----------------------------------------------------------------------------------

    def look(self, point: Any) -> View:
        """The confidence radius of this type and its mean."""
        tally = self._tallies.get(point)
        if tally is None:
            return TypeView(inf, self._prior, 1, 0, self.traits)
        asked = tally.asked
        radius = sqrt(self._spread / asked) if asked else inf  # theory.radius, its spread kept
        view = TypeView(radius, tally.prediction, tally.arrivals + 1, asked, self.traits)
        view.tally = tally
        return view

    def look_many(self, points: Sequence[Any]) -> Looks:
        """Look at each in turn."""
        return OneByOne(self, points)

    def predict(self, point: Any) -> Prediction:
        """The mean of the labels told for this type, std σ/√n."""
        tally = self._tallies.get(point)
        return self._prior if tally is None else tally.prediction

    def predict_many(self, points: Sequence[Any]) -> list[Prediction]:
        """The predictions for many types."""
        return [self.predict(point) for point in points]

    # -- events ----------------------------------------------------------------------------------

    def arrive(self, point: Any, view: Any = None) -> None:
        """Count an arrival of this type."""
        if view is None or view.tally is None:
            self._tally(point).arrivals += 1
        else:
            view.tally.arrivals += 1

    def expect(self, id: str | None, point: Any, view: View | None = None) -> None:
        """Count a label asked for; it narrows the radius at once."""
        self._tally(point).asked += 1
        self._count(+1)

    def tell(self, id: str | None, point: Any, y: float) -> Prediction:
        """A label enters the mean of its type."""
        tally = self._tally(point)
        self._replace(tally, tally.sum.plus(y), tally.told + 1)
        return tally.prediction

    def correct(self, id: str, point: Any, old: float, new: float) -> None:
        """One value in the mean is exchanged for another."""
        tally = self._tally(point)
        self._replace(tally, tally.sum.plus(-old).plus(new), tally.told)

    def withdraw(self, id: str, point: Any, y: float | None) -> None:
        """The label leaves N and N_k, and the mean if it was told; M_k stays."""
        tally = self._tally(point)
        if y is not None:
            self._replace(tally, tally.sum.plus(-y), tally.told - 1)
        tally.asked -= 1
        self._count(-1)

    def learn(self, point: Any, y: float, id: str | None = None) -> Prediction:
        """A label nobody asked for: N and N_k grow, M_k does not."""
        self.expect(id, point)
        return self.tell(id, point, y)

    def _count(self, change: int) -> None:
        self._asked += change
        if self._asked:
            self._spread = theory.confidence_spread(self.noise_std, self._asked, self.delta)

    def _replace(self, tally: Tally, total: ExactSum, told: int) -> None:
        self.labels += told - tally.told
        tally.sum, tally.told = (total, told) if told else (NOTHING, 0)
        tally.prediction = self._prediction(total, told)

    def _prediction(self, total: ExactSum, told: int) -> Prediction:
        if told == 0:
            return self._prior
        return Prediction(total.value / told, self.noise_std / sqrt(told), self.noise_std)

    # -- a replayed stream -----------------------------------------------------------------------

    @property
    def asked(self) -> int:
        """Labels asked for, of all types: N."""
        return self._asked

    def tallies(self, types: Sequence[Any]) -> list[Tally]:
        """What is known of each of these types, to be read."""
        unknown = Tally(self._prior)
        return [self._tallies.get(point, unknown) for point in types]

    def settle(self, rows: Iterable[tuple[Any, int, int, int, ExactSum]]) -> None:
        """Take up where a stream ended: type, M_k, N_k, labels told, and their sum; new types in order."""
        asked = 0
        for point, tally_arrivals, tally_asked, told, total in rows:
            tally = self._tally(point)
            asked += tally_asked - tally.asked
            tally.arrivals, tally.asked = tally_arrivals, tally_asked
            self._replace(tally, total, told)
        self._count(asked)

    # -- nothing to fit --------------------------------------------------------------------------

    needs_warmup = False

    def fit_due(self, *, warm: bool) -> bool:
        """Sample means have no parameters."""
        return False

    def fit(self, random: "np.random.Generator") -> dict[str, Any]:
        """Nothing to fit."""
        return {}

    def adopt(self, parameters: dict[str, Any]) -> None:
        """Nothing to adopt."""

    # -- keeping ---------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """How many types were seen."""
        return {**self.config(), "types": len(self._tallies)}

    @classmethod
    def of(cls, config: dict[str, Any]) -> Self:
        """A new belief from what `config` gave."""
        return cls(**config)

    def config(self) -> dict[str, Any]:
        """The arguments it was made with."""
        return {"noise_std": self.noise_std, "delta": self.delta, "prior_mean": self.prior_mean}

    def state(self) -> dict[str, Any]:
        """One row per type: key, M_k, N_k, labels told, and the parts of their sum."""
        return {
            "types": [
                (key, tally.arrivals, tally.asked, tally.told, tally.sum.parts)
                for key, tally in self._tallies.items()
            ]
        }

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` gave."""
        self._tallies, self._asked, self.labels = {}, 0, 0
        for key, arrivals, asked, told, parts in state["types"]:
            total = ExactSum(tuple(parts))
            tally = Tally(self._prediction(total, told), arrivals, asked, told, total)
            self._tallies[stored_type_name(key)] = tally
            self.labels += told
            self._asked += asked
        self._count(0)
