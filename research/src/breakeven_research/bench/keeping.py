"""What it costs to keep a learner: an empty one restored beside its snapshot, and writes to a store.

An empty learner shows what every restore costs, whatever was learnt. Writes that wait at the same moment
share one commit, so the more of them wait, the less each costs; the writer's own thread is counted.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from breakeven.beliefs import Averaged, AveragedShares, Cells, GaussianProcess, Recognised, TypeMeans
from breakeven.learner import Learner, algorithm2
from breakeven.rules import Check, Threshold, Value
from breakeven.store import LogEntry, SqliteStore, Writer
from breakeven.values import Labeller
from breakeven_research.bench.results import Measurement, Result, Sizes
from breakeven_research.bench.timing import Task, Timing, a_round, side_by_side, timing

MOST_RESTORE = 3.0  # snapshots that a restore may cost
AT_ONCE = {
    16: 1 / 2,
    64: 1 / 3,
}  # writes that wait together, and the share of a lone write that each may cost
TIMED = 100  # snapshots and restores in a row
WRITES = 256
BODY = b"x" * 150  # of an event

LEARNERS: dict[str, Callable[[], Learner]] = {
    "types": lambda: Learner(TypeMeans(0.5), Threshold(), label_cost=1.0),
    "cells": lambda: Learner(Cells([0, 0], [1, 1], 0.5), Threshold(), label_cost=1.0),
    "a process": lambda: Learner(GaussianProcess(2, 0.1), Value(), label_cost=1.0),
    "Algorithm 2": lambda: algorithm2(2, label_cost=1.0, noise_std=0.1),
    "a process with labellers": lambda: Learner(
        GaussianProcess(2, 0.3), Value(), labellers={"nurse": Labeller(0.1, 0.6), "mri": Labeller(0.5, 0.1)}
    ),
    "an average": lambda: Learner(Averaged(2), Check(Value(60, scored="labels")), label_cost=1.0),
    "an average of shares": lambda: Learner(AveragedShares(2), Value(60, scored="labels"), label_cost=1.0),
    "labels to be recognised": lambda: Learner(
        Recognised(Averaged(2), AveragedShares(2), both=True), Check(Value(60)), label_cost=1.0
    ),
}


def measurements(sizes: Sizes) -> list[Measurement]:
    """A restore of every kind of learner, then writes to SQLite."""
    return [
        *[Measurement(_words(name), partial(_restore, name, sizes)) for name in LEARNERS],
        Measurement("Writes to SQLite", partial(_writes, sizes)),
    ]


def _words(name: str) -> str:
    return f"Restore of an empty learner: {name}"


def _restore(name: str, sizes: Sizes) -> Iterator[Result]:
    learner = LEARNERS[name]()
    blob, times = learner.snapshot(), TIMED if sizes.full else 2
    tasks = [partial(_again, call, times) for call in (lambda: Learner.restore(blob), learner.snapshot)]
    restored, written = side_by_side(*[Task(task, times) for task in tasks], repeats=sizes.repeats)
    ratio = restored.median / written.median
    yield Result(
        what=_words(name),
        measured=a_round(restored),
        beside=f"its snapshot {a_round(written)}",
        ratio=f"{ratio:.2f}× of it",
        target=f"≤ {MOST_RESTORE:g}×",
        reached=ratio <= MOST_RESTORE,
    )


def _again(call: Callable[[], object], times: int) -> None:
    for _ in range(times):
        call()


def _writes(sizes: Sizes) -> Iterator[Result]:
    together = (1, *AT_ONCE)
    with TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "writes.db", "create")
        seconds = [
            [_seconds_each(store, f"{count} of {trial}", count) for count in together]
            for trial in range(sizes.repeats)
        ]
        store.close()
    alone, *others = [timing(column) for column in zip(*seconds, strict=True)]
    for (count, most), one in zip(AT_ONCE.items(), others, strict=True):
        yield _beside_a_lone_write(count, most, one, alone)


def _beside_a_lone_write(count: int, most: float, one: Timing, alone: Timing) -> Result:
    ratio = one.median / alone.median
    return Result(
        what=f"A write to SQLite where {count} wait at once",
        measured=a_round(one),
        beside=f"a write alone {a_round(alone)}",
        ratio=f"{ratio:.2f}× of it",
        target=f"≤ {most:.2f}×",
        reached=ratio <= most,
    )


def _seconds_each(store: SqliteStore, name: str, together: int) -> float:
    """CPU seconds of one write, of all threads, where so many wait at once."""
    stream = store.create_stream(name, b"", at=0.0).number
    with Writer(store) as writer:
        begin = process_time()
        for low in range(0, WRITES, together):
            *others, last = [_entry(stream, seq) for seq in range(low + 1, low + together + 1)]
            for one in others:
                writer.submit([one], lambda error: None)
            writer.write([last])
        return (process_time() - begin) / WRITES


def _entry(stream: int, seq: int) -> LogEntry:
    return LogEntry(stream, seq, 0.0, "token", "Arrived", f"case {seq}", BODY)
