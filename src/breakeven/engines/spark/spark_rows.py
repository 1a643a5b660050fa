"""Arrivals, labels and learners as rows of one Spark frame, checked by their columns, for groups of keys.

Single rows are not looked at here: what is missing in them is noted in bits, and becomes a fault where they
are folded.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from breakeven.engines.frames import (
    A_LABEL,
    A_LEARNER,
    AN_ARRIVAL,
    ANSWER_COLUMNS,
    MISSING_BITS,
    GroupFold,
    IdKind,
)
from breakeven.engines.group import is_fleet
from breakeven.engines.group_state import GroupSetup
from breakeven.errors import InvalidInput, expect

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

WHOLE_TYPES, TEXT_TYPES = ("tinyint", "smallint", "int", "bigint"), ("string",)
NUMBER_TYPES = ("float", "double")
KEY_EACH = 0  # groups where every key is one of its own
BLANKS = {"bigint": 0, "string": "", "boolean": False}  # in place of null, where pandas must see none


class Named(NamedTuple):
    """The columns of arrivals by what they are."""

    key: str
    id: str
    x: str | list[str]
    order: str
    cost: str | None


class GroupedRows(NamedTuple):
    """Rows of arrivals, labels and learners, the column that groups them, and what is done with a group."""

    rows: "DataFrame"
    by: str
    groups: int
    fold: GroupFold
    schema: str
    """Of the answers."""


def grouped_rows(
    setup: GroupSetup,
    named: Named,
    groups: int,
    arrivals: "DataFrame",
    labels: "DataFrame | None",
    learners: "DataFrame | None",
) -> GroupedRows:
    """All rows in one frame. Types are groups of many keys; any other learner is a group of its own."""
    from pyspark.sql import functions

    groups = expect.whole("groups", groups, least=1, most=2**31 - 1)
    fleet = is_fleet(setup)
    rows = _arrival_rows(arrivals, named, fleet)
    kinds = _kinds(rows)
    others = [] if labels is None else [_label_rows(labels, named, kinds)]
    others += [] if learners is None else [_learner_rows(learners, kinds)]
    for other in others:
        rows = rows.unionByName(other, allowMissingColumns=True)
    blank = {
        name: functions.coalesce(name, functions.lit(BLANKS[kind]))
        for name, kind in _kinds(rows).items()
        if kind in BLANKS and name != "labeller"
    }
    rows = rows.withColumns(blank)
    if fleet:
        group = functions.pmod(functions.xxhash64("key"), functions.lit(groups)).cast("int")
        rows = rows.withColumn("group", group)
    ids: IdKind = "integers" if kinds["id"] == "bigint" else "texts"
    answers = ", ".join(f"{name} {kind}" for name, kind in ANSWER_COLUMNS.items())
    schema = f"key {kinds['key']}, id {kinds['id']}, {answers}, counts array<bigint>, real boolean"
    by, number = ("group", groups) if fleet else ("key", KEY_EACH)
    return GroupedRows(rows, by, number, GroupFold(setup, ids), schema)


def check_streams(stream: bool, **frames: "DataFrame | None") -> None:
    """All of these are streams, or all are tables."""
    wanted, came, instead = ("a stream", "a table", "decide_batch takes tables")
    if not stream:
        wanted, came, instead = came, wanted, "decide_stream takes streams"
    for name, frame in frames.items():
        if frame is not None and frame.isStreaming is not stream:
            raise InvalidInput(f"{name}: expected {wanted}, got {came}; {instead}")


def _arrival_rows(arrivals: "DataFrame", named: Named, fleet: bool) -> "DataFrame":
    from pyspark.sql import functions

    chosen = {name: _whole_or_text(name, arrivals, getattr(named, name)) for name in ("key", "id")}
    chosen |= {"order": _order(arrivals, named.order), "x": _point(arrivals, named.x, fleet)}
    missing = _missing(chosen)
    if named.cost is not None:
        chosen["cost"] = _number("cost", arrivals, named.cost)
    columns = [column.alias(name) for name, column in chosen.items()]
    return arrivals.select(functions.lit(AN_ARRIVAL).alias("what"), missing, *columns)


def _label_rows(labels: "DataFrame", named: Named, kinds: dict[str, str]) -> "DataFrame":
    from pyspark.sql import functions

    chosen = {}
    for name, column in (("key", named.key), ("id", named.id)):
        chosen[name] = _whole_or_text(f"labels: {name}", labels, column)
        came = "string" if _kind(name, labels, column) in TEXT_TYPES else "bigint"
        if came != kinds[name]:
            expect.refuse(f"labels: {column}", f"{kinds[name]}, as in the arrivals", came, described=True)
    missing = _missing(chosen)
    chosen["y"] = _number("labels: y", labels, "y")
    for name, kind in (("labeller", "string"), ("withdrawn", "boolean")):
        given = labels[name] if name in labels.columns else functions.lit(None)
        chosen[name] = given.cast(kind)
    columns = [column.alias(name) for name, column in chosen.items()]
    return labels.select(functions.lit(A_LABEL).alias("what"), missing, *columns)


def _learner_rows(learners: "DataFrame", kinds: dict[str, str]) -> "DataFrame":
    from pyspark.sql import functions

    came = _kind("learners: key", learners, "key")
    if came != kinds["key"]:
        expect.refuse("learners: key", f"{kinds['key']}, as in the arrivals", came, described=True)
    for name in ("blob", "beside"):
        _kind(f"learners: {name}", learners, name)
    what = functions.lit(A_LEARNER).alias("what"), functions.lit(0).alias("missing")
    return learners.select(*what, "key", "blob", "beside")


# -- columns -------------------------------------------------------------------------------------------------


def _kinds(frame: "DataFrame") -> dict[str, str]:
    return {field.name: field.dataType.simpleString() for field in frame.schema}


def _kind(name: str, frame: "DataFrame", column: Any) -> str:
    """The type of a column, which must be there."""
    if not isinstance(column, str) or column not in frame.columns:
        expect.refuse(name, f"one of the columns {', '.join(frame.columns)}", column)
    return frame.schema[column].dataType.simpleString()


def _missing(chosen: "dict[str, Column]") -> "Column":
    """Which of these are null, as bits."""
    from pyspark.sql import functions

    bits = functions.lit(0)
    for name, column in chosen.items():
        bits = bits + functions.when(column.isNull(), MISSING_BITS[name]).otherwise(0)
    return bits.alias("missing")


def _whole_or_text(name: str, frame: "DataFrame", column: str) -> "Column":
    kind = _kind(name, frame, column)
    if kind not in WHOLE_TYPES + TEXT_TYPES:
        expect.refuse(name, "a column of integers or texts", f"{column}, of {kind}", described=True)
    return frame[column] if kind in TEXT_TYPES else frame[column].cast("bigint")


def _number(name: str, frame: "DataFrame", column: str) -> "Column":
    kind = _kind(name, frame, column)
    if kind not in WHOLE_TYPES + NUMBER_TYPES and not kind.startswith("decimal"):
        expect.refuse(name, "a column of numbers", f"{column}, of {kind}", described=True)
    return frame[column].cast("double")


def _point(frame: "DataFrame", x: str | list[str], fleet: bool) -> "Column":
    """What came: a type, a column as it is, or several numbers."""
    from pyspark.sql import functions

    if isinstance(x, str):
        kind = _kind("x", frame, x)
        return _whole_or_text("x", frame, x) if fleet or kind in WHOLE_TYPES + TEXT_TYPES else frame[x]
    names = expect.rows("x", x)
    if fleet or not names:
        expect.refuse("x", "one column, of types" if fleet else "one column or some", x)
    return functions.array(*(_number("x", frame, name) for name in names))


def _order(frame: "DataFrame", column: str) -> "Column":
    """What arrivals are sorted by: whole numbers, numbers, or times as microseconds."""
    from pyspark.sql import functions

    kind = _kind("order", frame, column)
    if kind == "timestamp":
        return functions.unix_micros(frame[column])
    if kind == "date":
        return functions.unix_date(frame[column]).cast("bigint")
    if kind in NUMBER_TYPES:
        return frame[column].cast("double")
    if kind not in WHOLE_TYPES:
        wanted = "a column of whole numbers, numbers, dates or timestamps"
        came = f"{column}, of {kind}"
        if kind == "timestamp_ntz":  # which moment it is, only its owner knows
            came += (
                f'; say which moment it is: col("{column}").cast("timestamp") takes the session\'s time zone'
            )
        expect.refuse("order", wanted, came, described=True)
    return frame[column].cast("bigint")
