"""What every belief over types does alike: names of types in, labels counted by type.

A subclass says what it predicts of a type (`look`, `predict`), and `_predict_anew` once the labels of one
have changed.

Notation: N labels in all and N_k of type k, awaited ones included; M_k arrivals of type k.
"""

from collections.abc import Sequence
from typing import Any

from breakeven import theory
from breakeven.beliefs.belief import Key, Looks, OneByOne
from breakeven.beliefs.types.tallies import Census, Tally, TypeLabels
from breakeven.beliefs.types.type_names import PLAIN_NAMES, stored_type_name, type_name, type_names
from breakeven.values import Prediction, Traits, View


class TypeBelief:
    """Labels by type: `_labels` has them, `noise_std` and `delta` give the confidence radius."""

    _labels: TypeLabels
    _tallies: dict[Any, Tally]
    traits: Traits
    _spread: float  # 2σ² log(2N³/δ)
    noise_std: float
    delta: float

    @property
    def unlabelled(self) -> Prediction:
        """The prediction for a type without labels."""
        raise NotImplementedError

    def predict(self, point: Any) -> Prediction:
        """The prediction for this type, given the labels told."""
        raise NotImplementedError

    def look(self, point: Any) -> View:
        """The confidence radius of this type and the prediction."""
        raise NotImplementedError

    def _noise(self, noise_std: float | None) -> float | None:
        """The noise that a label counts with; None means the belief's own."""
        return noise_std

    def _predict_anew(self, tally: Tally) -> Prediction:
        """The labels told of this type have changed."""
        raise NotImplementedError

    @property
    def labels(self) -> int:
        """Labels told or learnt, and not withdrawn."""
        return self._labels.told

    # -- points ----------------------------------------------------------------------------------

    def point(self, x: Any, name: str = "x") -> Any:
        """Check a type; one seen before needs no second look."""
        if type(x) in PLAIN_NAMES and x in self._tallies:
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
            tally = self._tallies[point] = Tally(self.unlabelled)
        return tally

    # -- asking ----------------------------------------------------------------------------------

    def look_many(self, points: Sequence[Any]) -> Looks:
        """Look at each in turn."""
        return OneByOne(self, points)

    def predict_many(self, points: Sequence[Any]) -> list[Prediction]:
        """The predictions for many types."""
        return [self.predict(point) for point in points]

    def watch(self, most: int) -> None:
        """Nothing to keep, whatever `most` is: the counts by type stand for past arrivals."""
        self._labels.census = self._labels.count()

    @property
    def asked(self) -> int:
        """Labels asked for, of all types: N."""
        return self._labels.asked

    def count(self) -> Census:
        """The counts over all types."""
        return self._labels.count()

    def known(self) -> dict[Any, tuple[float, float]]:
        """The mean of the labels of each type that has any told, and what they weigh."""
        return self._labels.known()

    # -- events ----------------------------------------------------------------------------------

    def arrive(self, point: Any, view: Any = None) -> None:
        """Count an arrival of this type. For an erased one (None), only time passes."""
        if view is not None and view.tally is not None:
            if self._labels.census is None:
                view.tally.arrivals += 1  # all that is to be done, and done most often
            else:
                self._labels.arrive(view.tally)
        elif point is None:
            self._labels.pass_time()
        else:
            self._labels.arrive(self._tally(point))

    def ask(self, key: Key, point: Any, view: View | None = None, noise_std: float | None = None) -> None:
        """Count a label asked for; it narrows the radius at once."""
        self._labels.ask(key, self._tally(point), self._noise(noise_std))
        self._note_spread()

    def tell(self, key: Key, point: Any, y: float, noise_std: float | None = None) -> Prediction:
        """A label enters the mean of its type."""
        tally = self._tally(point)
        self._labels.tell(key, tally, y, self._noise(noise_std))
        return self._predict_anew(tally)

    def correct(self, key: Key, point: Any, old: float, new: float) -> None:
        """One value in the mean is exchanged for another."""
        tally = self._tally(point)
        self._labels.correct(key, tally, old, new)
        self._predict_anew(tally)

    def withdraw(self, key: Key, point: Any, y: float | None) -> None:
        """The label leaves N and N_k, and the mean if it was told; M_k stays."""
        tally = self._tally(point)
        self._labels.withdraw(key, tally, y)
        self._note_spread()
        self._predict_anew(tally)

    def reopen(self, key: Key, point: Any, y: float) -> None:
        """The label leaves the mean, and is awaited with the noise and the age it had."""
        tally = self._tally(point)
        self._labels.reopen(key, tally, y)
        self._predict_anew(tally)

    def learn(
        self, point: Any, y: float, key: Key = None, noise_std: float | None = None, age: int = 0
    ) -> Prediction:
        """A label nobody asked for: N and N_k grow, M_k does not."""
        tally = self._tally(point)
        self._labels.enter(tally, self._labels.ask(key, tally, self._noise(noise_std), age), y)
        self._note_spread()
        return self._predict_anew(tally)

    def release(self, key: Key) -> None:
        """Nobody will name this label again: forget how much it counts."""
        self._labels.release(key)

    def _note_spread(self) -> None:
        if self._labels.asked:
            self._spread = theory.confidence_spread(self.noise_std, self._labels.asked, self.delta)

    def detach(self) -> None:
        """Begin a new stream with what is known: labels lose their keys, awaited ones go."""
        self._labels.detach()
        self._note_spread()
