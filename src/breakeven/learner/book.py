"""The book of labels: which are awaited, which are told, which arrivals were let pass, and what was spent.

Ids awaited or told are unique. Arrivals that were not asked about are remembered for a while, since a label
for them may come all the same; their ids may be used again.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import astuple
from numpy.typing import NDArray

from breakeven.errors import ConflictingLabel, DuplicateId, UnknownId, expect
from breakeven.values import ExactSum


class Label(msgspec.Struct, gc=False):
    """A label asked for, or told without having been asked.

    `cost` is what it was bought for, in which `round`; both are 0 if it came unasked. `y` is None while it
    is awaited; `labeller` is who gave it, where that was said, and `asked` who was asked, where there was a
    choice. `audited` says that it was drawn for an audit.
    """

    x: Any
    cost: float = 0.0
    round: int = 0
    warmup: bool = False
    y: float | None = None
    labeller: str | None = None
    asked: str | None = None
    audited: bool = False


class Replayed(msgspec.Struct, frozen=True):
    """Labels asked for and told in a replayed stream: some ten bytes each, where a `Label` takes hundreds.

    `asked` has a bit for every round from `first` on, and the point of a label is `names[code]`; `ids` are
    those of the labels, where they were given.
    """

    first: int
    asked: NDArray[np.uint8]
    codes: NDArray[np.unsignedinteger[Any]]
    ys: NDArray[np.float64]
    names: list[Any]
    cost: float
    ids: list[str] | None = None

    def entries(self) -> Iterator[tuple[str, Label]]:
        """Each under its id, which is the round's number unless it was given."""
        rounds = (self.first + np.flatnonzero(np.unpackbits(self.asked))).tolist()
        ids = map(str, rounds) if self.ids is None else self.ids
        for id, round, code, y in zip(ids, rounds, self.codes.tolist(), self.ys.tolist(), strict=True):
            yield id, Label(self.names[code], self.cost, round, False, y)


class Book:
    """Labels by id, and the money they cost."""

    def __init__(self, remember: int) -> None:
        self.remember = remember
        self.awaited: dict[str, Label] = {}
        self._told: dict[str, Label] = {}
        self._replayed: list[Replayed] = []  # told as well, and entered when somebody looks
        self.unasked: dict[str, tuple[Any, int]] = {}  # the point, and its round
        self._oldest: deque[str] = deque()  # ids of `unasked` in order: an OrderedDict is half as fast
        self.named = False  # whether an id was given that is no round's number: then numbers may clash
        self.bought = 0
        self.spend = ExactSum()

    @property
    def told(self) -> dict[str, Label]:
        """Labels told, in the order in which they came."""
        while self._replayed:
            self._told.update(self._replayed.pop(0).entries())
        return self._told

    # -- ids -------------------------------------------------------------------------------------

    def id_for(self, given: str | None, round: int) -> str:
        """The id of the arrival in this round: the one given, or the first free number from the round on."""
        id = str(round)
        if given is not None:
            self.named = self.named or given != id
            return given
        while self.named and (id in self.awaited or id in self.told or id in self.unasked):
            round += 1
            id = str(round)
        return id

    def note(self, ids: Iterable[str], first: int) -> None:
        """Ids were given to rounds, from the `first` on."""
        self.named = self.named or any(id != str(round) for round, id in enumerate(ids, first))

    def may_clash(self, round: int) -> bool:
        """Whether an id given earlier may be the number of a round after this one."""
        ids = chain(self.awaited, self.told, self.unasked) if self.named else ()
        return any(id.isdecimal() and (len(id) > 18 or int(id) > round) for id in ids)

    def check_new(self, id: Any) -> str:
        """An id for an arrival: text that no awaited or told label has."""
        name = expect.text("id", id)
        if name in self.awaited or name in self.told:
            state = "awaited" if name in self.awaited else "told"
            raise DuplicateId(
                f"id: expected one that is not in use, got {name!r}, whose label is {state}; "
                "leave ids out to have them numbered"
            )
        return name

    def check_all_new(self, ids: Iterable[Any]) -> list[str]:
        """Ids for a batch, each once."""
        names: dict[str, None] = {}
        for id in ids:
            name = self.check_new(id)
            if name in names:
                raise DuplicateId(f"ids: expected each id once, got {name!r} twice")
            names[name] = None
        return list(names)

    def check_tellable(self, id: Any, y: float) -> str:
        """An id that may be told y, now or again."""
        name = expect.text("id", id)
        if name in self.awaited:
            return name
        told = self.told.get(name)
        if told is None and name not in self.unasked:
            raise unknown(name, "an arrival whose label is awaited, or one seen lately")
        if told is not None and told.y != y:
            raise _conflict(name, told.y, y, "told before", "; use correct to change it")
        return name

    def check_all_tellable(self, ids: Iterable[Any], ys: Iterable[float]) -> list[str]:
        """Ids that may be told in one batch; one that comes twice must say the same."""
        batch: dict[str, float] = {}
        names = []
        for id, y in zip(ids, ys, strict=True):
            names.append(self.check_tellable(id, y))
            if batch.setdefault(names[-1], y) != y:
                raise _conflict(names[-1], batch[names[-1]], y, "in the same batch", "")
        return names

    def check_told(self, id: Any) -> Label:
        """A label that was told."""
        id = expect.text("id", id)
        if id in self.told:
            return self.told[id]
        hint = "; its label is still awaited, use tell" if id in self.awaited else self._never_asked(id)
        raise unknown(id, "a label told before", hint)

    def check_held(self, id: Any) -> Label:
        """A label that is awaited or told."""
        id = expect.text("id", id)
        label = self.awaited.get(id) or self.told.get(id)
        if label is None:
            raise unknown(id, "a label awaited or told", self._never_asked(id))
        return label

    def _never_asked(self, id: str) -> str:
        return "; that arrival was not asked about" if id in self.unasked else ""

    # -- entries ---------------------------------------------------------------------------------

    def ask(self, id: str, label: Label) -> None:
        """A label was bought; it is awaited now."""
        self._forget(id)
        self.awaited[id] = label
        self.bought += 1
        self.spend = self.spend.plus(label.cost)

    def pass_by(self, id: str, x: Any, round: int) -> None:
        """An arrival was not asked about; the oldest such is forgotten when there are too many."""
        if self.named:
            self._forget(id)  # an id used again is remembered as new
        self.unasked[id] = x, round
        self._oldest.append(id)
        if len(self._oldest) > self.remember:
            del self.unasked[self._oldest.popleft()]

    def _forget(self, id: str) -> None:
        if id in self.unasked:
            del self.unasked[id]
            self._oldest.remove(id)

    def tell(self, id: str, y: float, labeller: str | None) -> Label:
        """A label came, asked for or not."""
        label = self.awaited.pop(id, None)
        if label is None:
            label = Label(self.unasked[id][0])
            self._forget(id)
        label.y, label.labeller = y, labeller
        self.told[id] = label
        return label

    def withdraw(self, id: str, *, charged: bool) -> None:
        """A label goes; unless it was charged, so does its cost."""
        label = self.awaited.pop(id, None) or self.told.pop(id)
        if label.cost and not charged:
            self.bought -= 1
            self.spend = self.spend.plus(-label.cost)

    def replay(self, labels: list[Replayed], cost: float) -> None:
        """Labels were asked for at this cost and told, one after the other."""
        self._replayed += labels
        self._buy(sum(len(some.ys) for some in labels), cost)

    def ask_many(self, rounds: NDArray[np.int64], points: list[Any], cost: float) -> None:
        """Labels were bought in these rounds, none of whose ids is in use; they are awaited now."""
        for round, x in zip(rounds.tolist(), points, strict=True):
            self.awaited[str(round)] = Label(x, cost, round)
        self._buy(len(points), cost)

    def _buy(self, count: int, cost: float) -> None:
        """So many labels at the same cost; a sum is exact, so powers of two are as good as one by one."""
        self.bought += count
        for power in range(count.bit_length()):
            if count >> power & 1:
                self.spend = self.spend.plus(cost * 2.0**power)

    def pass_by_many(
        self, rounds: NDArray[np.int64], points: list[Any], ids: list[str] | None = None
    ) -> None:
        """The last rounds that were not asked about, none of whose ids, given or not, is in use."""
        passed = rounds.tolist()
        ids = list(map(str, passed)) if ids is None else ids
        for _ in range(len(self._oldest) + len(ids) - self.remember):
            del self.unasked[self._oldest.popleft()]
        self._oldest.extend(ids)
        self.unasked.update(zip(ids, zip(points, passed, strict=True), strict=True))

    # -- keeping ---------------------------------------------------------------------------------

    def state(self, plain: Callable[[Any], Any]) -> dict[str, Any]:
        """Everything, as plain data; `plain` makes points so."""

        def rows(labels: dict[str, Label]) -> list[Any]:
            return [(id, plain(one.x), *astuple(one)[1:]) for id, one in labels.items()]

        return {
            "awaited": rows(self.awaited),
            "told": rows(self.told),
            "unasked": [(id, plain(x), round) for id, (x, round) in self.unasked.items()],
            "named": self.named,
            "bought": self.bought,
            "spend": self.spend.parts,
        }

    def load(self, state: dict[str, Any], recall: Callable[[Any], Any]) -> None:
        """Take up a state that `state` gave; `recall` reads points back."""
        for name, labels in (("awaited", self.awaited), ("told", self.told)):
            for id, x, *rest in state[name]:
                labels[id] = Label(recall(x), *rest)
        self.unasked.update((id, (recall(x), round)) for id, x, round in state["unasked"])
        self._oldest.extend(self.unasked)
        self.named = state["named"]
        self.bought = state["bought"]
        self.spend = ExactSum(tuple(state["spend"]))


def unknown(id: str, wanted: str, hint: str = "") -> UnknownId:
    """The error for an id that is not in the needed state."""
    return UnknownId(f"id: expected {wanted}, got {expect.shown(id)}{hint}")


def _conflict(id: str, before: float | None, now: float, where: str, hint: str) -> ConflictingLabel:
    return ConflictingLabel(f"id {id!r}: expected the label {before!r} {where}, got {now!r}{hint}")
