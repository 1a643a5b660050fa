"""All streams of a store, from the start of the service to its stop.

At the start every stream is read from its log, one after the other, while the service answers already: those
that are not read yet say so.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from breakeven.errors import BreakevenError, DuplicateId
from breakeven.errors.storing import UnknownStream
from breakeven.service.access import CallRates, Entrance, People, ProxyLogIn, Sessions, Tokens
from breakeven.service.access.callers import Feeds
from breakeven.service.admission import Admission
from breakeven.service.beside import Beside, Deadlines, FitRunner, SnapshotRunner
from breakeven.service.clock import Clock
from breakeven.service.compaction import Compaction
from breakeven.service.live_stream import LiveStream
from breakeven.service.setting_up import config_now, create, create_from, first_config
from breakeven.service.waiting import ask_store, done_in_time, use_threads
from breakeven.store import Store, StoredStream, Writer
from breakeven.wire.stream_setup import SnapshotCall, StreamConfig

THREADS = 4  # for what takes long; each stream uses one at a time


class Service:
    """The streams of a store by their names, the one writer, and what runs beside."""

    def __init__(
        self,
        store: Store,
        clock: Clock | None = None,
        beside: Sequence[Beside] | None = None,
        *,
        proxy: ProxyLogIn | None = None,
        calls_a_second: float | None = None,
        token_days: float | None = None,
    ) -> None:
        self.store, self.clock = store, clock or Clock()
        self.tokens = Tokens(store, self.clock, token_days)
        sessions, people = Sessions(store, self.tokens, self.clock), People(store, self.clock)
        self.entrance = Entrance(self.tokens, sessions, people, proxy)
        self.rates = None if calls_a_second is None else CallRates(calls_a_second, self.clock.steady)
        self.feeds = Feeds()
        self.admission = Admission()
        self.streams: dict[str, LiveStream] = {}
        self.compaction = Compaction(store, self.clock, self._quiet, self._left_read)
        usual: list[Beside] = [Deadlines(), FitRunner(), SnapshotRunner()]
        self.beside = usual if beside is None else list(beside)
        self._threads = ThreadPoolExecutor(THREADS, "breakeven-stream")
        self._writer: Writer | None = None
        self._store_id = ""
        self.fault: BreakevenError | None = None  # after which nothing can be kept: the process must end
        self._reading: asyncio.Task[None] | None = None
        self._changing = asyncio.Lock()  # of the list of streams

    # -- from start to stop --------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin to serve; streams are read meanwhile."""
        loop = asyncio.get_running_loop()
        use_threads()
        self._store_id, stored = await asyncio.to_thread(lambda: (self.store.id, self.store.streams()))
        erased = await asyncio.to_thread(lambda: [self.store.erased(one.number) for one in stored])
        self._writer = Writer(self.store, loop.call_soon_threadsafe, self._fail)
        for one, marks in zip(stored, erased, strict=True):
            self._enter(one).erased = marks  # whoever was erased is refused before the stream is read
        self._reading = loop.create_task(self._read_all())
        for beside in self.beside:
            await beside.start(self)

    async def _read_all(self) -> None:
        if not await self.compaction.run():  # of what was erased before the service died
            self.compaction.begin_soon()
        for live in list(self.streams.values()):
            await live.read()

    async def read(self) -> None:
        """Wait until every stream was read."""
        if self._reading is not None:
            await self._reading

    async def stop(self) -> None:
        """End what runs beside, write what was submitted, and let go; the store stays open."""
        self.feeds.end()
        for beside in reversed(self.beside):
            await beside.stop()
        await self.compaction.stop()
        for live in self.streams.values():
            live.leave()
        if self._reading is not None:
            await asyncio.wait([self._reading])
        for live in list(self.streams.values()):
            await live.settled()
        if self._writer is not None:
            await asyncio.to_thread(self._writer.close)
        self._threads.shutdown(wait=False)

    def _fail(self, fault: BreakevenError) -> None:
        """Nothing is written any more: all that waited was refused, and whoever runs the service ends it."""
        self.fault = fault

    async def _quiet(self) -> None:
        """Wait until nothing is on its way to the disk."""
        for live in list(self.streams.values()):
            with suppress(BreakevenError):  # whoever waits for it hears of it
                await live.barrier()

    async def _left_read(self) -> None:
        """Wait until what erasures left of streams is read."""
        for live in list(self.streams.values()):
            await live.left_read()

    @property
    def writer(self) -> Writer:
        """The one who writes."""
        assert self._writer is not None  # the service has started
        return self._writer

    def _enter(self, stored: StoredStream) -> LiveStream:
        live = LiveStream(self.store, self._store_id, self.writer, stored, self.clock, self._threads)
        self.streams[stored.name] = live
        return live

    # -- streams ---------------------------------------------------------------------------------------

    def stream(self, name: str) -> LiveStream:
        """The stream with this name."""
        if name not in self.streams:
            raise UnknownStream(f"stream: expected one of this store, got {name!r}")
        return self.streams[name]

    async def create(self, name: str, config: StreamConfig, by: str) -> tuple[LiveStream, bool]:
        """Make a stream; whether it is new. The same again is harmless, another of that name is refused."""
        return await done_in_time(self._create(name, config, by))

    async def _create(self, name: str, config: StreamConfig, by: str) -> tuple[LiveStream, bool]:
        async with self._changing:
            if name in self.streams:
                await ask_store(self._check_same, name, config)
                return self.streams[name], False
            now = self.clock.now()
            stored = await asyncio.to_thread(create, self.store, name, config, by=by, at=now)
            return await self._begun(stored), True

    async def create_from(self, name: str, call: SnapshotCall, by: str) -> LiveStream:
        """Make a stream that goes on with a snapshot; a name that is taken is refused."""
        async with self._changing:
            if name in self.streams:
                raise _taken(name)
            now = self.clock.now()
            stored = await asyncio.to_thread(create_from, self.store, name, call, by=by, at=now)
            return await self._begun(stored)

    async def _begun(self, stored: StoredStream) -> LiveStream:
        live = self._enter(stored)
        await live.read()
        return live

    def _check_same(self, name: str, config: StreamConfig) -> None:
        stored = self.streams[name].stored
        if config not in (config_now(self.store, stored), first_config(stored)):
            raise _taken(name)

    async def close(self, name: str, by: str) -> None:
        """Have a stream take no more; it stays readable."""
        await self.stream(name).close(by)

    async def remove(self, name: str, by: str) -> None:
        """Remove a stream with all that is in it."""
        async with self._changing:
            live = self.stream(name)
            await live.barrier()
            now = self.clock.now()
            del self.streams[name]  # so nobody writes to it meanwhile
            try:
                await asyncio.to_thread(lambda: self.store.drop_stream(live.number, now, by=by))
            except UnknownStream:  # removed by a call whose answer was lost
                raise
            except BreakevenError:
                self.streams[name] = live
                raise
            self.compaction.begin_soon()


def _taken(name: str) -> DuplicateId:
    return DuplicateId(
        f"stream: expected a name that is free, or the same configuration again, got {name!r}, "
        "which is set up otherwise; change it with PATCH"
    )
