"""What happened in a stream and is on its way to the disk: who changed something waits until it is there.

What happens in one turn of the event loop goes to the writer together, and is waited for together: many calls
at once cost the writer one, and the loop one answer. Entries are written in the order of their numbers; so
whoever waits for the last of them waits for all.
"""

import asyncio
from collections.abc import Callable
from time import perf_counter

from breakeven.errors import BreakevenError
from breakeven.errors.serving import NotReady
from breakeven.service.clock import Histogram
from breakeven.store import Writer
from breakeven.store.port import Appended

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
        self._gathered: list[Appended] = []  # in this turn of the loop
        self._waits: list[Wait] = []  # of those who wait for the last that was given
        self._lost: BaseException | None = None  # why it could not be written
        self.seq = self.written = 0  # the last number given, and the last on disk

    def begin(self, seq: int) -> None:
        """Go on behind an entry that is on disk."""
        self.seq = self.written = seq
        self._lost = None

    def add(self, entries: list[Appended]) -> Wait:
        """Have entries with the next numbers written; wait for what is returned until they are."""
        loop = asyncio.get_running_loop()
        if not self._gathered:
            self._waits = []
            loop.call_soon(self._send)
        self._gathered += entries
        self.seq = entries[-1].last
        return self._wait(loop)

    def rest(self) -> Wait | None:
        """What to wait for until all that is in memory is on disk; None where it is."""
        return None if self.written == self.seq else self._wait(asyncio.get_running_loop())

    def _wait(self, loop: asyncio.AbstractEventLoop) -> Wait:
        """One wait for each who waits: whoever goes takes nobody along."""
        wait: Wait = loop.create_future()
        if self._lost is None:
            self._waits.append(wait)
        else:
            wait.set_exception(self._refusal(self._lost))
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

    def _send(self) -> None:
        """Give the writer what was gathered."""
        entries, waits = self._gathered, self._waits
        if not entries:  # it was dropped
            return
        self._gathered, last, began = [], entries[-1].last, perf_counter()

        def answer(error: BreakevenError | None) -> None:
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
            self._writer.submit(entries, answer, len(waits))
        except BreakevenError as error:  # the writer was closed
            answer(error)

    def _refuse(self, waits: list[Wait], why: BaseException) -> None:
        self._lost = why
        for wait in waits:
            if not wait.done():
                wait.set_exception(self._refusal(why))

    def _refusal(self, why: BaseException) -> NotReady:
        error = NotReady(f"stream {self._name!r}: this call could not be written ({why}); send it again")
        error.__cause__ = why
        return error
