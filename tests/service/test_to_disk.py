"""What is on its way to the disk: given to the writer once a turn of the loop, and waited for together."""

import asyncio

import msgspec
import pytest

from breakeven.errors.serving import NotReady
from breakeven.errors.storing import StoreFailed
from breakeven.service import to_disk
from breakeven.service.clock import Histogram
from breakeven.service.to_disk import ToDisk
from breakeven.store import LogBatch, LogEntry


class Hand:
    """A writer who answers when the test says so."""

    def __init__(self):
        self.calls = []

    def submit(self, entries, answer):
        self.calls.append(([one.seq for one in entries], entries, answer))

    def answer(self, error=None):
        self.calls[-1][-1](error)

    @property
    def seqs(self):
        return [call[0] for call in self.calls]

    async def called(self, times):
        """Wait until the writer was given something so many times."""
        while len(self.calls) < times:
            await asyncio.sleep(0)


def entries(*seqs, by="ann", kind="Arrived"):
    return [LogEntry(1, seq, float(seq), by, kind, f"a{seq}", b"\x00") for seq in seqs]


@pytest.fixture
def hand():
    return Hand()


@pytest.fixture
def failures():
    return []


@pytest.fixture
def way(hand, failures):
    return ToDisk(hand, "clinic", Histogram(), failures.append)


def test_what_happens_in_one_turn_is_written_and_answered_together(way, hand):
    async def work():
        heard = []
        way.subscribe(heard.append)
        way.begin(7)
        assert way.rest() is None
        waits = [way.add(entries(8)), way.add(entries(9, 10)), way.rest()]
        await asyncio.sleep(0)
        assert hand.seqs == [[8, 9, 10]]
        waits.append(way.add(entries(11)))
        await hand.called(2)
        assert hand.seqs[1:] == [[11]]
        waits.append(way.rest())
        hand.calls[0][-1](None)
        assert [one.done() for one in waits] == [True, True, True, False, False]
        assert (way.written, way.seq) == (10, 11)
        hand.answer()
        assert waits[4].done()
        assert way.rest() is None
        assert heard == [10, 11]

    asyncio.run(work())


async def some_turns():
    """Let the loop turn so often that whatever is not held back has left."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_what_comes_is_held_back_until_as_many_have_called_as_waited_last_time(way, hand, monkeypatch):
    monkeypatch.setattr(to_disk, "STILL", 3600.0)

    async def work():
        waits = [way.add(entries(1)), way.add(entries(2))]
        await hand.called(1)
        waits.append(way.add(entries(3)))
        await some_turns()
        assert hand.seqs == [[1, 2]]
        waits.append(way.add(entries(4)))
        await hand.called(2)  # now four wait, two and two
        hand.calls[0][-1](None)
        hand.answer()
        waits += [way.add(entries(seq)) for seq in (5, 6, 7)]
        await some_turns()
        assert hand.seqs == [[1, 2], [3, 4]]
        waits += [way.add(entries(seq)) for seq in (8, 9)]
        await hand.called(3)
        assert hand.calls[2][1][0].ids == [f"a{seq}" for seq in range(5, 10)]
        hand.answer()
        await asyncio.gather(*waits)

    asyncio.run(work())


def test_where_very_many_called_enough_of_them_are_not_held_back(way, hand, monkeypatch):
    monkeypatch.setattr(to_disk, "STILL", 3600.0)
    many, enough = 3 * to_disk.ENOUGH, to_disk.ENOUGH

    async def work():
        waits = [way.add(entries(seq)) for seq in range(1, many + 1)]
        await hand.called(1)
        hand.answer()
        waits += [way.add(entries(seq)) for seq in range(many + 1, many + enough)]
        await some_turns()
        assert len(hand.calls) == 1
        waits.append(way.add(entries(many + enough)))
        await hand.called(2)
        assert hand.calls[1][1][0].last == many + enough
        hand.answer()
        await asyncio.gather(*waits)

    asyncio.run(work())


@pytest.mark.parametrize(("still", "long_enough"), [(0.0, 3600.0), (0.0, 0.0)], ids=["no more", "too long"])
def test_what_is_held_back_leaves_where_no_more_comes_and_after_a_while(
    way, hand, still, long_enough, monkeypatch
):
    monkeypatch.setattr(to_disk, "STILL", still)
    monkeypatch.setattr(to_disk, "LONG_ENOUGH", long_enough)

    async def work():
        waits = [way.add(entries(seq)) for seq in (1, 2, 3)]
        await hand.called(1)
        hand.answer()
        waits.append(way.add(entries(4)))
        await hand.called(2)
        hand.answer()
        waits.append(way.add(entries(5)))  # who came alone is followed by one alone
        await asyncio.sleep(0)
        assert hand.seqs[1:] == [[4], [5]]
        hand.answer()
        await asyncio.gather(*waits)

    asyncio.run(work())


def test_arrivals_in_a_row_of_one_caller_are_written_as_one():
    few, other = entries(1, 2, 3), entries(4, 5, 6, 7, 8, by="ben")
    told, more = entries(9, kind="Told"), entries(10, 11, 12, 13)
    made = LogBatch(1, 14, 14.0, "ann", ["x", "y"], msgspec.msgpack.encode((["x", "y"], [1, 2])))
    last = entries(16, 17, 18, 19)
    given = [*few, *other, *told, *more, made, *last]
    written = to_disk.as_one(given)
    assert [type(one).__name__ for one in written] == ["LogEntry"] * 3 + [
        "LogBatch", "LogEntry", "LogBatch", "LogBatch", "LogBatch",
    ]  # fmt: skip
    assert [one.seq for one in written] == [1, 2, 3, 4, 9, 10, 14, 16]
    single = [one for some in written for one in some.entries()]
    assert [(one.seq, one.by, one.kind, one.id, one.body) for one in single] == [
        (one.seq, one.by, one.kind, one.id, one.body) for some in given for one in some.entries()
    ]
    assert {one.at for one in written[3].entries()} == {4.0}


def test_who_goes_while_waiting_takes_nobody_along(way, hand):
    async def waited():
        await way.add(entries(way.seq + 1))

    async def work():
        gone, stayed = asyncio.ensure_future(waited()), asyncio.ensure_future(waited())
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        hand.answer()
        await stayed
        assert gone.cancelled()

    asyncio.run(work())


def test_what_cannot_be_written_is_refused_to_all_who_wait(way, hand, failures):
    async def work():
        waits = [way.add(entries(1)), way.add(entries(2))]
        await asyncio.sleep(0)
        full = StoreFailed("the disk is full")
        hand.answer(full)
        assert failures == [full]
        for one in (*waits, way.rest()):
            with pytest.raises(NotReady, match=r"clinic.*the disk is full.*send it again"):
                await one
        assert way.written == 0

    asyncio.run(work())


def test_what_has_not_left_when_memory_is_dropped_is_never_written(way, hand):
    async def work():
        lost = way.add(entries(1))
        way.drop(StoreFailed("the disk is full"))
        way.begin(0)
        kept = way.add(entries(1))
        await asyncio.sleep(0)
        assert hand.seqs == [[1]]
        hand.answer()
        await kept
        with pytest.raises(NotReady):
            await lost

    asyncio.run(work())


def test_a_writer_that_was_closed_leaves_nobody_waiting(way, hand, failures):
    async def work():
        def refuse(*_):
            raise StoreFailed("writer: expected one that is open, got one that was closed")

        hand.submit = refuse
        with pytest.raises(NotReady, match="was closed"):
            await way.add(entries(1))
        assert len(failures) == 1

    asyncio.run(work())
