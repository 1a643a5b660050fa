"""What the log of a stream leads to: its learner, its configuration now, and its desk."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from msgspec import Struct

from breakeven.beliefs import Cells, SeparateTypes, TypeBelief
from breakeven.errors.serving import TooMany
from breakeven.folding import fold_stream
from breakeven.learner import Learner
from breakeven.rows import Columns
from breakeven.service.clock import Clock
from breakeven.service.desk import Desk
from breakeven.service.setting_up import columns_of, config_now
from breakeven.store import LogEntry, Store, StoredStream
from breakeven.values import AnyEvent, Arrived, Reopened
from breakeven.wire.stream_setup import StreamConfig

SKIPPED = "Skipped"  # the kind of an entry that says that somebody skipped a request
BY_TYPE = (TypeBelief, Cells, SeparateTypes)  # a late label costs the same however many are awaited
ENTRIES_BETWEEN_LOOKS = 100  # entries of a fold
KEPT_EVERY = 1.0  # seconds of a fold, after which a snapshot is kept of what it has done
SHARE_OF_KEEPING = 0.1  # of a fold's time, which making these may take at most
OPEN_BY_DEFAULT = 500  # requests of a belief over numbers: a late label costs more the more are awaited

KeepSnapshot = Callable[[int, bytes], object]
"""Given the number of an entry, and the learner after it as bytes."""


class Aside(Struct, frozen=True):
    """An entry that is no event of the learner."""

    kind: str
    id: str | None
    body: bytes


class Folded(Struct):
    """A stream as it is after its entry `seq`; `erased` are the marks of ids that were erased from it.

    `pace` is how many seconds it took to fold an entry, where there were enough of them.
    """

    learner: Learner
    config: StreamConfig
    columns: Columns | None
    desk: Desk
    seq: int
    erased: frozenset[bytes] = frozenset()
    pace: float | None = None
    fresh: list[Any] = []  # what happened in this turn: events of the learner, and what was added
    found: Sequence[LogEntry] = ()  # what the store was asked for in this turn

    def add(self, kind: str, id: str | None, body: bytes = b"") -> None:
        """In a turn: add an entry that is no event of the learner."""
        self.fresh.append(Aside(kind, id, body))

    @property
    def limit(self) -> int | None:
        """How many requests may be open; None where there is no limit."""
        if self.config.open_requests is not None or isinstance(self.learner.belief, BY_TYPE):
            return self.config.open_requests
        return OPEN_BY_DEFAULT

    def check_room(self, name: str, coming: int = 1) -> None:
        """Raise where more requests could be open than are allowed, if all that come are asked for."""
        limit, open = self.limit, len(self.desk)
        if limit is None or not coming or open + coming <= limit:
            return
        if open >= limit:
            raise TooMany(
                f"stream {name!r}: expected fewer than {limit:,} open requests, "
                f"got {open:,}; label or withdraw some"
            )
        raise TooMany(
            f"stream {name!r}: expected at most {limit - open:,} arrivals at once, as {open:,} requests "
            f"are open and at most {limit:,} may be, got {coming:,}; send fewer at once"
        )


class FoldWatch:
    """Watches a fold in the thread that does it; `pace` is how many seconds an entry takes.

    `progress` is told how far it is, from 0 to 1. `keep` is given snapshots in the course of a long fold: one
    that is killed, again and again, goes on from there, and what it has done is not done again. They take a
    small part of its time.
    """

    def __init__(self, progress: Callable[[float], object], keep: KeepSnapshot | None = None) -> None:
        self._progress, self._keep = progress, keep
        self._began = self._kept = perf_counter()
        self._pause, self._entries = KEPT_EVERY, 0

    def look(self, seq: int, last: int, learner: Learner) -> None:
        """So many entries are folded, and the next ones wait."""
        self._entries += ENTRIES_BETWEEN_LOOKS
        self._progress(seq / max(last, 1))
        began = perf_counter()
        if self._keep is not None and began > self._kept + self._pause:
            self._keep(seq, learner.snapshot())
            self._kept = perf_counter()
            self._pause = max(KEPT_EVERY, (self._kept - began) / SHARE_OF_KEEPING)

    @property
    def pace(self) -> float | None:
        """Seconds that an entry took; None where there were few."""
        return (perf_counter() - self._began) / self._entries if self._entries else None


def read_folded(store: Store, stored: StoredStream, clock: Clock, watch: FoldWatch) -> Folded:
    """Read a stream from its log; runs in any thread."""
    last, times = store.last(stored.number), dict[str, float]()

    def each(entry: LogEntry, event: AnyEvent, learner: Learner) -> None:
        if type(event) is Arrived and event.decision.wants_label:
            times[event.decision.id] = entry.at
        elif type(event) is Reopened:
            times[event.id] = entry.at
        if entry.seq % ENTRIES_BETWEEN_LOOKS == 0:
            watch.look(entry.seq, last, learner)

    learner = fold_stream(store, stored, each=each, upto=last)
    pace = watch.pace
    erased, config = store.erased(stored.number), config_now(store, stored)
    columns = None if config.columns is None else columns_of(config.columns)
    desk = _desk(store, stored, learner, times, Desk(clock.steady, store.id.encode()))
    # what another wrote meanwhile is behind `last`
    return Folded(learner, config, columns, desk, last, erased, pace)


def _desk(store: Store, stored: StoredStream, learner: Learner, times: dict[str, float], desk: Desk) -> Desk:
    """The desk with what is awaited, and who skipped what; `times` are those of requests that were folded."""
    beside = store.beside(stored.number)
    unknown = [one for id, one in learner.state.book.awaited.items() if id not in times]
    numbers = [one.key - learner.state.earlier for one in unknown]
    seqs = entry_numbers(numbers, [entry.seq for entry in beside])
    found = store.times(stored.number, {seq for seq in seqs if seq > 0})
    for one, seq in zip(unknown, seqs, strict=True):
        at = found.get(seq, stored.created)  # what a stream began with is in no entry of it
        times[one.id] = _reopened_at(store, stored.number, one.id, at) if one.reopened else at
    awaited = learner.state.book.awaited.values()
    desk.ask_all((one.decision, times[one.id]) for one in awaited if one.decision is not None)
    for entry in beside:
        if entry.kind == SKIPPED and entry.id in desk.requests:
            desk.skip(entry.id, entry.by)
    return desk


def _reopened_at(store: Store, stream: int, id: str, arrived: float) -> float:
    """When a request was opened last."""
    again = [one.at for one in store.about(stream, id) if one.kind == Reopened.__name__]
    return again[-1] if again else arrived


def entry_numbers(events: list[int], beside: list[int]) -> list[int]:
    """The numbers of entries that hold these events of a learner; `beside` are those that hold none.

    An event of before the stream has a number that no entry has.

    >>> entry_numbers([0, 1, 2, 3], beside=[2, 5])
    [0, 1, 3, 4]
    """
    before = [seq - place for place, seq in enumerate(beside, 1)]  # events before each of these
    return [number + bisect_left(before, number) for number in events]
