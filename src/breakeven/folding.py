"""Learners in a store: events as entries, a learner as the fold of its stream, checking, erasing a person.

Entries of kinds that are no events of a learner are left alone: they are somebody else's.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from typing import Any, get_args

from msgspec import Struct

from breakeven import wire
from breakeven.errors import BreakevenError, InvalidInput, SnapshotError, UnknownId, expect
from breakeven.learner import Learner
from breakeven.store import LogEntry, Store, StoredSnapshot, StoredStream, StoreError
from breakeven.store.port import ARRIVAL, mark_of
from breakeven.values import AnyEvent, Arrived, Created, Erased

logger = logging.getLogger(__name__)

EVENT_KINDS = frozenset(kind.__name__ for kind in get_args(AnyEvent))
EMPTIED = "Emptied"  # the kind of an entry that was no event of a learner, and was erased
FINDINGS_SHOWN = 20  # of a damaged stream
FOUND_AT_ONCE = 500  # ids that a check looks for at a time

DoneOf = Callable[[int, int], object]
"""Told how many entries are done, and of how many."""


class Damage(StoreError):
    """An entry that cannot be read, or a log that leads to no learner; the message says where."""


class StreamReport(Struct, frozen=True):
    """What a check found in one stream: how much there is, and what is wrong with it, if anything."""

    name: str
    entries: int
    rounds: int
    snapshots: int
    wrong: tuple[str, ...] = ()


class ErasedFrom(Struct, frozen=True):
    """What erasing an id changed in one stream."""

    name: str
    entries: int
    rounds: int


# -- events and entries --------------------------------------------------------------------------------


def entry_of(event: AnyEvent, stream: int, seq: int, *, by: str, at: float | None = None) -> LogEntry:
    """An event as the next entry of a log; `by` is who caused it, `at` is now unless given."""
    at = time.time() if at is None else at
    return LogEntry(stream, seq, at, by, type(event).__name__, id_of(event), wire.to_msgpack(event))


def id_of(event: AnyEvent) -> str | None:
    """The id of the arrival or of the learnt label that an event is about, if it is about one."""
    if isinstance(event, Arrived):
        return event.decision.id
    return getattr(event, "id", None)


def event_of(entry: LogEntry) -> AnyEvent:
    """The event that an entry holds; one that cannot be read is `Damage`."""
    try:
        return wire.event_from_msgpack(entry.body)
    except InvalidInput as error:
        raise Damage(f"entry {entry.seq} of stream {entry.stream}: {error}") from error


def events_of(entries: Iterable[LogEntry]) -> Iterator[AnyEvent]:
    """The events of a learner among entries."""
    return (event_of(entry) for entry in entries if entry.kind in EVENT_KINDS)


# -- the fold ------------------------------------------------------------------------------------------


EachEvent = Callable[[LogEntry, AnyEvent, Learner], object]
"""Called with an entry that was folded, the event in it, and the learner after it."""


def fold_stream(
    store: Store,
    stream: StoredStream,
    *,
    use_snapshot: bool = True,
    each: EachEvent | None = None,
    upto: int | None = None,
    **own: Any,
) -> Learner:
    """The learner of a stream, from its latest snapshot and the entries after it, or from all entries.

    With `upto` as it was after that entry. A snapshot that cannot be read is left aside. `each` is called
    with every event that is folded. Classes of your own are named, as for `Learner.restore`:
    `rules=(MyRule,)`, `beliefs=(MyBelief,)`.
    """
    kept = _latest(store, stream.number, upto) if use_snapshot else None
    learner = None if kept is None else _restored(stream, kept, own)
    after, rules = 0 if kept is None or learner is None else kept.seq, own.get("rules", ())
    for entry in store.entries(stream.number, after=after, upto=upto):
        if entry.kind not in EVENT_KINDS:
            continue
        event = event_of(entry)
        if learner is None:
            learner = Learner.fold([event], **own)
        else:
            learner.apply(event, rules=rules)
        if each is not None:
            each(entry, event, learner)
    return Learner.fold([], **own) if learner is None else learner  # which says what is missing


def _latest(store: Store, stream: int, upto: int | None) -> StoredSnapshot | None:
    """The latest snapshot, of those that are not of a later entry than this."""
    if upto is None:
        return store.snapshot(stream)
    numbers = [seq for seq in store.snapshot_numbers(stream) if seq <= upto]
    return store.snapshot(stream, numbers[-1]) if numbers else None


def _restored(stream: StoredStream, kept: StoredSnapshot, own: dict[str, Any]) -> Learner | None:
    """The learner of a snapshot; None where it cannot be read, for the log has all that is in it."""
    try:
        return Learner.restore(kept.body, **own)
    except SnapshotError as error:
        words = "stream %r: the snapshot after entry %d cannot be read, so the whole log is folded (%s)"
        logger.warning(words, stream.name, kept.seq, error)
        return None


def check_stream(
    store: Store, stream: StoredStream, progress: DoneOf | None = None, **own: Any
) -> StreamReport:
    """Fold a stream from its first entry on, and compare with each of its snapshots, to the bit.

    Every arrival must be found by its id, too: that is how an id counts once.
    """
    whole, marks = store.last(stream.number), store.snapshot_numbers(stream.number)
    wrong, learner, done, arrived = list[str](), None, 0, dict[str, int]()
    try:
        for entry in store.entries(stream.number):
            done += 1
            if entry.seq != done:
                raise Damage(f"entry: expected number {done}, got {entry.seq}: a gap")
            learner = _next(learner, entry, own)
            if entry.kind == ARRIVAL and entry.id is not None:
                arrived[entry.id] = entry.seq
            if len(arrived) == FOUND_AT_ONCE or done == whole:
                wrong += _not_found(store, stream.number, arrived)
                arrived.clear()
            if entry.seq in marks:
                wrong += _compared(store, stream.number, entry.seq, learner, own)
            if progress is not None and done % 100 == 0:
                progress(done, whole)
    except BreakevenError as error:
        wrong.append(f"cannot be folded beyond entry {max(done - 1, 0)}: {error}")
    rounds = 0 if learner is None else learner.rounds
    return StreamReport(stream.name, whole, rounds, len(marks), tuple(wrong[:FINDINGS_SHOWN]))


def _not_found(store: Store, stream: int, arrived: dict[str, int]) -> list[str]:
    """What is wrong with finding these ids, whose arrivals have these numbers."""
    found = store.find_many(stream, arrived)
    lost = [id for id, seq in arrived.items() if id not in found or found[id].seq != seq]
    return [f"the arrival {expect.shown(id)}, entry {arrived[id]}, is not found by its id" for id in lost]


def _next(learner: Learner | None, entry: LogEntry, own: dict[str, Any]) -> Learner | None:
    """The learner after one more entry."""
    if entry.kind not in EVENT_KINDS:
        return learner
    event = event_of(entry)
    if type(event).__name__ != entry.kind or id_of(event) != entry.id:
        raise Damage(f"entry {entry.seq}: expected what its kind and id say, got another event")
    if learner is None:
        return Learner.fold([event], **own)
    learner.apply(event, rules=own.get("rules", ()))
    return learner


def _compared(store: Store, stream: int, seq: int, learner: Learner | None, own: dict[str, Any]) -> list[str]:
    """What is wrong with a snapshot; one that an older version wrote is compared as this one writes it."""
    kept = store.snapshot(stream, seq)
    if kept is None or learner is None:
        return []
    try:
        same = Learner.restore(kept.body, **own).snapshot() == learner.snapshot()
    except BreakevenError as error:
        return [f"the snapshot after entry {seq} cannot be read: {error}"]
    return [] if same else [f"the snapshot after entry {seq} is not what the entries lead to"]


# -- erasing a person ----------------------------------------------------------------------------------


def erase(
    store: Store,
    *ids: str,
    by: str,
    stream: str | None = None,
    at: float | None = None,
    compact: bool = True,
    progress: DoneOf | None = None,
    **own: Any,
) -> list[ErasedFrom]:
    """Delete the content of every event about some ids, in one stream or in all, and say what was changed.

    Each such entry keeps its number and says that it was erased, when and by whom; an arrival keeps its
    round. All snapshots of the stream go, and one is kept of what is left. Of each id a mark is kept, by
    which it is known to be erased (`store.erased`). Nothing is changed unless every id is there, or was
    erased before, and what is left can be folded. The bytes are in the files of the store until it is
    compacted; without `compact` that is left to the caller.
    """
    if not ids:
        expect.refuse("ids", "one at least", "none", described=True)
    chosen = store.streams() if stream is None else [store.stream(stream)]
    erasing = _Erasing(store, store.id, frozenset(ids), by, time.time() if at is None else at, progress, own)
    erasing.whole = 2 * sum(store.last(one.number) for one in chosen)
    found = {one.number: erasing.replacements(one) for one in chosen}
    concerned = [one for one in chosen if found[one.number]]
    before = frozenset[bytes]().union(*(store.erased(one.number) for one in chosen))
    unknown = [id for id in ids if id not in erasing.seen and mark_of(store.id, id) not in before]
    if unknown:
        raise nowhere(unknown[0])
    done = [erasing.tried(one, found[one.number]) for one in concerned]
    for one in concerned:
        store.rewrite(one.number, found[one.number], erasing.marks[one.number])
        erasing.keep_left(one)
    if compact:
        store.compact()
    return done


def nowhere(id: str) -> UnknownId:
    """What to raise where there is nothing to erase about an id."""
    return UnknownId(f"id: expected one that is in the store, got {id!r}; nothing was erased")


class Erasure:
    """Ids that go from one stream at once: found by look-ups, and what is left is folded by nobody.

    `find` refuses what cannot be erased and says whether there is anything to erase; `write` erases it, in
    one transaction, and says how many entries that were. Nobody may write to the stream in between.
    """

    def __init__(self, store: Store, stream: StoredStream, ids: Iterable[str], *, by: str, at: float) -> None:
        self._ids, self._stream = list(dict.fromkeys(ids)), stream
        self._erasing = _Erasing(store, store.id, frozenset(self._ids), by, at, None, {})
        self._found: list[LogEntry] = []

    def find(self) -> bool:
        """Look the entries about the ids up; whether there are any."""
        erasing, store, number = self._erasing, self._erasing.store, self._stream.number
        erasing.check_beginning(self._stream)
        arrived, before = store.find_many(number, self._ids), store.erased(number)
        entries = list(arrived.values()) + [one for id in self._ids for one in store.about(number, id)]
        entries.sort(key=lambda one: one.seq)
        found = [erasing.replacement(self._stream, one) for one in entries]
        self._found = [one for one in found if one is not None]
        for id in self._ids:
            if id not in erasing.seen and mark_of(erasing.store_id, id) not in before:
                raise nowhere(id)
        return bool(self._found)

    def write(self) -> int:
        """Erase what was found; how many entries."""
        number = self._stream.number
        self._erasing.store.rewrite(number, self._found, self._erasing.marks[number])
        return len(self._found)


class _Erasing(Struct):
    """Ids that go: who erases them, when, and how far that is."""

    store: Store
    store_id: str
    ids: frozenset[str]
    by: str
    at: float
    progress: DoneOf | None
    own: dict[str, Any]
    seen: set[str] = set()  # of these ids
    marks: dict[int, set[bytes]] = {}  # of these ids, by stream
    left: dict[int, StoredSnapshot] = {}  # what the log will lead to, by stream
    done: int = 0
    whole: int = 0

    def replacements(self, stream: StoredStream) -> list[LogEntry]:
        """What takes the place of the entries about the ids."""
        self.check_beginning(stream)
        found = [self.replacement(stream, entry) for entry in self._entries(stream)]
        return [one for one in found if one is not None]

    def replacement(self, stream: StoredStream, entry: LogEntry) -> LogEntry | None:
        """What takes the place of an entry; None where it is about none of the ids."""
        if entry.kind not in EVENT_KINDS:
            if entry.id not in self.ids:
                return None
            self._mark(stream, entry.id)  # of somebody else's: its number stays
            return LogEntry(entry.stream, entry.seq, self.at, self.by, EMPTIED, None, b"")
        event = event_of(entry)
        about = id_of(event)
        if about not in self.ids:
            return None
        self._mark(stream, about)
        gone = Erased(event.number, event.stream, arrival=isinstance(event, Arrived))
        return entry_of(gone, entry.stream, entry.seq, by=self.by, at=self.at)

    def _mark(self, stream: StoredStream, id: str) -> None:
        self.seen.add(id)
        self.marks.setdefault(stream.number, set()).add(mark_of(self.store_id, id))

    def tried(self, stream: StoredStream, changed: list[LogEntry]) -> ErasedFrom:
        """Fold the log as it will be, and say what will have changed."""
        by_seq, last = {entry.seq: entry for entry in changed}, self.store.last(stream.number)
        entries = (by_seq.get(entry.seq, entry) for entry in self._entries(stream))
        left = Learner.fold(events_of(entries), **self.own)
        kept = StoredSnapshot(stream.number, last, self.at, version("breakeven"), left.snapshot())
        self.left[stream.number] = kept
        return ErasedFrom(stream.name, len(changed), left.rounds)

    def keep_left(self, stream: StoredStream) -> None:
        """Keep what was folded: whoever reads the stream next need not fold it again."""
        try:
            self.store.keep_snapshot(self.left.pop(stream.number))
        except StoreError as error:  # the log has all that is in it
            logger.warning("stream %r: the snapshot of what is left was not kept (%s)", stream.name, error)

    def check_beginning(self, stream: StoredStream) -> None:
        """Raise where a stream began with a state that holds an id: that cannot be taken out of it."""
        event = next(events_of(self.store.entries(stream.number)), None)  # all others come after it
        if not isinstance(event, Created) or event.state is None:
            return
        book = Learner.restore(event.state, **self.own).state.book
        held = [id for id in sorted(self.ids) if book.find(id) is not None]
        if held:
            raise InvalidInput(
                f"stream {stream.name!r}: it began with a snapshot that holds {held[0]!r}, from which "
                "nothing can be taken out; erase it in the stream before, and begin this one anew"
            )

    def _entries(self, stream: StoredStream) -> Iterator[LogEntry]:
        for entry in self.store.entries(stream.number):
            yield entry
            self.done += 1
            if self.progress is not None and self.done % 100 == 0:
                self.progress(self.done, self.whole)
