"""What a checkpoint of Spark holds: learners out of one and into another, and whether one may go on."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from breakeven.beliefs import Belief
from breakeven.engines.frames import carried_in, carried_out, faults_of, setup_in
from breakeven.engines.group import open_group
from breakeven.engines.group_state import GroupSetup, unsealed
from breakeven.engines.spark.spark_rows import KEY_EACH
from breakeven.engines.spark.worker_python import check_workers
from breakeven.errors import InvalidInput, SnapshotError, expect
from breakeven.rules import Rule

if TYPE_CHECKING:
    from pandas import DataFrame as Frame
    from pyspark.errors import AnalysisException
    from pyspark.sql import DataFrame, SparkSession

STATE_SCHEMA = "state binary, groups int"
OPERATOR = "applyInPandasWithState"
EMPTY_AT_START = "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart"


def export_learners(
    spark: "SparkSession",
    checkpoint: str,
    *,
    rules: Iterable[type[Rule]] = (),
    beliefs: Iterable[type[Belief]] = (),
) -> "DataFrame":
    """The learners of a checkpoint, as of its last whole batch: key, blob, beside.

    `Learner.restore(blob)` reads one on a laptop. `beside` is what `import_learners` needs, too.
    """
    setup = GroupSetup({}, rules=tuple(rules), beliefs=tuple(beliefs))
    states = _states(spark, checkpoint).select("state")
    all_kinds = (_keys_are(bytes(row[0]), setup) for row in states.toLocalIterator())
    kind = next((one for one in all_kinds if one is not None), None)
    if kind is None:
        raise InvalidInput(f"checkpoint: expected one with learners, got {checkpoint!r}, which has none")
    check_workers(spark)

    def step(frames: Iterator["Frame"]) -> Iterator["Frame"]:
        for frame in frames:
            yield carried_out(map(bytes, frame["state"]), setup)

    key = "string" if kind == "texts" else "bigint"
    return states.mapInPandas(step, f"key {key}, blob binary, beside binary")


def import_learners(
    spark: "SparkSession",
    folder: str,
    *,
    rules: Iterable[type[Rule]] = (),
    beliefs: Iterable[type[Belief]] = (),
) -> "DataFrame":
    """Learners that an export wrote to a folder of Parquet, as a stream for a new checkpoint's first batch.

    The number of groups may be another one. Every learner is read once before: a damaged one is refused.
    """
    setup = GroupSetup({}, rules=tuple(rules), beliefs=tuple(beliefs))
    table = _folder(spark, folder)
    columns = {name: table.schema[name].dataType.simpleString() for name in table.columns}
    for name in ("key", "blob", "beside"):
        if name not in columns:
            expect.refuse("folder", "one that export_learners was written to, with key, blob, beside", folder)
    check_workers(spark)

    def step(frames: Iterator["Frame"]) -> Iterator["Frame"]:
        import pandas as pd

        for frame in frames:
            yield pd.DataFrame({"fault": list(faults_of(carried_in(frame), setup))}, dtype=object)

    if (fault := table.mapInPandas(step, "fault string").first()) is not None:
        raise SnapshotError(f"folder: expected whole learners, got {fault[0]}")
    return spark.readStream.schema(table.schema).parquet(folder)


def _keys_are(state: bytes, setup: GroupSetup) -> str | None:
    """What the keys of a group are; None where all of its labels were taken back before their arrivals."""
    return open_group(setup_in(state, setup), state).keys_are


# -- checkpoints ---------------------------------------------------------------------------------------------


def allow_begun_checkpoint(spark: "SparkSession") -> None:
    """Let a query go on that was killed while the offsets of its first batch were written.

    Spark 4.3 refuses what such a kill leaves behind, though nothing was decided; a setting of yours stays.
    """
    if spark.conf.get(EMPTY_AT_START, None) is None:
        spark.conf.set(EMPTY_AT_START, "false")


def check_checkpoint(spark: "SparkSession", checkpoint: str, setup: GroupSetup, groups: int) -> None:
    """Refuse a checkpoint that was begun with another configuration or number of groups; one may be new."""
    if not _has_whole_batch(spark, checkpoint):
        return
    first = _states(spark, checkpoint).first()
    if first is not None:
        check_groups(first[1], groups)
        unsealed(bytes(first[0]), setup)


def check_groups(begun_with: int, groups: int) -> None:
    """Refuse another number of groups than a checkpoint was begun with."""
    if begun_with != groups:
        was, now = ("one for each key" if one == KEY_EACH else one for one in (begun_with, groups))
        raise InvalidInput(
            f"groups: expected {was}, as the checkpoint was begun with, got {now}; "
            "export its learners and import them into a new one"
        )


def _states(spark: "SparkSession", checkpoint: str) -> "DataFrame":
    """The states of all groups in a checkpoint."""
    from pyspark.errors import AnalysisException

    missing = f"checkpoint: expected that of a query that decides, with a whole batch, got {checkpoint!r}"
    if not _has_whole_batch(spark, checkpoint):
        raise InvalidInput(missing)
    operators = spark.read.format("state-metadata").load(checkpoint)
    ours = operators.where(operators.operatorName == OPERATOR).select("operatorId").first()
    if ours is None:
        raise InvalidInput(missing)
    stored = spark.read.format("statestore").option("operatorId", ours[0]).load(checkpoint)
    try:
        return stored.select("value.groupState.state", "value.groupState.groups")
    except AnalysisException as error:
        raise InvalidInput(missing) from error


def _has_whole_batch(spark: "SparkSession", checkpoint: str) -> bool:
    """Whether a batch was committed. The folder of commits is there as soon as a query starts, and empty."""
    from pyspark.errors import AnalysisException

    commits = spark.read.format("binaryFile").option("pathGlobFilter", "[0-9]*")
    try:
        return commits.load(f"{checkpoint}/commits").select("path").first() is not None
    except AnalysisException as error:
        if _is_not_there(error):
            return False
        raise


def _folder(spark: "SparkSession", folder: str) -> "DataFrame":
    from pyspark.errors import AnalysisException

    try:
        return spark.read.parquet(folder)
    except AnalysisException as error:
        if _is_not_there(error):
            expect.refuse("folder", "one that export_learners was written to", folder)
        raise


def _is_not_there(error: "AnalysisException") -> bool:
    return bool(error.getCondition() == "PATH_NOT_FOUND")
