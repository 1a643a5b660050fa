"""Who decides on the rows of a part: one learner, or one for every key, in this process or in several.

A row is decided on, and its label told at once where it was asked for. What is decided depends on the rows of
the key and their order alone, so neither parts nor processes change a bit of it.
"""

import multiprocessing
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, Protocol
from zlib import crc32

import msgspec
import numpy as np
import polars as pl
from msgspec.structs import replace
from numpy.typing import NDArray

from breakeven.errors import BreakevenError
from breakeven.errors.expect import Array
from breakeven.learner import Learner
from breakeven.learner import bulk as loops
from breakeven.learner.replay import replay
from breakeven.rows.row import Column, Columns, Feature
from breakeven.rules import Value
from breakeven.tables.backfill.archive import PartRows
from breakeven.tables.backfill.backfill_options import BackfillOptions
from breakeven.tables.cases import Cases
from breakeven.tables.recipe import start

ROWS_BEFORE_LOOPS = 1_000  # one by one, until a belief has found mean, scale and noise of its labels
LEAST_COMPILED = 1_000  # rows of one learner, where the loops are loaded already
LOST = "a process that decides has died; the same command goes on before the rows that it had"
LOOKED_AT_FIRST = 2_000  # rows that the learner is made for


class DecidedRows(NamedTuple):
    """What was decided on some rows: the answer to a labelled row is its label."""

    wants_label: NDArray[np.bool_]
    answer: Array
    uncertainty: Array
    threshold: Array

    @classmethod
    def room(cls, rows: int) -> "DecidedRows":
        """Room for this many rows."""
        return cls(np.empty(rows, dtype=bool), *(np.empty(rows) for _ in range(3)))

    @classmethod
    def joined(cls, parts: "Sequence[DecidedRows]") -> "DecidedRows":
        """Several, one behind the other."""
        return cls(*map(np.concatenate, zip(*parts, strict=True))) if parts else cls.room(0)


class StreamLearners(Protocol):
    """All learners of an archive."""

    def decide(self, rows: PartRows) -> DecidedRows:
        """Decide on rows in their order."""

    def dump(self) -> bytes:
        """All of them, as bytes."""

    def close(self) -> None:
        """End what runs besides."""


# -- learners ----------------------------------------------------------------------------------------------


def columns_of(options: BackfillOptions, integers: bool) -> Columns:
    """What the columns of a row mean to the learner."""
    label = Column(options.label)
    if options.type is not None:
        return Columns(label_column=label, type_column=Column(options.type, "whole" if integers else "text"))
    return Columns(label_column=label, features=tuple(Feature(name) for name in options.features or ()))


def first_learner(options: BackfillOptions, first: PartRows, rows: int) -> Learner:
    """The learner before the first row; that of a key begins as this one does, under the name of the key."""
    points = first.points
    typed = options.type is not None
    cases = Cases(
        name=options.folder,
        columns=columns_of(options, integers=isinstance(points, np.ndarray)),
        rows=np.arange(1, len(first.labels) + 1, dtype=np.uint32),
        points=pl.Series(points) if typed else points,
        labels=first.labels,
    )
    wished = options.table_options
    if options.horizon is None:
        wished = wished.but(horizon=rows)
    made = start(cases, wished).learner
    rule = made.rule
    if options.key is not None and options.horizon is None and isinstance(rule, Value):
        rule = replace(rule, horizon=None)
    return Learner(
        made.belief,
        rule,
        label_cost=options.label_cost,
        error_cost=options.error_cost,
        warmup=made.warmup,
        seed=options.seed,
        keep=options.kept,
    )


def decide(learner: Learner, points: Any, labels: Array, whole: int) -> DecidedRows:
    """Take rows through a learner, in compiled loops where that pays; `whole` counts all rows there are.

    Once the loops are loaded, for a long stream, they pay for a short part of it as well.
    """
    parts, low, rows = [], 0, len(labels)
    while low < rows:
        long = max(rows - low, whole if rows - low >= LEAST_COMPILED else 0)
        if loops.pays(learner.state, long):
            break
        end = rows if long < loops.stream.SHORTEST else min(low + ROWS_BEFORE_LOOPS, rows)
        parts.append(_one_by_one(learner, points[low:end], labels[low:end]))
        low = end
    if low < rows:
        parts.append(_compiled(learner, points[low:], labels[low:]))
    return parts[0] if len(parts) == 1 else DecidedRows.joined(parts)


def _compiled(learner: Learner, types: Any, labels: Array) -> DecidedRows:
    points = types if loops.holds_types(types) else learner.belief.points(types)
    return DecidedRows(*loops.replay(learner.state, points, labels, true=False).answers)


def _one_by_one(learner: Learner, points: Any, labels: Array) -> DecidedRows:
    out = DecidedRows.room(len(labels))
    for i, (decision, _) in enumerate(replay(learner, learner.belief.points(points), labels)):
        wanted = decision.wants_label
        out.wants_label[i] = wanted
        out.answer[i] = labels[i] if wanted else decision.prediction.mean
        out.uncertainty[i] = decision.uncertainty
        out.threshold[i] = decision.threshold
    return out


# -- one, many, and many in several processes --------------------------------------------------------------


class OneLearner:
    """The archive is one stream."""

    def __init__(self, learner: Learner, whole: int) -> None:
        self.learner, self._whole = learner, whole

    def decide(self, rows: PartRows) -> DecidedRows:
        """Decide on rows in their order."""
        return decide(self.learner, rows.points, rows.labels, self._whole)

    def dump(self) -> bytes:
        """Its snapshot."""
        return self.learner.snapshot()

    def close(self) -> None:
        """Nothing runs besides."""


class LearnersByKey:
    """One learner for every key, each made when its key first comes."""

    def __init__(self, begin: Callable[[Any], Learner], kept: bytes | None = None) -> None:
        self._begin = begin
        self.learners = {} if kept is None else {key: Learner.restore(blob) for key, blob in unpacked(kept)}

    def decide(self, rows: PartRows) -> DecidedRows:
        """Decide on the rows of every key in their order."""
        assert rows.keys is not None
        out = DecidedRows.room(len(rows.labels))
        for key, places in places_by_key(rows.keys):
            if key not in self.learners:
                self.learners[key] = self._begin(key)
            own = decide(self.learners[key], _at(rows.points, places), rows.labels[places], len(rows.labels))
            for column, found in zip(out, own, strict=True):
                column[places] = found
        return out

    def dump(self) -> bytes:
        """The snapshots by key, sorted."""
        return packed([(key, one.snapshot()) for key, one in self.learners.items()])

    def close(self) -> None:
        """Nothing runs besides."""


class LearnersInProcesses:
    """The same, the keys dealt out to several processes by a checksum of their names."""

    def __init__(self, template: bytes, workers: int, kept: bytes | None = None) -> None:
        context = multiprocessing.get_context("spawn")
        shares: list[list[tuple[Any, bytes]]] = [[] for _ in range(workers)]
        for key, blob in [] if kept is None else unpacked(kept):
            shares[share_of(key, workers)].append((key, blob))
        self._pipes: list[Connection] = []
        self._processes = []
        for share in shares:
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, template, packed(share)), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def decide(self, rows: PartRows) -> DecidedRows:
        """Deal out the rows, and put what was decided back into their order."""
        assert rows.keys is not None
        workers = len(self._pipes)
        names = rows.keys.unique(maintain_order=True)
        dealt = pl.Series([share_of(key, workers) for key in names.to_list()], dtype=pl.UInt32)
        share = rows.keys.replace_strict(names, dealt, return_dtype=pl.UInt32).to_numpy()
        places = [np.flatnonzero(share == number) for number in range(workers)]
        for pipe, some in zip(self._pipes, places, strict=True):
            keys = rows.keys.gather(some).to_list()
            _send(pipe, (keys, _at(rows.points, some), rows.labels[some]))
        out = DecidedRows.room(len(rows.labels))
        for pipe, some in zip(self._pipes, places, strict=True):
            for column, found in zip(out, _received(pipe), strict=True):
                column[some] = found
        return out

    def dump(self) -> bytes:
        """The snapshots by key, sorted: the same whoever has them."""
        for pipe in self._pipes:
            _send(pipe, None)
        return packed([one for pipe in self._pipes for one in unpacked(_received(pipe))])

    def close(self) -> None:
        """End the processes."""
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(timeout=5)
            if process.is_alive():
                process.terminate()


class LostProcess(BreakevenError, RuntimeError):
    """A process that decides has died. Nothing of its part is kept, so the same call goes on before it.

    >>> issubclass(LostProcess, RuntimeError)
    True
    """


def _send(pipe: Connection, what: Any) -> None:
    try:
        pipe.send(what)
    except OSError as error:
        raise LostProcess(LOST) from error


def _received(pipe: Connection) -> Any:
    try:
        found = pipe.recv()
    except (EOFError, OSError) as error:
        raise LostProcess(LOST) from error
    if isinstance(found, BaseException):
        raise found
    return found


def _serve(pipe: Connection, template: bytes, kept: bytes) -> None:
    """The life of one of the processes: rows in, decisions out; None in, learners out."""
    learners = LearnersByKey(beginner(template), kept)
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            asked = pipe.recv()
            try:
                if asked is None:
                    pipe.send(learners.dump())
                else:
                    keys, points, labels = asked
                    rows = PartRows(points, labels, pl.Series(keys), None, None, 0)
                    pipe.send(tuple(learners.decide(rows)))
            except Exception as error:
                pipe.send(error)


def beginner(template: bytes) -> Callable[[Any], Learner]:
    """What makes the learner of a key, from the snapshot of one without a history."""
    first = Learner.restore(template)

    def begin(key: Any) -> Learner:
        return Learner(
            first.belief,
            first.rule,
            label_cost=first.label_cost,
            error_cost=first.error_cost,
            warmup=first.warmup,
            seed=first.seed,
            keep=first.keep,
            name=str(key),
        )

    return begin


def places_by_key(keys: pl.Series) -> list[tuple[Any, NDArray[np.int64]]]:
    """Every key with the places of its rows, in the order in which keys first come."""
    found = (
        pl.DataFrame({"key": keys})
        .with_row_index("place")
        .group_by("key", maintain_order=True)
        .agg(pl.col("place"))
    )
    return [(key, np.asarray(places, dtype=np.int64)) for key, places in found.iter_rows()]


def _at(points: Any, places: NDArray[np.int64]) -> Any:
    return points[places] if isinstance(points, np.ndarray) else [points[i] for i in places.tolist()]


def share_of(key: Any, workers: int) -> int:
    """Which process has a key; the same in every run."""
    return crc32(repr(key).encode()) % workers


def packed(learners: Sequence[tuple[Any, bytes]]) -> bytes:
    """Snapshots by key as bytes."""
    return msgspec.msgpack.encode(sorted(learners, key=lambda one: (str(type(one[0])), one[0])))


def unpacked(blob: bytes) -> list[tuple[Any, bytes]]:
    """What `packed` packed."""
    return msgspec.msgpack.decode(blob, type=list[tuple[int | str, bytes]])
