"""A store in memory, for tests: all that a store does, but for keeping anything."""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from threading import RLock
from uuid import uuid4

from msgspec.structs import replace

from breakeven.errors import DuplicateId, WrongEvent, expect
from breakeven.folding import EVENT_KINDS
from breakeven.store.port import (
    ARRIVAL,
    Appended,
    FirstEntries,
    LogEntry,
    StoredPerson,
    StoredSession,
    StoredSnapshot,
    StoredStream,
    StoredToken,
    TrailEntry,
    TrailVerb,
    check_entries,
    check_entry,
    check_name,
    numbered,
    rights_of,
    unknown_stream,
)


class MemoryStore:
    """Forgets everything at its end. `failure`, where it is set, is raised by every verb that writes."""

    name = "memory"
    location = None

    def __init__(self) -> None:
        self.id = uuid4().hex
        self.failure: Exception | None = None
        self._turn = RLock()
        self._highest = 0  # number of a stream
        self._streams: dict[int, StoredStream] = {}
        self._logs: dict[int, list[LogEntry]] = {}
        self._snapshots: dict[int, dict[int, StoredSnapshot]] = {}
        self._tokens: dict[str, StoredToken] = {}
        self._sessions: dict[bytes, StoredSession] = {}
        self._people: dict[str, StoredPerson] = {}
        self._trail: list[TrailEntry] = []
        self._erased: dict[int, frozenset[bytes]] = {}
        self.uncompacted = False

    def streams(self) -> list[StoredStream]:
        """All streams."""
        return list(self._streams.values())

    def stream(self, name: str) -> StoredStream:
        """The stream with this name."""
        for one in self.streams():
            if one.name == name:
                return one
        raise unknown_stream(name)

    def create_stream(
        self, name: str, config: bytes, at: float, first: FirstEntries | None = None
    ) -> StoredStream:
        """Make a stream, with its first entries if given."""
        check_name("name", name)
        with self._turn:
            self._fail()
            if any(one.name == name for one in self.streams()):
                raise DuplicateId(f"name: expected one that no stream of this store has, got {name!r}")
            made = StoredStream(self._highest + 1, name, config, at)
            entries = [] if first is None else list(first(made.number))
            for entry in entries:
                check_entry(entry)
            numbered(entries, {made.number: 0})
            self._streams[made.number], self._highest = made, made.number
            self._logs[made.number], self._snapshots[made.number] = entries, {}
        return made

    def close_stream(self, stream: int, at: float, *, by: str) -> None:
        """Say that a stream takes no more entries."""
        with self._turn:
            self._fail()
            open = self._known(stream)
            if open.closed is None:
                self._note(at, by, "close stream", open.name, "")
                self._streams[stream] = replace(open, closed=at)

    def drop_stream(self, stream: int, at: float, *, by: str) -> None:
        """Remove a stream with all its entries and snapshots."""
        with self._turn:
            self._fail()
            self._note(at, by, "remove stream", self._known(stream).name, "")
            del self._streams[stream], self._logs[stream], self._snapshots[stream]
            self._erased.pop(stream, None)
            self.uncompacted = True

    def append(self, entries: Sequence[Appended]) -> None:
        """Add entries to the end of their logs."""
        check_entries(entries)
        self._append(list(chain.from_iterable(one.entries() for one in entries)))

    def _append(self, entries: Sequence[LogEntry]) -> None:
        with self._turn:
            self._fail()
            concerned = {entry.stream for entry in entries}
            for stream in concerned:
                if self._known(stream).closed is not None:
                    raise WrongEvent(
                        f"entry: expected one of an open stream, got one of {stream}, which is closed"
                    )
            numbered(entries, {stream: len(self._logs[stream]) for stream in concerned})
            self._check_ids(entries)
            for entry in entries:
                self._logs[entry.stream].append(entry)

    def _check_ids(self, entries: Sequence[LogEntry]) -> None:
        there = {(s, one.id) for s in self._logs for one in self._logs[s] if one.kind == ARRIVAL}
        for one in entries:
            if one.kind == ARRIVAL and one.id is not None:
                if (one.stream, one.id) in there:
                    raise DuplicateId(f"id: expected one that has not arrived in this stream, got {one.id!r}")
                there.add((one.stream, one.id))

    def entries(self, stream: int, after: int = 0, upto: int | None = None) -> Iterator[LogEntry]:
        """The entries behind a number."""
        yield from list(self._logs.get(stream, ()))[after:upto]

    def last(self, stream: int) -> int:
        """The number of the last entry."""
        return len(self._logs.get(stream, ()))

    def find(self, stream: int, id: str) -> LogEntry | None:
        """The arrival with this id."""
        found = (one for one in self.entries(stream) if one.kind == ARRIVAL and one.id == id)
        return next(found, None)

    def find_many(self, stream: int, ids: Collection[str]) -> dict[str, LogEntry]:
        """The arrivals with these ids."""
        there = self.entries(stream)
        return {one.id: one for one in there if one.kind == ARRIVAL and one.id is not None and one.id in ids}

    def times(self, stream: int, seqs: Collection[int]) -> dict[int, float]:
        """When the entries with these numbers were written."""
        wanted = set(seqs)
        return {one.seq: one.at for one in self.entries(stream) if one.seq in wanted}

    def arrival_ids(self, stream: int) -> Iterator[str]:
        """The ids of all arrivals."""
        return (one.id for one in self.entries(stream) if one.kind == ARRIVAL and one.id is not None)

    def about(self, stream: int, id: str) -> list[LogEntry]:
        """Every entry about an id but its arrival."""
        return [one for one in self.entries(stream) if one.id == id and one.kind != ARRIVAL]

    def beside(self, stream: int) -> list[LogEntry]:
        """The entries of kinds that are no events of a learner."""
        return [one for one in self.entries(stream) if one.kind not in EVENT_KINDS]

    def keep_snapshot(self, snapshot: StoredSnapshot) -> None:
        """Keep a snapshot of an entry that is there."""
        with self._turn:
            self._fail()
            if not 1 <= snapshot.seq <= self.last(snapshot.stream):
                raise WrongEvent(
                    f"snapshot: expected one of an entry that is there, got one of {snapshot.seq}"
                )
            self._snapshots[snapshot.stream][snapshot.seq] = snapshot

    def snapshot(self, stream: int, seq: int | None = None) -> StoredSnapshot | None:
        """The snapshot after an entry, or the latest."""
        numbers = self.snapshot_numbers(stream)
        wanted = (numbers[-1] if numbers else 0) if seq is None else seq
        return self._snapshots.get(stream, {}).get(wanted)

    def snapshot_numbers(self, stream: int) -> list[int]:
        """The numbers after which there are snapshots."""
        return sorted(self._snapshots.get(stream, ()))

    def drop_snapshots(self, stream: int, *, keep: int) -> int:
        """Drop all but the latest snapshots of a stream."""
        with self._turn:
            self._fail()
            numbers = self.snapshot_numbers(stream)
            old = numbers[: max(0, len(numbers) - keep)]
            for seq in old:
                del self._snapshots[stream][seq]
        return len(old)

    def rewrite(self, stream: int, entries: Sequence[LogEntry], marks: Collection[bytes] = ()) -> None:
        """Put these in the place of others, and drop all snapshots of the stream."""
        with self._turn:
            self._fail()
            log = list(self._logs[self._known(stream).number])
            for one in entries:
                check_entry(one)
                if one.seq > len(log):
                    raise WrongEvent(f"entry: expected one that is there, got number {one.seq}")
                log[one.seq - 1] = one
            self._logs[stream], self._snapshots[stream] = log, {}
            self._erased[stream] = self.erased(stream) | frozenset(marks)
            self.uncompacted = True

    def erased(self, stream: int) -> frozenset[bytes]:
        """The marks of all ids that were erased from a stream."""
        return self._erased.get(stream, frozenset())

    def add_token(self, token: StoredToken, *, by: str) -> None:
        """Keep a token."""
        with self._turn:
            self._fail()
            check_name("name", token.name)
            if token.id in self._tokens:
                raise DuplicateId(f"token: expected an id that no token has, got {token.id!r}")
            self._note(token.created, by, "add token", token.name, f"{token.id}: {rights_of(token)}")
            self._tokens[token.id] = token

    def tokens(self) -> list[StoredToken]:
        """All tokens."""
        return sorted(self._tokens.values(), key=lambda one: (one.created, one.id))

    def token(self, id: str) -> StoredToken | None:
        """The token with this id."""
        return self._tokens.get(id)

    def revoke_token(self, id: str, at: float, *, by: str) -> bool:
        """Say that a token is good no more."""
        with self._turn:
            self._fail()
            found = self._tokens.get(id)
            if found is not None and found.revoked is None:
                self._note(at, by, "revoke token", found.name, id)
                self._tokens[id] = replace(found, revoked=at)
            return found is not None

    def use_token(self, id: str, at: float) -> None:
        """Remember that a token was used."""
        with self._turn:
            self._fail()
            if id in self._tokens:
                self._tokens[id] = replace(self._tokens[id], used=expect.finite("at", at))

    def keep_person(self, person: StoredPerson, at: float, *, by: str) -> None:
        """Keep what somebody may do."""
        check_name("name", person.name)
        with self._turn:
            self._fail()
            self._note(at, by, "add person", person.name, rights_of(person))
            self._people[person.name] = person

    def people(self) -> list[StoredPerson]:
        """Everybody, by name."""
        return sorted(self._people.values(), key=lambda one: one.name)

    def person(self, name: str) -> StoredPerson | None:
        """The person of this name."""
        return self._people.get(name)

    def drop_person(self, name: str, at: float, *, by: str) -> bool:
        """Forget a person."""
        with self._turn:
            self._fail()
            if name not in self._people:
                return False
            self._note(at, by, "remove person", name, "")
            del self._people[name]
        return True

    def trail(self) -> list[TrailEntry]:
        """Who changed what somebody may do."""
        return list(self._trail)

    def _note(self, at: float, by: str, verb: TrailVerb, about: str, detail: str) -> None:
        check_name("by", by)
        self._trail.append(TrailEntry(len(self._trail) + 1, at, by, verb, about, detail))

    def add_session(self, session: StoredSession) -> None:
        """Keep a session."""
        with self._turn:
            self._fail()
            self._sessions[session.hash] = session

    def session(self, hash: bytes) -> StoredSession | None:
        """The session with this digest."""
        return self._sessions.get(hash)

    def end_session(self, hash: bytes) -> None:
        """Forget a session."""
        with self._turn:
            self._fail()
            self._sessions.pop(hash, None)

    def end_sessions(self, before: float) -> int:
        """Forget all sessions that expire before a time."""
        with self._turn:
            self._fail()
            old = [one.hash for one in self._sessions.values() if one.expires < before]
            for hash in old:
                del self._sessions[hash]
            return len(old)

    def compact(self) -> None:
        """Nothing to give back."""
        self.uncompacted = False

    def rest(self) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to let go of."""

    def _known(self, stream: int) -> StoredStream:
        if stream not in self._streams:
            raise unknown_stream(stream)
        return self._streams[stream]

    def _fail(self) -> None:
        if self.failure is not None:
            raise self.failure
