"""How long the service takes to be ready again, beside folding the whole log of its stream.

The log is that of a stream of types with many open requests, and its last snapshot is as old as the service
ever lets it become. What is timed is what a restart does before the stream is used: the snapshot, the entries
after it, and the desk. Its ids are read beside, while it is used, and have a line of their own.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from breakeven.folding import entry_of, fold_stream
from breakeven.service.beside import SHARE_AIMED_AT
from breakeven.service.clock import Clock
from breakeven.service.live_stream import LiveStream
from breakeven.service.setting_up import create
from breakeven.store import Store, StoredSnapshot, StoredStream, Writer, open_store
from breakeven.wire.stream_setup import StreamConfig
from breakeven_research.bench.results import Measurement, Result, Sizes

MOST_RESTART = 0.1  # of folding the whole log
ARRIVALS = {True: 1_000_000, False: 3_000}  # in a full run, and in a short one
ASKED_EVERY = 10  # arrivals
AT_ONCE_WRITTEN = 2000
RESTARTED = StreamConfig(
    belief={"kind": "TypeMeans", "noise_std": 0.5}, rule={"kind": "Threshold"}, label_cost=200.0
)


def measurements(sizes: Sizes) -> list[Measurement]:
    """One restart."""
    return [Measurement("A restart of the service", lambda: _restart(ARRIVALS[sizes.full]))]


def _restart(arrivals: int) -> Iterator[Result]:
    with (
        TemporaryDirectory() as folder,
        closing(open_store(f"sqlite:///{Path(folder) / 'restart.db'}", "create")) as store,
    ):
        stream = _written(store, arrivals)
        began = process_time()
        fold_stream(store, stream, use_snapshot=False)
        whole = process_time() - began
        with Writer(store) as writer, ThreadPoolExecutor(1) as threads:
            live = LiveStream(store, store.id, writer, stream, Clock(), threads)
            began = process_time()
            found = live.fold()
            ready = process_time() - began
            began = process_time()
            live.find_ids()
            ids = process_time() - began
    words = f"A restart, {arrivals:,} arrivals, {len(found.desk):,} requests open"
    yield _beside(words, ready, whole, MOST_RESTART)
    yield _beside(f"{words}: its ids, read while it is used", ids, whole)


def _beside(what: str, seconds: float, whole: float, most: float | None = None) -> Result:
    share = seconds / whole
    return Result(
        what=what,
        measured=f"{seconds:.2f} s",
        beside=f"folding the whole log {whole:.2f} s",
        ratio=f"{share:.3f}× of it",
        target="" if most is None else f"≤ {most:g}×",
        reached=None if most is None else share <= most,
    )


def _written(store: Store, arrivals: int) -> StoredStream:
    """A stream with its log, and a snapshot as far before its end as one ever is."""
    stream = create(store, "types", RESTARTED, by="bench")
    learner, fresh = fold_stream(store, stream), list[Any]()
    learner.listen(fresh.append)
    seq, kept = store.last(stream.number), False
    for arrived in range(arrivals):
        learner.decide(f"type {arrived % 200}", id=f"case {arrived}", force=arrived % ASKED_EVERY == 0)
        last = not kept and arrived >= (1.0 - SHARE_AIMED_AT) * arrivals
        if len(fresh) == AT_ONCE_WRITTEN or last or arrived == arrivals - 1:
            entries = [
                entry_of(one, stream.number, number, by="bench", at=float(number))
                for number, one in enumerate(fresh, seq + 1)
            ]
            store.append(entries)
            seq = entries[-1].seq
            fresh.clear()
        if last:
            store.keep_snapshot(StoredSnapshot(stream.number, seq, 0.0, "bench", learner.snapshot()))
            kept = True
    return stream
