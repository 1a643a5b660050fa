"""One thread that writes, whoever asks: what comes while a commit is under way goes together into the next.

A commit costs much the same whatever is in it, so many at once cost a fraction of one each. Callers are
answered once their entries are on disk. Where a write fails, memory is ahead of the log: every call that
waits for the stream fails, and so does every further one, until `resume` says that the stream was read anew.
Should the thread itself die, no caller is left waiting, and nothing is written any more.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import sleep

from msgspec import Struct

from breakeven.errors import BreakevenError, DuplicateId, InvalidInput, WrongEvent, expect
from breakeven.errors.storing import SecondWriter, StoreError, StoreFailed, UnknownStream
from breakeven.store.port import Appended, Store

logger = logging.getLogger(__name__)

MOST_CALLS = 1000  # in one transaction
AT_FAULT = (SecondWriter, UnknownStream, DuplicateId, InvalidInput, WrongEvent)  # errors of single calls
GATHERING = 0.0005  # seconds that a group waits for more, where the last one had several
QUIET = 1.0  # seconds without a call, after which there is time for housekeeping

Answer = Callable[[BreakevenError | None], object]
"""Called once with None, when all is on disk, or with what went wrong."""
Deliver = Callable[[Callable[[], object]], object]
"""Takes a function that answers a whole group, and has it called where callers live."""
Died = Callable[[BreakevenError], object]
"""Called once, where callers live, if the thread has died of a fault: nothing is written any more."""


class _Call(Struct, gc=False):
    """What callers wait for: entries of one stream, or, without any, all that came before."""

    stream: int
    entries: Sequence[Appended]
    answer: Answer
    resumes: bool = False


class Writer:
    """The only one who appends to a store; make one for a store, and close it before the store.

    Answers are given in the writer's own thread, unless `deliver` takes them elsewhere: an event loop's
    `call_soon_threadsafe`, for instance, which is then called once for each group.

    >>> from breakeven.store import LogEntry
    >>> from breakeven.testing import MemoryStore
    >>> store = MemoryStore()
    >>> clinic = store.create_stream("clinic", b"", at=0.0).number
    >>> with Writer(store) as writer:
    ...     writer.write([LogEntry(clinic, 1, 0.0, "ann", "Created", None, b"...")])
    ...     store.last(clinic)
    1
    """

    def __init__(self, store: Store, deliver: Deliver | None = None, died: Died | None = None) -> None:
        self._store, self._deliver, self._died = store, deliver or _at_once, died
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._in_hand: list[_Call] = []  # taken from there, and not answered yet
        self._fault: BreakevenError | None = None  # of which the thread has died
        self._broken: dict[int, BreakevenError] = {}  # streams that must be read anew, and why
        self._ended = Event()
        self._closing = False
        self.commits = self.written = 0  # how many transactions, with how many entries
        self._thread = Thread(target=self._work, name="breakeven-writer", daemon=True)
        self._thread.start()

    # -- for callers -------------------------------------------------------------------------------

    def submit(self, entries: Sequence[Appended], answer: Answer) -> None:
        """Have entries of one stream written; `answer` is called once they are on disk, or with an error.

        Calls are written in the order in which they came.
        """
        if len(entries) != 1 and len({entry.stream for entry in entries}) != 1:
            expect.refuse("entries", "some of one stream", "none, or some of several", described=True)
        self._put(_Call(entries[0].stream, entries, answer))

    def write(self, entries: Sequence[Appended]) -> None:
        """The same, and wait for it."""
        self._wait(lambda answer: self.submit(entries, answer))

    def pass_barrier(self, stream: int, answer: Answer) -> None:
        """Have `answer` called once all that was submitted before is on disk; with an error if it is not.

        Whoever shows what is in memory passes through here first.
        """
        self._put(_Call(stream, (), answer))

    def barrier(self, stream: int) -> None:
        """The same, and wait for it."""
        self._wait(lambda answer: self.pass_barrier(stream, answer))

    def resume(self, stream: int) -> None:
        """The stream was read anew from the log: what comes from here on is written again."""
        self._wait(lambda answer: self._put(_Call(stream, (), answer, resumes=True)))

    def close(self) -> None:
        """Write what was submitted, then end; closing twice is harmless."""
        if not self._closing:
            self._closing = True
            self._calls.put(None)
        self._thread.join()

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _put(self, call: _Call) -> None:
        if self._closing:
            raise StoreError("writer: expected one that is open, got one that was closed")
        self._calls.put(call)
        if self._ended.is_set():  # it was closed in this moment
            self._refuse_the_rest()

    def _wait(self, submit: Callable[[Answer], None]) -> None:
        done, said = Event(), list[BreakevenError | None]()

        def answer(error: BreakevenError | None) -> None:
            said.append(error)
            done.set()

        submit(answer)
        done.wait()
        if said[0] is not None:
            raise said[0]

    # -- the thread --------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            self._write_all()
        except BaseException as error:  # a bug, or no memory: what it has written is not known
            logger.critical("the thread that writes to %s has died", self._store.name, exc_info=error)
            self._fault = StoreFailed(
                f"{self._store.name}: nothing is written any more, as the thread that writes has died "
                f"({type(error).__name__}: {error}); start the process anew"
            )
            self._fault.__cause__ = error
        for call in self._in_hand:
            self._calls.put(call)
        self._ended.set()
        self._refuse_the_rest()
        if self._fault is not None and self._died is not None:
            self._hand_over(partial(self._died, self._fault))

    def _write_all(self) -> None:
        several = False
        while self._gather(several):
            several = len(self._in_hand) > 1
            self._answer(self._in_hand, self._commit(self._in_hand))
            self._in_hand = []

    def _gather(self, several: bool) -> bool:
        """Take in hand the calls that are written next, up to one that resumes; whether there are any."""
        group, call = self._in_hand, self._next()
        if call is None:
            return False
        group.append(call)
        if several:
            sleep(GATHERING)
        while len(group) < MOST_CALLS and not group[-1].resumes:
            try:
                call = self._calls.get_nowait()
            except Empty:
                break
            if call is None:  # write these first, then end
                self._calls.put(None)
                break
            group.append(call)
        return True

    def _next(self) -> _Call | None:
        try:
            return self._calls.get(timeout=QUIET)
        except Empty:
            with suppress(StoreError):  # the next write finds out, and says so to somebody
                self._store.rest()
            return self._calls.get()

    def _commit(self, group: list[_Call]) -> list[BreakevenError | None]:
        """Write a group in one transaction, and say what to answer to each call.

        Where it is refused each call is tried alone, for only some of them are at fault.
        """
        ready = [call for call in group if call.entries and call.stream not in self._broken]
        failure = self._try([entry for call in ready for entry in call.entries]) if ready else None
        if failure is not None and len(ready) > 1 and isinstance(failure, AT_FAULT):
            return [self._write_alone(call) for call in group]
        if failure is not None:
            self._broken.update({call.stream: failure for call in ready})
        return [self._state_of(call) for call in group]

    def _write_alone(self, call: _Call) -> BreakevenError | None:
        if call.entries and call.stream not in self._broken:
            failure = self._try(call.entries)
            if failure is not None:
                self._broken[call.stream] = failure
        return self._state_of(call)

    def _state_of(self, call: _Call) -> BreakevenError | None:
        """What to answer: why the stream of a call must be read anew, or nothing."""
        if call.resumes:
            self._broken.pop(call.stream, None)
        return self._broken.get(call.stream)

    def _try(self, entries: Sequence[Appended]) -> BreakevenError | None:
        try:
            self._store.append(entries)
        except BreakevenError as error:
            return error
        except Exception as error:  # whatever it is, callers must not wait for ever
            failure = StoreFailed(f"{self._store.name}: could not write ({type(error).__name__}: {error})")
            failure.__cause__ = error
            return failure
        self.commits += 1
        self.written += sum(one.last - one.seq + 1 for one in entries)
        return None

    def _answer(self, group: list[_Call], answers: Sequence[BreakevenError | None]) -> None:
        def tell() -> None:
            for call, error in zip(group, answers, strict=True):
                try:
                    call.answer(error)
                except Exception:  # the others still want their answers
                    logger.exception("a caller of the writer failed to take its answer")

        self._hand_over(tell)

    def _hand_over(self, tell: Callable[[], object]) -> None:
        try:
            self._deliver(tell)
        except Exception:  # an event loop that was closed: nobody is there to be answered
            logger.exception("answers of the writer could not be delivered")

    def _refuse_the_rest(self) -> None:
        """Calls that came while the thread ended are not left waiting."""
        error = self._fault or StoreError("writer: it was closed before this was written")
        with suppress(Empty):
            while True:
                call = self._calls.get_nowait()
                if call is not None:
                    self._answer([call], [error])


def _at_once(tell: Callable[[], object]) -> None:
    tell()
