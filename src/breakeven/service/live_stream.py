"""A stream that is served: its learner, one writer at a time, and what is on its way to the disk.

Whoever changes the learner does so in a turn. The events of a turn get their numbers in memory and go to the
writer; the answer waits until they are on disk. Whoever reads waits until all that it saw is on disk, too. A
write that fails leaves memory ahead of the log: the learner is dropped, and read anew from the log.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from contextlib import AsyncExitStack, suppress
from importlib.metadata import version
from time import perf_counter, thread_time
from typing import TypeVar

from breakeven.errors import BreakevenError
from breakeven.errors.serving import ErasedId, NotReady, ServiceError, StreamClosed, StreamDamaged
from breakeven.errors.storing import StoreError
from breakeven.folding import Damage, entry_of
from breakeven.learner.state import WHOLE
from breakeven.service.clock import Clock, Jumps, StreamTimes
from breakeven.service.folded import Aside, Folded, FoldWatch, KeepSnapshot, read_folded
from breakeven.service.seen_ids import SeenIds
from breakeven.service.to_disk import FEWEST_AS_ONE, ToDisk, Wait
from breakeven.service.waiting import STORE_SECONDS, ask_store, done_in_time, no_answer
from breakeven.store import LogBatch, LogEntry, Store, StoredSnapshot, StoredStream, Writer
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
AGAIN_WHEN_DAMAGED = 60.0  # seconds after which a damaged log is read again, if somebody asks
ERASING_PATIENCE = 1.0  # seconds that calls wait for the end of an erasure; a small stream takes no longer
SNAPSHOTS_KEPT = 2
DEADLINE = "deadline"  # who withdraws what was not answered in time

Question = Callable[[], Sequence[LogEntry]]
Ask = Callable[[Folded], Question | None]
"""What to ask the store before a turn, in a thread; None where memory knows."""


class LiveStream:
    """One stream. All of it belongs to the event loop, but for work that a turn gives to a thread."""

    def __init__(
        self,
        store: Store,
        store_id: str,
        writer: Writer,
        stored: StoredStream,
        clock: Clock,
        threads: Executor,
    ) -> None:
        self.store, self.clock = store, clock
        self._writer, self._threads = writer, threads
        self.stored = stored
        self.name, self.number, self.store_id = stored.name, stored.number, store_id
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
        self._progress = 0.0  # of folding, from 0 to 1
        self._unreadable = False  # when its log was read last
        self._read_again = 0.0  # when a log that is damaged may be read again
        self.failure: BaseException | None = None  # why it could not be read, or what it was dropped for
        self.pace: float | None = None  # seconds that folding an entry takes, if known
        self._leaving = False
        self._rewriting = asyncio.Lock()  # of whoever rewrites the log, or ends reading what was rewritten
        self._erasing_since: float | None = None  # when an erasure began whose log is not read anew yet
        self._reading_left: asyncio.Task[None] | None = None  # what erasures left; it has the turn

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
        """What it is now, or `NotReady`, or `StreamDamaged`; a stream that failed is read anew."""
        if self._folded is None:
            raise self._unread()
        return self._folded

    def _unread(self) -> ServiceError:
        """Why it cannot be used, having begun to read it anew where that may help."""
        if self._erasing_since is not None:
            return self._being_erased()
        failure = self.failure
        damaged = self._unreadable and failure is not None and not is_passing(failure)
        if not damaged or self.clock.steady() >= self._read_again:
            self._read_anew()
        if not self._unreadable:
            error: ServiceError = NotReady(
                f"stream {self.name!r}: expected one that is read, got one that is being read from its log "
                f"({100 * self.progress:.0f}%); try again in a second"
            )
            error.retry_after = 1.0
        elif damaged:
            error = StreamDamaged(
                f"stream {self.name!r}: expected one that is read, got one whose log is damaged; an "
                "administrator must act, and is told why"
            )
        else:
            error = NotReady(
                f"stream {self.name!r}: expected one that is read, got one whose store does not answer; "
                "try again, and tell an administrator if it lasts"
            )
            error.retry_after = 1.0
        error.why = failure
        return error

    def _being_erased(self) -> NotReady:
        return NotReady(
            f"stream {self.name!r}: expected one that is read, got one from which something is being erased; "
            "try again in a second"
        )

    @property
    def progress(self) -> float:
        """How far it has been read from its log, from 0 to 1."""
        return self._progress if self._folded is None else 1.0

    @property
    def writable(self) -> Folded:
        """The same, of a stream that takes more; else `StreamClosed`."""
        if self.stored.closed is not None:
            raise StreamClosed(f"stream {self.name!r}: expected an open one, got one that was closed")
        if self.to_disk.stalled:
            raise no_answer()
        return self.ready

    # -- reading the log -----------------------------------------------------------------------------

    def fold(self, keep: KeepSnapshot | None = None) -> Folded:
        """Read the stream from its log; runs in any thread and changes nothing but `progress`."""
        rewrites = self.rewrites

        def told(progress: float) -> None:
            if self.rewrites != rewrites:
                raise _Outdated(f"stream {self.name!r}: its log was rewritten while it was read")
            if self._leaving:
                raise NotReady(f"stream {self.name!r}: the service stops; it is read at the next start")
            self._progress = progress

        told(0.0)
        return read_folded(self.store, self.stored, self.clock, FoldWatch(told, keep))

    def take(self, folded: Folded) -> None:
        """Go on with what was read."""
        folded.learner.listen(folded.fresh.append)
        self.to_disk.begin(folded.seq)
        self.erased, self.failure, self._folded, self._unreadable = folded.erased, None, folded, False
        self.pace = folded.pace or self.pace

    async def read(self, *, keep_last: bool = False) -> None:
        """Read the stream from its log, then let it be written again; on failure it stays as it was.

        Several may read at once: the first counts, unless the log was rewritten since it began. With
        `keep_last` a snapshot is kept of what it leads to.
        """
        loop, rewrites = asyncio.get_running_loop(), self.rewrites
        kept = list[Future[None]]()

        def keep(seq: int, body: bytes) -> None:
            kept.append(asyncio.run_coroutine_threadsafe(self.keep_snapshot(seq, body, rewrites), loop))

        keeps = None if self.store.location is None else keep
        try:
            try:
                folded = await loop.run_in_executor(self._threads, self._fold_after_all, keeps, keep_last)
            finally:
                for one in kept:
                    await asyncio.wrap_future(one)
            await loop.run_in_executor(self._threads, self._writer.resume, self.number)
        except _Outdated:  # whoever rewrote it has it read anew
            return
        except BreakevenError as error:
            self._failed(error)
            if not self._leaving:
                logger.error("stream %r cannot be read: %s", self.name, error)
        except Exception as error:  # whatever is wrong with this one, the others are read
            self._failed(error)
            logger.exception("stream %r cannot be read", self.name)
        else:
            if self._folded is not None or self.rewrites != rewrites:
                return
            self.take(folded)
            if not self.seen.complete:
                self._finding_ids = loop.create_task(self._find_ids(self.seen))

    def _failed(self, error: BaseException) -> None:
        self.failure, self._unreadable = error, True
        self._read_again = self.clock.steady() + AGAIN_WHEN_DAMAGED

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

    async def keep_snapshot(self, seq: int, body: bytes, rewrites: int) -> None:
        """Keep what the log led to after an entry; unless something was erased, which must not come back."""
        kept = StoredSnapshot(self.number, seq, self.clock.now(), version("breakeven"), body)

        def work() -> None:
            self.store.keep_snapshot(kept)
            self.store.drop_snapshots(self.number, keep=SNAPSHOTS_KEPT)

        async with self.keeping:
            if self.rewrites == rewrites:
                try:
                    await asyncio.to_thread(work)
                except BreakevenError as error:
                    logger.warning("stream %r: its snapshot was not kept (%s)", self.name, error)

    def leave(self) -> None:
        """The service stops: leave a fold that is under way."""
        self._leaving = True

    def _fold_after_all(self, keep: KeepSnapshot | None, keep_last: bool) -> Folded:
        """Read the log once nothing of this stream is on its way to it any more."""
        with suppress(BreakevenError):  # what was on its way failed, or a failure is why it is read anew
            self._writer.barrier(self.number)
        folded = self.fold(keep)
        if keep_last and keep is not None:
            keep(folded.seq, folded.learner.snapshot())
        return folded

    def _read_anew(self) -> None:
        if self._folding is None or self._folding.done():
            self._folding = asyncio.get_running_loop().create_task(self.read())

    async def settled(self) -> None:
        """Wait until all reading and writing that is under way has ended."""
        for task in (self._reading_left, self._folding, self._finding_ids):
            if task is not None:
                await asyncio.wait({task})
        with suppress(BreakevenError):  # whoever waits for it hears of it
            await self.barrier()

    async def left_read(self) -> None:
        """Wait until what erasures left is read, if that is under way."""
        if self._reading_left is not None:
            await asyncio.wait({self._reading_left})

    def drop(self, why: BaseException) -> None:
        """Memory cannot be trusted any more: read the stream anew before it decides again."""
        if self._folded is not None:
            logger.error("stream %r is read anew from its log: %s", self.name, why)
            self._folded, self.failure, self._unreadable, self._progress = None, why, False, 0.0
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
        ask: Ask | None = None,
        all_on_disk: bool = False,
        patient: bool = False,
    ) -> tuple[Result, list[Appended]]:
        """Let `work` change the learner; returns once all that happened is on disk, with its entries.

        `verb` names the kind of work, and `count` how much of it there is: what takes long goes to a thread.
        Where nothing happened, as with a call that repeats an earlier one, the earlier one is on disk. What
        `ask` wants to know from the store is in `found` of what `work` gets; with `all_on_disk` the store is
        asked once it has all that happened before. `NotReady` if the turn does not come in time, unless
        `patient`.
        """
        if not (all_on_disk or self._turn.locked() or self._is_slow(verb, count)):
            folded = self.writable
            if ask is None or ask(folded) is None:
                result, entries, wait = self._at_once(folded, by, verb, work, count)
                if wait is not None:
                    await wait
                return result, entries
        turn = self._in_turn(by, verb, work, count, ask, all_on_disk, patient)
        result, entries, wait = await asyncio.shield(asyncio.ensure_future(turn))  # who called may go
        if wait is not None:
            await wait
        return result, entries

    def _at_once(
        self, folded: Folded, by: str, verb: str, work: Callable[[Folded], Result], count: int
    ) -> tuple[Result, list[Appended], Wait | None]:
        try:
            result = self._timed(folded, verb, work, count)
            return result, *self._keep(folded, by)
        except BaseException as error:
            self._after_failure(folded, error)
            raise

    async def _in_turn(
        self,
        by: str,
        verb: str,
        work: Callable[[Folded], Result],
        count: int,
        ask: Ask | None,
        all_on_disk: bool,
        patient: bool,
    ) -> tuple[Result, list[Appended], Wait | None]:
        async with AsyncExitStack() as stack:
            await self._take_turn(stack, ask, all_on_disk=all_on_disk, patient=patient)
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
            finally:
                folded.found = ()

    async def _take_turn(
        self,
        stack: AsyncExitStack,
        ask: Ask | None = None,
        *,
        all_on_disk: bool = False,
        patient: bool = False,
    ) -> None:
        """Have the turn until `stack` ends, with what the store was asked for; `NotReady` if that takes long.

        The time is for all of it: whoever waits for others who wait for the store waits no longer than they.
        An erasure folds the stream, which can take a minute: calls that waited meanwhile would be too many.
        """
        seconds = STORE_SECONDS
        if self._erasing_since is not None:
            seconds = max(0.0, self._erasing_since + ERASING_PATIENCE - self.clock.steady())
        try:
            async with asyncio.timeout(None if patient else seconds):
                await stack.enter_async_context(self._turn)
                if all_on_disk:
                    await self.barrier()
                if ask is not None and (question := ask(folded := self.writable)) is not None:
                    found = await ask_store(question)
                    self._check_current(folded)
                    folded.found = found
        except TimeoutError as error:
            raise (no_answer() if self._erasing_since is None else self._being_erased()) from error

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
        async with AsyncExitStack() as stack:
            await self._take_turn(stack)
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

    async def alone(self, work: Callable[[], Result], due: Callable[[], bool] | None = None) -> Result | None:
        """Rewrite something in the stream's log; returns once that is on disk.

        The learner knows what was rewritten. So it is dropped before, and read anew afterwards, for which
        nobody waits here: whoever needs it waits a moment and is refused. Others may rewrite meanwhile; then
        it is read once more. `due` is asked first, in a thread: where it says no, or raises, all stays as it
        is.
        """

        async def turn() -> Result | None:
            async with self._rewriting, AsyncExitStack() as stack:
                if self._erasing_since is None:  # else whoever reads what is left has the turn
                    await self._take_turn(stack, all_on_disk=True)
                if due is not None and not await ask_store(due):
                    return None
                if self._erasing_since is None:
                    self._folded, self._erasing_since = None, self.clock.steady()
                    reading = self._read_left(stack.pop_all())
                    self._reading_left = asyncio.get_running_loop().create_task(reading)
                return await self._rewrite(work)

        return await asyncio.shield(asyncio.ensure_future(turn()))

    async def _read_left(self, turn: AsyncExitStack) -> None:
        """Read what erasures left, until none came meanwhile; then the turn ends."""
        async with turn:
            while True:
                async with self._rewriting:
                    rewrites = self.rewrites
                await self.read(keep_last=True)
                async with self._rewriting:
                    if self.rewrites == rewrites:
                        self._erasing_since = None
                        return

    async def _rewrite(self, work: Callable[[], Result]) -> Result:
        def rewrite() -> tuple[Result, frozenset[bytes]]:
            return work(), self.store.erased(self.number)

        try:
            async with self.keeping:
                self.rewrites += 1
                loop = asyncio.get_running_loop()
                result, self.erased = await loop.run_in_executor(self._threads, rewrite)
                return result
        finally:
            self.rewrites += 1  # whoever began to read meanwhile may have read either log
            self.seen = SeenIds()

    async def close(self, by: str) -> None:
        """Take no more, once all that came before is on disk; it stays readable."""

        async def turn() -> None:
            async with AsyncExitStack() as stack:
                await self._take_turn(stack, all_on_disk=True)
                at = self.clock.now()
                await asyncio.to_thread(lambda: self.store.close_stream(self.number, at, by=by))
                self.stored = await asyncio.to_thread(self.store.stream, self.name)

        await done_in_time(turn())

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

    def refuse_erased(self, *ids: str) -> None:
        """The same, where the stream is not read and nobody else would say so at once."""
        if self._folded is None:
            self.check_not_erased(*ids)

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


class _Outdated(NotReady):
    """The log was rewritten while it was read."""


def is_passing(failure: BaseException) -> bool:
    """Whether a log may be read the next time: its store failed, and the log is not known to be damaged."""
    return isinstance(failure, StoreError | OSError) and not isinstance(failure, Damage)
