"""A Spark of our own on this machine, and worlds of arrivals and labels as folders that it streams from."""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from breakeven.engines.spark import decide_stream
from tests.oracle.group_worlds import LEARNERS, NAMES, World, one_machine

QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # it starts sooner, and lives for a minute


def session(folder, partitions=2):
    """A session with two cores, all of whose files are in this folder."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {
        "spark.driver.extraJavaOptions": QUICK_JAVA,
        "spark.driver.memory": "1g",
        "spark.local.dir": f"{folder}/local",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": partitions,
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[2]").appName("breakeven tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


# -- worlds as folders ---------------------------------------------------------------------------------------


def world_of(kind, seed=5, rows=300, batches=4):
    """A world of types or of numbers; shuffled rows, labels late, early, twice and never."""
    return World(seed, rows=rows, keys=12, batches=batches, text=kind != "process", numbers=kind == "process")


def write_world(world, kind, folder):
    """Arrivals and labels as Parquet, a file of each for a batch; the answers of one machine."""
    expected, learners = one_machine(world, LEARNERS[kind])
    asked = {i: one["wants_label"] for i, one in expected.items()}
    random = np.random.default_rng(1)
    for batch in range(world.batches + 3):
        _, arrivals = world.arrivals(batch)
        frame = pd.DataFrame({"order": pd.Series(arrivals.order, dtype="int64"), "cost": arrivals.costs})
        frame["clinic"], frame["visit"], frame["kind"] = arrivals.keys, arrivals.ids, arrivals.xs
        labels = world.label_rows(world.labels(batch, asked))
        told = pd.DataFrame({"y": pd.Series(labels.ys, dtype="float64"), "withdrawn": labels.withdrawn})
        told["clinic"], told["visit"] = labels.keys, labels.ids
        for name, one in (("arrivals", frame), ("labels", told.astype({"withdrawn": bool}))):
            write_file(folder / name, batch, one.sample(frac=1, random_state=random), like=world)
    return expected, learners


def write_file(folder, batch, frame, like):
    """One file of a stream; Spark takes files in the order of their times."""
    whole = {} if isinstance(like.keys[0], str) else {"clinic": "int64", "visit": "int64"}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{batch:03}.parquet"
    frame.astype(whole or {"clinic": object, "visit": object}).to_parquet(path, index=False)
    os.utime(path, (1.7e9 + batch, 1.7e9 + batch))


def schemas(kind):
    """The columns of arrivals and of labels."""
    name = "bigint" if kind == "process" else "string"
    x = "array<double>" if kind == "process" else "bigint"
    names = f"clinic {name}, visit {name}"
    return f"{names}, kind {x}, `order` bigint, cost double", f"{names}, y double, withdrawn boolean"


def streams(spark, folder, kind):
    """The streams of arrivals and labels, a file of each in every batch."""
    one_each = spark.readStream.option("maxFilesPerTrigger", 1)
    return [
        one_each.schema(schema).parquet(str(folder / name))
        for name, schema in zip(("arrivals", "labels"), schemas(kind), strict=True)
    ]


COLUMNS = {"key": "clinic", "id": "visit", "x": "kind", "order": "order", "cost": "cost"}


def answers(spark, folder, kind, groups, **more):
    """The answers to a world's arrivals, as a stream."""
    arrivals, labels = streams(spark, folder, kind)
    more = {"labels": labels} | more
    return decide_stream(arrivals, LEARNERS[kind](), **COLUMNS, groups=groups, **more)


def run(answers, folder, out="out", checkpoint="checkpoint"):
    """Run a query over all that is there, into Parquet; the query."""
    query = (
        answers.writeStream.format("parquet")
        .option("path", str(folder / out))
        .option("checkpointLocation", str(folder / checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return query


def answered(spark, folder, world, out="out"):
    """What was answered, by row of the world; every id once."""
    place = {(key, id): i for i, (key, id) in enumerate(zip(world.keys, world.ids, strict=True))}
    rows = spark.read.parquet(str(Path(folder) / out)).collect()
    assert len({(row.key, row.id) for row in rows}) == len(rows)
    numbers = ("prediction", "std", "uncertainty", "threshold", "cost", "propensity")
    return {
        place[row.key, row.id]: {
            name: float("nan") if row[name] is None and name in numbers else row[name] for name in NAMES
        }
        for row in rows
        if (row.key, row.id) in place
    }


def counted(query):
    """What all batches of a query came to."""
    total = {}
    for progress in query.recentProgress:
        for name, count in progress["observedMetrics"]["breakeven"].asDict().items():
            total[name] = total.get(name, 0) + (count or 0)
    return total
