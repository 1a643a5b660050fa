"""The writer: many callers share a commit, and none is answered before its entry is on disk."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import pytest

from breakeven.errors import DuplicateId, InvalidInput
from breakeven.store import SecondWriter, StoreError, StoreFailed, Writer
from breakeven.testing import MemoryStore
from breakeven.testing.store_checks import arrival, begun, entry


class Watched(MemoryStore):
    """A store that waits before it writes, and knows what was in each group."""

    def __init__(self):
        super().__init__()
        self.gate, self.groups, self.rests = Event(), [], 0
        self.gate.set()

    def append(self, entries):
        self.gate.wait()
        self.groups.append(len(entries))
        super().append(entries)

    def rest(self):
        self.rests += 1


@pytest.fixture
def watched():
    return Watched()


def submitted(writer, entries):
    """Submit each alone; the list that answers go to."""
    said = []
    for one in entries:
        writer.submit([one], said.append)
    return said


def test_what_comes_while_a_group_is_written_goes_together_into_the_next(watched):
    stream = begun(watched)
    watched.gate.clear()
    with Writer(watched) as writer:
        said = submitted(writer, [entry(stream, seq) for seq in range(1, 101)])
        assert said == []
        watched.gate.set()
        writer.barrier(stream)
        assert said == [None] * 100
    assert sum(watched.groups) == 100
    assert len(watched.groups) <= 3
    assert (writer.commits, writer.written) == (len(watched.groups), 100)


def test_nobody_is_answered_before_the_entry_is_there(watched):
    stream, ahead = begun(watched), []
    with Writer(watched) as writer:
        for seq in range(1, 200):
            writer.submit(
                [entry(stream, seq)], lambda error, seq=seq: ahead.append(watched.last(stream) < seq)
            )
        writer.barrier(stream)
    assert ahead == [False] * 199


def test_a_barrier_waits_for_all_that_came_before(watched):
    stream, passed = begun(watched), Event()
    watched.gate.clear()
    with Writer(watched) as writer:
        submitted(writer, [entry(stream, 1)])
        writer.pass_barrier(stream, lambda error: passed.set())
        assert not passed.wait(0.05)
        watched.gate.set()
        assert passed.wait(5.0)


@pytest.mark.parametrize("failure", [StoreFailed("disk: full"), OSError("no space left")], ids=type)
def test_a_failed_write_fails_every_waiting_call_until_the_stream_is_read_anew(watched, failure):
    one, two = begun(watched), begun(watched, 0, "other")
    watched.failure = failure
    watched.gate.clear()
    with Writer(watched) as writer:
        said = submitted(writer, [entry(one, 1), entry(two, 1), entry(one, 2)])
        watched.gate.set()
        with pytest.raises(StoreFailed, match=r"disk: full|OSError: no space left"):
            writer.barrier(one)
        assert [type(error) for error in said] == [StoreFailed] * 3
        watched.failure = None
        with pytest.raises(StoreFailed):  # memory is still ahead of the log
            writer.write([entry(one, 3)])
        writer.resume(one)
        writer.write([entry(one, 1)])
        with pytest.raises(StoreFailed):
            writer.write([entry(two, 2)])
    assert (watched.last(one), watched.last(two)) == (1, 0)


def test_in_a_group_only_those_at_fault_are_refused(watched):
    one, two, three = (begun(watched, 1, name) for name in "abc")
    watched.append([arrival(two, 2, "Ann")])
    watched.gate.clear()
    with Writer(watched) as writer:
        first = submitted(writer, [entry(three, 2)])  # keeps the writer busy while the group gathers
        group = [entry(one, 2), entry(one, 2), arrival(two, 3, "Ann"), entry(three, 3), entry(one, 3)]
        said = submitted(writer, group)
        watched.gate.set()
        writer.barrier(three)
    assert first == [None]
    assert [type(error) for error in said] == [
        type(None),
        SecondWriter,
        DuplicateId,
        type(None),
        SecondWriter,
    ]
    assert [watched.last(stream) for stream in (one, two, three)] == [2, 2, 3]


def test_calls_of_none_or_several_streams_are_refused(watched):
    one, two = begun(watched), begun(watched, 0, "other")
    with Writer(watched) as writer:
        for entries in ([], [entry(one, 1), entry(two, 1)]):
            with pytest.raises(InvalidInput, match="entries: expected some of one stream, got none"):
                writer.write(entries)


def test_closing_writes_what_was_submitted(watched):
    stream = begun(watched)
    watched.gate.clear()
    writer = Writer(watched)
    said = submitted(writer, [entry(stream, seq) for seq in range(1, 51)])
    closing = Thread(target=writer.close)
    closing.start()
    watched.gate.set()
    closing.join()
    writer.close()
    assert said == [None] * 50
    with pytest.raises(StoreError, match="writer: expected one that is open, got one that was closed"):
        writer.write([entry(stream, 51)])


def test_a_caller_that_fails_to_take_its_answer_harms_no_other(watched, caplog):
    stream = begun(watched)

    def raises(error):
        raise RuntimeError("gone")

    with Writer(watched) as writer:
        writer.submit([entry(stream, 1)], raises)
        writer.write([entry(stream, 2)])
    assert "failed to take its answer" in caplog.text


def test_an_event_loop_is_called_once_for_a_group(watched):
    stream, calls = begun(watched), []

    async def serve():
        loop = asyncio.get_running_loop()

        def deliver(tell):
            calls.append(1)
            loop.call_soon_threadsafe(tell)

        with Writer(watched, deliver) as writer:
            watched.gate.clear()
            waiting = []
            for seq in range(1, 65):
                answered = loop.create_future()
                writer.submit([entry(stream, seq)], answered.set_result)
                waiting.append(answered)
            watched.gate.set()
            assert await asyncio.gather(*waiting) == [None] * 64

    with ThreadPoolExecutor(1) as aside:  # a browser's tests may have left an event loop in this thread
        aside.submit(lambda: asyncio.run(serve())).result()
    assert len(calls) == len(watched.groups) <= 3


@pytest.mark.parametrize("place", ["_commit", "_gather", "_answer"])
def test_a_thread_that_dies_leaves_nobody_waiting(watched, monkeypatch, caplog, place):
    stream, died, said = begun(watched), [], []
    writer = Writer(watched, died=died.append)
    writer.write([entry(stream, 1)])

    def fault(*_):
        monkeypatch.undo()
        raise MemoryError("no room")

    watched.gate.clear()
    for seq in (2, 3, 4):
        writer.submit([entry(stream, seq)], said.append)
    monkeypatch.setattr(writer, place, fault)
    watched.gate.set()
    writer._ended.wait(5.0)
    for later in (lambda: writer.write([entry(stream, 5)]), lambda: writer.barrier(stream)):
        with pytest.raises(
            StoreFailed, match=r"as the thread that writes has died \(MemoryError: no room\); start"
        ):
            later()
    writer.close()
    writer.close()
    assert len(said) == 3
    assert {type(one) for one in said} <= {StoreFailed, type(None)}
    assert [str(one) for one in died] == [str(writer._fault)]
    assert "has died" in caplog.text


def test_in_quiet_moments_the_store_keeps_house(watched, monkeypatch):
    monkeypatch.setattr("breakeven.store.writer.QUIET", 0.01)
    stream, rested = begun(watched), Event()
    watched.rest = rested.set
    with Writer(watched) as writer:
        writer.write([entry(stream, 1)])
        assert rested.wait(5.0)
        writer.write([entry(stream, 2)])
