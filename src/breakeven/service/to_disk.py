"""What happened in a stream and is on its way to the disk: who changed something waits until it is there.

What happens in one turn of the event loop goes to the writer together, and is waited for together: many calls
at once cost the writer one, and the loop one answer. A commit costs more than all the rest of a call, and
whoever is answered often calls again at once: so what comes is held back until as many have called as waited
last time, or none did for a moment. Entries are written in the order of their numbers; so whoever waits for
the last of them waits for all.
"""

import asyncio
from collections.abc import Callable
from itertools import groupby
from time import perf_counter

import msgspec

from breakeven.errors import BreakevenError
from breakeven.errors.serving import NotReady
from breakeven.service.clock import Histogram
from breakeven.service.waiting import STORE_SECONDS, no_answer
from breakeven.store import LogBatch, LogEntry, Writer
from breakeven.store.port import ARRIVAL, Appended

ENOUGH = 32  # callers whose entries are not held back for more
STILL = 0.001  # seconds without a further caller, after which entries are not held back
LONG_ENOUGH = 0.005  # seconds after which they are not, either
FEWEST_AS_ONE = 4  # arrivals in a row that are written as one

Wait = asyncio.Future[None]
Ear = Callable[[int], object]
"""Called with the number of the last entry that is on disk."""


class ToDisk:
    """The entries of one stream, from their number to the disk; all of it belongs to the event loop.

    `failed` is called where something could not be written: what is in memory is ahead of the log then.
    """

    def __init__(
        self, writer: Writer, name: str, seconds: Histogram, failed: Callable[[BreakevenError], object]
    ) -> None:
        self._writer, self._name, self._seconds, self._failed = writer, name, seconds, failed
        self._ears: list[Ear] = []
        self._gathered: list[Appended] = []  # and not given to the writer yet
        self._waits: list[Wait] = []  # of those who wait for the last that was given
        self._callers = self._looked = 0  # whose entries were gathered, and how many there were at a look
        self._under_way = 0  # callers whose entries were given to the writer, which has not answered
        self._expected = 1  # callers, as many as waited when the writer was given something last
        self._since = 0.0  # when the first of those gathered came
        self._next_look: asyncio.TimerHandle | None = None
        self._lost: BaseException | None = None  # why it could not be written
        self._late: set[int] = set()  # last numbers of what was given long ago, and is not on disk
        self.seq = self.written = 0  # the last number given, and the last on disk

    def begin(self, seq: int) -> None:
        """Go on behind an entry that is on disk."""
        self.seq = self.written = seq
        self._lost = None

    def add(self, entries: list[Appended]) -> Wait:
        """Have entries with the next numbers written; wait for what is returned until they are."""
        loop = asyncio.get_running_loop()
        if not self._gathered:
            self._waits, self._callers, self._looked, self._since = [], 0, 0, perf_counter()
            if self._expected > 1:
                self._next_look = loop.call_later(STILL, self._look)
        self._gathered += entries
        self.seq = entries[-1].last
        self._callers += 1
        if self._callers == min(self._expected, ENOUGH):
            loop.call_soon(self._send)  # so others of this turn come along
        return self._wait(loop)

    @property
    def stalled(self) -> bool:
        """Whether the store takes so long that more would only wait."""
        return bool(self._late)

    def rest(self) -> Wait | None:
        """What to wait for until all that is in memory is on disk; None where it is."""
        return None if self.written == self.seq else self._wait(asyncio.get_running_loop())

    def _wait(self, loop: asyncio.AbstractEventLoop) -> Wait:
        """One wait for each who waits: whoever goes takes nobody along."""
        wait: Wait = loop.create_future()
        if self._lost is not None:
            wait.set_exception(self._refusal(self._lost))
        elif self._late:
            wait.set_exception(no_answer())
        else:
            self._waits.append(wait)
        return wait

    def drop(self, why: BaseException) -> None:
        """What is in memory is not to be trusted: what did not leave yet is not written."""
        if self._gathered:
            self._gathered = []
            self._refuse(self._waits, why)

    def subscribe(self, heard: Ear) -> Callable[[], None]:
        """Have a function called whenever more of the log is on disk; returns one that ends it."""
        self._ears.append(heard)
        return lambda: self._ears.remove(heard)

    def _look(self) -> None:
        """After a moment: give the writer what was gathered, if no more comes."""
        if self._callers > self._looked and perf_counter() < self._since + LONG_ENOUGH:
            self._looked = self._callers
            self._next_look = asyncio.get_running_loop().call_later(STILL, self._look)
        else:
            self._send()

    def _send(self) -> None:
        """Give the writer what was gathered."""
        if self._next_look is not None:
            self._next_look.cancel()
        gathered, waits, callers = self._gathered, self._waits, self._callers
        if not gathered:  # it was dropped, or given already
            return
        self._under_way += callers
        self._expected = self._under_way
        entries = as_one(gathered) if len(gathered) >= FEWEST_AS_ONE else gathered
        self._gathered, last, began = [], entries[-1].last, perf_counter()
        limit = asyncio.get_running_loop().call_later(STORE_SECONDS, self._be_late, last, waits)

        def answer(error: BreakevenError | None) -> None:
            limit.cancel()
            self._late.discard(last)
            self._under_way -= callers
            if error is not None:
                self._failed(error)
                self._refuse(waits, error)
                return
            self._seconds.add(perf_counter() - began)
            self.written = last
            for wait in waits:
                if not wait.done():
                    wait.set_result(None)
            for heard in self._ears:
                heard(last)

        try:
            self._writer.submit(entries, answer)
        except BreakevenError as error:  # the writer was closed
            answer(error)

    def _be_late(self, last: int, waits: list[Wait]) -> None:
        """The writer has not answered in time: nobody waits for that any longer, and it may still come."""
        self._late.add(last)
        for wait in waits:
            if not wait.done():
                wait.set_exception(no_answer())

    def _refuse(self, waits: list[Wait], why: BaseException) -> None:
        self._lost = why
        for wait in waits:
            if not wait.done():
                wait.set_exception(self._refusal(why))

    def _refusal(self, why: BaseException) -> NotReady:
        error = NotReady(f"stream {self._name!r}: this call could not be written ({why}); send it again")
        error.__cause__ = why
        return error


def as_one(entries: list[Appended]) -> list[Appended]:
    """Entries in which arrivals in a row, from one caller, are one batch, at the time of the first."""
    runs = list[Appended]()
    for by, some in groupby(entries, _caller):
        run = list(some)
        if by is None or len(run) < FEWEST_AS_ONE:
            runs += run
            continue
        first, ids = run[0], [one.id for one in run if type(one) is LogEntry and one.id is not None]
        body = msgspec.msgpack.encode((ids, [msgspec.Raw(one.body) for one in run]))
        runs.append(LogBatch(first.stream, first.seq, first.at, by, ids, body))
    return runs


def _caller(entry: Appended) -> str | None:
    """Whose arrival an entry is; None where it is none, or is a batch already."""
    single = type(entry) is LogEntry and entry.kind == ARRIVAL and entry.id is not None
    return entry.by if single else None
