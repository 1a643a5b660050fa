"""What every belief over types does alike: names of types in, labels counted by type.

A subclass says what it predicts of a type (`look`, `predict`), and `_predict_anew` once the labels of one
have changed; how likely labels are (`_evidence`), and what becomes of its claims when these are refuted.

Notation: N labels in all and N_k of type k, awaited ones included; M_k arrivals of type k.
"""

from collections.abc import MutableMapping, Sequence
from itertools import islice
from typing import Any, ClassVar

from breakeven import theory
from breakeven.beliefs.belief import Key, Looks, OneByOne, Remembering
from breakeven.beliefs.copying import CopiedFromState
from breakeven.beliefs.types.history import History, Sum, Told, TypeRetreat
from breakeven.beliefs.types.tallies import Census, Tally, TypeLabels
from breakeven.beliefs.types.type_names import PLAIN_NAMES, stored_type_name, type_name, type_names
from breakeven.errors.expect import Array
from breakeven.values import (
    NO_SUM,
    ExactSum,
    FeatureWeight,
    Grounds,
    NearLabel,
    Prediction,
    Traits,
    View,
)
from breakeven.values.explanation import MOST_SIMILAR


class TypeBelief(CopiedFromState):
    """Labels by type: `_labels` has them, `noise_std` and `delta` give the confidence radius."""

    listens_to: ClassVar[str] = "type"

    _labels: TypeLabels
    _tallies: MutableMapping[Any, Tally]
    traits: Traits
    _spread: float  # 2σ² log(2N³/δ)
    noise_std: float
    delta: float
    _history: History
    _widened: float = 1.0  # the factor by which claims became wider since labels refuted them

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

    def _evidence(self, told: list[Told], older: dict[Any, Sum]) -> Array:
        """The log probability of the first k labels, given the `older` ones, for k from 0 to n."""
        raise NotImplementedError

    def _relearn(self) -> None:
        """Labels were set aside or taken back: predict all types anew, and learn anew what was learnt."""
        raise NotImplementedError

    def _widen_to(self, widened: float) -> None:
        """Claims are this many times as wide as without any alarm."""
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
        return type_names(X, self._labels.written)

    def plain(self, point: Any) -> Any:
        """A type is plain data already."""
        return point

    def recall(self, plain: Any) -> Any:
        """A type, read back from storage."""
        return type_name(stored_type_name(plain))

    def _type(self, point: Any) -> Any:
        """The type that a point is of."""
        return point

    def _tally(self, point: Any) -> Tally:
        return self._tally_of(self._type(point))

    def _tally_of(self, name: Any) -> Tally:
        tally = self._tallies.get(name)
        if tally is None:
            tally = self._tallies[name] = Tally(self.unlabelled)
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

    def grounds(self, point: Any, before: int, told: Remembering) -> Grounds:
        """The last labels told of the same type: types know nothing of each other's cases."""
        name = self._type(point)
        aside = {key for retreat in self._history.retreats.all for key in retreat.labels}
        alike = (
            NearLabel(key, self.plain(x), y, 0.0)
            for key, x, y in told.of_sort(self._type, name)
            if key < before and key not in aside
        )
        tally = self._tallies.get(name)
        return Grounds(
            0 if tally is None else tally.told,
            tuple(islice(alike, MOST_SIMILAR)),
            (FeatureWeight(self.listens_to, 1.0),),
        )

    # -- events ----------------------------------------------------------------------------------

    def arrive(self, point: Any, view: Any = None) -> None:
        """Count an arrival of this type. For an erased one (None), only time passes."""
        tally = None if view is None else view.tally
        if tally is not None:
            if self._labels.census is None:
                tally.arrivals += 1  # all that is to be done, and done most often
            else:
                self._labels.arrive(tally)
        elif point is None:
            self._labels.pass_time()
        else:
            self._labels.arrive(self._tally(point))

    def ask(
        self, key: Key, point: Any, view: Any = None, noise_std: float | None = None, age: int = 0
    ) -> None:
        """Count a label asked for; it narrows the radius at once."""
        tally = None if view is None else view.tally
        self._labels.ask(key, self._tally(point) if tally is None else tally, self._noise(noise_std), age)
        self._note_spread()

    def tell(self, key: Key, point: Any, y: float, noise_std: float | None = None) -> Prediction:
        """A label enters the mean of its type."""
        if self._history.labels is not None:
            self._history.tell(key, self._type(point), y)
        tally = self._tally(point)
        self._labels.tell(key, tally, y, self._noise(noise_std))
        return self._predict_anew(tally)

    def correct(self, key: Key, point: Any, old: float, new: float) -> None:
        """One value in the mean is exchanged for another."""
        if self._history.correct(key, new):
            return
        tally = self._tally(point)
        self._labels.correct(key, tally, old, new)
        self._predict_anew(tally)

    def withdraw(self, key: Key, point: Any, y: float | None) -> None:
        """The label leaves N and N_k, and the mean if it was told; M_k stays."""
        if y is not None and self._history.leave(key):
            return
        tally = self._tally(point)
        self._labels.withdraw(key, tally, y)
        self._note_spread()
        self._predict_anew(tally)

    def reopen(self, key: Key, point: Any, y: float) -> None:
        """The label leaves the mean, and is awaited with the noise and the age it had."""
        if self._history.leave(key):
            return self.ask(key, point)
        tally = self._tally(point)
        self._labels.reopen(key, tally, y)
        self._predict_anew(tally)

    def learn(
        self, point: Any, y: float, key: Key = None, noise_std: float | None = None, age: int = 0
    ) -> Prediction:
        """A label nobody asked for: N and N_k grow, M_k does not."""
        self._history.tell(key, self._type(point), y)
        tally = self._tally(point)
        self._labels.enter(tally, self._labels.ask(key, tally, self._noise(noise_std), age), y)
        self._note_spread()
        return self._predict_anew(tally)

    def release(self, key: Key) -> None:
        """Nobody will name this label again: forget how much it counts."""
        self._labels.release(key)
        self._history.release(key)

    def _note_spread(self) -> None:
        if self._labels.asked:
            self._spread = theory.confidence_spread(self.noise_std, self._labels.asked, self.delta)

    def detach(self) -> None:
        """Begin a new stream with what is known: labels lose their keys, awaited ones go."""
        self._labels.detach()
        self._history = History(self._widened)
        self._note_spread()

    # -- tests of its claims ---------------------------------------------------------------------

    def remember(self, *, labels: bool) -> None:
        """Remember labels that can still be changed one by one, or no longer."""
        self._history.remember(labels=labels)

    @property
    def even(self) -> bool:
        """Whether all labels count alike, for ever."""
        return self._labels.even

    def outdated(self) -> int:
        """The labels before the change that explains them best, if one does.

        It is looked for among the labels remembered, if all count alike, with one prior for both sides.
        """
        split = self._history.outdated(self._tallies, self._evidence) if self.even else 0
        return self.labels - len(self._history.labels or ()) + split if split else 0

    def give_way(self, key: Key, outdated: int, widened: float) -> None:
        """Set labels aside, the first told, or scale all claims up, which leaves the answers as they are.

        A scale lasts until a change is found.
        """
        assert key is not None
        anew = outdated > 0
        retreat = TypeRetreat(key, widened=1.0 if anew else widened, anew=anew)
        self._history.retreats.begin(retreat)
        if outdated:
            self._set_aside(retreat, outdated)
        self._widen_to(self._history.retreats.widened)

    def _set_aside(self, retreat: TypeRetreat, outdated: int) -> None:
        remembered, older = self._history.labels or {}, self._history.older(self._tallies)
        retreat.older = [(name, told, total.parts) for name, (told, total) in older.items()]
        first = max(outdated - sum(told for told, _ in older.values()), 0)
        for key in list(remembered)[:first]:
            retreat.labels[key] = remembered.pop(key)
        self._count_in(retreat, -1)

    def return_to(self, key: Key) -> None:
        """Take back labels and claims that were given up because of this label.

        Where a later alarm still stands, what lies before its change stays aside.
        """
        retreat = self._history.retreats.end(key)
        if self._history.labels is not None:
            self._history.labels = retreat.labels | self._history.labels
        self._count_in(retreat, +1)
        self._widen_to(self._history.retreats.widened)

    def _count_in(self, retreat: TypeRetreat, sign: int) -> None:
        for name, told, parts in retreat.older:
            self._labels.count_in(self._tally_of(name), sign * told, ExactSum(parts))
        for name, y in retreat.labels.values():
            self._labels.count_in(self._tally_of(name), sign, NO_SUM.plus(y))
        self._labels.recount()
        self._relearn()
        self._note_spread()
