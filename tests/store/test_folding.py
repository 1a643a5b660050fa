"""Learners in a store: folded back to the bit, checked against snapshots, and without an erased person."""

from itertools import islice

import msgspec
import pytest

from breakeven import Learner, Threshold, TypeMeans
from breakeven.errors import InvalidInput, UnknownId
from breakeven.errors.storing import StoreFailed
from breakeven.folding import Damage, check_stream, entry_of, erase, event_of, fold_stream
from breakeven.learner.snapshot import FORMAT_VERSION
from breakeven.store import LogEntry, SqliteStore, StoredSnapshot, Writer
from breakeven.store.port import mark_of
from breakeven.testing import LabelledStream, MemoryStore
from breakeven.testing.contract import NO_AND_YES
from breakeven.testing.stream_runs import run_eventfully
from breakeven.values import Erased
from tests.stored.kinds import KINDS, arrivals, yes_no


def recorded_in(store, learner, name="clinic"):
    """A stream that gets every event of a new learner."""
    stream = store.create_stream(name, b"", at=0.0)
    numbers = iter(range(1, 10**9))

    def keep(event):
        store.append([entry_of(event, stream.number, next(numbers), by="test", at=0.0)])

    keep(learner.created)
    learner.listen(keep)
    return stream


def surgery(name=""):
    return Learner(TypeMeans(noise_std=1.0), Threshold(), label_cost=5.0, name=name)


def kept(store, stream, learner):
    seq = store.last(stream.number)
    store.keep_snapshot(StoredSnapshot(stream.number, seq, 0.0, str(FORMAT_VERSION), learner.snapshot()))
    return seq


# -- the fold --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_learner_comes_back_to_the_bit(kind, tmp_path):
    live, store = KINDS[kind](), SqliteStore(tmp_path / "clinic.db", "create")
    stream = recorded_in(store, live)
    points, labels = zip(*islice(arrivals(live, seed=1), 18), strict=True)
    two = NO_AND_YES if yes_no(live) else (2.0, 40.0)
    run_eventfully(live, LabelledStream(points[:12], labels[:12], two))
    middle = kept(store, stream, live)
    run_eventfully(live, LabelledStream(points[12:], labels[12:], two))
    assert fold_stream(store, stream, use_snapshot=False).snapshot() == live.snapshot()
    assert fold_stream(store, stream).snapshot() == live.snapshot()
    report = check_stream(store, stream)
    assert (report.wrong, report.snapshots, report.rounds) == ((), 1, live.rounds)
    assert 1 < middle < report.entries == live.number
    store.close()


def test_a_learner_from_any_store_is_the_same(store):
    live = surgery()
    stream = recorded_in(store, live)
    run_eventfully(live, LabelledStream.of(live))
    assert fold_stream(store, stream).snapshot() == live.snapshot()


def test_a_snapshot_that_cannot_be_read_is_left_aside(caplog):
    store, live = MemoryStore(), surgery()
    stream = recorded_in(store, live)
    live.decide("flu")
    store.keep_snapshot(StoredSnapshot(stream.number, 2, 0.0, "1", live.snapshot()[:-1]))
    live.decide("asthma")
    assert fold_stream(store, stream).snapshot() == live.snapshot()
    assert "stream 'clinic': the snapshot after entry 2 cannot be read" in caplog.text


def test_a_check_finds_an_arrival_that_its_id_does_not_lead_to(tmp_path):
    store, live = SqliteStore(tmp_path / "clinic.db", "create"), surgery()
    stream = recorded_in(store, live)
    for id in ("Ann", "Ben", "Eve"):
        live.decide("flu", id=id)
    assert check_stream(store, stream).wrong == ()
    with store._transaction() as connection:
        connection.execute("DELETE FROM arrived WHERE id = 'Ben'")
        connection.execute("UPDATE arrived SET entry = 2 WHERE id = 'Eve'")
    assert check_stream(store, stream).wrong == (
        "the arrival 'Ben', entry 3, is not found by its id",
        "the arrival 'Eve', entry 4, is not found by its id",
    )
    store.close()


def test_classes_of_your_own_are_named():
    class Mine(Threshold):
        """A rule that breakeven does not know."""

    store, live = MemoryStore(), Learner(TypeMeans(noise_std=1.0), Mine(), label_cost=5.0)
    stream = recorded_in(store, live)
    live.decide("flu", id="Ann")
    kept(store, stream, live)
    live.reprice(rule=Mine(scale=2.0))
    assert fold_stream(store, stream, rules=(Mine,)).snapshot() == live.snapshot()
    assert check_stream(store, stream, rules=(Mine,)).wrong == ()
    (wrong,) = check_stream(store, stream).wrong
    assert "expected a known name" in wrong
    assert erase(store, "Ann", by="x", rules=(Mine,))[0].rounds == 1


def test_entries_of_other_kinds_are_left_alone():
    store, live = MemoryStore(), surgery()
    stream = store.create_stream("clinic", b"", at=0.0)
    live_log = [live.created]
    live.listen(live_log.append)
    live.decide("flu", id="Ann")
    first = entry_of(live_log[0], stream.number, 1, by="x")
    second = entry_of(live_log[1], stream.number, 3, by="x")
    store.append([first, LogEntry(stream.number, 2, 0.0, "ben", "Skipped", "Ann", b"?"), second])
    assert fold_stream(store, stream).snapshot() == live.snapshot()
    assert check_stream(store, stream).wrong == ()


# -- checking --------------------------------------------------------------------------------------------


def test_a_snapshot_that_is_not_what_the_entries_lead_to_is_found():
    store, live, other = MemoryStore(), surgery(), surgery()
    stream = recorded_in(store, live)
    live.decide("flu")
    other.decide("asthma")
    seq = kept(store, stream, other)
    assert check_stream(store, stream).wrong == (
        f"the snapshot after entry {seq} is not what the entries lead to",
    )
    store.keep_snapshot(StoredSnapshot(stream.number, seq, 0.0, "1", live.snapshot()[:-1]))
    (wrong,) = check_stream(store, stream).wrong
    assert wrong.startswith("the snapshot after entry 2 cannot be read: snapshot: expected whole bytes")


@pytest.mark.parametrize(
    ("body", "words"),
    {
        b"\xc1": "cannot be folded beyond entry 2: entry 3 of stream 1: wire: expected a value",
        b"\x90": "cannot be folded beyond entry 2: entry 3 of stream 1: wire: expected an object",
    }.items(),
    ids=["garbled", "no event"],
)
def test_an_entry_that_cannot_be_read_is_found(body, words):
    store, live = MemoryStore(), surgery()
    stream = recorded_in(store, live)
    live.decide("flu")
    live.decide("flu")
    entries = list(store.entries(stream.number))
    store.rewrite(stream.number, [msgspec.structs.replace(entries[2], body=body)])
    (wrong,) = check_stream(store, stream).wrong
    assert wrong.startswith(words)
    with pytest.raises(Damage, match="entry 3 of stream 1"):
        fold_stream(store, stream)


def test_an_entry_that_says_another_kind_or_id_than_its_event_is_found():
    store, live = MemoryStore(), surgery()
    stream = recorded_in(store, live)
    live.decide("flu", id="Ann")
    entry = list(store.entries(stream.number))[1]
    store.rewrite(stream.number, [msgspec.structs.replace(entry, id="Ben")])
    (wrong,) = check_stream(store, stream).wrong
    assert wrong == (
        "cannot be folded beyond entry 1: entry 2: expected what its kind and id say, got another event"
    )


def test_progress_is_told():
    store, live, told = MemoryStore(), surgery(), []
    stream = recorded_in(store, live)
    for _ in range(250):
        live.decide("flu")
    whole = store.last(stream.number)
    check_stream(store, stream, lambda *done: told.append(done))
    assert told == [(done, whole) for done in range(100, whole + 1, 100)]
    told.clear()
    erase(store, "7", by="x", progress=lambda *done: told.append(done))
    assert told == [(done, 2 * whole) for done in range(100, 2 * whole + 1, 100)]


# -- erasing ---------------------------------------------------------------------------------------------

SECRET = "Anna-Maria Szczepańska"


def with_a_secret(store, name="clinic"):
    live = surgery(name)
    stream = recorded_in(store, live, name)
    live.decide("a rare disease of hers", id=SECRET)
    live.decide("flu", id="Ben")
    live.tell(SECRET, 38.123456)
    kept(store, stream, live)
    live.correct(SECRET, 39.5)
    live.decide("flu", id="Cleo")
    return stream, live


def test_erasing_keeps_numbers_and_rounds_and_nothing_else(store):
    stream, live = with_a_secret(store)
    (done,) = erase(store, SECRET, by="officer", at=77.0)
    assert (done.name, done.entries, done.rounds) == ("clinic", 3, live.rounds)
    entries = list(store.entries(stream.number))
    gone = [one for one in entries if one.kind == "Erased"]
    assert [(one.seq, one.id, one.by, one.at) for one in gone] == [
        (n, None, "officer", 77.0) for n in (2, 4, 5)
    ]
    assert [event_of(one).arrival for one in gone] == [True, False, False]
    assert all(type(event_of(one)) is Erased for one in gone)
    assert store.find(stream.number, SECRET) is None
    left, folded = fold_stream(store, stream, use_snapshot=False), list[int]()
    kept = fold_stream(store, stream, each=lambda entry, *_: folded.append(entry.seq))
    assert (kept.snapshot(), folded) == (left.snapshot(), [])  # one of what is left is kept
    assert SECRET.encode() not in store.snapshot(stream.number).body
    assert store.snapshot_numbers(stream.number) == [store.last(stream.number)]
    assert (left.number, left.rounds) == (live.number, live.rounds)
    assert left.decision("Cleo") == live.decision("Cleo")
    assert check_stream(store, stream).wrong == ()


def test_an_erasure_stands_if_no_snapshot_of_what_is_left_can_be_kept(monkeypatch, caplog):
    store = MemoryStore()
    stream, _ = with_a_secret(store)

    def full(snapshot):
        raise StoreFailed("the disk is full")

    monkeypatch.setattr(store, "keep_snapshot", full)
    assert erase(store, SECRET, by="officer")[0].entries == 3
    assert "the snapshot of what is left was not kept (the disk is full)" in caplog.text
    assert (store.snapshot(stream.number), store.find(stream.number, SECRET)) == (None, None)
    assert check_stream(store, stream).wrong == ()


def test_no_byte_of_an_erased_person_is_in_any_file(tmp_path):
    store = SqliteStore(tmp_path / "clinic.db", "create")
    with_a_secret(store)
    words = (SECRET.encode(), b"a rare disease of hers", msgspec.msgpack.encode(38.123456))
    before = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert all(word in before for word in words)
    erase(store, SECRET, by="officer")
    after = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not any(word in after for word in words)
    store.close()
    after = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not any(word in after for word in words)


def test_an_erased_person_goes_from_every_stream_or_from_one():
    store = MemoryStore()
    with_a_secret(store, "one")
    with_a_secret(store, "two")
    with_a_secret(store, "three")
    assert [one.name for one in erase(store, SECRET, by="x", stream="two")] == ["two"]
    assert [one.name for one in erase(store, SECRET, by="x")] == ["one", "three"]
    assert erase(store, SECRET, by="x") == []  # as after an answer that was lost
    mark = mark_of(store.id, SECRET)
    assert [store.erased(one.number) for one in store.streams()] == [{mark}] * 3
    with pytest.raises(UnknownId, match="id: expected one that is in the store, got 'nobody'"):
        erase(store, SECRET, "nobody", by="x")


def test_what_a_stream_began_with_cannot_be_erased_and_nothing_changes():
    store, before = MemoryStore(), surgery()
    before.decide("flu", id=SECRET)
    later = Learner.restore(before.snapshot(), name="later")
    stream = recorded_in(store, later, "later")
    later.tell(SECRET, 38.0)
    entries = list(store.entries(stream.number))
    with pytest.raises(InvalidInput, match="stream 'later': it began with a snapshot that holds 'Anna"):
        erase(store, SECRET, by="x")
    assert list(store.entries(stream.number)) == entries


def test_a_writer_takes_events_from_a_learner_before_it_answers(tmp_path):
    store, live = SqliteStore(tmp_path / "clinic.db", "create"), surgery()
    stream = store.create_stream("clinic", b"", at=0.0)
    with Writer(store) as writer:
        writer.write([entry_of(live.created, stream.number, 1, by="test")])
        live.listen(lambda event: writer.write([entry_of(event, stream.number, event.number, by="test")]))
        for i in range(20):
            live.decide("flu", id=f"case {i}")
            assert store.last(stream.number) == live.number
    assert fold_stream(store, stream).snapshot() == live.snapshot()
    store.close()
