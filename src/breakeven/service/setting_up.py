"""From a stream's configuration to its learner, and back; a stream in a store, from plain data or a bill.

The configuration that a stream was made with is kept beside it. What is changed later is an entry of the log
of the kind `Configured`, which holds all of it anew.
"""

import time
import tomllib
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import asdict, replace

from breakeven.errors import InvalidInput, expect
from breakeven.folding import Damage, entry_of
from breakeven.learner import Learner
from breakeven.rows import Columns, open_bill
from breakeven.rules import Rule, rule_of
from breakeven.store import LogEntry, Store, StoredStream
from breakeven.values import Labeller
from breakeven.wire.stream_setup import (
    AlarmSetup,
    ColumnsSetup,
    DeskSetup,
    LabellerSetup,
    SnapshotCall,
    StreamChange,
    StreamConfig,
)

CONFIGURED = "Configured"  # the kind of an entry that holds a stream's configuration
LEARNER_FIELDS = (
    "label_cost", "error_cost", "under_cost", "over_cost", "miss_cost", "false_alarm_cost", "warmup", "seed",
    "keep", "answers_within",
)  # fmt: skip
ERROR_COST_FIELDS = ("error_cost", "under_cost", "over_cost", "miss_cost", "false_alarm_cost")
COST_FIELDS = ("label_cost", "labellers", *ERROR_COST_FIELDS)
SHOWN_FIELDS = ("unit", "currency", "deadline", "open_requests", "desk", "alarms")
LEAST_KEPT = 10_000  # arrivals that a served learner remembers, so that those on their way to the disk are
LONGEST_STREAM_NAME = 100
REPLACED = {"label_cost": "labellers", "labellers": "label_cost"}


# -- the learner ---------------------------------------------------------------------------------------


def learner_of(name: str, config: StreamConfig) -> Learner:
    """The learner that a configuration describes, before anything arrived."""
    check_config(config)
    given = {field: getattr(config, field) for field in LEARNER_FIELDS}
    data: dict[str, Any] = {"belief": config.belief, "rule": config.rule, "name": name, "fitting": "outside"}
    if config.labellers is not None:
        data["labellers"] = msgspec.to_builtins(config.labellers)
    data |= {field: value for field, value in given.items() if value is not None}
    learner = Learner.of(data)
    check_reveal(config.desk, learner.rule)
    if config.columns is not None:
        check_dim(learner, columns_of(config.columns))
    return learner


def check_config(config: StreamConfig) -> None:
    """Raise unless what the learner does not look at can be right."""
    if config.keep < LEAST_KEPT:
        expect.refuse("keep", f"at least {LEAST_KEPT:,}, which a served learner remembers", config.keep)
    check_shown(config.deadline, config.open_requests, config.desk)
    check_alarms(config.alarms)


def check_alarms(alarms: AlarmSetup) -> None:
    """Raise unless the limits of alarms can be right."""
    for name in ("error", "oldest", "spend_a_day"):
        limit = getattr(alarms, name)
        if limit is not None:
            expect.positive(f"alarms: {name}", limit)
    if alarms.coverage is not None:
        expect.probability("alarms: coverage", alarms.coverage, open=True)


def check_shown(deadline: float | None, open_requests: int | None, desk: DeskSetup) -> None:
    """Raise unless the settings of the desk can be right."""
    if deadline is not None:
        expect.positive("deadline", deadline)
    if open_requests is not None:
        expect.whole("open_requests", open_requests, least=1)
    expect.positive("desk: lease", desk.lease)
    expect.finite("desk: undo", desk.undo)


def check_reveal(desk: DeskSetup, rule: Rule) -> None:
    """Raise where labellers would see predictions that their labels are to test."""
    if desk.reveal == "before" and (rule.audit is not None or rule.check is not None):
        raise InvalidInput(
            "desk: reveal: expected 'after' beside a rule that audits or checks, got 'before'; whoever sees "
            "the prediction labels towards it, and then such labels prove nothing"
        )


def check_dim(learner: Learner, columns: Columns) -> None:
    """Raise unless the points of these columns are of the kind that the belief takes."""
    if columns.type_column is None:
        learner.belief.point([0.0] * columns.dim)
    else:
        kind = columns.type_column.kind
        learner.belief.point(0 if kind in ("whole", "truth", "yes_no") else "a")


def columns_of(setup: ColumnsSetup) -> Columns:
    """Columns that read rows."""
    return msgspec.convert(msgspec.to_builtins(setup), Columns)


def setup_of(columns: Columns) -> ColumnsSetup:
    """Columns as they are written in a configuration."""
    return msgspec.convert(msgspec.to_builtins(columns), ColumnsSetup)


def check_stream_name(name: str) -> str:
    """A name that can stand in a path.

    >>> check_stream_name("a/b")
    Traceback (most recent call last):
    breakeven.errors.InvalidInput: stream: expected a name of at most 100 printable characters without /, \
got 'a/b'
    """
    printable = name.isprintable() and name == name.strip() and "/" not in name
    if len(name) > LONGEST_STREAM_NAME or not printable or name in ("", ".", ".."):
        words = f"a name of at most {LONGEST_STREAM_NAME} printable characters without /"
        expect.refuse("stream", words, name)
    return name


# -- the configuration ---------------------------------------------------------------------------------


def read_config(path: Path) -> StreamConfig:
    """The configuration in a file, as TOML or JSON."""
    try:
        content = path.read_bytes()
        if path.suffix == ".json":
            return msgspec.json.decode(content, type=StreamConfig)
        return msgspec.convert(tomllib.loads(content.decode()), StreamConfig)
    except (tomllib.TOMLDecodeError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: expected the configuration of a stream, got {error}") from error


def config_bytes(config: StreamConfig) -> bytes:
    """A configuration as it is kept."""
    return msgspec.json.encode(config)


def config_now(store: Store, stream: StoredStream) -> StreamConfig:
    """The configuration of a stream: as it was made with, or as it was changed last."""
    changed = [one for one in store.beside(stream.number) if one.kind == CONFIGURED]
    return _read_bytes(stream, changed[-1].body if changed else stream.config)


def first_config(stream: StoredStream) -> StreamConfig:
    """The configuration that a stream was made with."""
    return _read_bytes(stream, stream.config)


def _read_bytes(stream: StoredStream, content: bytes) -> StreamConfig:
    if not content:
        raise Damage(
            f"stream {stream.name!r}: expected one with a configuration, got one that was made without; "
            "make it through the service to have it served"
        )
    try:
        return msgspec.json.decode(content, type=StreamConfig)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Damage(
            f"stream {stream.name!r}: expected a configuration that this version reads, got {error}; was it "
            "made by a newer one?"
        ) from error


def changed_config(config: StreamConfig, change: StreamChange) -> StreamConfig:
    """A configuration with what a change says; a label cost and labellers replace each other."""
    given = {name: value for name, value in asdict(change).items() if value is not UNSET}
    for name, other in REPLACED.items():
        if name in given:
            given.setdefault(other, None)
    return replace(config, **given)


def reprice(learner: Learner, change: StreamChange) -> None:
    """Have a learner go on with the costs and the rule of a change."""
    given: dict[str, Any] = {
        name: getattr(change, name) for name in COST_FIELDS if getattr(change, name) is not UNSET
    }
    if "labellers" in given:
        given["labellers"] = {
            name: Labeller(one.cost, one.noise_std) for name, one in given["labellers"].items()
        }
    if change.rule is not UNSET:
        given["rule"] = rule_of(change.rule)
    if given:
        learner.reprice(**given)


def repriced(learner: Learner, config: StreamConfig, change: StreamChange) -> StreamConfig:
    """The same, and the changed configuration with the costs of errors that this led to."""
    reprice(learner, change)
    told = any(getattr(change, name) is not UNSET for name in ERROR_COST_FIELDS)
    return with_error_costs(config, learner) if told else config


def config_of_learner(learner: Learner, call: SnapshotCall) -> StreamConfig:
    """The configuration of a stream that goes on with a learner."""
    plain = learner.config()
    labellers = {
        name: LabellerSetup(one.cost, one.noise_std) for name, one in learner.labellers.items()
    } or None
    config = StreamConfig(
        belief=plain["belief"],
        rule=plain["rule"],
        columns=call.columns,
        label_cost=None if labellers else learner.label_cost,
        labellers=labellers,
        warmup=learner.warmup,
        seed=learner.seed,
        keep=learner.keep,
        answers_within=learner.answers_within,
        **{name: getattr(call, name) for name in SHOWN_FIELDS},
    )
    return with_error_costs(config, learner)


def with_error_costs(config: StreamConfig, learner: Learner) -> StreamConfig:
    """A configuration with the costs of errors that a learner has: one, or two under the names it has."""
    costs: dict[str, float | None] = dict.fromkeys(ERROR_COST_FIELDS)
    if learner.under_cost == learner.over_cost:
        costs["error_cost"] = learner.error_cost
    elif config.miss_cost is not None:
        costs |= {"miss_cost": learner.under_cost, "false_alarm_cost": learner.over_cost}
    else:
        costs |= {"under_cost": learner.under_cost, "over_cost": learner.over_cost}
    return replace(config, **costs)


# -- a stream in a store -------------------------------------------------------------------------------


def create(
    store: Store, name: str, config: StreamConfig, *, by: str, at: float | None = None
) -> StoredStream:
    """Make a stream that begins with nothing."""
    check_stream_name(name)
    return _keep(store, learner_of(name, config), config, by, at)


def create_from(
    store: Store, name: str, call: SnapshotCall, *, by: str, at: float | None = None
) -> StoredStream:
    """Make a stream that goes on with the learner of a snapshot."""
    check_stream_name(name)
    learner = Learner.restore(call.snapshot, name=name, fitting="outside", keep_at_least=LEAST_KEPT)
    check_shown(call.deadline, call.open_requests, call.desk)
    check_alarms(call.alarms)
    check_reveal(call.desk, learner.rule)
    if call.columns is not None:
        check_dim(learner, columns_of(call.columns))
    return _keep(store, learner, config_of_learner(learner, call), by, at)


def create_from_bill(
    store: Store, folder: Path, *, name: str | None = None, by: str, at: float | None = None
) -> StoredStream:
    """Make a stream that goes on with the learner in a bill's folder, whose name it gets unless given."""
    columns, learner = open_bill(folder)
    unit = columns.label_column.unit
    call = SnapshotCall(snapshot=learner.snapshot(), columns=setup_of(columns), unit=unit)
    return create_from(store, name or folder.resolve().name, call, by=by, at=at)


def _keep(store: Store, learner: Learner, config: StreamConfig, by: str, at: float | None) -> StoredStream:
    at, created = time.time() if at is None else at, learner.created
    assert created is not None  # of a learner that was just made

    def first(number: int) -> list[LogEntry]:
        return [entry_of(created, number, 1, by=by, at=at)]

    return store.create_stream(learner.name, config_bytes(config), at, first)
