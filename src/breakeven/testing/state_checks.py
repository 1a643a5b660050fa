"""Checks on state: a fold of events, kept and restored to the bit, unchanged by questions and errors."""

from typing import Any

import msgspec
from msgspec.structs import replace

from breakeven.learner import Learner
from breakeven.testing.contract import LabelledStream, Make, check, every, new
from breakeven.testing.stream_runs import (
    nothing_changes,
    own_classes,
    recorded,
    refused,
    run,
    run_eventfully,
)
from breakeven.wire import event_from_json, event_from_msgpack, to_json, to_msgpack


@check(every)
def a_log_alone_rebuilds_the_learner(make: Make, stream: LabelledStream) -> None:
    """State is a fold of events; replay decides nothing again, also from events that were stored."""
    live = make()
    log = recorded(live)
    run_eventfully(live, stream)
    own = own_classes(live)
    assert Learner.fold(log, **own).snapshot() == live.snapshot(), "replay and live differ"
    stored = [event_from_msgpack(to_msgpack(event)) for event in log]
    assert Learner.fold(stored, **own).snapshot() == live.snapshot(), "stored events say something else"
    if not any(map(_holds_bytes, log)):
        stored = [event_from_json(to_json(event)) for event in log]
        assert Learner.fold(stored, **own).snapshot() == live.snapshot(), "JSON says something else"


@check(every)
def a_gap_or_a_repeat_in_the_log_is_refused(make: Make, stream: LabelledStream) -> None:
    """Events come in their order, each once, and those of their own stream only."""
    live, learner = make(), make()
    log = recorded(live)
    run(live, stream)
    learner.apply(log[1])
    with refused(learner, "event: expected number 3, got 2: a repeat"):
        learner.apply(log[1])
    with refused(learner, "event: expected number 3, got 4: a gap"):
        learner.apply(log[3])
    with refused(learner, "event: expected one of the stream"):
        learner.apply(replace(log[2], stream="elsewhere"))


@check(new)
def plain_data_makes_the_same_learner(make: Make, stream: LabelledStream) -> None:
    """As JSON, too: the next decisions are the same."""
    one = make()
    config = msgspec.json.decode(msgspec.json.encode(one.config()))
    other = Learner.of(config, **own_classes(one))
    assert other.config() == one.config(), "the configuration changed"
    assert run(other, stream) == run(one, stream), "decisions differ"
    assert other.snapshot() == one.snapshot(), "the states differ"


@check(every)
def a_restored_learner_goes_on_to_the_bit(make: Make, stream: LabelledStream) -> None:
    """After restore the next decisions, and the state they lead to, are identical."""
    learner = make()
    run_eventfully(learner, stream)
    restored = Learner.restore(learner.snapshot(), **own_classes(learner))
    assert restored.snapshot() == learner.snapshot(), "a restored learner differs at once"
    assert restored.number == learner.number, "a snapshot does not say after which event it was taken"
    assert run(restored, stream) == run(learner, stream), "decisions differ after restore"
    assert restored.snapshot() == learner.snapshot(), "a restored learner went another way"


@check(every)
def a_damaged_snapshot_is_refused(make: Make, stream: LabelledStream) -> None:
    """Cut short, changed, of a newer version, or no snapshot at all."""
    learner = make()
    run(learner, stream)
    blob = learner.snapshot()
    newer, flipped = blob[:9] + (999).to_bytes(2, "big") + blob[11:], blob[:-1] + bytes([blob[-1] ^ 1])
    for bad in (b"", blob[:-1], blob[: len(blob) // 2], flipped, newer, b"PK\x03\x04"):
        with refused(learner, "snapshot: expected", "got"):
            Learner.restore(bad, rules=(type(learner.rule),))


@check(every)
def the_same_stream_gives_the_same_decisions(make: Make, stream: LabelledStream) -> None:
    """Everything random comes from the seed."""
    assert run(make(), stream) == run(make(), stream), "two equal runs differ"


@check(every)
def questions_change_nothing(make: Make, stream: LabelledStream) -> None:
    """Predicting, summing up and reading the bill are pure."""
    learner = make()
    run_eventfully(learner, stream)
    with nothing_changes(learner):
        learner.predict(stream.points[0])
        learner.predict_many(stream.points)
        str(learner.summary()), str(learner.ledger), dict(learner.awaited)


@check(every)
def questions_leave_no_trace_in_later_decisions(make: Make, stream: LabelledStream) -> None:
    """A learner that was asked for predictions decides as one that was not."""
    asked, left_alone = make(), make()
    for x in stream.points:
        asked.predict(x)
        assert asked.decide(x) == left_alone.decide(x), "asking for a prediction changed a decision"


@check(every)
def bad_input_is_refused_and_changes_nothing(make: Make, stream: LabelledStream) -> None:
    """Every message names what was expected and what came."""
    learner = make()
    run(learner, stream)
    x, nan = stream.points[0], float("nan")
    awaited = learner.decide(x, force=True).id
    for bad in (None, object(), nan, 0.5j, {}, [nan, nan], ["a", []]):
        with refused(learner, "expected", "got"):
            learner.decide(bad)
        with refused(learner, "expected", "got"):
            learner.predict(bad)
        with refused(learner, "expected", "got"):
            learner.learn(bad, 1.0)
    for bad in (nan, float("inf"), "high", None, True):
        with refused(learner, "y: expected", "got"):
            learner.tell(awaited, bad)  # type: ignore[arg-type]
        with refused(learner, "y: expected", "got"):
            learner.learn(x, bad)  # type: ignore[arg-type]
    for bad in (0, -1.0, nan, float("inf"), "ten", True):
        with refused(learner, "cost: expected", "got"):
            learner.decide(x, cost=bad)  # type: ignore[arg-type]
    with refused(learner, "force: expected", "'yes'"):
        learner.decide(x, force="yes")  # type: ignore[arg-type]
    learner.tell(awaited, 1.0)


def _holds_bytes(value: Any) -> bool:
    """Whether there is a point of bytes in an event, which JSON refuses."""
    x = getattr(value, "x", value)
    return isinstance(x, bytes) or (isinstance(x, tuple) and any(map(_holds_bytes, x)))
