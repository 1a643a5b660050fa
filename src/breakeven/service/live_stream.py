"""A stream that is served: its learner, one writer at a time, and what is on its way to the disk.

Whoever changes the learner does so in a turn. The events of a turn get their numbers in memory and go to the
writer; the answer waits until they are on disk. Whoever reads waits until all that it saw is on disk, too. A
write that fails leaves memory ahead of the log: the learner is dropped, and read anew from the log.
"""

import asyncio
import logging
from bisect import bisect_left
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from time import perf_counter, thread_time
from typing import Any, TypeVar

from msgspec import Struct

from breakeven.beliefs import Cells, SeparateTypes, TypeBelief
from breakeven.errors import BreakevenError
from breakeven.errors.serving import ErasedId, NotReady, StreamClosed, TooMany
from breakeven.folding import entry_of, fold_stream
from breakeven.learner import Learner
from breakeven.learner.state import WHOLE
from breakeven.rows import Columns
from breakeven.service.clock import Clock, Jumps, StreamTimes
from breakeven.service.desk import Desk
from breakeven.service.seen_ids import SeenIds
from breakeven.service.setting_up import columns_of, config_now
from breakeven.store import LogEntry, Store, StoredStream, Writer
from breakeven.store.port import ARRIVAL, check_name, mark_of
from breakeven.values import AnyEvent, Arrived, Reopened, Told, Withdrawn
from breakeven.wire.lossless import EVENT_WRITER
from breakeven.wire.stream_setup import StreamConfig, StreamState

logger = logging.getLogger(__name__)
Result = TypeVar("Result")

SLOW = 0.002  # seconds, from which on work goes to a thread
SLOW_AT_FIRST = dict.fromkeys(("adopt", "fit_job", "checksum"), 1.0)  # seconds, until they are measured
MANY = 50  # of a verb whose pace is not known yet, from which on it goes to a thread
REMEMBERED = 0.2  # how much the last measurement of a verb counts
DECIDING = ("decide", "decide_many")  # verbs
SKIPPED = "Skipped"  # the kind of an entry that says that somebody skipped a request
BY_TYPE = (TypeBelief, Cells, SeparateTypes)  # a late label costs the same however many are awaited
OPEN_BY_DEFAULT = 500  # requests of a belief over numbers: a late label costs more the more are awaited
DEADLINE = "deadline"  # who withdraws what was not answered in time

Heard = Callable[["LiveStream", int], object]
"""Called with a stream and the number of the last entry that is on disk."""


class Folded(Struct):
    """What the log of a stream leads to."""

    learner: Learner
    config: StreamConfig
    columns: Columns | None
    desk: Desk
    seq: int
    fresh: list[Any] = []  # what happened in this turn: events of the learner, and what was added

    def add(self, kind: str, id: str | None, body: bytes = b"") -> None:
        """In a turn: add an entry that is no event of the learner."""
        self.fresh.append(Aside(kind, id, body))

    @property
    def limit(self) -> int | None:
        """How many requests may be open; None where there is no limit."""
        if self.config.open_requests is not None or isinstance(self.learner.belief, BY_TYPE):
            return self.config.open_requests
        return OPEN_BY_DEFAULT


class Aside(Struct, frozen=True):
    """An entry that is no event of the learner."""

    kind: str
    id: str | None
    body: bytes


def entry_numbers(events: list[int], beside: list[int]) -> list[int]:
    """The numbers of entries that hold these events of a learner; `beside` are those that hold none.

    >>> entry_numbers([1, 2, 3], beside=[2, 5])
    [1, 3, 4]
    """
    before = [seq - place for place, seq in enumerate(beside, 1)]  # events before each of these
    return [number + bisect_left(before, number) for number in events if number > 0]


class LiveStream:
    """One stream. All of it belongs to the event loop, but for work that a turn gives to a thread."""

    def __init__(
        self, store: Store, writer: Writer, stored: StoredStream, clock: Clock, threads: Executor
    ) -> None:
        self.store, self._writer, self.clock, self._threads = store, writer, clock, threads
        self.stored = stored
        self.name, self.number, self.store_id = stored.name, stored.number, store.id
        self._turn = asyncio.Lock()
        self._folded: Folded | None = None
        self._folding: asyncio.Task[None] | None = None
        self._finding_ids: asyncio.Task[None] | None = None
        self._pace = dict(SLOW_AT_FIRST)  # seconds that one of a verb takes
        self.keeping = asyncio.Lock()  # of whoever keeps a snapshot, or rewrites what snapshots were made of
        self.rewrites = 0  # how often entries were changed: what was read before is of another log
        self.coverage: tuple[int, int] | None = None  # audited labels within their interval, and all
        self.mismatch: str | None = None  # where the log led to another state than that in memory
        self._jumps = Jumps()
        self.times = StreamTimes()
        self._ears: list[Heard] = []
        self.seen = SeenIds()
        self.erased = frozenset[bytes]()  # marks of ids
        self.progress = 0.0  # of folding, from 0 to 1
        self.failure: BaseException | None = None
        self.seq = self.written = 0  # the last number given, and the last on disk

    # -- what it is ----------------------------------------------------------------------------------

    @property
    def state(self) -> StreamState:
        """Whether it can be used."""
        if self.stored.closed is not None:
            return "closed"
        if self._folded is not None:
            return "ready"
        return "failed" if self.failure is not None else "reading"

    @property
    def ready(self) -> Folded:
        """What it is now, or `NotReady`; a stream that failed is read anew."""
        if self._folded is None:
            self._read_anew()
            raise NotReady(
                f"stream {self.name!r}: expected one that is read, got one that is being read from its log "
                f"({100 * self.progress:.0f}%); try again in a second"
            )
        return self._folded

    @property
    def writable(self) -> Folded:
        """The same, of a stream that takes more; else `StreamClosed`."""
        if self.stored.closed is not None:
            raise StreamClosed(f"stream {self.name!r}: expected an open one, got one that was closed")
        return self.ready

    # -- reading the log -----------------------------------------------------------------------------

    def fold(self) -> Folded:
        """Read the stream from its log; runs in any thread and changes nothing but `progress`."""
        last, times = self.store.last(self.number), dict[str, float]()
        self.progress = 0.0

        def each(entry: LogEntry, event: AnyEvent) -> None:
            if type(event) is Arrived and event.decision.wants_label:
                times[event.decision.id] = entry.at
            elif type(event) is Reopened:
                times[event.id] = entry.at
            if entry.seq % 1000 == 0:
                self.progress = entry.seq / max(last, 1)

        learner = fold_stream(self.store, self.stored, each=each, upto=last)
        self.erased = self.store.erased(self.number)
        config = config_now(self.store, self.stored)
        columns = None if config.columns is None else columns_of(config.columns)
        desk = self._desk(learner, times)
        return Folded(learner, config, columns, desk, last)  # what another wrote meanwhile is behind that

    def _desk(self, learner: Learner, times: dict[str, float]) -> Desk:
        """The desk that the log leads to: what is awaited, and who skipped what."""
        desk, beside = Desk(self.clock.steady, self.store.id.encode()), self.store.beside(self.number)
        unknown = [one for id, one in learner.state.book.awaited.items() if id not in times]
        numbers = [one.key - learner.state.earlier for one in unknown]
        found = self.store.times(self.number, entry_numbers(numbers, [entry.seq for entry in beside]))
        for one in unknown:
            at = found.get(one.id, self.stored.created)  # what a stream began with is in no entry of it
            times[one.id] = self._reopened_at(one.id, at) if one.reopened else at
        awaited = learner.state.book.awaited.values()
        desk.ask_all((one.decision, times[one.id]) for one in awaited if one.decision is not None)
        for entry in beside:
            if entry.kind == SKIPPED and entry.id in desk.requests:
                desk.skip(entry.id, entry.by)
        return desk

    def _reopened_at(self, id: str, arrived: float) -> float:
        """When a request was opened last."""
        again = [one.at for one in self.store.about(self.number, id) if one.kind == Reopened.__name__]
        return again[-1] if again else arrived

    def take(self, folded: Folded) -> None:
        """Go on with what was read."""
        folded.learner.listen(folded.fresh.append)
        self.seq = self.written = folded.seq
        self.progress, self.failure, self._folded = 1.0, None, folded

    async def read(self) -> None:
        """Read the stream from its log, then let it be written again; on failure it stays as it was.

        Several may read at once: the first counts, unless the log was rewritten since it began.
        """
        loop, rewrites = asyncio.get_running_loop(), self.rewrites
        try:
            folded = await loop.run_in_executor(self._threads, self._fold_after_all)
            await loop.run_in_executor(self._threads, self._writer.resume, self.number)
        except BreakevenError as error:
            self.failure = error
            logger.error("stream %r cannot be read: %s", self.name, error)
        except Exception as error:  # whatever is wrong with this one, the others are read
            self.failure = error
            logger.exception("stream %r cannot be read", self.name)
        else:
            if self._folded is not None or self.rewrites != rewrites:
                return
            self.take(folded)
            if not self.seen.complete:
                self._finding_ids = loop.create_task(self._find_ids(self.seen))

    async def _find_ids(self, seen: SeenIds) -> None:
        """Read the ids that arrived; meanwhile each id that comes is looked up in the store."""
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self._threads, self.find_ids)
        except BreakevenError as error:
            logger.warning("stream %r: its ids are looked up one by one (%s)", self.name, error)
        else:
            seen.add_found(found)

    def find_ids(self) -> SeenIds:
        """The ids that arrived, from the store; runs in any thread and changes nothing."""
        found = SeenIds()
        found.add_all(self.store.arrival_ids(self.number))
        return found

    def _fold_after_all(self) -> Folded:
        """Read the log once nothing of this stream is on its way to it any more."""
        with suppress(BreakevenError):  # what was on its way failed, or a failure is why it is read anew
            self._writer.barrier(self.number)
        return self.fold()

    def _read_anew(self) -> None:
        if self._folding is None or self._folding.done():
            self._folding = asyncio.get_running_loop().create_task(self.read())

    async def settled(self) -> None:
        """Wait until all reading that is under way has ended."""
        under_way = [task for task in (self._folding, self._finding_ids) if task is not None]
        if under_way:
            await asyncio.wait(under_way)

    def drop(self, why: BaseException) -> None:
        """Memory cannot be trusted any more: read the stream anew before it decides again."""
        if self._folded is not None:
            logger.error("stream %r is read anew from its log: %s", self.name, why)
            self._folded, self.failure = None, why
            self.seen = SeenIds()
            self._read_anew()

    # -- turns -----------------------------------------------------------------------------------------

    async def change(
        self,
        by: str,
        verb: str,
        work: Callable[[Folded], Result],
        count: int = 1,
        *,
        all_on_disk: bool = False,
    ) -> tuple[Result, list[LogEntry]]:
        """Let `work` change the learner; returns once all that happened is on disk, with its entries.

        `verb` names the kind of work, and `count` how much of it there is: what takes long goes to a thread.
        Where nothing happened, as with a call that repeats an earlier one, the earlier one is on disk. With
        `all_on_disk` the work begins once all that happened before is in the store, where it may look.
        """
        if all_on_disk or self._turn.locked() or self._is_slow(verb, count):
            turn = asyncio.ensure_future(self._in_turn(by, verb, work, count, all_on_disk))
            result, entries, wait = await asyncio.shield(turn)  # whoever called may go, the turn ends
        else:
            folded = self.writable
            try:
                result = self._timed(folded, verb, work, count)
                entries, wait = self._keep(folded, by)
            except BaseException as error:
                self._after_failure(folded, error)
                raise
        if wait is not None:
            await wait
        return result, entries

    async def _in_turn(
        self, by: str, verb: str, work: Callable[[Folded], Result], count: int, all_on_disk: bool
    ) -> tuple[Result, list[LogEntry], asyncio.Future[None] | None]:
        async with self._turn:
            if all_on_disk:
                await self.barrier()
            folded = self.writable
            try:
                if self._is_slow(verb, count):
                    result = await self._in_thread(folded, verb, work, count)
                else:
                    result = self._timed(folded, verb, work, count)
                self._check_current(folded)
                return result, *self._keep(folded, by)
            except BaseException as error:
                self._after_failure(folded, error)
                raise

    async def look(self, verb: str, work: Callable[[Folded], Result], count: int = 1) -> tuple[Result, int]:
        """What `work` sees in the learner, once all of it is on disk; and the number of that entry."""
        if self._turn.locked() or self._is_slow(verb, count):
            result, seq, wait = await asyncio.shield(
                asyncio.ensure_future(self._look_in_turn(verb, work, count))
            )
        else:
            result, seq, wait = self._timed(self.ready, verb, work, count), self.seq, self._on_disk()
        if wait is not None:
            await wait
        return result, seq

    async def _look_in_turn(
        self, verb: str, work: Callable[[Folded], Result], count: int
    ) -> tuple[Result, int, asyncio.Future[None] | None]:
        async with self._turn:
            folded = self.ready
            if self._is_slow(verb, count):
                result = await self._in_thread(folded, verb, work, count)
            else:
                result = self._timed(folded, verb, work, count)
            self._check_current(folded)
            return result, self.seq, self._on_disk()

    def _check_current(self, folded: Folded) -> None:
        """Raise where a write failed while somebody worked: what they worked on is no more."""
        if self._folded is not folded:
            raise NotReady(
                f"stream {self.name!r}: nothing was kept of this call, as something before it could not be "
                "written; try again"
            )

    async def alone(self, work: Callable[[], Result]) -> Result:
        """Do something with the stream's log while nobody uses its learner, which is read anew afterwards."""

        async def turn() -> Result:
            async with self._turn:
                await self.barrier()
                loop = asyncio.get_running_loop()
                self._folded = None
                try:
                    async with self.keeping:
                        self.rewrites += 1
                        return await loop.run_in_executor(self._threads, work)
                finally:
                    self.rewrites += 1  # whoever began to read meanwhile may have read either log
                    self.seen = SeenIds()
                    await self.read()

        return await asyncio.shield(asyncio.ensure_future(turn()))

    async def close(self, by: str) -> None:
        """Take no more, once all that came before is on disk; it stays readable."""

        async def turn() -> None:
            async with self._turn:
                await self.barrier()
                at = self.clock.now()
                await asyncio.to_thread(lambda: self.store.close_stream(self.number, at, by=by))
                self.stored = await asyncio.to_thread(self.store.stream, self.name)

        await asyncio.shield(asyncio.ensure_future(turn()))

    def _is_slow(self, verb: str, count: int) -> bool:
        pace = self._pace.get(verb)
        return count > MANY if pace is None else pace * count > SLOW

    async def _in_thread(
        self, folded: Folded, verb: str, work: Callable[[Folded], Result], count: int
    ) -> Result:
        """Work in a thread, by the CPU time of that: waiting for its turn makes no verb slow for good."""
        loop, timed = asyncio.get_running_loop(), self._timed
        return await loop.run_in_executor(self._threads, timed, folded, verb, work, count, thread_time)

    def _timed(
        self,
        folded: Folded,
        verb: str,
        work: Callable[[Folded], Result],
        count: int,
        seconds: Callable[[], float] = perf_counter,
    ) -> Result:
        began = seconds()
        result = work(folded)
        took = seconds() - began
        if verb in DECIDING:
            self.times.decide.add(took)
        took /= max(count, 1)
        before = self._pace.get(verb, took)
        self._pace[verb] = before + REMEMBERED * (took - before)
        return result

    def _after_failure(self, folded: Folded, error: BaseException) -> None:
        """A refused call has changed nothing; anything else leaves a memory that cannot be trusted."""
        torn = folded.learner.state.phase != WHOLE
        if self._folded is folded and (torn or folded.fresh):
            self.drop(error)

    # -- to the disk -----------------------------------------------------------------------------------

    def _keep(self, folded: Folded, by: str) -> tuple[list[LogEntry], asyncio.Future[None] | None]:
        """Give what happened its numbers and send it to the disk."""
        fresh = folded.fresh
        if not fresh:
            return [], self._on_disk()
        at, seq, stream = self.clock.now(), self.seq, self.number
        entries, seen, encode = list[LogEntry](), self.seen.add, EVENT_WRITER.encode
        for event in fresh:
            seq += 1
            if type(event) is Arrived:  # most of them are
                decision = event.decision
                seen(decision.id)
                if decision.wants_label:
                    folded.desk.ask(decision, at)
                entries.append(LogEntry(stream, seq, at, by, ARRIVAL, decision.id, encode(event)))
            elif type(event) is Aside:
                entries.append(LogEntry(stream, seq, at, by, event.kind, event.id, event.body))
            else:
                entries.append(entry_of(event, stream, seq, by=by, at=at))
                self._note(folded, event, at)
        fresh.clear()
        return entries, self._submit(entries)

    def _note(self, folded: Folded, event: AnyEvent, at: float) -> None:
        """What an event that is no arrival means to the desk."""
        if isinstance(event, Told | Withdrawn):
            folded.desk.close(event.id)
        elif type(event) is Reopened:
            awaited = folded.learner.awaited.get(event.id)
            if awaited is not None:
                folded.desk.ask(awaited.decision, at)

    def _submit(self, entries: list[LogEntry]) -> asyncio.Future[None]:
        wait = asyncio.get_running_loop().create_future()
        last, began = entries[-1].seq, perf_counter()
        self.seq = last

        def answer(error: BreakevenError | None) -> None:
            if error is None:
                self.times.commit.add(perf_counter() - began)
                self.written = last
                if not wait.done():
                    wait.set_result(None)
                for heard in self._ears:
                    heard(self, last)
            else:
                self._fail(wait, error)

        self._writer.submit(entries, answer)
        return wait

    def _on_disk(self) -> asyncio.Future[None] | None:
        """What to wait for until all that is in memory is on disk; None where it is."""
        if self.written == self.seq:
            return None
        wait = asyncio.get_running_loop().create_future()

        def answer(error: BreakevenError | None) -> None:
            if error is not None:
                self._fail(wait, error)
            elif not wait.done():
                wait.set_result(None)

        self._writer.pass_barrier(self.number, answer)
        return wait

    async def barrier(self) -> None:
        """Wait until all that is in memory is on disk."""
        wait = self._on_disk()
        if wait is not None:
            await wait

    def _fail(self, wait: asyncio.Future[None], error: BreakevenError) -> None:
        self.drop(error)
        if not wait.done():
            words = f"this call could not be written ({error}); send it again"
            answer = NotReady(f"stream {self.name!r}: {words}")
            answer.__cause__ = error
            wait.set_exception(answer)

    # -- deadlines, and who listens --------------------------------------------------------------------

    def check_room(self, folded: Folded, coming: int = 1) -> None:
        """Raise where more requests could be open than are allowed, if all that come are asked for."""
        limit, open = folded.limit, len(folded.desk)
        if limit is None or not coming or open + coming <= limit:
            return
        if open >= limit:
            raise TooMany(
                f"stream {self.name!r}: expected fewer than {limit:,} open requests, "
                f"got {open:,}; label or withdraw some"
            )
        raise TooMany(
            f"stream {self.name!r}: expected at most {limit - open:,} arrivals at once, as {open:,} requests "
            f"are open and at most {limit:,} may be, got {coming:,}; send fewer at once"
        )

    def check_new(self, *ids: str) -> None:
        """Raise where an id cannot be taken: no store can hold it, or it was erased."""
        if "\0" in "".join(ids):
            for id in ids:
                check_name("id", id)
        self.check_not_erased(*ids)

    def check_not_erased(self, *ids: str) -> None:
        """Raise where all that was about an id was erased: it is not taken again."""
        if not self.erased:
            return
        for id in ids:
            if mark_of(self.store_id, id) in self.erased:
                raise ErasedId(f"id: expected one that was not erased, got {id!r}; send a new one")

    async def expire(self) -> int:
        """Withdraw what was not answered before its deadline; returns how many."""
        folded = self._folded
        if folded is None or folded.config.deadline is None or self.stored.closed is not None:
            return 0
        now = self.clock.now()
        if not self._jumps.settled(now, self.clock.steady()):
            return 0
        due = list(folded.desk.due(now - folded.config.deadline))
        if not due:
            return 0

        def work(folded: Folded) -> int:
            open = [id for id in due if id in folded.desk.requests]
            for id in open:
                folded.learner.withdraw(id)
            return len(open)

        done, _ = await self.change(DEADLINE, "withdraw", work, len(due))
        return done

    def subscribe(self, heard: Heard) -> Callable[[], None]:
        """Have a function called whenever more of the log is on disk; returns one that ends it."""
        self._ears.append(heard)
        return lambda: self._ears.remove(heard)
