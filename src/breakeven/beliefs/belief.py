"""What a learner needs from a belief, as small interfaces. A belief knows nothing of costs or rules.

Points go through `point` first, which checks them; every other method takes what `point` returned. A label is
named by a key, the number of the event that made it. A label with the key None can no longer be changed.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol, Self, TypeGuard, runtime_checkable

import numpy as np

from breakeven.errors import expect
from breakeven.values import EVEN, Grounds, Prediction, Traits, View

Key = int | None
ToldLabel = tuple[int, Any, float]  # key, point and value of a label that a learner remembers

ENOUGH_TO_FIT = 3  # labels, or types with labels: fewer leave the expected error infinite
LARGEST_DIM = 100_000  # numbers in a point: without a limit a few bytes of a snapshot could claim gigabytes
REFIT_GROWTH = 1.2  # fit again when the labels, or the types with labels, have grown by this factor


class Looks(Protocol):
    """The views of a batch of arrivals, to be taken in order."""

    def look(self, i: int) -> View:
        """The view of arrival i, given the labels asked for before it."""
        ...

    def asked(self, i: int, noise_std: float | None = None) -> None:
        """The label of arrival i was asked for and is awaited; without a noise it has the belief's own."""
        ...

    def told(self, i: int, y: float, noise_std: float | None = None) -> bool:
        """The label of arrival i was asked for and told at once; False if the views no longer hold."""
        ...


class NumberRows:
    """A belief over rows of `dim` numbers.

    >>> rows = NumberRows()
    >>> rows.dim = 2
    >>> rows.plain(rows.point([1, 2.5]))
    (1.0, 2.5)
    """

    dim: int

    def point(self, x: Any) -> Any:
        """Check a row of numbers."""
        return expect.vector("x", x, self.dim)

    def points(self, X: Any) -> Sequence[Any]:
        """Check rows of numbers."""
        return [row.copy() for row in expect.matrix("X", X, self.dim)]  # rows of their own: they are kept

    def plain(self, point: Any) -> Any:
        """The point as a tuple of floats."""
        return tuple(point.tolist())

    def recall(self, plain: Any) -> Any:
        """A point, read back from storage."""
        return self.point(plain)


class OneByOne:
    """The views of a belief that gains nothing from batches: each is taken when it is needed."""

    def __init__(self, belief: "Deciding", points: Sequence[Any]) -> None:
        self._belief, self._points = belief, points

    def look(self, i: int) -> View:
        """Ask the belief, which already knows what was asked for."""
        return self._belief.look(self._points[i])

    def asked(self, i: int, noise_std: float | None = None) -> None:
        """Nothing to note."""

    def told(self, i: int, y: float, noise_std: float | None = None) -> bool:
        """The views still hold: the belief is asked anew each time."""
        return True


class Deciding(Protocol):
    """Points in, views and predictions out, and the labels in between."""

    @property
    def traits(self) -> Traits:
        """What holds for every point, until the next fit."""
        ...

    @property
    def labels(self) -> int:
        """How many labels were told or learnt, and not withdrawn."""
        ...

    def point(self, x: Any) -> Any:
        """Check one x and bring it into the belief's own form."""
        ...

    def points(self, X: Any) -> Sequence[Any]:
        """Check a batch; an error names the row."""
        ...

    def plain(self, point: Any) -> Any:
        """The point as text, numbers, bytes and tuples, for storage."""
        ...

    def recall(self, plain: Any) -> Any:
        """The point that `plain` wrote, also after tuples became lists."""
        ...

    def arrive(self, point: Any, view: View | None = None) -> None:
        """Count an arrival; `view` is what `look` returned just before.

        A point of None is an arrival whose content was erased: only time passes.
        """
        ...

    def look(self, point: Any) -> View:
        """The uncertainty there, awaited labels counted, and the prediction. Changes nothing."""
        ...

    def look_many(self, points: Sequence[Any]) -> Looks:
        """Look at a batch, whose labels will be asked for in order. Changes nothing."""
        ...

    def predict(self, point: Any) -> Prediction:
        """The prediction there, given the labels told. Changes nothing."""
        ...

    def predict_many(self, points: Sequence[Any]) -> list[Prediction]:
        """The predictions at many points, at matrix speed."""
        ...

    def ask(
        self,
        key: Key,
        point: Any,
        view: View | None = None,
        noise_std: float | None = None,
        age: int = 0,
    ) -> None:
        """A label was asked for and is awaited; `view` is what `look` returned before it arrived.

        `noise_std` is that of the label; None means the belief's own. `age` is how many arrivals ago its
        point came, for a label that was withdrawn and is asked for again.
        """
        ...

    def tell(self, key: Key, point: Any, y: float, noise_std: float | None = None) -> Prediction:
        """An awaited label came; returns the prediction there, after it.

        `noise_std` is that of the label, if another labeller answered than was asked.
        """
        ...

    def correct(self, key: Key, point: Any, old: float, new: float) -> None:
        """A label told earlier changes its value."""
        ...

    def withdraw(self, key: Key, point: Any, y: float | None) -> None:
        """A label goes: an awaited one where y is None, else a told one."""
        ...

    def reopen(self, key: Key, point: Any, y: float) -> None:
        """A label told earlier is awaited again, with the noise and the age it had."""
        ...

    def learn(
        self, point: Any, y: float, key: Key = None, noise_std: float | None = None, age: int = 0
    ) -> Prediction:
        """A label nobody asked for; returns the prediction there, after it.

        `age` is how many arrivals ago its point came; it matters only to a belief that forgets.
        """
        ...

    def release(self, key: Key) -> None:
        """Nobody will correct, withdraw or reopen this label any more: forget its key."""
        ...


class Fitting(Protocol):
    """Parameters of its own that a belief learns from its labels."""

    @property
    def needs_warmup(self) -> bool:
        """Whether nothing would ever be fitted without a warm-up."""
        ...

    def fit_due(self, *, warm: bool) -> bool:
        """Whether the parameters should be fitted now; `warm`: the warm-up's labels are all told."""
        ...

    def fit_job(self) -> dict[str, Any]:
        """All that a fit to the labels told so far needs, as plain data. Changes nothing."""
        ...

    @classmethod
    def fit(cls, job: dict[str, Any], random: "np.random.Generator") -> dict[str, Any]:
        """The best parameters for a job. A pure function: it may run in another process."""
        ...

    def adopt(self, parameters: dict[str, Any], labels: int | None = None) -> None:
        """Go on with these parameters, fitted to this many labels; None means to those told by now."""
        ...


@runtime_checkable
class Watching(Protocol):
    """A belief that can say what a label would save, for rules that weigh it against its price."""

    def watch(self, most: int) -> None:
        """Keep at most this many past arrivals, to say what labels would save; 0 ends that."""
        ...


@runtime_checkable
class Aiming(Protocol):
    """A belief that can answer another quantile of the label than its median, as uneven costs ask for."""

    @property
    def level(self) -> float:
        """Which quantile it answers: ½ is the median."""
        ...

    def aim(self, level: float) -> None:
        """Answer this quantile from now on; what labels would save counts errors in the same way."""
        ...


@runtime_checkable
class Choosy(Protocol):
    """A belief that does not take every number for a label."""

    def label(self, name: str, y: Any) -> float:
        """Check one label; an error says what was expected."""
        ...


def level_of(belief: Any) -> float:
    """The level of a belief: ½ where it knows no other."""
    kind = type(belief)
    if kind not in _AIMS:  # every decision asks, and to look through a protocol takes as long as many of them
        _AIMS[kind] = isinstance(belief, Aiming)
    return belief.level if _AIMS[kind] else EVEN


_AIMS: dict[type, bool] = {}  # whether beliefs of a kind answer at a level


@runtime_checkable
class Checkable(Protocol):
    """A belief whose claims each label can test, and that gives way when they are refuted.

    A key names the label that refuted it. Once that label is released, nothing can be brought back.
    """

    def rank(
        self, point: Any, y: float, noise_std: float | None = None, age: int = 0
    ) -> tuple[float, float] | None:
        """The probability of a label below y there, and of exactly y, given the labels told.

        None while the belief claims nothing yet of how far labels scatter. `noise_std` is that of the label,
        None the belief's own; its point came `age` arrivals ago. Changes nothing.
        """
        ...

    def remember(self, *, labels: bool) -> None:
        """Keep labels told one by one, as far as is needed to set some of them aside; or no longer."""
        ...

    def outdated(self) -> int:
        """How many labels, the first told, lie before a change; 0 where none explains the labels better."""
        ...

    def give_way(self, key: Key, outdated: int, widened: float) -> None:
        """Set that many labels aside, the first told, and widen all claims by a factor."""
        ...

    def return_to(self, key: Key) -> None:
        """The label that refuted it was wrong: take back what `give_way` did then."""
        ...


def is_checkable(belief: Any) -> TypeGuard[Checkable]:
    """Whether labels can test this belief."""
    return _is_kind_checkable(type(belief))  # type: ignore[arg-type]


@cache
def _is_kind_checkable(kind: type[Any]) -> bool:
    """Asked once for each class: to look for the methods of a protocol is slow."""
    return issubclass(kind, Checkable)


class Remembering(Protocol):
    """The labels told that a learner remembers, for a belief that keeps none one by one."""

    def of_sort(self, sort_of: Callable[[Any], Any], sort: Any) -> Sequence[ToldLabel]:
        """Those for whose point `sort_of` gives this sort, the last told first."""
        ...


@runtime_checkable
class Explaining(Protocol):
    """A belief that can say what an answer rests on."""

    def grounds(self, point: Any, before: int, told: Remembering) -> Grounds:
        """The labels nearest to a point, by its own sense of similarity, and what it listens to.

        Labels with a key from `before` on came later, and are left out. `told` are those that the learner
        remembers. Changes nothing.
        """
        ...


class Keeping(Protocol):
    """A belief as plain data: what it was made with, and what it has learnt."""

    @classmethod
    def of(cls, config: dict[str, Any]) -> Self:
        """A new belief from what `config` returned."""
        ...

    def config(self) -> dict[str, Any]:
        """The arguments it was made with."""
        ...

    def state(self) -> dict[str, Any]:
        """Everything it has learnt."""
        ...

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` returned, in a belief just made from the same `config`."""
        ...

    def describe(self) -> dict[str, Any]:
        """What this belief is now, for people."""
        ...

    def detach(self) -> None:
        """Begin a new stream with what is known: labels lose their keys, awaited ones go."""
        ...


class Belief(Deciding, Fitting, Watching, Keeping, Protocol):
    """What we think f is, and how unsure we are."""
