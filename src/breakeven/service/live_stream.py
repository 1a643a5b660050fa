"""A stream that is served: its learner, one writer at a time, and what is on its way to the disk.

Whoever changes the learner does so in a turn. The events of a turn get their numbers in memory and go to the
writer; the answer waits until they are on disk. Whoever reads waits until all that it saw is on disk, too. A
write that fails leaves memory ahead of the log: the learner is dropped, and read anew from the log.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from time import perf_counter, thread_time
from typing import TypeVar

from breakeven.errors import BreakevenError
from breakeven.errors.serving import ErasedId, NotReady, StreamClosed
from breakeven.folding import entry_of
from breakeven.learner.state import WHOLE
from breakeven.service.clock import Clock, Jumps, StreamTimes
from breakeven.service.folded import Aside, Folded, read_folded
from breakeven.service.seen_ids import SeenIds
from breakeven.service.to_disk import FEWEST_AS_ONE, ToDisk, Wait
from breakeven.store import LogBatch, LogEntry, Store, StoredStream, Writer
from breakeven.store.port import ARRIVAL, Appended, check_name, mark_of
from breakeven.values import AnyEvent, Arrived, Reopened, Told, Withdrawn
from breakeven.wire.lossless import EVENT_WRITER
from breakeven.wire.stream_setup import StreamState

logger = logging.getLogger(__name__)
Result = TypeVar("Result")

SLOW = 0.002  # seconds, from which on work goes to a thread
SLOW_AT_FIRST = dict.fromkeys(("adopt", "fit_job", "checksum"), 1.0)  # seconds, until they are measured
MANY = 50  # of a verb whose pace is not known yet, from which on it goes to a thread
REMEMBERED = 0.2  # how much the last measurement of a verb counts
DECIDING = ("decide", "decide_many")  # verbs
DEADLINE = "deadline"  # who withdraws what was not answered in time


class LiveStream:
    """One stream. All of it belongs to the event loop, but for work that a turn gives to a thread."""

    def __init__(
        self, store: Store, writer: Writer, stored: StoredStream, clock: Clock, threads: Executor
    ) -> None:
        self.store, self.clock = store, clock
        self._writer, self._threads = writer, threads
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
        self.to_disk = ToDisk(writer, stored.name, self.times.commit, self.drop)
        self.seen = SeenIds()
        self.erased = frozenset[bytes]()  # marks of ids
        self.progress = 0.0  # of folding, from 0 to 1
        self.failure: BaseException | None = None

    @property
    def seq(self) -> int:
        """The last number that was given."""
        return self.to_disk.seq

    @property
    def written(self) -> int:
        """The last that is on disk."""
        return self.to_disk.written

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

        def told(progress: float) -> None:
            self.progress = progress

        return read_folded(self.store, self.stored, self.clock, told)

    def take(self, folded: Folded) -> None:
        """Go on with what was read."""
        folded.learner.listen(folded.fresh.append)
        self.to_disk.begin(folded.seq)
        self.erased, self.progress, self.failure, self._folded = folded.erased, 1.0, None, folded

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
        """Wait until all reading and writing that is under way has ended."""
        under_way = [task for task in (self._folding, self._finding_ids) if task is not None]
        if under_way:
            await asyncio.wait(under_way)
        with suppress(BreakevenError):  # whoever waits for it hears of it
            await self.barrier()

    def drop(self, why: BaseException) -> None:
        """Memory cannot be trusted any more: read the stream anew before it decides again."""
        if self._folded is not None:
            logger.error("stream %r is read anew from its log: %s", self.name, why)
            self._folded, self.failure = None, why
            self.seen = SeenIds()
            self.to_disk.drop(why)
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
    ) -> tuple[Result, list[Appended]]:
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
    ) -> tuple[Result, list[Appended], Wait | None]:
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
            result, seq, wait = self._timed(self.ready, verb, work, count), self.seq, self.to_disk.rest()
        if wait is not None:
            await wait
        return result, seq

    async def _look_in_turn(
        self, verb: str, work: Callable[[Folded], Result], count: int
    ) -> tuple[Result, int, Wait | None]:
        async with self._turn:
            folded = self.ready
            if self._is_slow(verb, count):
                result = await self._in_thread(folded, verb, work, count)
            else:
                result = self._timed(folded, verb, work, count)
            self._check_current(folded)
            return result, self.seq, self.to_disk.rest()

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
        seconds: Callable[[], float] | None = None,
    ) -> Result:
        seconds = seconds or (perf_counter if count == 1 else thread_time)  # which takes longer to read
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

    def _keep(self, folded: Folded, by: str) -> tuple[list[Appended], Wait | None]:
        """Give what happened its numbers and send it to the disk."""
        fresh = folded.fresh
        if not fresh:
            return [], self.to_disk.rest()
        at = self.clock.now()
        if len(fresh) >= FEWEST_AS_ONE and set(map(type, fresh)) == {Arrived}:
            entries = self._together(folded, by, at)
        else:
            entries = self._one_by_one(folded, by, at)
        fresh.clear()
        return entries, self.to_disk.add(entries)

    def _one_by_one(self, folded: Folded, by: str, at: float) -> list[Appended]:
        """What happened, each an entry of its own."""
        seq, stream = self.seq, self.number
        entries: list[Appended] = []
        seen, encode = self.seen.add, EVENT_WRITER.encode
        for event in folded.fresh:
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
        return entries

    def _together(self, folded: Folded, by: str, at: float) -> list[Appended]:
        """Many arrivals, written as one."""
        arrivals: list[Arrived] = folded.fresh
        decisions = [one.decision for one in arrivals]
        ids = [one.id for one in decisions]
        self.seen.add_all(ids)
        for one in decisions:
            if one.wants_label:
                folded.desk.ask(one, at)
        return [LogBatch(self.number, self.seq + 1, at, by, ids, EVENT_WRITER.encode((ids, arrivals)))]

    def _note(self, folded: Folded, event: AnyEvent, at: float) -> None:
        """What an event that is no arrival means to the desk."""
        if isinstance(event, Told | Withdrawn):
            folded.desk.close(event.id)
        elif type(event) is Reopened:
            awaited = folded.learner.awaited.get(event.id)
            if awaited is not None:
                folded.desk.ask(awaited.decision, at)

    async def barrier(self) -> None:
        """Wait until all that is in memory is on disk."""
        wait = self.to_disk.rest()
        if wait is not None:
            await wait

    # -- ids that may come, and deadlines ---------------------------------------------------------------

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
            if self.is_erased(id):
                raise ErasedId(f"id: expected one that was not erased, got {id!r}; send a new one")

    def is_erased(self, id: str) -> bool:
        """Whether all that was about an id was erased."""
        return mark_of(self.store_id, id) in self.erased

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
