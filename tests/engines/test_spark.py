"""Decisions on a real Spark: those of one machine, by id, also through kills and moves; what is refused."""

import re
import shutil
import sys
from datetime import datetime
from inspect import signature

import pandas as pd
import pytest

from breakeven import Learner
from breakeven.engines.spark import (
    decide_batch,
    decide_stream,
    export_learners,
    import_learners,
    predictor,
)
from breakeven.engines.spark.checkpoints import EMPTY_AT_START
from breakeven.errors import InvalidInput, SnapshotError
from tests.engines import deciding_process
from tests.engines.local_spark import (
    COLUMNS,
    answered,
    answers,
    counted,
    run,
    streams,
    world_of,
    write_file,
    write_world,
)
from tests.oracle.group_worlds import LEARNERS, by_hand, kept, said

KINDS = ["algorithm 1", "process"]


def exported(spark, checkpoint):
    """The learners of a checkpoint, by key."""
    return {row.key: Learner.restore(bytes(row.blob)) for row in export_learners(spark, checkpoint).collect()}


def same(learners, others):
    return {key: kept(one) for key, one in learners.items()} == {
        key: kept(one) for key, one in others.items()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_spark_is_one_machine(spark, tmp_path, kind):
    world = world_of(kind)
    expected, learners = write_world(world, kind, tmp_path)
    query = run(answers(spark, tmp_path, kind, groups=7), tmp_path)
    assert said(answered(spark, tmp_path, world)) == said(expected)
    counts = counted(query)
    assert (counts["decided"], counts["faults"], counts["out_of_order"]) == (len(world.keys), 0, 0)
    assert all(counts[name] > 0 for name in ("told", "again", "early", "withdrawn"))
    assert same(exported(spark, f"{tmp_path}/checkpoint"), learners)


def killed_and_finished(spark, tmp_path, kind, groups, kills, named=True):
    """A world whose query is killed at points of batches, one after the other, and then goes on here."""
    world = world_of(kind, batches=5)
    first, _ = write_world(world, kind, tmp_path)
    for batch, point in kills.items():
        process = deciding_process.start(
            tmp_path, kind, groups, partitions=groups if kind == "process" else 2, named=named
        )
        deciding_process.killed_at(process, tmp_path, batch, point)
    checkpoint = {"checkpoint": f"{tmp_path}/checkpoint"} if named else {}
    run(answers(spark, tmp_path, kind, groups=groups, **checkpoint), tmp_path)
    expected = {}
    learners = by_hand(world, LEARNERS[kind], batches_of(world, first, tmp_path), expected)
    assert said(answered(spark, tmp_path, world)) == said(expected)
    assert same(exported(spark, f"{tmp_path}/checkpoint"), learners)


def batches_of(world, first, folder):
    """The batches that Spark made of a world's files: a kill before the offsets puts two files into one."""
    asked = {i: one["wants_label"] for i, one in first.items()}
    done = [0, 0]
    for batch in sorted(deciding_process.logged(folder, "offsets")):
        until = deciding_process.files_until(folder, batch)
        arrivals, labels = (range(one, end) for one, end in zip(done, until, strict=True))
        done = until
        yield (
            [i for file in arrivals for i in world.arrivals(file)[0]],
            [one for file in labels for one in world.labels(file, asked)],
        )
    assert done == [world.batches + 3] * 2


def test_a_query_killed_in_its_first_batch_goes_on_as_if_nothing_had_been(spark, tmp_path):
    killed_and_finished(spark, tmp_path, "algorithm 1", 7, {0: "begun"})


def test_a_query_killed_while_its_first_offsets_were_written_goes_on(spark, tmp_path):
    """Spark writes them to a file of another name first; Spark 4.3 refuses what it finds there by default."""
    world = world_of("algorithm 1", rows=40, batches=1)
    write_world(world, "algorithm 1", tmp_path)
    offsets = tmp_path / "checkpoint" / "offsets"
    offsets.mkdir(parents=True)
    (offsets / ".0.5f2c.tmp").write_text("v1")
    other = spark.newSession()
    query = run(answers(other, tmp_path, "algorithm 1", groups=2), tmp_path)
    assert deciding_process.logged(tmp_path, "commits")
    assert query.exception() is None
    strict = spark.newSession()
    strict.conf.set(EMPTY_AT_START, "true")
    answers(strict, tmp_path, "algorithm 1", groups=2)
    assert strict.conf.get(EMPTY_AT_START) == "true"  # as its owner wants it


def moved(spark, tmp_path, kind, groups):
    """A world whose first batches are decided in 7 groups, and the others in another number of them."""
    world = world_of(kind)
    expected, learners = write_world(world, kind, tmp_path)
    later = tmp_path / "later"
    for name in ("arrivals", "labels"):
        (later / name).mkdir(parents=True)
        for path in sorted((tmp_path / name).iterdir())[2:]:
            path.rename(later / name / path.name)
    run(answers(spark, tmp_path, kind, groups=7), tmp_path)
    folder = f"{tmp_path}/learners"
    export_learners(spark, f"{tmp_path}/checkpoint").write.parquet(folder)
    more = answers(spark, later, kind, groups=groups, learners=import_learners(spark, folder))
    query = run(more, later)
    assert counted(query)["out_of_order"] == 0
    both = answered(spark, tmp_path, world) | answered(spark, later, world)
    assert said(both) == said(expected)
    assert same(exported(spark, f"{later}/checkpoint"), learners)


def test_learners_move_to_another_number_of_groups(spark, tmp_path):
    moved(spark, tmp_path, "algorithm 1", 3)


@pytest.mark.slow
@pytest.mark.parametrize("groups", [1, 64])
@pytest.mark.parametrize("kind", KINDS)
def test_every_learner_moves(spark, tmp_path, kind, groups):
    moved(spark, tmp_path, kind, groups)


@pytest.fixture(scope="module")
def begun(spark, tmp_path_factory):
    """A folder with a checkpoint of two batches, the second of which has a row that comes too late."""
    folder = tmp_path_factory.mktemp("begun")
    kind = "algorithm 1"
    world = world_of(kind, rows=40, batches=2)
    world.order[-1] = 1
    world.keys[-1] = world.keys[0]
    write_world(world, kind, folder)
    query = run(answers(spark, folder, kind, groups=4), folder)
    return folder, counted(query)


def test_rows_out_of_order_are_counted(begun):
    _, counts = begun
    assert (counts["out_of_order"], counts["decided"]) == (1, 40)


def test_a_checkpoint_of_another_make_is_refused(spark, begun):
    folder, _ = begun
    arrivals, labels = streams(spark, folder, "algorithm 1")
    again = {**COLUMNS, "labels": labels, "checkpoint": f"{folder}/checkpoint"}
    learner = LEARNERS["algorithm 1"]
    decide_stream(arrivals, learner(), **again, groups=4)
    with pytest.raises(
        InvalidInput, match="groups: expected 4, as the checkpoint was begun with, got 5; exp"
    ):
        decide_stream(arrivals, learner(), **again, groups=5)
    other = Learner.of(learner().config() | {"label_cost": 3.0})
    with pytest.raises(SnapshotError, match=r"with label_cost 0.5, as it was begun, got 3.0; begin anew, or"):
        decide_stream(arrivals, other, **again, groups=4)
    decide_stream(arrivals, other, **again | {"checkpoint": f"{folder}/new"}, groups=5)


def test_a_checkpoint_without_a_whole_batch_is_new(spark, begun, tmp_path):
    """A query makes the folder of commits when it starts, and its state before the first commit."""
    folder, _ = begun
    arrivals, labels = streams(spark, folder, "algorithm 1")
    named = COLUMNS | {"labels": labels, "groups": 4}
    for state in (False, True):
        checkpoint = tmp_path / f"{state}"
        (checkpoint / "commits").mkdir(parents=True)
        if state:
            shutil.copytree(folder / "checkpoint" / "state", checkpoint / "state")
        decide_stream(arrivals, LEARNERS["algorithm 1"](), **named, checkpoint=str(checkpoint))
        with pytest.raises(InvalidInput, match="of a query that decides, with a whole batch, got"):
            export_learners(spark, str(checkpoint))


WITHOUT = ("without breakeven", "exec {python} -S $@", "python.* without breakeven, pandas, pyarrow;")
OLDER = ("with an older one", "PYTHONPATH={folder}:$PYTHONPATH exec {python} $@", "with breakeven 0.0.9;")
NO_PYTHON = ("that is none", "exit 3", "got one that fails: ")


@pytest.mark.parametrize(("name", "script", "message"), [WITHOUT, OLDER, NO_PYTHON], ids=lambda one: one[:12])
def test_workers_with_another_python_are_refused_with_what_to_set(
    spark, monkeypatch, tmp_path, name, script, message
):
    other, program = spark.newSession(), tmp_path / "python"
    program.write_text("#!/bin/sh\n" + script.format(python=sys.executable, folder=tmp_path))
    program.chmod(0o755)
    (tmp_path / "breakeven.py").write_text("__version__ = '0.0.9'")
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(program))
    table = other.sql("select 1 as clinic, 1 as visit, 1 as kind, 1 as `order`, 1.0 as cost")
    with pytest.raises(InvalidInput, match=f"{message}.*set PYSPARK_PYTHON={sys.executable} ") as refused:
        decide_batch(table, LEARNERS["algorithm 1"](), **COLUMNS)
    assert "\n" not in str(refused.value)


def test_a_query_that_goes_on_in_another_make_stops_and_loses_nothing(spark, begun):
    """Workers look, too, where nobody said which checkpoint it would be."""
    folder, _ = begun
    before = exported(spark, f"{folder}/checkpoint")
    path = sorted((folder / "arrivals").iterdir())[0]
    later = path.with_name("900.parquet")
    later.write_bytes(path.read_bytes())
    with pytest.raises(Exception, match="groups: expected 4, as the checkpoint was begun with, got 2"):
        run(answers(spark, folder, "algorithm 1", groups=2), folder)
    later.unlink()
    assert same(exported(spark, f"{folder}/checkpoint"), before)


def test_keys_whose_early_labels_were_taken_back_are_no_learners(spark, tmp_path):
    """Most states of this checkpoint have no key left, so that what keys are is not in the first of them."""
    world = world_of("warm-up", rows=2, batches=1)
    arrivals = pd.DataFrame({"visit": ["1"], "clinic": "open", "kind": 7, "order": 1, "cost": 0.5})
    labels = pd.DataFrame({"clinic": [f"key {i}" for i in range(12)], "visit": "1", "y": 2.0})
    for batch, gone in enumerate((False, True)):
        write_file(tmp_path / "arrivals", batch, arrivals.assign(visit=str(batch), order=batch), like=world)
        write_file(tmp_path / "labels", batch, labels.assign(withdrawn=gone), like=world)
    query = run(answers(spark, tmp_path, "warm-up", groups=1), tmp_path)
    assert (counted(query)["early"], counted(query)["withdrawn"]) == (12, 12)
    assert {key: one.rounds for key, one in exported(spark, f"{tmp_path}/checkpoint").items()} == {"open": 2}


def test_what_is_no_checkpoint_is_refused(spark, begun, tmp_path):
    with pytest.raises(InvalidInput, match="checkpoint: expected that of a query that decides"):
        export_learners(spark, str(tmp_path / "nowhere"))
    with pytest.raises(InvalidInput, match="folder: expected one that export_learners was written to"):
        import_learners(spark, str(tmp_path / "nowhere"))


def test_a_damaged_learner_is_refused_before_anything_starts(spark, begun, tmp_path):
    folder, _ = begun
    rows = export_learners(spark, f"{folder}/checkpoint").toPandas()
    rows.loc[1, "blob"] = bytes(rows.loc[1, "blob"])[:-1]
    rows.to_parquet(tmp_path / "learners.parquet")
    with pytest.raises(SnapshotError, match="folder: expected whole learners, got the learner of 'key"):
        import_learners(spark, str(tmp_path))


# -- tables, single rows and columns ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def table(spark):
    schema = "clinic bigint, visit bigint, kind bigint, `order` bigint, cost double, at timestamp, age double"
    large = 2**53 + 1  # which a float does not hold
    rows = [
        (large, large, 7, 1, None, datetime(2026, 1, 3), 1.0),
        (large, 2, 7, 2, 0.2, datetime(2026, 1, 2), 2.0),
        (None, 3, 7, 3, None, datetime(2026, 1, 1), 1.0),
        (1, None, 7, 4, None, None, 1.0),
        (1, 5, None, 5, None, datetime(2026, 1, 1), None),
        (1, 6, 7, None, None, datetime(2026, 1, 1), 1.0),
        (1, 7, 7, 7, -1.0, datetime(2026, 1, 1), 1.0),
    ]
    return spark.createDataFrame(rows, schema)


@pytest.mark.parametrize("kind", ["algorithm 1", "warm-up"])
def test_faulty_rows_are_kept_apart_in_a_column(table, kind):
    rows = decide_batch(table, LEARNERS[kind](), **COLUMNS, groups=3).collect()
    large = 2**53 + 1
    sound = {(row.key, row.id): row for row in rows if row.fault is None}
    assert set(sound) == {(large, large), (large, 2)}
    assert sound[large, 2].cost == 0.2
    faults = {(row.key, row.id): row.fault.split(":")[0] for row in rows if row.fault is not None}
    assert faults == {(None, 3): "key", (1, None): "id", (1, 5): "x", (1, 6): "order", (1, 7): "cost"}
    assert all(row.prediction is None for row in rows if row.fault is not None)


def test_a_table_may_be_ordered_by_times(table):
    rows = decide_batch(table, LEARNERS["algorithm 1"](), **COLUMNS | {"order": "at"}, groups=3).collect()
    large = 2**53 + 1
    assert {row.id: row.round for row in rows if row.key == large} == {2: 1, large: 2}


def test_points_of_several_columns_and_labels_of_a_table(spark, table):
    labels = spark.createDataFrame([(2**53 + 1, 2, 9.0)], "clinic bigint, visit bigint, y double")
    names = COLUMNS | {"x": ["age"]}
    rows = decide_batch(table, LEARNERS["process"](), **names, labels=labels).collect()
    faults = {row.id: row.fault for row in rows}
    assert faults[2**53 + 1] is None
    assert "finite" in faults[5]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            {"key": "clinik"},
            "key: expected one of the columns clinic, visit, kind, order, cost, at, age, got 'c",
        ),
        ({"order": None}, "order: expected one of the columns"),
        ({"order": "name"}, "order: expected one of the columns"),
        ({"id": "age"}, "id: expected a column of integers or texts, got age, of double"),
        ({"x": ["kind", "age"]}, "x: expected one column, of types"),
        ({"cost": "at"}, "cost: expected a column of numbers, got at, of timestamp"),
        ({"groups": 0}, "groups: expected .* got 0"),
    ],
)
def test_columns_that_cannot_be_right_are_refused(table, names, message):
    with pytest.raises(InvalidInput, match=message.replace("(", r"\(")):
        decide_batch(table, LEARNERS["algorithm 1"](), **COLUMNS | names)


def test_a_time_without_a_zone_is_refused_with_the_cast_that_makes_it_one(table):
    local = table.withColumn("local", table["at"].cast("timestamp_ntz"))
    cast = 'got local, of timestamp_ntz; say which moment it is: col("local").cast("timestamp") takes'
    with pytest.raises(InvalidInput, match=re.escape(cast)):
        decide_batch(local, LEARNERS["algorithm 1"](), **COLUMNS | {"order": "local"})
    timed = local.withColumn("local", local["local"].cast("timestamp"))
    rows = decide_batch(timed, LEARNERS["algorithm 1"](), **COLUMNS | {"order": "local"}, groups=3).collect()
    assert {row.id: row.round for row in rows if row.key == 2**53 + 1} == {2: 1, 2**53 + 1: 2}


def test_a_table_has_no_checkpoint(table):
    with pytest.raises(InvalidInput, match="checkpoint: expected none, as a table leaves nothing in one"):
        decide_batch(table, LEARNERS["algorithm 1"](), **COLUMNS, checkpoint="there")


def test_both_verbs_say_how_they_are_called():
    first, second = map(signature, (decide_stream, decide_batch))
    assert first == second
    assert list(first.parameters)[:3] == ["arrivals", "config", "key"]


def test_an_order_must_be_named(table):
    names = {name: column for name, column in COLUMNS.items() if name != "order"}
    with pytest.raises(TypeError, match="order"):
        decide_batch(table, LEARNERS["algorithm 1"](), **names)


def test_streams_and_tables_are_not_mixed(spark, begun, table):
    learner = LEARNERS["algorithm 1"]()
    with pytest.raises(
        InvalidInput, match="arrivals: expected a stream, got a table; decide_batch takes tab"
    ):
        decide_stream(table, learner, **COLUMNS)
    arrivals, labels = streams(spark, begun[0], "algorithm 1")
    with pytest.raises(InvalidInput, match="labels: expected a table, got a stream; decide_stream takes str"):
        decide_batch(table, learner, **COLUMNS, labels=labels)
    with pytest.raises(InvalidInput, match="labels: clinic: expected string, as in the arrivals, got bigint"):
        decide_stream(arrivals, learner, **COLUMNS, labels=_numbered(labels))


def _numbered(labels):
    return labels.selectExpr("1 as clinic", "visit", "y")


def test_a_snapshot_predicts_on_its_own(spark, table):
    from pyspark.sql.functions import array

    types, process = LEARNERS["algorithm 1"](), LEARNERS["process"]()
    for learner, point, others in ((types, 7, [8]), (process, [1.0], [[0.5]])):
        for i, x in enumerate([point, *others]):
            learner.decide(x, id=str(i))
            learner.tell(str(i), 2.0 + i)
    for learner, column, point in ((types, "kind", 7), (process, array("age"), [1.0])):
        rows = table.select("visit", predictor(learner.snapshot())(column).alias("found")).collect()
        found = {row.visit: row.found for row in rows}
        expected = learner.predict(point)
        assert found[3].prediction == pytest.approx(expected.mean, rel=1e-12)
        assert found[3].std == pytest.approx(expected.std, rel=1e-12)
        assert found[5].prediction is None
        assert "expected" in found[5].fault
    with pytest.raises(SnapshotError):
        predictor(b"nothing")


# -- the full matrix: `make engines` -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("groups", [1, 7, 64])
@pytest.mark.parametrize("kind", KINDS)
def test_every_number_of_groups_is_one_machine(spark, tmp_path, kind, groups):
    """Through a kill -9 in each case; the groups of a process are as many partitions of Spark's."""
    killed_and_finished(spark, tmp_path, kind, groups, {2: "begun"})


@pytest.mark.slow
@pytest.mark.parametrize("named", [True, False], ids=["named", "unnamed"])
@pytest.mark.parametrize("point", deciding_process.POINTS)
def test_a_kill_at_any_point_of_the_first_three_batches_changes_nothing(spark, tmp_path, point, named):
    """Given the batches that Spark made. With and without `checkpoint=`; types and processes take turns."""
    kind = KINDS[(list(deciding_process.POINTS).index(point) + named) % 2]
    killed_and_finished(spark, tmp_path, kind, 7, {0: point, 1: point, 2: point}, named)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_between_sink_and_commit_changes_nothing(spark, tmp_path, kind):
    world = world_of(kind)
    expected, learners = write_world(world, kind, tmp_path)
    process = deciding_process.start(tmp_path, kind, 7, own_sink_until=2)
    assert process.wait(deciding_process.PATIENCE) < 0
    assert (tmp_path / "out" / "batch=2" / "_SUCCESS").exists()
    assert 2 not in deciding_process.logged(tmp_path, "commits")
    deciding_process.finished(deciding_process.start(tmp_path, kind, 7, own_sink_until=99), tmp_path)
    assert said(answered(spark, tmp_path, world)) == said(expected)
    assert same(exported(spark, f"{tmp_path}/checkpoint"), learners)
