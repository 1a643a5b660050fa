"""Decisions on many arrivals: columns, one for each field, and each decision as an object when asked for.

A million objects take longer to make than a million decisions, so batches are answered in columns.
"""

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from functools import cached_property
from itertools import repeat
from math import nan
from typing import Any, NamedTuple, TypeVar, overload
from weakref import WeakMethod

import numpy as np
from numpy.typing import NDArray

from breakeven.values.decision import Decision, Prediction

Numbers = NDArray[np.float64]
Places = NDArray[np.int64]
Answer = TypeVar("Answer")
Kept = TypeVar("Kept")


class Reasons(NamedTuple):
    """Why each round was decided so: a code for every round, and what the codes stand for."""

    codes: NDArray[np.unsignedinteger[Any]]
    words: tuple[str, ...]

    def worded(self) -> list[str]:
        """The reasons themselves."""
        return list(map(self.words.__getitem__, self.codes.tolist()))

    def part(self, rows: slice | Places) -> "Reasons":
        """Those of some rounds, copied."""
        return Reasons(_copied(self.codes, rows), self.words)

    @classmethod
    def joined(cls, parts: "Sequence[Reasons]") -> "Reasons":
        """Those of one rule, one behind the other."""
        if not parts:
            return cls(np.empty(0, dtype=np.uint8), ())
        return cls(np.concatenate([one.codes for one in parts]), parts[0].words)


class DecisionColumns(NamedTuple):
    """Decisions on many arrivals, a column for each field; what a rule does not say is NaN.

    `repeated` arrivals came before under the same id, and did not count. A learner answers them as it did
    then; a fleet, which keeps no answers, has only their prediction, unless they came in the same call.
    """

    wants_label: NDArray[np.bool_]
    prediction: Numbers
    std: Numbers
    uncertainty: Numbers
    threshold: Numbers
    cost: Numbers
    propensity: Numbers
    worth: Numbers
    worth_now: Numbers
    round: NDArray[np.int64]
    reasons: Reasons
    repeated: NDArray[np.bool_]

    def lock(self) -> None:
        """Nobody can write into them from now on."""
        for one in (*self, self.reasons.codes):
            if isinstance(one, np.ndarray):
                one.flags.writeable = False

    def part(self, rows: slice | Places) -> "DecisionColumns":
        """Those of some rounds, copied, so that the others can be freed."""
        arrays = [one for one in self if isinstance(one, np.ndarray)]
        *columns, repeated = (_copied(one, rows) for one in arrays)
        return DecisionColumns(*columns, self.reasons.part(rows), repeated)  # type: ignore[call-arg, arg-type]


def _copied(column: NDArray[Any], rows: slice | Places) -> NDArray[Any]:
    """Some rows of a column, as an array of its own."""
    return column[rows].copy() if isinstance(rows, slice) else column[rows]


class InOrder(Sequence[Answer]):
    """The answers to a batch, in its order: a sequence of objects that equals a list of them."""

    def __init__(self, made: Sequence[Answer]) -> None:
        self._made = made

    @overload
    def __getitem__(self, place: int) -> Answer: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Answer]: ...
    def __getitem__(self, place: int | slice) -> Answer | Sequence[Answer]:
        return self._made[place]

    def __iter__(self) -> Iterator[Answer]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, InOrder | list | tuple):
            return NotImplemented
        return list(self) == list(other)

    def __add__(self, other: list[Answer]) -> list[Answer]:
        return [*self, *other]

    def __radd__(self, other: list[Answer]) -> list[Answer]:
        return [*other, *self]

    __hash__ = None  # type: ignore[assignment]  # as a list has none

    def __repr__(self) -> str:
        return repr(list(self))


class Decisions(InOrder[Decision]):
    """The decisions on a batch, in its order. It is a sequence of `Decision`; `columns` are its arrays.

    >>> from breakeven import Learner, Threshold, TypeMeans
    >>> learner = Learner(TypeMeans(noise_std=0.5), Threshold(), label_cost=2.0)
    >>> decisions = learner.decide_many(["flu", "cold"], ids=["Ann", "Bob"])
    >>> decisions.columns.wants_label.tolist(), decisions[1].id
    ([True, True], 'Bob')
    """

    def __init__(self, made: Sequence[Decision], repeated: Sequence[int] = ()) -> None:
        super().__init__(made)
        self._repeated = repeated

    @property
    def ids(self) -> list[str]:
        """The ids of the arrivals."""
        return [one.id for one in self._made]

    @cached_property
    def columns(self) -> DecisionColumns:
        """The decisions as arrays."""
        return columns_of(self._made, self._repeated)


class CompiledDecisions(Decisions):
    """Decisions that our rules took on types, of which only the columns are kept.

    `ids` are texts, or the numbers that automatic ids are. Where the rule `values` labels, worths are said.
    """

    def __init__(
        self, ids: Sequence[Any] | Places, columns: DecisionColumns, noise_std: float, *, values: bool
    ) -> None:
        self._ids, self._noise_std, self._values = ids, noise_std, values
        self.columns = columns

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def __getitem__(self, place: int) -> Decision: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Decision]: ...
    def __getitem__(self, place: int | slice) -> Decision | Sequence[Decision]:
        if isinstance(place, slice):
            return self.at(range(*place.indices(len(self))))
        return self.at([range(len(self))[place]])[0]

    def __iter__(self) -> Iterator[Decision]:
        return iter(self.at(range(len(self))))

    @property
    def ids(self) -> list[str]:
        """The ids of the arrivals."""
        return list(map(str, self._ids))

    @property
    def given_ids(self) -> Any:
        """The ids as they were given: texts, or numbers of automatic ones."""
        return self._ids

    def at(self, places: Sequence[int]) -> list[Decision]:
        """The decisions at some places, as objects."""
        if not len(places):
            return []
        chosen = np.asarray(places, dtype=np.intp)
        *columns, reasons, _ = self.columns
        wants, mean, std, uncertainty, threshold, cost, chance, worth, worth_now, round = (
            one[chosen].tolist() for one in columns
        )
        return list(
            map(
                Decision,
                map(str, map(self._ids.__getitem__, places)),
                wants,
                map(Prediction, mean, std, repeat(self._noise_std)),
                uncertainty,
                (nan if one != one else one for one in threshold),  # one and the same NaN
                cost,
                chance,
                map(reasons.words.__getitem__, reasons.codes[chosen].tolist()),
                *map(repeat, (True, False, 1.0, None)),  # exact, not ambiguous, not stretched, no labeller
                worth if self._values else repeat(None),
                repeat("rule"),
                round,
                *map(repeat, ((), None)),  # no other offers, no doubt
                worth_now if self._values else repeat(None),
            )
        )

    def part(self, rows: slice) -> "CompiledDecisions":
        """Some of them, copied, so that the others can be freed."""
        return self._with(self._ids[rows], self.columns.part(rows))

    def chosen(self, places: Places) -> "CompiledDecisions":
        """Those at some places, copied."""
        ids = self._ids
        if isinstance(ids, range):
            return self._with(places + ids.start, self.columns.part(places))
        if isinstance(ids, np.ndarray):
            return self._with(ids[places], self.columns.part(places))
        return self._with(list(map(ids.__getitem__, places.tolist())), self.columns.part(places))

    def _with(self, ids: Sequence[Any] | Places, columns: DecisionColumns) -> "CompiledDecisions":
        return CompiledDecisions(ids, columns, self._noise_std, values=self._values)


class Unwritten(MutableMapping[Any, Kept]):
    """Stands for objects that lie in columns: who asks for one of them has all of them written out.

    `write_out` is a method of who keeps this. `size` says how many there are, if that is known without.
    """

    def __init__(
        self, write_out: Callable[[], dict[Any, Kept]], size: Callable[[], int] | None = None
    ) -> None:
        self._write_out = WeakMethod(write_out)  # so that its keeper is freed at once
        self._size = None if size is None else WeakMethod(size)

    def _written(self) -> dict[Any, Kept]:
        write_out = self._write_out()
        assert write_out is not None  # as its keeper is alive
        return write_out()

    def __getitem__(self, name: Any) -> Kept:
        return self._written()[name]

    def __setitem__(self, name: Any, one: Kept) -> None:
        self._written()[name] = one

    def __delitem__(self, name: Any) -> None:
        del self._written()[name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._written())

    def __len__(self) -> int:
        size = None if self._size is None else self._size()
        return len(self._written()) if size is None else size()


def columns_of(made: Sequence[Decision], repeated: Sequence[int] = ()) -> DecisionColumns:
    """Decisions as arrays; those at the places `repeated` were made before."""
    words = tuple(dict.fromkeys(one.reason for one in made))
    code = dict(zip(words, range(len(words)), strict=True))
    answered = np.zeros(len(made), dtype=bool)
    answered[np.asarray(repeated, dtype=np.intp)] = True
    return DecisionColumns(
        np.array([one.wants_label for one in made], dtype=bool),
        np.array([one.prediction.mean for one in made], dtype=float),
        np.array([one.prediction.std for one in made], dtype=float),
        np.array([one.uncertainty for one in made], dtype=float),
        np.array([one.threshold for one in made], dtype=float),
        np.array([one.cost for one in made], dtype=float),
        np.array([one.propensity for one in made], dtype=float),
        np.array([nan if one.worth is None else one.worth for one in made], dtype=float),
        np.array([nan if one.worth_now is None else one.worth_now for one in made], dtype=float),
        np.array([one.round for one in made], dtype=np.int64),
        Reasons(np.array([code[one.reason] for one in made], dtype=np.min_scalar_type(len(words))), words),
        answered,
    )
