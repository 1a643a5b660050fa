"""Checks that every store must pass: `check_store(make)` runs all of them, each on a store of its own.

In pytest, parametrise over `STORE_CHECKS` to have each named.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from threading import Thread

import msgspec

from breakeven.errors import BreakevenError, DuplicateId, InvalidInput, WrongEvent
from breakeven.store import (
    LogBatch,
    LogEntry,
    SecondWriter,
    Store,
    StoredPerson,
    StoredSession,
    StoredSnapshot,
    StoredToken,
    StoreError,
    TrailEntry,
    UnknownStream,
    Writer,
)
from breakeven.store.port import Appended, mark_of

MakeStore = Callable[[], Store]
"""A function that makes a new, empty store for every check."""
StoreCheck = Callable[[Store], None]

STORE_CHECKS: list[StoreCheck] = []
"""All checks, in the order in which they run; each takes a new store."""

MORE_THAN_A_PAGE = 2345


def check_store(make: MakeStore) -> list[str]:
    """Run every check on stores that `make` gives, which are closed afterwards; the names of those run.

    >>> from breakeven.testing import MemoryStore
    >>> "an_id_counts_once_for_ever" in check_store(MemoryStore)
    True
    """
    for one in STORE_CHECKS:
        store = make()
        try:
            one(store)
        except AssertionError as failure:
            raise AssertionError(f"{one.__name__}: {failure}") from failure
        finally:
            store.close()
    return [one.__name__ for one in STORE_CHECKS]


def store_check(body: StoreCheck) -> StoreCheck:
    """Make a function a check."""
    STORE_CHECKS.append(body)
    return body


def entry(stream: int, seq: int, *, kind: str = "Told", id: str | None = None, body: bytes = b"") -> LogEntry:
    """An entry that differs from others of its stream."""
    return LogEntry(stream, seq, 1e9 + seq / 3, "ann", kind, id, body or b"%d of %d\x00\xff" % (seq, stream))


def arrival(stream: int, seq: int, id: str) -> LogEntry:
    """The arrival of an id."""
    return entry(stream, seq, kind="Arrived", id=id)


def begun(store: Store, entries: int = 0, name: str = "clinic") -> int:
    """A new stream with some entries; its number."""
    stream = store.create_stream(name, b"\x00config\xff", at=1.5).number
    if entries:
        store.append([entry(stream, seq) for seq in range(1, entries + 1)])
    return stream


@contextmanager
def refusing(kind: type[BreakevenError], words: str) -> Iterator[None]:
    """Expect an error of this class with these words."""
    message = None
    try:
        yield
    except kind as error:
        message = str(error)
    assert message is not None, f"expected {kind.__name__}, nothing was raised"
    assert words in message, f"the message lacks {words!r}: {message}"


# -- streams -------------------------------------------------------------------------------------------


@store_check
def streams_are_kept_as_they_were_made(store: Store) -> None:
    """With their names, configurations and times, in the order of their making."""
    made = [store.create_stream(name, name.encode(), at=i / 3) for i, name in enumerate("cba")]
    assert store.streams() == made
    assert store.stream("b") == made[1]
    assert len({one.number for one in made}) == 3


@store_check
def a_name_belongs_to_one_stream(store: Store) -> None:
    """A second one is refused, and an unknown one too."""
    begun(store)
    with refusing(DuplicateId, "name: expected one that no stream of this store has"):
        begun(store)
    with refusing(UnknownStream, "stream: expected one of this store, got 'surgery'"):
        store.stream("surgery")
    with refusing(InvalidInput, "name: expected text"):
        store.create_stream("", b"", at=0.0)
    assert len(store.streams()) == 1


@store_check
def a_closed_stream_takes_no_more(store: Store) -> None:
    """What it has stays."""
    stream = begun(store, 2)
    store.close_stream(stream, 7.25, by="root")
    store.close_stream(stream, 9.5, by="ann")
    assert [one.at for one in store.trail()] == [7.25]
    with refusing(WrongEvent, "which is closed"):
        store.append([entry(stream, 3)])
    assert store.stream("clinic").closed == 7.25
    assert store.last(stream) == 2
    with refusing(UnknownStream, "stream: expected one of this store"):
        store.close_stream(99, 0.0, by="root")


@store_check
def a_store_has_an_id_of_its_own(store: Store) -> None:
    """The same whenever it is asked."""
    assert store.id
    assert store.id == store.id


# -- the log -------------------------------------------------------------------------------------------


@store_check
def entries_come_back_as_they_went_in(store: Store) -> None:
    """Every field to the bit, in order, also many of them."""
    stream, other = begun(store), begun(store, 3, "other")
    gone_in = [entry(stream, seq) for seq in range(1, MORE_THAN_A_PAGE)]
    gone_in[4] = LogEntry(
        stream, 5, 0.1 + 0.2, "Ångström", "Arrived", "Grippe é\n\t'\"\\ 漢 😀", bytes(range(256))
    )
    gone_in[5] = LogEntry(stream, 6, -1e-7, "x" * 250, "Fitted", None, b"\x00" * 100_000)
    store.append(gone_in[:1])
    store.append(gone_in[1:40])
    store.append(gone_in[40:])
    assert list(store.entries(stream)) == gone_in
    assert [one.seq for one in store.entries(other)] == [1, 2, 3]
    assert store.last(stream) == len(gone_in)


@store_check
def a_part_of_the_log_can_be_read(store: Store) -> None:
    """From after a number, up to a number, at the edge of a page, and past the end."""
    stream = begun(store, MORE_THAN_A_PAGE)
    for after, upto in ((0, 0), (0, 1), (5, 9), (1000, 2000), (999, 2001), (2340, None), (9999, None)):
        end = MORE_THAN_A_PAGE if upto is None else upto
        seqs = [one.seq for one in store.entries(stream, after, upto)]
        assert seqs == list(range(after + 1, end + 1)), (after, upto)


@store_check
def an_empty_stream_has_no_entries(store: Store) -> None:
    """And neither has one that does not exist."""
    stream = begun(store)
    assert (store.last(stream), list(store.entries(stream)), store.snapshot(stream)) == (0, [], None)
    assert (store.last(99), list(store.entries(99)), store.find(99, "Ann")) == (0, [], None)


@store_check
def a_stream_is_made_with_its_first_entries_or_not_at_all(store: Store) -> None:
    """A stream and its first entries come together; entries that are refused leave no stream."""
    made = store.create_stream("clinic", b"", 1.5, lambda number: [entry(number, 1), entry(number, 2)])
    assert store.last(made.number) == 2
    store.append([entry(made.number, 3)])
    with refusing(WrongEvent, "gap"):
        store.create_stream("other", b"", 1.5, lambda number: [entry(number, 2)])
    assert [one.name for one in store.streams()] == ["clinic"]


@store_check
def a_dropped_stream_leaves_the_others(store: Store) -> None:
    """A stream goes with all that is in it, and its name is free again."""
    first, second = begun(store, 3), begun(store, 2, "other")
    store.keep_snapshot(_snapshot(first, 3))
    store.drop_stream(first, 9.0, by="root")
    assert [one.name for one in store.streams()] == ["other"]
    assert (store.last(first), store.last(second), store.snapshot(first)) == (0, 2, None)
    with refusing(UnknownStream, "expected one of this store"):
        store.drop_stream(first, 9.0, by="root")
    assert store.last(begun(store, 1)) == 1


@store_check
def the_number_of_a_dropped_stream_is_not_given_again(store: Store) -> None:
    """Whoever remembers something by the number of a stream finds nothing of another one."""
    first, second = begun(store), begun(store, name="other")
    store.drop_stream(second, 9.0, by="root")
    third = begun(store, name="other")
    assert third not in (first, second)
    store.drop_stream(first, 9.0, by="root")
    store.drop_stream(third, 9.0, by="root")
    assert begun(store) not in (first, second, third)


@store_check
def entries_are_found_by_what_they_are_about(store: Store) -> None:
    """Arrivals by many ids, all that came of one, all ids, and entries that are no events of a learner."""
    stream, other = begun(store), begun(store, name="other")
    log = [
        arrival(stream, 1, "a"),
        arrival(stream, 2, "b"),
        entry(stream, 3, kind="Told", id="a"),
        entry(stream, 4, kind="Skipped", id="b"),
        entry(stream, 5, kind="Configured"),
        entry(stream, 6, kind="Withdrawn", id="a"),
    ]
    store.append(log)
    store.append([arrival(other, 1, "a"), entry(other, 2, kind="Told", id="a")])
    assert store.find_many(stream, ["a", "b", "c", "a\0"]) == {"a": log[0], "b": log[1]}
    assert store.find_many(stream, []) == {}
    assert store.times(stream, [1, 4, 5, 99]) == {1: log[0].at, 4: log[3].at, 5: log[4].at}
    assert store.times(stream, []) == {}
    assert sorted(store.arrival_ids(stream)) == ["a", "b"]
    assert store.about(stream, "a") == [log[2], log[5]]
    assert store.about(stream, "b") == [log[3]]
    assert store.about(stream, "c\0") == []
    assert store.beside(stream) == [log[3], log[4]]


def batch(stream: int, seq: int, ids: list[str]) -> LogBatch:
    """The arrivals of these ids, written as one."""
    body = msgspec.msgpack.encode((ids, [{"case": id, "number": seq + i} for i, id in enumerate(ids)]))
    return LogBatch(stream, seq, 1e9 + seq / 3, "ann", ids, body)


@store_check
def a_batch_is_read_as_the_arrivals_in_it(store: Store) -> None:
    """Whole, in parts, by id and by number; wherever it lies among other entries."""
    stream, other = begun(store, 2), begun(store, 1, "other")
    many = [f"é{i}" for i in range(MORE_THAN_A_PAGE)]
    some, lone = batch(stream, 3, ["a", "b", "c"]), batch(stream, 6, ["d"])
    large, elsewhere = batch(stream, 8, many), batch(other, 2, ["a"])
    told = entry(stream, 7, kind="Told", id="b")
    store.append([some, elsewhere, lone, told])
    store.append([large])
    log = [entry(stream, 1), entry(stream, 2), *some.entries(), *lone.entries(), told, *large.entries()]
    assert list(store.entries(stream)) == log
    assert list(store.entries(other)) == [entry(other, 1), *elsewhere.entries()]
    assert store.last(stream) == len(log) == large.last
    for after, upto in ((0, 4), (3, 4), (3, None), (4, 5), (5, 9), (700, 2100), (large.last, None)):
        assert list(store.entries(stream, after, upto)) == log[after:upto], (after, upto)
    assert store.find(stream, "b") == log[3]
    assert store.find(stream, "é7") == log[14]
    assert store.find_many(stream, ["a", "d", "é0", "é999", "x"]) == {
        "a": log[2], "d": log[5], "é0": log[7], "é999": log[1006]
    }  # fmt: skip
    assert store.times(stream, [2, 3, 5, 6, 7, 2000, 9999]) == {
        seq: log[seq - 1].at for seq in (2, 3, 5, 6, 7, 2000)
    }
    assert sorted(store.arrival_ids(stream)) == sorted(["a", "b", "c", "d", *many])
    assert store.about(stream, "b") == [told]
    store.append([entry(stream, len(log) + 1)])


@store_check
def a_batch_that_is_refused_leaves_nothing(store: Store) -> None:
    """Where an id has come before, alone or with others, or twice in it; or a number is not the next."""
    stream = begun(store)
    store.append([arrival(stream, 1, "Ann"), batch(stream, 2, ["Ben", "Eve"])])
    for ids in (["Joe", "Ann"], ["Joe", "Eve"], ["Joe", "Joe"]):
        with refusing(DuplicateId, "id: expected one that has not arrived in this stream"):
            store.append([batch(stream, 4, ids)])
    with refusing(DuplicateId, "id: expected one that has not arrived in this stream"):
        store.append([arrival(stream, 4, "Ben")])
    for seq in (1, 2, 3):
        with refusing(SecondWriter, "which is taken"):
            store.append([batch(stream, seq, ["Joe"])])
        with refusing(SecondWriter, "which is taken"):
            store.append([entry(stream, seq)])
    with refusing(WrongEvent, "a gap"):
        store.append([batch(stream, 5, ["Joe"])])
    with refusing(WrongEvent, "a gap"):
        store.append([batch(stream, 4, ["Joe", "Pat"]), entry(stream, 7)])
    for bad in ([], [""], ["Joe", ""], ["a\0b"], ["x" * 251], ["\ud800"]):
        with refusing(InvalidInput, "expected"):
            store.append([LogBatch(stream, 4, 0.0, "ann", bad, b"\x92\x90\x90")])
    assert (store.last(stream), store.find(stream, "Joe")) == (3, None)
    store.append([batch(stream, 4, ["Joe", "Pat"]), entry(stream, 6)])


@store_check
def one_arrival_of_a_batch_is_rewritten_alone(store: Store) -> None:
    """The others stay as they are, are found, and still count once."""
    stream = begun(store, 1)
    some = batch(stream, 2, ["Ann", "Ben", "Eve"])
    store.append([some])
    first, ben, last = some.entries()
    gone = LogEntry(stream, 3, 5.0, "boss", "Erased", None, b"")
    with refusing(WrongEvent, "entry: expected one that is there, got number 5"):
        store.rewrite(stream, [gone, entry(stream, 5)])
    assert store.find(stream, "Ben") == ben
    store.rewrite(stream, [gone])
    store.compact()
    assert list(store.entries(stream)) == [entry(stream, 1), first, gone, last]
    assert store.find_many(stream, ["Ann", "Ben", "Eve"]) == {"Ann": first, "Eve": last}
    assert sorted(store.arrival_ids(stream)) == ["Ann", "Eve"]
    assert store.times(stream, [2, 3, 4]) == {2: first.at, 3: 5.0, 4: last.at}
    with refusing(DuplicateId, "id: expected one that has not arrived in this stream"):
        store.append([arrival(stream, 5, "Eve")])
    store.append([batch(stream, 5, ["Ben"])])


@store_check
def a_log_of_any_kind_is_read_as_it_was_written(store: Store) -> None:
    """Arrivals alone and together, other entries, and entries that were rewritten, in any order."""
    draw = Random(1)
    logs: dict[int, list[LogEntry]] = {begun(store, 0, name): [] for name in ("clinic", "ward")}
    for _ in range(60):
        stream = draw.choice(list(logs))
        log = logs[stream]
        if log and draw.random() < 0.3:
            seqs = {draw.randint(1, len(log)) for _ in range(3)}
            gone = [LogEntry(stream, seq, 5.0, "boss", "Erased", None, b"") for seq in sorted(seqs)]
            store.rewrite(stream, gone)
            for one in gone:
                log[one.seq - 1] = one
        else:
            added = [_anything(stream, log, draw) for _ in range(draw.randint(1, 5))]
            store.append(added)
        _compare(store, stream, log, draw)


def _anything(stream: int, log: list[LogEntry], draw: Random) -> Appended:
    """An entry or a batch behind a log, which it is added to."""
    seq, kind = len(log) + 1, draw.choice(["alone", "alone", "together", "Told", "Skipped"])
    added: Appended
    if kind == "together":
        added = batch(stream, seq, [f"é{seq + i}" for i in range(draw.randint(1, 9))])
    elif kind == "alone":
        added = arrival(stream, seq, f"é{seq}")
    else:
        added = entry(stream, seq, kind=kind, id=f"é{draw.randint(1, seq)}")
    log += added.entries()
    return added


def _compare(store: Store, stream: int, log: list[LogEntry], draw: Random) -> None:
    """Read a log in every way."""
    after, upto = sorted(draw.randint(0, len(log)) for _ in range(2))
    assert list(store.entries(stream)) == log
    assert list(store.entries(stream, after, upto)) == log[after:upto]
    assert store.last(stream) == len(log)
    arrived = {one.id: one for one in log if one.kind == "Arrived" and one.id is not None}
    assert sorted(store.arrival_ids(stream)) == sorted(arrived)
    every = [f"é{seq}" for seq in range(1, len(log) + 2)]
    assert store.find_many(stream, every) == arrived
    assert store.times(stream, range(after, upto + 1)) == {
        one.seq: one.at for one in log[max(after, 1) - 1 : upto]
    }
    id = draw.choice(every)
    assert store.about(stream, id) == [one for one in log if one.id == id and one.kind != "Arrived"]
    assert store.beside(stream) == [one for one in log if one.kind == "Skipped"]


@store_check
def many_ids_are_read_in_pages(store: Store) -> None:
    """No id is missed or comes twice, however many there are."""
    stream = begun(store)
    ids = [f"é{i}" for i in range(MORE_THAN_A_PAGE)]
    store.append([arrival(stream, i, id) for i, id in enumerate(ids, 1)])
    assert sorted(store.arrival_ids(stream)) == sorted(ids)
    assert store.find_many(stream, ids).keys() == set(ids)


@store_check
def tokens_are_kept_and_revoked(store: Store) -> None:
    """A token is kept as it was given; it is used often and revoked once, and an id belongs to one."""
    made = StoredToken("id1", "Ann", b"\x00hash\xff", "send label", None, 1.5, expires=9.5)
    other = StoredToken("id2", "Ben", b"hash", "watch", "clinic ward", 2.5)
    for one in (made, other):
        store.add_token(one, by="root")
    assert (store.tokens(), store.token("id1"), store.token("id3")) == ([made, other], made, None)
    with refusing(DuplicateId, "token: expected an id that no token has"):
        store.add_token(made, by="root")
    for at in (5.0, 6.0):
        store.use_token("id1", at)
        store.use_token("id3", at)
    assert [one.used for one in store.tokens()] == [6.0, None]
    assert store.revoke_token("id1", 7.0, by="root")
    assert store.revoke_token("id1", 8.0, by="root")
    assert not store.revoke_token("id3", 7.0, by="root")
    token = store.token("id1")
    assert token is not None
    assert (token.revoked, token.used) == (7.0, 6.0)


@store_check
def a_number_belongs_to_one_entry(store: Store) -> None:
    """The fence: who writes a number that is taken is refused, and nothing has changed."""
    stream = begun(store, 3)
    with refusing(SecondWriter, "which is taken: somebody else writes to this stream; read it anew"):
        store.append([entry(stream, 3, body=b"another")])
    with refusing(SecondWriter, "which is taken"):
        store.append([entry(stream, 4), entry(stream, 4)])
    assert [one.body for one in store.entries(stream)] == [entry(stream, seq).body for seq in (1, 2, 3)]
    store.append([entry(stream, 4)])


@store_check
def a_gap_is_refused(store: Store) -> None:
    """And a log begins with number 1."""
    stream = begun(store)
    with refusing(WrongEvent, f"entry: expected number 1 of stream {stream}, got 2: a gap"):
        store.append([entry(stream, 2)])
    with refusing(WrongEvent, "expected number 2"):
        store.append([entry(stream, 1), entry(stream, 3)])
    with refusing(InvalidInput, "seq: expected a whole number of at least 1"):
        store.append([entry(stream, 0)])
    assert store.last(stream) == 0


@store_check
def several_entries_are_written_all_or_none(store: Store) -> None:
    """Also those of several streams."""
    one, two = begun(store, 2), begun(store, 2, "other")
    with refusing(SecondWriter, "which is taken"):
        store.append([entry(one, 3), entry(one, 4), entry(two, 2)])
    with refusing(UnknownStream, "stream: expected one of this store"):
        store.append([entry(one, 3), entry(99, 1)])
    assert (store.last(one), store.last(two)) == (2, 2)
    store.append([entry(one, 3), entry(two, 3), entry(one, 4)])
    assert (store.last(one), store.last(two)) == (4, 3)
    store.append([])


@store_check
def an_id_counts_once_for_ever(store: Store) -> None:
    """It is found however many came since, and refused a second time; in another stream it is another's."""
    stream, other = begun(store), begun(store, 0, "other")
    store.append([arrival(stream, 1, "Ann"), entry(stream, 2, id="Ann"), entry(stream, 3, id="Ann")])
    store.append([entry(stream, seq) for seq in range(4, 1500)])
    found = store.find(stream, "Ann")
    assert found == arrival(stream, 1, "Ann")
    assert store.find(stream, "Ben") is None
    assert store.find(other, "Ann") is None
    with refusing(DuplicateId, "id: expected one that has not arrived in this stream"):
        store.append([arrival(stream, 1500, "Ann")])
    with refusing(DuplicateId, "id: expected one that has not arrived in this stream"):
        store.append([arrival(stream, 1500, "Ben"), arrival(stream, 1501, "Ben")])
    assert store.find(stream, "Ben") is None
    store.append([arrival(stream, 1500, "Ben"), arrival(other, 1, "Ann")])


@store_check
def what_cannot_be_stored_is_refused(store: Store) -> None:
    """By every store alike: what one database would take, another would not."""
    stream = begun(store)
    for bad in ("", "a\0b", "x" * 251, "\ud800"):
        with refusing(InvalidInput, "id: expected text"):
            store.append([arrival(stream, 1, bad)])
    for by, kind in (("", "Told"), ("ann", "")):
        with refusing(InvalidInput, "expected text"):
            store.append([LogEntry(stream, 1, 0.0, by, kind, "a", b"")])
    assert store.find(stream, "a\0b") is None
    with refusing(InvalidInput, "at: expected a finite number"):
        store.append([LogEntry(stream, 1, float("nan"), "ann", "Told", None, b"")])
    with refusing(InvalidInput, "body: expected bytes"):
        store.append([LogEntry(stream, 1, 0.0, "ann", "Told", None, "text")])  # type: ignore[arg-type]
    assert store.last(stream) == 0


# -- snapshots -----------------------------------------------------------------------------------------


def _snapshot(stream: int, seq: int, body: bytes = b"\x00state\xff") -> StoredSnapshot:
    return StoredSnapshot(stream, seq, seq / 3, "0.1.0", body)


@store_check
def snapshots_are_kept_as_they_were_given(store: Store) -> None:
    """The latest, and each by its number; a second one after the same entry takes its place."""
    stream = begun(store, 9)
    for seq in (2, 9, 5):
        store.keep_snapshot(_snapshot(stream, seq))
    assert store.snapshot(stream) == _snapshot(stream, 9)
    assert store.snapshot(stream, 5) == _snapshot(stream, 5)
    assert store.snapshot(stream, 4) is None
    store.keep_snapshot(_snapshot(stream, 5, b"anew"))
    assert store.snapshot(stream, 5) == _snapshot(stream, 5, b"anew")
    assert store.snapshot_numbers(stream) == [2, 5, 9]


@store_check
def a_snapshot_is_of_an_entry_that_is_there(store: Store) -> None:
    """A snapshot ahead of the log would be a promise that nobody made."""
    stream = begun(store, 3)
    for seq in (0, 4):
        with refusing(WrongEvent, "snapshot: expected one of an entry that is there"):
            store.keep_snapshot(_snapshot(stream, seq))


@store_check
def old_snapshots_can_be_dropped_and_entries_stay(store: Store) -> None:
    """The latest are kept."""
    stream = begun(store, 9)
    for seq in (2, 5, 9):
        store.keep_snapshot(_snapshot(stream, seq))
    assert store.drop_snapshots(stream, keep=1) == 2
    store.compact()
    assert store.snapshot_numbers(stream) == [9]
    assert store.drop_snapshots(stream, keep=0) == 1
    assert store.last(stream) == 9


@store_check
def rewriting_keeps_numbers_and_drops_snapshots(store: Store) -> None:
    """Content is erased in place; a number that is not there is refused, and then nothing is rewritten."""
    stream, other = begun(store), begun(store, 1, "other")
    store.append([arrival(stream, 1, "Ann"), entry(stream, 2), entry(stream, 3)])
    store.keep_snapshot(_snapshot(stream, 3))
    store.keep_snapshot(_snapshot(other, 1))
    gone = LogEntry(stream, 1, 5.0, "boss", "Erased", None, b"")
    with refusing(WrongEvent, "entry: expected one that is there, got number 4"):
        store.rewrite(stream, [gone, entry(stream, 4)])
    assert store.find(stream, "Ann") is not None
    store.rewrite(stream, [gone])
    store.compact()
    assert list(store.entries(stream)) == [gone, entry(stream, 2), entry(stream, 3)]
    assert (store.find(stream, "Ann"), store.snapshot(stream)) == (None, None)
    assert store.snapshot(other) is not None
    store.append([entry(stream, 4)])


# -- sessions ------------------------------------------------------------------------------------------


@store_check
def sessions_are_kept_until_they_end(store: Store) -> None:
    """By their digests; one is ended alone, and those that expired together."""
    sessions = [StoredSession(bytes([i]) * 32, "f00d", 100.0 + i) for i in range(4)]
    for one in sessions:
        store.add_session(one)
    assert store.session(sessions[2].hash) == sessions[2]
    store.end_session(sessions[2].hash)
    store.end_session(b"no such")
    assert store.session(sessions[2].hash) is None
    assert store.end_sessions(101.5) == 2
    assert [store.session(one.hash) for one in sessions] == [None, None, None, sessions[3]]


@store_check
def people_are_kept_by_name(store: Store) -> None:
    """What somebody may do is replaced by what is said later."""
    ann, ben = StoredPerson("ann", "label watch", "clinic ward"), StoredPerson("ben", "administer")
    for one in (ben, StoredPerson("ann", "send"), ann):
        store.keep_person(one, 1.0, by="root")
    assert store.people() == [ann, ben]
    assert (store.person("ann"), store.person("eve")) == (ann, None)
    assert store.drop_person("ben", 2.0, by="root")
    assert not store.drop_person("ben", 3.0, by="root")
    assert store.people() == [ann]


@store_check
def who_administers_is_in_the_trail(store: Store) -> None:
    """Each change once, with who and when, and without secrets; what changes nothing is no change."""
    stream = begun(store)
    made = StoredToken("id1", "Ann", b"hash", "send label", "clinic", 1.5)
    store.add_token(made, by="root")
    with refusing(DuplicateId, "token: expected an id that no token has"):
        store.add_token(made, by="eve")
    for at in (7.0, 8.0):
        store.revoke_token("id1", at, by="ben")
    store.keep_person(StoredPerson("cem", "watch"), 9.0, by="root")
    store.drop_person("eve", 9.5, by="root")
    store.drop_person("cem", 10.0, by="ben")
    store.close_stream(stream, 12.0, by="ben")
    store.drop_stream(stream, 13.0, by="root")
    with refusing(InvalidInput, "by: expected"):
        store.keep_person(StoredPerson("cem", "watch"), 11.0, by="")
    assert store.people() == []
    assert store.trail() == [
        TrailEntry(1, 1.5, "root", "add token", "Ann", "id1: send, label; streams: clinic"),
        TrailEntry(2, 7.0, "ben", "revoke token", "Ann", "id1"),
        TrailEntry(3, 9.0, "root", "add person", "cem", "watch; streams: all"),
        TrailEntry(4, 10.0, "ben", "remove person", "cem", ""),
        TrailEntry(5, 12.0, "ben", "close stream", "clinic", ""),
        TrailEntry(6, 13.0, "root", "remove stream", "clinic", ""),
    ]


@store_check
def what_was_erased_is_known_by_its_mark(store: Store) -> None:
    """In the stream that it was erased from, as long as there is one; and until `compact` there is work."""
    stream, other = begun(store, 3), begun(store, 1, "other")
    assert (store.erased(stream), store.uncompacted) == (frozenset(), False)
    marks = frozenset(mark_of(store.id, id) for id in ("a", "b"))
    for some in (marks, [mark_of(store.id, "a")]):
        store.rewrite(stream, [entry(stream, 2, kind="Erased")], some)
    assert (store.erased(stream), store.erased(other)) == (marks, frozenset())
    assert store.uncompacted
    store.compact()
    assert (store.erased(stream), store.uncompacted) == (marks, False)
    store.drop_stream(stream, 9.0, by="root")
    assert (store.erased(stream), store.uncompacted) == (frozenset(), True)


# -- many at once --------------------------------------------------------------------------------------


@store_check
def many_threads_write_and_read_at_once(store: Store) -> None:
    """Through one writer: every answered entry is there, each once, and readers see whole prefixes."""
    streams = [begun(store, 0, f"stream {i}") for i in range(8)]
    seen: list[bool] = []

    def send(writer: Writer, stream: int) -> None:
        for seq in range(1, 26):
            writer.write([arrival(stream, seq, f"case {seq}")])
            seen.append([one.seq for one in store.entries(stream)] == list(range(1, seq + 1)))

    with Writer(store) as writer:
        threads = [Thread(target=send, args=(writer, stream)) for stream in streams]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert seen == [True] * 200
    assert [store.last(stream) for stream in streams] == [25] * 8


@store_check
def after_a_refused_write_a_stream_waits_until_it_is_read_anew(store: Store) -> None:
    """Others go on; and so does it, once it is resumed."""
    one, two = begun(store, 2), begun(store, 2, "other")
    with Writer(store) as writer:
        with refusing(SecondWriter, "read it anew"):
            writer.write([entry(one, 2)])
        with refusing(SecondWriter, "read it anew"):
            writer.write([entry(one, 3)])
        with refusing(SecondWriter, "read it anew"):
            writer.barrier(one)
        writer.write([entry(two, 3)])
        writer.barrier(two)
        writer.resume(one)
        writer.write([entry(one, 3)])
        writer.barrier(one)
    assert (store.last(one), store.last(two)) == (3, 3)
    with refusing(StoreError, "writer: expected one that is open"):
        writer.write([entry(one, 4)])
