"""The book of arrivals by id: which labels are awaited, which are told, and what was spent.

Labels that are awaited are kept until they come or are withdrawn. Of the other arrivals (told, not asked
about, withdrawn) and of labels learnt under an id, the last `keep` are remembered; an older id is forgotten,
and may be used again. An id within what is remembered counts once.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from math import nan
from typing import Any, Protocol

import msgspec

from breakeven.beliefs.belief import ToldLabel
from breakeven.errors import ConflictingLabel, DuplicateId, UnknownId, expect
from breakeven.learner.packing import as_columns, from_columns
from breakeven.values import NO_SUM, Cost, Decision, ExactSum, Prediction, Unwritten

MOST_UNWRITTEN = 16  # batches whose awaited labels are kept in columns
LONGEST_NUMBER = 18  # digits of an id that automatic ids must stay clear of; rounds never have more

PassedBy = tuple[int, Any, Decision, Cost | None]  # the first fields of an entry behind its id


class Entry(msgspec.Struct, gc=False):
    """One arrival, or one label learnt under an id.

    `key` is the number of the event that made it. `decision` is None where the label was learnt. `y` is None
    unless the label is told; `labeller` is who gave it. `paid` says that its cost counts in the spend.
    `withdrawn` is None, or whether the label was charged when it was withdrawn.
    """

    id: str
    key: int
    x: Any
    decision: Decision | None
    given: Cost | None = None
    y: float | None = None
    labeller: str | None = None
    paid: bool = False
    warmup: bool = False
    withdrawn: bool | None = None
    reopened: bool = False

    @property
    def asked(self) -> bool:
        """Whether a label was asked for and may come: it is told or awaited."""
        return self.decision is not None and self.decision.wants_label and self.withdrawn is None

    @property
    def called_off(self) -> bool:
        """Whether a label that was asked for is withdrawn, and did not come since."""
        asked = self.decision is not None and self.decision.wants_label
        return asked and self.withdrawn is not None and self.y is None and not self.reopened

    @property
    def audited(self) -> bool:
        """Whether the arrival was drawn for an audit."""
        return self.decision is not None and self.decision.reason == "audited"

    @property
    def cost(self) -> float:
        """What the label was agreed to cost; 0 where it was learnt."""
        return 0.0 if self.decision is None else self.decision.cost

    @property
    def round(self) -> int:
        """The round of the arrival; 0 where the label was learnt."""
        return 0 if self.decision is None else self.decision.round

    @property
    def asked_of(self) -> str | None:
        """Who was asked, where there is a choice."""
        return self.decision.labeller if self.decision is not None and self.asked else None


class AwaitedRows(Protocol):
    """Labels awaited of the arrivals of a batch, as columns."""

    def __len__(self) -> int:
        """How many there are."""
        ...

    def all_entries(self) -> list[Entry]:
        """The entries of those that are still awaited."""
        ...

    def has_any(self, ids: Iterable[str]) -> bool:
        """Whether one of these ids may be among them."""
        ...

    def find(self, ids: list[str]) -> Any:
        """The labels of these ids, to be told at once, if all are awaited here and each comes once."""
        ...


class PassedRows(Protocol):
    """Arrivals of a batch of which nothing is awaited, as columns: not asked about, or told."""

    def entries(self, ids: Sequence[str]) -> list[Entry]:
        """The entries under these ids."""
        ...


class PassedBatch:
    """Stands in the book for every arrival of a batch, until somebody looks for one of them."""

    rows: PassedRows
    ids: list[str]
    """In their order; those before `left` are forgotten."""

    left = 0

    def entries(self, ids: Sequence[str]) -> list[Entry]:
        """The entries under these ids."""
        return self.rows.entries(ids)

    def oldest(self, most: int) -> list[str]:
        """The next ids to forget, so many at the most."""
        ids = self.ids[self.left : self.left + most]
        self.left += len(ids)
        return ids


class LabelsTold:
    """Labels told, the last told first; those of one sort are found at once, after a first look at all."""

    def __init__(self, number: int, entries: list[Entry]) -> None:
        self.number = number
        self._entries = entries
        self._sorts: dict[Any, list[ToldLabel]] = {}
        self._ids: dict[int, str] = {}

    def of_sort(self, sort_of: Callable[[Any], Any], sort: Any) -> Sequence[ToldLabel]:
        """Key, point and value of those whose point is of this sort."""
        if not self._sorts:
            for one in self._entries:
                assert one.y is not None
                self._sorts.setdefault(sort_of(one.x), []).append((one.key, one.x, one.y))
        return self._sorts.get(sort, ())

    def id_of(self, key: int | None) -> str | None:
        """The id of the label with this key, if it is remembered."""
        if not self._ids:
            self._ids = {one.key: one.id for one in self._entries}
        return None if key is None else self._ids.get(key)


class Book:
    """Entries by id, and the money spent. Each of `releases` is called with a forgotten told label's key."""

    def __init__(self, keep: int, *releases: Callable[[int], None]) -> None:
        self.keep = keep
        self.releases = releases
        self.awaited: MutableMapping[str, Entry] = {}
        self._entered: dict[str, Entry] = self.awaited  # without the labels of these batches:
        self.unwritten: list[AwaitedRows] = []
        # told, not asked about, withdrawn or learnt; what was not asked about becomes an entry when needed
        self._settled: dict[str, Entry | PassedBy | PassedBatch] = {}
        self._order: deque[str | PassedBatch] = deque()  # ids of `_settled`, or many at once, oldest first
        self._moved: dict[str, int] = {}  # ids that stand in the order though they were reopened since
        self.next_number = 1  # above every id that is a number other than its round's
        self.bought = 0
        self.spend = NO_SUM
        self._told: LabelsTold | None = None  # for who looks at them several times in a row

    # -- ids -------------------------------------------------------------------------------------

    def automatic_id(self, round: int) -> str:
        """An id that is not in use: the round's number, or the next number that is free."""
        number = max(round, self.next_number)
        while self.find(str(number)) is not None:  # one of the long numbers, which are not noted
            number += 1
        return str(number)

    def find(self, id: str) -> Entry | None:
        """What is remembered under this id."""
        entry = self.awaited.get(id) or self._settled.get(id)
        if isinstance(entry, tuple):
            entry = self._settled[id] = Entry(id, *entry)
        elif isinstance(entry, PassedBatch):
            entry = self._settled[id] = entry.entries([id])[0]
        return entry

    def knows_any(self, ids: "NewIds") -> bool:
        """Whether anything is remembered under one of these ids."""
        coming = ids.keys()
        if not (self._entered.keys().isdisjoint(coming) and self._settled.keys().isdisjoint(coming)):
            return True
        return any(rows.has_any(ids) for rows in self.unwritten)

    def settled(self) -> Iterator[Entry]:
        """Every entry that is settled, in the order of that."""
        self.write_out()
        return map(self._entry, self._settled)

    def labels_told(self, number: int) -> "LabelsTold":
        """The labels told that are remembered, as they are after the event with this number."""
        if self._told is None or self._told.number != number:
            self.write_out()
            entries = [one for one in self._settled.values() if type(one) is Entry and one.y is not None]
            self._told = LabelsTold(number, entries[::-1])
        return self._told

    def check_each_once(self, ids: Iterable[Any]) -> list[str]:
        """Ids for a batch of arrivals, each once."""
        names: dict[str, None] = {}
        for id in ids:
            name = expect.name_of("id", id)
            if name in names:
                raise DuplicateId(f"ids: expected each id once, got {name!r} twice")
            names[name] = None
        return list(names)

    def each_once(self, ids: list[Any]) -> "NewIds":
        """Ids for a batch of arrivals, each once."""
        if set(map(type, ids)) == {str} and max(map(len, ids)) <= expect.LONGEST_NAME:
            names = dict.fromkeys(ids, PassedBatch())
            if len(names) == len(ids) and "" not in names and "".join(ids).isascii():
                return names
        return dict.fromkeys(self.check_each_once(ids), PassedBatch())

    def tellable(self, id: Any, y: float) -> Entry:
        """The entry of a label that may be told y, for the first time or again."""
        if type(id) is str and (awaited := self.awaited.get(id)) is not None:
            return awaited
        name = expect.name_of("id", id)
        entry = self.find(name)
        if entry is None:
            raise unknown(name, "an arrival whose label is awaited, or one of those remembered")
        if entry.y is not None and entry.y != y:
            raise _conflict(name, entry.y, y, "told before", "; use correct to change it")
        return entry

    def check_tellable(self, ids: Iterable[Any], ys: Iterable[float]) -> list[str]:
        """Ids that may be told in one batch; one that comes twice must say the same."""
        batch: dict[str, float] = {}
        names = []
        for id, y in zip(ids, ys, strict=True):
            names.append(self.tellable(id, y).id)
            if batch.setdefault(names[-1], y) != y:
                raise _conflict(names[-1], batch[names[-1]], y, "in the same batch", "")
        return names

    def all_awaited(self, ids: list[Any]) -> list[Entry] | None:
        """The entries of these ids, if all of them are awaited and each comes once."""
        if not set(map(type, ids)) <= {str} or len(set(ids)) < len(ids):
            return None
        found = [one for one in map(self.awaited.get, ids) if one is not None]
        return found if len(found) == len(ids) else None

    def told(self, id: Any) -> Entry:
        """The entry of a label that was told or learnt."""
        name = expect.name_of("id", id)
        entry = self.find(name)
        if entry is None or entry.y is None:
            raise unknown(name, "a label told before", _standing(entry, "use tell"))
        return entry

    def withdrawable(self, id: Any, charged: bool) -> Entry:
        """The entry of a label that is awaited or told, or was withdrawn in the same way."""
        name = expect.name_of("id", id)
        entry = self.find(name)
        if entry is None or (entry.withdrawn is None and entry.y is None and not entry.asked):
            raise unknown(name, "a label awaited or told", _standing(entry, ""))
        if entry.y is None and entry.withdrawn is not None and entry.withdrawn != charged:
            was, now = ("charged" if one else "not charged" for one in (entry.withdrawn, charged))
            raise ConflictingLabel(f"id {name!r}: expected {was}, as it was withdrawn before, got {now}")
        return entry

    def reopenable(self, id: Any) -> Entry:
        """The entry of a label that was told, or asked for and withdrawn, or reopened and not told since."""
        name = expect.name_of("id", id)
        entry = self.find(name)
        if entry is None or (entry.y is None and not entry.reopened and not entry.called_off):
            hint = _standing(entry, "there is nothing to reopen")
            raise unknown(name, "a label told before, or one that was asked for and withdrawn", hint)
        if entry.decision is None:
            raise unknown(name, "the label of an arrival", "; it was learnt: correct or withdraw it")
        return entry

    # -- entries ---------------------------------------------------------------------------------

    def note_id(self, id: str, round: int) -> None:
        """An id was used in this round: automatic ids avoid it. The round's own number needs no note."""
        if id.isdecimal() and id != str(round) and (len(id) <= LONGEST_NUMBER or id == str(self.next_number)):
            self.next_number = max(self.next_number, int(id) + 1)

    def note_ids(self, ids: Iterable[str], round: int) -> None:
        """Ids were used in the rounds from this one on."""
        if any(map(str.isdecimal, ids)):
            for place, id in enumerate(ids):
                self.note_id(id, round + place)

    def note_numbered(self, round: int, count: int) -> None:
        """Rounds from this one on, `count` of them, got automatic ids."""
        if self.next_number > round:
            self.next_number += count

    def ask(self, entry: Entry, cost: float) -> None:
        """A label was bought at this cost; it is awaited now."""
        self.awaited[entry.id] = entry
        entry.paid = True
        self.bought += 1
        self.spend = self.spend.plus(cost)

    def pass_by(self, id: str, passed: PassedBy) -> None:
        """An arrival was not asked about; the oldest that is settled is forgotten when there are too many."""
        settled, order = self._settled, self._order
        settled[id] = passed
        order.append(id)
        if len(settled) > self.keep:
            if self._moved or type(oldest := order[0]) is not str:
                self._forget_oldest()
            else:
                order.popleft()
                forgotten = settled.pop(oldest)
                if type(forgotten) is not tuple:
                    self._release(forgotten)

    def pass_many(self, ids: "NewIds", rows: PassedRows) -> None:
        """Arrivals with these ids were not asked about; all but the last to remember may be left out."""
        settled, batch = self._settled, next(iter(ids.values()))  # which is that of all of them
        batch.rows, batch.ids = rows, list(ids)
        settled.update(ids)
        self._order.append(batch)
        excess = len(settled) - self.keep
        if self._moved:
            for _ in range(excess):
                self._forget_oldest()
            return
        while excess > 0:
            oldest = self._order[0]
            if isinstance(oldest, str):
                self._release(settled.pop(self._next_oldest()))
                excess -= 1
                continue
            gone = list(map(settled.pop, oldest.oldest(excess)))
            excess -= len(gone)
            if gone.count(oldest) < len(gone):  # some are entries by now
                for one in gone:
                    self._release(one)
            if oldest.left == len(oldest.ids):
                self._order.popleft()

    def _next_oldest(self) -> str:
        """The id that was settled longest ago, taken out of the order."""
        oldest = self._order[0]
        if isinstance(oldest, str):
            self._order.popleft()
            return oldest
        if oldest.left + 1 == len(oldest.ids):
            self._order.popleft()
        return oldest.oldest(1)[0]

    def settle(self, entry: Entry) -> None:
        """Nothing is awaited of this entry any more."""
        self._settled[entry.id] = entry
        self._order.append(entry.id)
        if len(self._settled) > self.keep:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        """Forget the entry settled longest ago."""
        while (id := self._next_oldest()) in self._moved:
            self._moved[id] -= 1
            if not self._moved[id]:
                del self._moved[id]
        self._release(self._settled.pop(id))

    def _release(self, oldest: Entry | PassedBy | PassedBatch) -> None:
        """Free what belongs to an entry that was forgotten."""
        if isinstance(oldest, Entry) and oldest.y is not None:
            for release in self.releases:
                release(oldest.key)

    def tell(self, entry: Entry, y: float, labeller: str | None) -> None:
        """A label came, asked for or not."""
        entry.y, entry.labeller = y, labeller
        if self.awaited.pop(entry.id, None) is not None:
            self.settle(entry)

    def withdraw(self, entry: Entry, *, charged: bool) -> bool:
        """A label goes. Returns whether its cost is given back: what was charged once stays charged."""
        given_back = entry.paid and not charged and entry.withdrawn is None
        if given_back:
            entry.paid = False
            self.bought -= 1
            self.spend = self.spend.plus(-entry.cost)
        entry.y, entry.labeller, entry.withdrawn, entry.reopened = None, None, charged, False
        if self.awaited.pop(entry.id, None) is not None:
            self.settle(entry)
        return given_back

    def reopen(self, entry: Entry) -> Entry:
        """A told label is awaited again, or is as unasked or withdrawn as before it was told."""
        if entry.called_off:
            return self._ask_again(entry)
        again = msgspec.structs.replace(entry, y=None, labeller=None, reopened=True)
        if not again.asked:
            entry.y, entry.labeller, entry.reopened = None, None, True
            return entry
        self._await_again(again)
        return again

    def _ask_again(self, entry: Entry) -> Entry:
        """A withdrawn label is awaited again, and paid for."""
        again = msgspec.structs.replace(entry, withdrawn=None, reopened=True, paid=True)
        if not entry.paid:
            self.bought += 1
            self.spend = self.spend.plus(entry.cost)
        self._await_again(again)
        return again

    def _await_again(self, entry: Entry) -> None:
        """What was settled is awaited; its place in the order is passed over later."""
        del self._settled[entry.id]
        self._moved[entry.id] = self._moved.get(entry.id, 0) + 1
        self.awaited[entry.id] = entry

    def await_rows(self, rows: AwaitedRows) -> None:
        """Labels of a batch were bought and are awaited now; `buy_many` counts the money."""
        if len(self.unwritten) == MOST_UNWRITTEN:
            self.write_awaited()
        self.unwritten.append(rows)
        self.awaited = Unwritten(self.write_awaited, self._count_awaited)

    def write_awaited(self) -> dict[str, Entry]:
        """Make entries of all that is awaited."""
        for rows in self.unwritten:
            self._entered.update((entry.id, entry) for entry in rows.all_entries())
        self.unwritten, self.awaited = [], self._entered
        return self._entered

    def _count_awaited(self) -> int:
        return len(self._entered) + sum(map(len, self.unwritten))

    def tell_rows(self, rows: AwaitedRows, ids: Sequence[str], told: PassedRows) -> None:
        """Labels of these rows came, in this order; all but the last ids to remember may be left out."""
        if not len(rows):
            self.unwritten.remove(rows)
            if not self.unwritten:
                self.awaited = self._entered
        if ids:
            self.pass_many(dict.fromkeys(ids, PassedBatch()), told)

    def await_many(self, entries: list[Entry]) -> None:
        """Labels were bought and are awaited now; `buy_many` counts the money."""
        for entry in entries:
            entry.paid = True
            self.awaited[entry.id] = entry

    def tell_many(self, entries: Sequence[Entry], ys: Iterable[float]) -> None:
        """Labels that were awaited came."""
        for entry, y in zip(entries, ys, strict=True):
            entry.y, entry.labeller = y, None
            del self.awaited[entry.id]
            self.settle(entry)

    def buy_many(self, count: int, cost: float) -> None:
        """Labels bought at the same cost. Sums are exact, so powers of two add up to the same bits."""
        self.bought += count
        for power in range(count.bit_length()):
            if count >> power & 1:
                self.spend = self.spend.plus(cost * 2.0**power)

    def buy_each(self, costs: list[float]) -> None:
        """Labels bought at these costs."""
        self.bought += len(costs)
        for cost in costs:
            self.spend = self.spend.plus(cost)

    # -- batches ---------------------------------------------------------------------------------

    def write_out(self) -> None:
        """Make entries of all that is remembered in batches."""
        waiting: dict[PassedBatch, list[str]] = {}
        for id, one in self._settled.items():
            if type(one) is PassedBatch:
                waiting.setdefault(one, []).append(id)
        for batch, ids in waiting.items():
            self._settled.update(zip(ids, batch.entries(ids), strict=True))

    # -- keeping ---------------------------------------------------------------------------------

    def state(self, plain: Callable[[Any], Any]) -> dict[str, Any]:
        """Everything, as plain data; `plain` writes points."""
        self.write_out()
        return {
            "awaited": _written(list(self.awaited.values()), plain),
            "settled": _written(list(map(self._entry, self._settled)), plain),
            "next_number": self.next_number,
            "bought": self.bought,
            "spend": self.spend.parts,
        }

    def _entry(self, id: str) -> Entry:
        entry = self._settled[id]
        assert not isinstance(entry, PassedBatch)  # as all are written out
        return Entry(id, *entry) if isinstance(entry, tuple) else entry

    def load(self, state: dict[str, Any], recall: Callable[[Any], Any]) -> None:
        """Take up a state that `state` returned; `recall` reads points back."""
        self.awaited = self._entered = {entry.id: entry for entry in _read(state["awaited"], recall)}
        self.unwritten = []
        self._settled = {entry.id: entry for entry in _read(state["settled"], recall)}
        self._order, self._moved = deque(self._settled), {}
        self.next_number = expect.whole("next_number", state["next_number"], least=1)
        self.bought = expect.whole("bought", state["bought"])
        self.spend = ExactSum(tuple(map(float, state["spend"])))


NewIds = dict[str, PassedBatch]  # those of a batch of arrivals, in their order


class Warmup(msgspec.Struct):
    """How many first labels are wanted, asked for (and not withdrawn), and told.

    Once the last of them is told, the warm-up is over for good.
    """

    wanted: int
    asked: int = 0
    told: int = 0

    @property
    def over(self) -> bool:
        """Whether all its labels are told."""
        return self.told == self.wanted

    @property
    def open(self) -> bool:
        """Whether the next arrival is labelled whatever the rule says."""
        return self.asked < self.wanted

    @property
    def left(self) -> int:
        """Labels still to be told."""
        return self.wanted - self.told

    def ask(self) -> bool:
        """A label is asked for; whether it is one of the warm-up's."""
        mine = self.open
        self.asked += mine
        return mine

    def tell(self) -> None:
        """One of its labels came; told again once the warm-up is over, it counts no second time."""
        self.told += not self.over

    def withdraw(self, *, told: bool) -> None:
        """One of its labels goes; the next arrival takes its place, unless all were told already."""
        if not self.over:
            self.asked -= 1
            self.told -= told

    def reopen(self) -> None:
        """One of its labels, told by mistake, is awaited again; a warm-up that is over stays over."""
        if not self.over:
            self.told -= 1


class Awaited(msgspec.Struct, frozen=True):
    """A label asked for and not told: its point, and the decision to ask for it."""

    x: Any
    decision: Decision

    @property
    def cost(self) -> float:
        """What the label costs."""
        return self.decision.cost

    @property
    def round(self) -> int:
        """The round in which it was asked for."""
        return self.decision.round

    @property
    def labeller(self) -> str | None:
        """Who was asked, where there is a choice."""
        return self.decision.labeller


class AwaitedLabels(Mapping[str, Awaited]):
    """The labels that are awaited, by id, oldest first. It shows the learner as it is, and copies nothing."""

    def __init__(self, book: Book, plain: Callable[[Any], Any]) -> None:
        self._book, self._plain = book, plain

    def __getitem__(self, id: str) -> Awaited:
        entry = self._book.awaited[id]
        assert entry.decision is not None
        return Awaited(self._plain(entry.x), entry.decision)

    def __iter__(self) -> Iterator[str]:
        return iter(self._book.awaited)

    def __len__(self) -> int:
        return len(self._book.awaited)

    def __repr__(self) -> str:
        return f"AwaitedLabels({dict(self)!r})"


def _written(entries: list[Entry], plain: Callable[[Any], Any]) -> dict[str, Any]:
    """Entries as columns, points as plain data, and their decisions as columns of their own."""
    columns: dict[str, Any] = as_columns(Entry, entries)
    if not entries:
        return columns
    columns["x"] = list(map(plain, columns["x"]))
    decisions = [one for one in columns.pop("decision", ()) if one is not None]
    columns["decided"] = [entry.decision is not None for entry in entries]
    columns["decisions"] = as_columns(Decision, decisions)
    if decisions:
        columns["decisions"]["prediction"] = as_columns(Prediction, columns["decisions"]["prediction"])
    return columns


def _read(columns: dict[str, Any], recall: Callable[[Any], Any]) -> list[Entry]:
    if not columns:
        return []
    decided, decisions = columns.pop("decided"), columns.pop("decisions")
    if decisions:
        decisions["prediction"] = from_columns(Prediction, decisions["prediction"])
        decisions["threshold"] = [
            nan if one != one else one for one in decisions["threshold"]
        ]  # one and the same
    answers = iter(from_columns(Decision, decisions))
    columns["decision"] = [next(answers) if one else None for one in decided]
    columns["x"] = list(map(recall, columns["x"]))
    return from_columns(Entry, columns)


def taken(entry: Entry, hint: str) -> DuplicateId:
    """The error for an id that belongs to another arrival."""
    return DuplicateId(
        f"id: expected one that is not in use, got {entry.id!r}, whose label is {_state_of(entry)}; {hint}"
    )


def unknown(id: str, wanted: str, hint: str = "") -> UnknownId:
    """The error for an id that is not in the needed state."""
    return UnknownId(f"id: expected {wanted}, got {expect.shown(id)}{hint}")


def _standing(entry: Entry | None, advice: str) -> str:
    """Where an entry stands, for an error."""
    if entry is None:
        return ""
    if entry.decision is not None and not entry.decision.wants_label and entry.withdrawn is None:
        return "; that arrival was not asked about"
    return f"; its label is {_state_of(entry)}" + (f", {advice}" if advice else "")


def _state_of(entry: Entry) -> str:
    if entry.y is not None:
        return "told"
    if entry.withdrawn is not None:
        return "withdrawn"
    return "still awaited" if entry.asked else "not asked for"


def _conflict(id: str, before: float | None, now: float, where: str, hint: str) -> ConflictingLabel:
    return ConflictingLabel(f"id {id!r}: expected the label {before!r} {where}, got {now!r}{hint}")
