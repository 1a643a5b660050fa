"""What is on its way to the disk: given to the writer once a turn of the loop, and waited for together."""

import asyncio

import pytest

from breakeven.errors.serving import NotReady
from breakeven.errors.storing import StoreFailed
from breakeven.service.clock import Histogram
from breakeven.service.to_disk import ToDisk
from breakeven.store import LogEntry


class Hand:
    """A writer who answers when the test says so."""

    def __init__(self):
        self.calls = []

    def submit(self, entries, answer, callers):
        self.calls.append(([one.seq for one in entries], callers, answer))

    def answer(self, error=None):
        self.calls[-1][-1](error)


def entries(*seqs):
    return [LogEntry(1, seq, 0.0, "ann", "Arrived", f"a{seq}", b"") for seq in seqs]


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
        assert [call[:2] for call in hand.calls] == [([8, 9, 10], 3)]
        waits.append(way.add(entries(11)))
        await asyncio.sleep(0)
        assert [call[:2] for call in hand.calls[1:]] == [([11], 1)]
        waits.append(way.rest())
        hand.calls[0][-1](None)
        assert [one.done() for one in waits] == [True, True, True, False, False]
        assert (way.written, way.seq) == (10, 11)
        hand.answer()
        assert waits[4].done()
        assert way.rest() is None
        assert heard == [10, 11]

    asyncio.run(work())


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
        assert [call[:2] for call in hand.calls] == [([1], 1)]
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
