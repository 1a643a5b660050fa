"""Types on a local Spark, batch by batch, beside a trivial keyed map; and the state of a key.

The map counts arrivals by key, and does nothing else; rows, grouping, state and sink are the same, in the
same session. A batch is what Spark, its Java and its Python workers spend on it together, in CPU time: wall
times on a busy machine measure the neighbours. Both take turns, batch by batch, and in who is first.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from breakeven import Learner, algorithm1
from breakeven_research.bench.fleets import KEYS_TO_ROWS, LARGEST_ID, MOST_BYTES, TYPES_OF_A_KEY, keyed_rows
from breakeven_research.bench.results import Measurement, NotMeasured, Result, Sizes, peer
from breakeven_research.bench.timing import timing
from breakeven_research.bench.type_stream import learner

BATCH_SHARE = 4  # a batch of Spark is so many times smaller than one of a fleet
BATCHES, NARROW_BATCHES = 21, 6  # the first is cold
LEAST_RATIO, MOST_GROWTH = 0.85, 1.3
GROUPS = 64
NAMES = {"key": "clinic", "id": "visit", "x": "kind", "order": "order", "cost": None}

Spark = Any


def measurements(sizes: Sizes) -> list[Measurement]:
    """Batches beside the map, and the state of a key."""
    named: dict[str, Callable[[Sizes], Iterator[Result]]] = {
        "Spark, types beside a keyed map": _beside_a_map,
        "Spark, state of a key": _state_of_a_key,
    }
    return [Measurement(what, partial(measure, sizes)) for what, measure in named.items()]


def _session(folder: Path, sizes: Sizes) -> Spark:
    if not sizes.full:
        raise NotMeasured("in a full run only: Spark alone takes half a minute to start")
    sql = peer("pyspark.sql")
    peer("numba")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise NotMeasured("no Java here (apt-get install default-jre-headless)")
    if not Path("/proc/self/stat").exists():
        raise NotMeasured("CPU time of Spark's processes is read from /proc, which is not here")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = sql.SparkSession.builder.master("local[2]").appName("breakeven bench")
    settings = {
        "spark.local.dir": f"{folder}/local",
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.streaming.pollingDelay": "500ms",  # a query that waits hardly looks for files
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


# -- rows ----------------------------------------------------------------------------------------------------


class Written(NamedTuple):
    """Arrivals and labels of some batches, as frames that are written to a stream's folders in turn."""

    arrivals: list[Any]
    labels: list[Any]

    def put(self, folder: Path, batch: int) -> None:
        """The files of one batch."""
        for name, frames in zip(("arrivals", "labels"), self, strict=True):
            path = folder / name / f"{batch:03}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            frames[batch].to_parquet(path.with_suffix(".part"), index=False)
            path.with_suffix(".part").rename(path)


def _written(sizes: Sizes) -> Written:
    """Batches of drawn rows; the labels that were asked for come with the batch behind."""
    import pandas as pd

    from breakeven import Fleet

    rows, keys = sizes.batch // BATCH_SHARE, max(sizes.batch // KEYS_TO_ROWS, 1)
    fleet, arrivals, labels, told = Fleet(learner()), [], [], np.empty(0, dtype=np.int64)
    before = keyed_rows(rows, keys, TYPES_OF_A_KEY, 0)
    for batch in range(BATCHES):
        labels.append(
            pd.DataFrame({"clinic": before.keys[told], "visit": before.ids[told], "y": before.ys[told]})
        )
        fleet.tell(before.keys[told], before.ids[told], before.ys[told])
        one = keyed_rows(rows, keys, TYPES_OF_A_KEY, batch)
        arrivals.append(
            pd.DataFrame({"clinic": one.keys, "visit": one.ids, "kind": one.xs, "order": one.ids})
        )
        told, before = np.flatnonzero(fleet.decide(one.keys, one.xs, one.ids).wants_label), one
    return Written(arrivals, labels)


def _streams(spark: Spark, folder: Path, id: str = "bigint") -> tuple[Any, Any]:
    schemas = {
        "arrivals": f"clinic bigint, visit {id}, kind bigint, `order` bigint",
        "labels": f"clinic bigint, visit {id}, y double",
    }
    for name in schemas:
        (folder / name).mkdir(parents=True, exist_ok=True)
    first, second = (
        spark.readStream.schema(schema).option("pathGlobFilter", "*.parquet").parquet(str(folder / name))
        for name, schema in schemas.items()
    )
    return first, second


# -- batches -------------------------------------------------------------------------------------------------


def _beside_a_map(sizes: Sizes) -> Iterator[Result]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        spark, written = _session(folder, sizes), _written(sizes)
        try:
            ours, maps = _in_turns(spark, written, folder, [_decided, _counted], BATCHES)
            narrow = _in_turns(
                spark, written, folder / "narrow", [partial(_counted, narrow=True)], NARROW_BATCHES
            )[0]
        finally:
            spark.stop()
    yield from _compared(sizes, ours, maps, narrow)


def _compared(sizes: Sizes, ours: list[float], maps: list[float], narrow: list[float]) -> Iterator[Result]:
    """Of the first batch nobody speaks: it pays for the start."""
    rows = sizes.batch // BATCH_SHARE
    warm, beside = timing(ours[1:]), timing(maps[1:])
    ratio, growth = beside.median / warm.median, max(ours[2:]) / ours[1]
    yield Result(
        what=f"Types on Spark, {sizes.batch // KEYS_TO_ROWS:,} keys, {GROUPS} groups, {rows:,} rows a batch",
        measured=f"{warm.median:.2f} CPU s a batch ({warm.low:.2f}–{warm.high:.2f})",
        beside=f"a keyed map with the same columns {beside.median:.2f} ({beside.low:.2f}–{beside.high:.2f}); "
        f"with key, id and count alone {timing(narrow[1:]).median:.2f}",
        ratio=f"{ratio:.2f}× its rate",
        target=f"≥ {LEAST_RATIO}×",
        reached=ratio >= LEAST_RATIO,
    )
    yield Result(
        what=f"The slowest of {BATCHES - 1} warm batches, beside the first warm one",
        measured=f"{max(ours[2:]):.2f} CPU s; one by one {' '.join(f'{one:.2f}' for one in ours[1:])}",
        beside=f"the first {ours[1]:.2f}; those of the map {' '.join(f'{one:.2f}' for one in maps[1:])}",
        ratio=f"{growth:.2f}×",
        target=f"≤ {MOST_GROWTH}×",
        reached=growth <= MOST_GROWTH,
    )


def _in_turns(
    spark: Spark, written: Written, folder: Path, queries: list[Callable[..., Any]], batches: int
) -> list[list[float]]:
    """The CPU seconds of each batch of these queries, which run side by side and are fed in turns."""
    folders = [folder / str(place) for place in range(len(queries))]
    streams = [query(*_streams(spark, own)) for own, query in zip(folders, queries, strict=True)]
    running, java = list(map(_started, folders, streams)), _java(spark)
    seconds: list[list[float]] = [[] for _ in queries]
    try:
        for batch in range(batches):
            turns = list(zip(folders, running, seconds, strict=True))
            for own, query, spent in turns if batch % 2 else turns[::-1]:
                written.put(own, batch)
                start = cpu_of(java)
                query.processAllAvailable()
                spent.append(cpu_of(java) - start)
    finally:
        for query in running:
            query.stop()
    return seconds


def _started(folder: Path, stream: Any) -> Any:
    options = {"path": str(folder / "out"), "checkpointLocation": str(folder / "checkpoint")}
    return stream.writeStream.format("parquet").options(**options).start()


def _decided(arrivals: Any, labels: Any, config: Learner | None = None, **more: Any) -> Any:
    from breakeven.engines.spark import decide_stream

    return decide_stream(arrivals, config or learner(), **NAMES, labels=labels, groups=GROUPS, **more)  # type: ignore[arg-type]


def _counted(arrivals: Any, labels: Any, narrow: bool = False) -> Any:
    """The trivial map, on the rows that are handed to a learner."""
    from breakeven.engines.group_state import GroupSetup
    from breakeven.engines.spark.checkpoints import STATE_SCHEMA
    from breakeven.engines.spark.spark_rows import Named, grouped_rows

    plan = grouped_rows(GroupSetup.of(learner()), Named(**NAMES), GROUPS, arrivals, labels, None)  # type: ignore[arg-type]
    schema = "key bigint, id bigint, round bigint" if narrow else plan.schema

    def step(_: Any, frames: Any, state: Any) -> Iterator[Any]:
        after, answers = count_by_key(state.get[0] if state.exists else b"", frames)
        state.update((after, GROUPS))
        yield answers[["key", "id", "round"]] if narrow else answers

    grouped = plan.rows.groupBy(plan.by)
    found = grouped.applyInPandasWithState(step, schema, STATE_SCHEMA, "append", "NoTimeout")
    return found if narrow else found.drop("counts", "real")


def count_by_key(state: bytes, frames: Any) -> tuple[bytes, Any]:
    """The state is the keys, then how many arrivals each had; every answer says the latter, and is alike."""
    import pandas as pd

    from breakeven.engines.answered import Answered, FoldCounts
    from breakeven.engines.frames import AN_ARRIVAL, answers_out

    frame = pd.concat(frames, ignore_index=True)
    frame = frame[frame["what"].to_numpy() == AN_ARRIVAL]
    keys = frame["key"].to_numpy()
    known, before = np.frombuffer(state, dtype=np.int64).reshape(2, -1)
    both = np.union1d(known, keys)
    counts = np.zeros(len(both), dtype=np.int64)
    counts[np.searchsorted(both, known)] = before
    places = np.searchsorted(both, keys)
    np.add.at(counts, places, 1)
    answers = Answered.empty(keys, frame["id"].to_numpy(), [None] * len(keys))
    for column in answers[3:10]:
        column[:] = 1.0
    answers.reason[:] = "counted"
    answers.round[:] = counts[places]
    return np.concatenate([both, counts]).tobytes(), answers_out(answers, FoldCounts())


# -- state ---------------------------------------------------------------------------------------------------


def _state_of_a_key(sizes: Sizes) -> Iterator[Result]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        spark, keys = _session(folder, sizes), max(sizes.batch // KEYS_TO_ROWS, 1)
        try:
            bare = state_bytes(spark, folder / "bare", keys, text=False, windows=False)
            text = state_bytes(spark, folder / "text", keys, text=True, windows=False)
            full = state_bytes(spark, folder / "full", keys, text=False, windows=True)
            both = state_bytes(spark, folder / "both", keys, text=True, windows=True)
        finally:
            spark.stop()
    yield Result(
        what=f"State of a key with {TYPES_OF_A_KEY} types and 10 labels awaited, integer ids, empty windows",
        measured=f"{bare:,.0f} bytes",
        beside=f"ids of text {text:,.0f}; 10 labels told in the window {full:,.0f}; both {both:,.0f}",
        target=f"≤ {MOST_BYTES}",
        reached=bare <= MOST_BYTES,
    )


def state_bytes(spark: Spark, folder: Path, keys: int, *, text: bool, windows: bool) -> float:
    """What a checkpoint keeps for a key, where every type has one label told and one awaited."""
    import pandas as pd

    random = np.random.default_rng(0)
    key, kind = np.repeat(np.arange(keys), TYPES_OF_A_KEY), np.tile(np.arange(TYPES_OF_A_KEY), keys)
    ids = random.integers(LARGEST_ID, size=(2, len(key)))
    named: Any = [list(map("case {}".format, one)) for one in ids] if text else ids
    frames = [
        pd.DataFrame({"clinic": key, "visit": one, "kind": kind, "order": i}) for i, one in enumerate(named)
    ]
    told = pd.DataFrame({"clinic": key, "visit": named[0], "y": random.normal(size=len(key))})
    written, size = Written(frames, [told[:0], told]), 100_000 if windows else 0
    arrivals, labels = _streams(spark, folder, "string" if text else "bigint")
    asking = algorithm1(label_cost=0.1, noise_std=0.3)  # who asks about every arrival here
    stream = _decided(arrivals, labels, asking, told_window=size, early_window=size)
    running = _started(folder, stream)
    try:
        for batch in range(2):
            written.put(folder, batch)
            running.processAllAvailable()
    finally:
        running.stop()
    states = spark.read.format("statestore").load(str(folder / "checkpoint"))
    total = states.selectExpr("sum(length(value.groupState.state))").first()[0]
    return float(total) / keys


# -- CPU time of Spark ---------------------------------------------------------------------------------------


def _java(spark: Spark) -> int:
    return int(spark._jvm.java.lang.ProcessHandle.current().pid())


def cpu_of(process: int) -> float:
    """The CPU seconds of a process and of all that it started, also of those that have ended."""
    ticks, parents = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        ticks[int(path.parent.name)], parents[int(path.parent.name)] = (
            sum(map(int, fields[11:15])),
            int(fields[1]),
        )
    mine = {process}
    while more := {one for one, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return sum(ticks.get(one, 0) for one in mine) / os.sysconf("SC_CLK_TCK")
