"""Answers to a stream or a table of arrivals, and to points by a snapshot alone.

Rows of arrivals, labels and imported learners become one frame, which Spark groups; `GroupFold` does the rest
on its workers. The counts of each batch are in the query's progress.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec

from breakeven.beliefs import Belief
from breakeven.engines.answered import FoldCounts
from breakeven.engines.frames import predictions_out, restored
from breakeven.engines.group_state import EARLY_WINDOW, TOLD_WINDOW, GroupSetup
from breakeven.engines.spark.checkpoints import (
    STATE_SCHEMA,
    allow_begun_checkpoint,
    check_checkpoint,
    check_groups,
)
from breakeven.engines.spark.spark_rows import GroupedRows, Named, check_streams, grouped_rows
from breakeven.engines.spark.worker_python import check_workers
from breakeven.errors import expect
from breakeven.learner import Learner
from breakeven.rules import Rule

if TYPE_CHECKING:
    from pandas import DataFrame as Frame
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.streaming.state import GroupState

P = ParamSpec("P")
COUNTS_NAME = "breakeven"  # under this name a query's progress has the counts of each batch


class Asked(NamedTuple):
    """What is to be decided on: rows, how groups are made up, and the checkpoint if it was named."""

    arrivals: "DataFrame"
    labels: "DataFrame | None"
    learners: "DataFrame | None"
    setup: GroupSetup
    named: Named
    groups: int
    checkpoint: str | None

    def plan(self, *, stream: bool) -> GroupedRows:
        """All rows in one frame; all are of streams, or all of tables. The workers must be able to decide."""
        check_streams(stream, arrivals=self.arrivals, labels=self.labels, learners=self.learners)
        rows = grouped_rows(self.setup, self.named, self.groups, self.arrivals, self.labels, self.learners)
        check_workers(self.arrivals.sparkSession)
        return rows


def _asked(
    arrivals: "DataFrame",
    config: Learner,
    *,
    key: str,
    id: str,
    x: str | list[str],
    order: str,
    cost: str | None = None,
    labels: "DataFrame | None" = None,
    learners: "DataFrame | None" = None,
    groups: int = 64,
    told_window: int = TOLD_WINDOW,
    early_window: int = EARLY_WINDOW,
    checkpoint: str | None = None,
    rules: Iterable[type[Rule]] = (),
    beliefs: Iterable[type[Belief]] = (),
) -> Asked:
    """The arguments of both verbs."""
    setup = GroupSetup.of(
        config, told_window=told_window, early_window=early_window, rules=rules, beliefs=beliefs
    )
    return Asked(arrivals, labels, learners, setup, Named(key, id, x, order, cost), groups, checkpoint)


def _called_like(
    asked: Callable[P, Asked],
) -> "Callable[[Callable[[Asked], DataFrame]], Callable[P, DataFrame]]":
    """A verb that takes what `asked` takes."""

    def called(answer: "Callable[[Asked], DataFrame]") -> "Callable[P, DataFrame]":
        @wraps(answer)
        def verb(*given: P.args, **named: P.kwargs) -> "DataFrame":
            return answer(asked(*given, **named))

        vars(verb)["__signature__"] = signature(asked).replace(return_annotation="DataFrame")
        return verb

    return called


@_called_like(_asked)
def decide_stream(asked: Asked) -> "DataFrame":
    """Answers to a stream of arrivals, exactly once, by one learner for each key, all made like `config`.

    `x` is a column of types, or the columns of numbers of a point; `order` says in which order the arrivals
    of a key came. `labels` is a stream with the columns `key` and `id` of the same names, `y`, and perhaps
    `withdrawn` and `labeller`. `learners`, from `import_learners`, come into the first batch. `groups` are
    fixed for a checkpoint; so is `config`. Where you say which `checkpoint` it will be, both are checked
    against it before anything starts.
    """
    plan, spark = asked.plan(stream=True), asked.arrivals.sparkSession
    allow_begun_checkpoint(spark)
    if asked.checkpoint is not None:
        check_checkpoint(spark, asked.checkpoint, asked.setup, plan.groups)
    fold, number = plan.fold, plan.groups

    def step(_: Any, frames: Iterator["Frame"], state: "GroupState") -> Iterator["Frame"]:
        before, begun_with = state.get if state.exists else (None, number)
        check_groups(begun_with, number)
        after, answers = fold(None if before is None else bytes(before), frames)
        if after is not None:
            state.update((after, number))
        yield answers

    grouped = plan.rows.groupBy(plan.by)
    answers = grouped.applyInPandasWithState(step, plan.schema, STATE_SCHEMA, "append", "NoTimeout")
    return _observed(answers)


@_called_like(_asked)
def decide_batch(asked: Asked) -> "DataFrame":
    """Answers to a table of arrivals: what `decide_stream` answers if all of it comes in one batch.

    `learners` go on from where an export left them; what becomes of them is not kept, in no `checkpoint`.
    """
    if asked.checkpoint is not None:
        expect.refuse("checkpoint", "none, as a table leaves nothing in one", asked.checkpoint)
    plan = asked.plan(stream=False)
    fold = plan.fold

    def step(frame: "Frame") -> "Frame":
        return fold(None, [frame])[1]

    grouped = plan.rows.groupBy(plan.by)
    return _observed(grouped.applyInPandas(step, plan.schema))


def predictor(
    blob: bytes, *, rules: Iterable[type[Rule]] = (), beliefs: Iterable[type[Belief]] = ()
) -> "Callable[..., Column]":
    """A pandas UDF that predicts from one learner's snapshot and keeps nothing: prediction, std, fault.

    It takes the column of a type, the columns of a point's numbers, or one column with arrays of them.
    """
    own_rules, own_beliefs = tuple(rules), tuple(beliefs)
    Learner.restore(blob, own_rules, own_beliefs)
    import pandas as pd
    from pyspark.sql import SparkSession
    from pyspark.sql.pandas.functions import pandas_udf

    if (session := SparkSession.getActiveSession()) is not None:
        check_workers(session)

    def predict(*columns: pd.Series) -> pd.DataFrame:
        return predictions_out(restored(blob, own_rules, own_beliefs), columns)

    as_udf: Any = pandas_udf  # whose overloads do not know this form
    udf: Callable[..., Column] = as_udf(predict, "prediction double, std double, fault string")
    return udf


def _observed(answers: "DataFrame") -> "DataFrame":
    """The answers; the counts of each batch go to the query's progress, under the name of COUNTS_NAME."""
    from pyspark.sql import functions

    sums = [
        functions.sum(functions.col("counts")[i]).alias(name) for i, name in enumerate(FoldCounts._fields)
    ]
    return answers.observe(COUNTS_NAME, *sums).where("real").drop("counts", "real")
