"""The port: what a store must do, and the values that go in and out.

A store knows bytes, numbers and times; what the bytes mean is nothing to it. Every verb may be called from
any thread. A writing verb returns once its change is on disk, and a refused one has changed nothing.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Literal, Protocol

import msgspec
from msgspec import Struct

from breakeven.errors import WrongEvent, expect
from breakeven.errors.storing import SecondWriter, UnknownStream

ARRIVAL = "Arrived"  # the kind of entry whose ids count once for ever
LARGEST_SEQ, LARGEST_TIME = 2**53, 1e12  # within which a number is surely one that can be stored
PLAIN_LENGTH = 100  # up to which text surely is
MARK_SIZE = 16  # bytes, of what is kept of an id that was erased
BATCH_READER = msgspec.msgpack.Decoder(tuple[list[str], list[msgspec.Raw]])

TrailVerb = Literal[
    "add token", "revoke token", "add person", "remove person", "close stream", "remove stream"
]


class LogEntry(Struct, frozen=True, gc=False):
    """One event in the log of a stream: its number there, when, by whom, its kind, its id and its bytes.

    `at` is in seconds since 1970 and for people only; the order of a log is that of `seq`.
    """

    stream: int
    seq: int
    at: float
    by: str
    kind: str
    id: str | None
    body: bytes

    @property
    def last(self) -> int:
        """Its own number; a batch has several."""
        return self.seq

    def entries(self) -> "list[LogEntry]":
        """Itself; a batch has several."""
        return [self]


class LogBatch(Struct, frozen=True, gc=False):
    r"""Arrivals whose numbers follow one another, from `seq` on, written as one: that costs far less.

    `body` is MessagePack of two arrays: their ids, and their bodies, each a value of MessagePack. They are
    read as single entries, and none can tell from those how it was written.

    >>> batch = LogBatch(1, 5, 0.0, "ann", ["a", "b"], msgspec.msgpack.encode((["a", "b"], [7, 8])))
    >>> [(one.seq, one.kind, one.id, one.body) for one in batch.entries()]
    [(5, 'Arrived', 'a', b'\x07'), (6, 'Arrived', 'b', b'\x08')]
    """

    stream: int
    seq: int
    at: float
    by: str
    ids: list[str]
    body: bytes

    @property
    def last(self) -> int:
        """The number of the last of them."""
        return self.seq + len(self.ids) - 1

    def entries(self) -> list[LogEntry]:
        """The arrivals one by one."""
        return split_batch(self.stream, self.seq, self.at, self.by, self.body)


Appended = LogEntry | LogBatch
"""What is added to a log."""


def split_batch(stream: int, first: int, at: float, by: str, body: bytes) -> list[LogEntry]:
    """The arrivals of a batch one by one."""
    ids, bodies = BATCH_READER.decode(body)
    cases = zip(ids, map(bytes, bodies), strict=True)
    return [LogEntry(stream, seq, at, by, ARRIVAL, id, one) for seq, (id, one) in enumerate(cases, first)]


class StoredStream(Struct, frozen=True):
    """A stream: its number in this store, its name, its configuration, when it was made and closed."""

    number: int
    name: str
    config: bytes
    created: float
    closed: float | None = None


class StoredSnapshot(Struct, frozen=True):
    """The state of a stream after its entry `seq`, as bytes; `version` is that of whoever wrote it."""

    stream: int
    seq: int
    at: float
    version: str
    body: bytes


class StoredToken(Struct, frozen=True):
    """A token: its id, the name of whoever holds it, the digest of its secret, and what it is good for.

    `roles` and `streams` are names with spaces between them; without `streams` it is good for all. Times are
    in seconds since 1970; `used` is when it was used last, as `use_token` was told.
    """

    id: str
    name: str
    hash: bytes
    roles: str
    streams: str | None
    created: float
    expires: float | None = None
    used: float | None = None
    revoked: float | None = None


class StoredSession(Struct, frozen=True):
    """A page that somebody logged in to: the digest of its secret, the id of its token, and when it ends."""

    hash: bytes
    token: str
    expires: float


class StoredPerson(Struct, frozen=True):
    """Somebody whom a proxy vouches for: roles and streams with spaces between them; None is all streams."""

    name: str
    roles: str
    streams: str | None = None


class TrailEntry(Struct, frozen=True):
    """Who changed what somebody may do, or ended a stream, and when; numbers go on from 1.

    `about` is the name of whoever holds the token, of the person, or of the stream; `detail` says what they
    may do, without any secret.
    """

    number: int
    at: float
    by: str
    verb: TrailVerb
    about: str
    detail: str = ""


FirstEntries = Callable[[int], Sequence[LogEntry]]
"""The first entries of a stream, given its number."""


class Store(Protocol):
    """An append-only log for each stream, snapshots beside it, and the tokens of those who may use it."""

    @property
    def name(self) -> str:
        """Where it is, as messages call it."""

    @property
    def location(self) -> str | None:
        """The address that opens it from another process, too; None where there is none."""

    @property
    def id(self) -> str:
        """Its own id, made at random when the store was made; a copy of the store keeps it."""

    def streams(self) -> list[StoredStream]:
        """All streams, in the order in which they were made."""

    def stream(self, name: str) -> StoredStream:
        """The stream with this name, or `UnknownStream`."""

    def create_stream(
        self, name: str, config: bytes, at: float, first: FirstEntries | None = None
    ) -> StoredStream:
        """Make a stream, with its first entries if given; a name that is taken is refused: `DuplicateId`."""

    def close_stream(self, stream: int, at: float, *, by: str) -> None:
        """Say that a stream takes no more entries; those it has stay. Closed again, it stays as it was."""

    def drop_stream(self, stream: int, at: float, *, by: str) -> None:
        """Remove a stream with all its entries and snapshots; `compact` removes their traces."""

    def append(self, entries: Sequence[Appended]) -> None:
        """Add entries to the end of their logs, of one stream or of several: all of them, or none.

        A batch is added as the arrivals in it; how it is kept is the store's own affair. Numbers of a stream
        begin with 1 and have no gaps. A number that is taken is refused with `SecondWriter`, a gap with
        `WrongEvent`, a second arrival with the same id with `DuplicateId`.
        """

    def entries(self, stream: int, after: int = 0, upto: int | None = None) -> Iterator[LogEntry]:
        """The entries behind number `after`, up to and with number `upto`, in their order.

        They are read in pages, so that a slow reader holds nothing up.
        """

    def last(self, stream: int) -> int:
        """The number of the last entry; 0 where there is none."""

    def find(self, stream: int, id: str) -> LogEntry | None:
        """The arrival with this id, however long ago it was; None where there is none."""

    def find_many(self, stream: int, ids: Collection[str]) -> dict[str, LogEntry]:
        """The arrivals with these ids, by id; those that there are not are left out."""

    def times(self, stream: int, seqs: Collection[int]) -> dict[int, float]:
        """When the entries with these numbers were written; those that there are not are left out."""

    def arrival_ids(self, stream: int) -> Iterator[str]:
        """The ids of all arrivals, in no particular order, read in pages."""

    def about(self, stream: int, id: str) -> list[LogEntry]:
        """Every entry about an id but its arrival, in their order."""

    def beside(self, stream: int) -> list[LogEntry]:
        """The entries of kinds that are no events of a learner, in their order."""

    def keep_snapshot(self, snapshot: StoredSnapshot) -> None:
        """Keep a snapshot of an entry that is there; one of the same entry is replaced."""

    def snapshot(self, stream: int, seq: int | None = None) -> StoredSnapshot | None:
        """The snapshot after this entry, or the latest; None where there is none."""

    def snapshot_numbers(self, stream: int) -> list[int]:
        """The numbers of the entries after which there are snapshots, in their order."""

    def drop_snapshots(self, stream: int, *, keep: int) -> int:
        """Drop all but the latest `keep` snapshots of a stream, and say how many went."""

    def rewrite(self, stream: int, entries: Sequence[LogEntry], marks: Collection[bytes] = ()) -> None:
        """Put these in the place of the entries with their numbers, and drop all snapshots of the stream.

        This is how content is erased, and the only way in which an entry ever changes. `marks` are those of
        the ids that go, as `mark_of` makes them.
        """

    def erased(self, stream: int) -> frozenset[bytes]:
        """The marks of all ids that were erased from a stream."""

    @property
    def uncompacted(self) -> bool:
        """Whether something was dropped or rewritten, and `compact` did not come to its end since."""

    def add_token(self, token: StoredToken, *, by: str) -> None:
        """Keep a token; an id that is taken is refused with `DuplicateId`."""

    def tokens(self) -> list[StoredToken]:
        """All tokens, the oldest first."""

    def token(self, id: str) -> StoredToken | None:
        """The token with this id; None where there is none."""

    def revoke_token(self, id: str, at: float, *, by: str) -> bool:
        """Say that a token is good no more; whether there is one with this id."""

    def use_token(self, id: str, at: float) -> None:
        """Remember that a token was used; one that is not there is left alone."""

    def add_session(self, session: StoredSession) -> None:
        """Keep a session."""

    def session(self, hash: bytes) -> StoredSession | None:
        """The session with this digest; None where there is none."""

    def end_session(self, hash: bytes) -> None:
        """Forget a session; one that is not there is none already."""

    def end_sessions(self, before: float) -> int:
        """Forget all sessions that expire before a time, and say how many."""

    def keep_person(self, person: StoredPerson, at: float, *, by: str) -> None:
        """Keep what somebody may do; what was kept of that name is replaced."""

    def people(self) -> list[StoredPerson]:
        """Everybody, by name."""

    def person(self, name: str) -> StoredPerson | None:
        """The person of this name; None where there is none."""

    def drop_person(self, name: str, at: float, *, by: str) -> bool:
        """Forget a person; whether there was one."""

    def trail(self) -> list[TrailEntry]:
        """Who added and revoked tokens, said what people may do, and ended streams; the first change first.

        A change and its line in the trail are on disk together.
        """

    def compact(self) -> None:
        """Give back the space of what was dropped or rewritten, and leave no trace of it in the files."""

    def rest(self) -> None:
        """Nothing waits to be written: a good moment for housekeeping."""

    def close(self) -> None:
        """Let go of files, connections and the lock; closing twice is harmless."""


# -- what every store checks --------------------------------------------------------------------------------


def check_entries(entries: Iterable[Appended]) -> None:
    """Raise unless every field of every entry can be stored."""
    by: str | None = None  # of the entry before: many have the same
    kind: str | None = None
    for one in entries:
        if type(one) is LogBatch:
            _check_batch(one)
            continue
        assert type(one) is LogEntry
        if not (
            type(one.seq) is int
            and 1 <= one.seq <= LARGEST_SEQ
            and type(one.at) is float
            and -LARGEST_TIME <= one.at <= LARGEST_TIME
            and type(one.body) is bytes
            and type(one.id) is str
            and _is_plain(one.id)
            and (one.by is by or _is_plain(one.by))
            and (one.kind is kind or _is_plain(one.kind))
        ):
            check_entry(one)
        by, kind = one.by, one.kind


def _check_batch(batch: LogBatch) -> None:
    """Raise unless every field of a batch can be stored."""
    if not batch.ids:
        expect.refuse("ids", "one at least", "none", described=True)
    check_entry(LogEntry(batch.stream, batch.seq, batch.at, batch.by, ARRIVAL, batch.ids[0], batch.body))
    if not (
        set(map(type, batch.ids)) == {str}
        and "" not in batch.ids
        and max(map(len, batch.ids)) <= PLAIN_LENGTH
        and (joined := "".join(batch.ids)).isascii()
        and joined.isprintable()
    ):
        for id in batch.ids:
            check_name("id", id)


def _is_plain(text: str) -> bool:
    """Whether text is surely one that can be stored: short, not empty, printable and of ASCII."""
    return 0 < len(text) <= PLAIN_LENGTH and text.isascii() and text.isprintable()


def check_entry(entry: LogEntry) -> None:
    """Raise unless every field can be stored."""
    expect.whole("seq", entry.seq, least=1)
    expect.finite("at", entry.at)
    for field, text in (("by", entry.by), ("kind", entry.kind), ("id", entry.id)):
        if text is not None:
            check_name(field, text)
    if not isinstance(entry.body, bytes):
        expect.refuse("body", "bytes", entry.body)


def check_name(field: str, text: str) -> str:
    r"""Text that every database can hold; PostgreSQL has no U+0000.

    >>> check_name("id", "a\0b")
    Traceback (most recent call last):
    breakeven.errors.InvalidInput: id: expected text without the character U+0000, got 'a\x00b'
    """
    if "\0" in expect.name_of(field, text):
        expect.refuse(field, "text without the character U+0000", text)
    return text


def mark_of(store_id: str, id: str) -> bytes:
    """What is kept of an id that was erased: a digest that is another in every store.

    >>> len(mark_of("b0" * 16, "Anna")), mark_of("b0" * 16, "Anna") == mark_of("b1" * 16, "Anna")
    (16, False)
    """
    name = id.encode(errors="surrogatepass")
    return blake2b(name, digest_size=MARK_SIZE, key=store_id.encode(), person=b"erased").digest()


def rights_of(one: StoredToken | StoredPerson) -> str:
    """What somebody may do, in words for the trail.

    >>> rights_of(StoredPerson("ann", "label watch", "clinic"))
    'label, watch; streams: clinic'
    """
    streams = "all" if one.streams is None else ", ".join(one.streams.split())
    return f"{', '.join(one.roles.split())}; streams: {streams}"


def numbered(entries: Iterable[Appended], lasts: dict[int, int]) -> dict[int, int]:
    """The last number of each of these streams after some entries; `lasts` are those before."""
    lasts = dict(lasts)
    for entry in entries:
        due = lasts[entry.stream] + 1
        if entry.seq < due:
            raise taken_number(entry.stream, entry.seq)
        if entry.seq > due:
            raise WrongEvent(f"entry: expected number {due} of stream {entry.stream}, got {entry.seq}: a gap")
        lasts[entry.stream] = entry.last
    return lasts


def taken_number(stream: int, seq: int) -> SecondWriter:
    """What to raise where an entry with that number is there."""
    return SecondWriter(
        f"entry: expected the next number of stream {stream}, got {seq}, which is taken: somebody else "
        "writes to this stream; read it anew"
    )


def unknown_stream(stream: int | str) -> UnknownStream:
    """What to raise where there is no such stream."""
    return UnknownStream(f"stream: expected one of this store, got {expect.shown(stream)}")
