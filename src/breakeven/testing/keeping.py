"""Checks on state: a fold of events, kept and restored to the bit, unchanged by questions and errors."""

from breakeven.learner import Learner
from breakeven.testing.check import Make, check, every
from breakeven.testing.running import nothing_changes, refused, run, run_eventfully
from breakeven.testing.stream import Stream
from breakeven.values import Event


@check(every)
def replaying_the_events_gives_the_same_bits(make: Make, stream: Stream) -> None:
    """State is a fold of events; replay decides nothing again."""
    live, replayed = make(), make()
    events: list[Event] = []
    live.listen(events.append)
    run_eventfully(live, stream)
    for event in events:
        replayed.apply(event)
    assert replayed.snapshot() == live.snapshot(), "replay and live differ"


@check(every)
def a_restored_learner_goes_on_to_the_bit(make: Make, stream: Stream) -> None:
    """After restore the next decisions, and the state they lead to, are identical."""
    learner = make()
    run_eventfully(learner, stream)
    own_rules, own_beliefs = map(type, learner.rule.layers), (type(learner.belief),)
    restored = Learner.restore(learner.snapshot(), own_rules, own_beliefs)
    assert restored.snapshot() == learner.snapshot(), "a restored learner differs at once"
    assert run(restored, stream) == run(learner, stream), "decisions differ after restore"
    assert restored.snapshot() == learner.snapshot(), "a restored learner went another way"


@check(every)
def a_damaged_snapshot_is_refused(make: Make, stream: Stream) -> None:
    """Cut short, changed, of a newer version, or no snapshot at all."""
    learner = make()
    run(learner, stream)
    blob = learner.snapshot()
    newer, flipped = blob[:9] + (999).to_bytes(2, "big") + blob[11:], blob[:-1] + bytes([blob[-1] ^ 1])
    for bad in (b"", blob[:-1], blob[: len(blob) // 2], flipped, newer, b"PK\x03\x04"):
        with refused(learner, "snapshot: expected", "got"):
            Learner.restore(bad, rules=(type(learner.rule),))


@check(every)
def the_same_stream_gives_the_same_decisions(make: Make, stream: Stream) -> None:
    """Everything random comes from the seed."""
    assert run(make(), stream) == run(make(), stream), "two equal runs differ"


@check(every)
def questions_change_nothing(make: Make, stream: Stream) -> None:
    """Predicting, summing up and reading the bill are pure."""
    learner = make()
    run_eventfully(learner, stream)
    with nothing_changes(learner):
        learner.predict(stream.points[0])
        learner.predict_many(stream.points)
        str(learner.summary()), str(learner.ledger), dict(learner.pending)


@check(every)
def questions_leave_no_trace_in_later_decisions(make: Make, stream: Stream) -> None:
    """A learner that was asked for predictions decides as one that was not."""
    asked, left_alone = make(), make()
    for x in stream.points:
        asked.predict(x)
        assert asked.decide(x) == left_alone.decide(x), "asking for a prediction changed a decision"


@check(every)
def bad_input_is_refused_and_changes_nothing(make: Make, stream: Stream) -> None:
    """Every message names what was expected and what came."""
    learner = make()
    run(learner, stream)
    x, nan = stream.points[0], float("nan")
    pending = learner.decide(x, force=True).id
    for bad in (None, object(), nan, 0.5j, {}, [nan, nan], ["a", []]):
        with refused(learner, "expected", "got"):
            learner.decide(bad)
        with refused(learner, "expected", "got"):
            learner.predict(bad)
        with refused(learner, "expected", "got"):
            learner.learn(bad, 1.0)
    for bad in (nan, float("inf"), "high", None, True):
        with refused(learner, "y: expected", "got"):
            learner.tell(pending, bad)  # type: ignore[arg-type]
        with refused(learner, "y: expected", "got"):
            learner.learn(x, bad)  # type: ignore[arg-type]
    for bad in (0, -1.0, nan, float("inf"), "ten", True):
        with refused(learner, "cost: expected", "got"):
            learner.decide(x, cost=bad)  # type: ignore[arg-type]
    with refused(learner, "force: expected", "'yes'"):
        learner.decide(x, force="yes")  # type: ignore[arg-type]
    learner.tell(pending, 1.0)
