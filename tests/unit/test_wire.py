"""Events and decisions as JSON and MessagePack, both ways without loss; what JSON cannot hold it refuses."""

from contextlib import suppress
from math import inf, nan

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven import (
    Audit,
    Budget,
    GaussianProcess,
    Labeller,
    Learner,
    RandomSelect,
    Rule,
    Threshold,
    TypeMeans,
    Value,
    Verdict,
)
from breakeven.errors import InvalidInput
from breakeven.testing import LabelledStream
from breakeven.testing.stream_runs import recorded, run_eventfully
from breakeven.values import (
    Arrived,
    Corrected,
    Created,
    Decision,
    Erased,
    Fitted,
    Learnt,
    Offer,
    Prediction,
    Reopened,
    Repriced,
    Told,
    Withdrawn,
)
from breakeven.wire import (
    decision_from_json,
    decision_from_msgpack,
    event_from_json,
    event_from_msgpack,
    prediction_from_json,
    prediction_from_msgpack,
    to_json,
    to_msgpack,
)

finite = st.floats(allow_nan=False, allow_infinity=False)
maybe_infinite = st.one_of(finite, st.just(inf))
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
maybe_words = st.one_of(st.none(), words)
types = st.recursive(
    st.one_of(words, st.integers(-(2**63), 2**63 - 1)),
    lambda x: st.lists(x, max_size=3).map(tuple),
    max_leaves=4,
)
points = st.one_of(types, st.lists(finite, min_size=1, max_size=3).map(tuple))
predictions = st.builds(Prediction, finite, maybe_infinite, finite)
offers = st.lists(st.builds(Offer, finite, finite, words, finite), max_size=2).map(tuple)
decisions = st.builds(
    Decision, words, st.booleans(), predictions, maybe_infinite,
    st.one_of(finite, st.sampled_from([inf, nan])), finite, st.floats(0, 1), words, st.booleans(),
    st.booleans(), finite, st.one_of(st.none(), words), st.one_of(st.none(), maybe_infinite),
    st.sampled_from(["rule", "warmup", "person"]), st.integers(1, 2**62), offers,
)  # fmt: skip
costs = st.one_of(st.none(), finite, st.dictionaries(words, finite, max_size=2))
numbers, names = st.integers(1, 2**62), st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
labellers = st.dictionaries(words, st.builds(Labeller, st.floats(0.1, 9.0), st.floats(0.1, 9.0)), max_size=2)
config = st.dictionaries(words, st.one_of(finite, words, st.booleans(), st.none()), max_size=2)
events = st.one_of(
    st.builds(Created, numbers, names, config, st.one_of(st.none(), st.binary(max_size=20))),
    st.builds(Arrived, numbers, names, points, decisions, costs, st.one_of(st.none(), finite)),
    st.builds(Told, numbers, names, words, finite, st.one_of(st.none(), words)),
    st.builds(Corrected, numbers, names, words, finite),
    st.builds(Withdrawn, numbers, names, words, st.booleans()),
    st.builds(Reopened, numbers, names, words),
    st.builds(Learnt, numbers, names, points, finite, maybe_words, maybe_words),
    st.builds(Fitted, numbers, names, config, st.integers(0, 2**62)),
    st.builds(
        Repriced, numbers, names, st.one_of(st.none(), finite), st.one_of(st.none(), labellers),
        st.one_of(st.none(), finite), st.one_of(st.none(), config),
    ),
    st.builds(Erased, numbers, names, st.booleans()),
)  # fmt: skip


def same(one, other):
    """Equal to the bit; `repr` tells -0.0 from 0.0, and takes NaN for itself."""
    return type(one) is type(other) and repr(one) == repr(other)


@given(events)
def test_every_event_comes_back_from_json_and_messagepack(event):
    assert same(event_from_json(to_json(event)), event)
    assert same(event_from_json(to_json(event).decode()), event)
    assert same(event_from_msgpack(to_msgpack(event)), event)


@given(decisions)
def test_every_decision_comes_back_from_json_and_messagepack(decision):
    assert same(decision_from_json(to_json(decision)), decision)
    assert same(decision_from_msgpack(to_msgpack(decision)), decision)


@given(predictions)
def test_every_prediction_comes_back_from_json_and_messagepack(prediction):
    assert same(prediction_from_json(to_json(prediction)), prediction)
    assert same(prediction_from_msgpack(to_msgpack(prediction)), prediction)


@pytest.mark.parametrize(
    "verdict", [{"threshold": -inf}, {"worth": -inf}, {"worth": nan}, {"worth_now": nan}]
)
def test_a_rule_of_ones_own_says_nothing_that_json_cannot_hold(verdict):
    class Mine(Rule):
        def decide(self, view):
            return Verdict(True, reason="mine", **verdict)

    learner = Learner(TypeMeans(0.5), Mine(), label_cost=2.0)
    before = learner.snapshot()
    with pytest.raises(
        InvalidInput, match=r"^Mine.decide (worth|threshold|worth_now): expected a number, or ∞"
    ):
        learner.decide("flu")
    assert learner.snapshot() == before


def test_what_is_infinite_is_null_and_what_is_not_there_is_left_out():
    learner = Learner(TypeMeans(0.5), Value(), label_cost=2.0)
    plain = msgspec.json.decode(to_json(learner.decide("flu")))
    assert (plain["prediction"]["std"], plain["uncertainty"], plain["worth"]) == (None, None, None)
    assert "threshold" not in plain
    plain = msgspec.json.decode(to_json(Learner(TypeMeans(0.5), Threshold(), label_cost=2.0).decide("flu")))
    assert plain["threshold"] == pytest.approx(2.0 ** (1 / 3))
    assert "worth" not in plain


@pytest.mark.parametrize("x", [b"flu", ("clinic", b"x"), ("a", ("b", (b"c",)))])
def test_types_of_bytes_are_refused_by_json_and_held_by_messagepack(x):
    learner = Learner(TypeMeans(0.5), Threshold(), label_cost=2.0)
    log = recorded(learner)
    learner.decide(x)
    learner.learn(x, 1.0)
    for event in log[1:]:
        with pytest.raises(InvalidInput, match=r"^x.*: expected a type that JSON can hold, .*MessagePack"):
            to_json(event)
    assert [event_from_msgpack(to_msgpack(event)) for event in log] == log


LEARNERS = {
    "types": lambda: Learner(TypeMeans(0.3), Threshold(), label_cost=0.05),
    "labellers": lambda: Learner(
        TypeMeans(0.3, prior_std="learn"),
        Value(),
        labellers={"a": Labeller(1.0, 0.5), "b": Labeller(3.0, 0.1)},
    ),
    "audited": lambda: Learner(
        TypeMeans(0.3), Budget(Audit(RandomSelect(0.4), 0.3, bound=9.0), total=60.0), label_cost=1.0
    ),
    "process": lambda: Learner(GaussianProcess(2, None, mean="fit", fit="growing"), Value(), label_cost=0.05),
}


@pytest.mark.parametrize("kind", list(LEARNERS))
def test_a_whole_log_survives_both_ways(kind):
    learner = LEARNERS[kind]()
    log, stream = recorded(learner), LabelledStream.of(learner)
    points = [x if not isinstance(x, bytes) else "bytes" for x in stream.points]
    run_eventfully(learner, LabelledStream(points, stream.labels))
    learner.reprice(error_cost=3.0, rule=Threshold(0.7))
    for write, read in ((to_json, event_from_json), (to_msgpack, event_from_msgpack)):
        stored = [read(write(event)) for event in log]
        assert all(map(same, stored, log))
        assert Learner.fold(stored).snapshot() == learner.snapshot()


def test_the_state_in_a_first_event_survives_json():
    belief = TypeMeans(0.3)
    belief.learn(belief.point("flu"), 3.0)
    created = Learner(belief, Threshold(), label_cost=1.0).created
    again = event_from_json(to_json(created))
    assert again == created
    assert Learner.fold([again]).predict("flu").mean == 3.0


@pytest.mark.parametrize(
    "blob",
    [b"", b"{", b"3", b"null", b"[]", b"{}", b'{"type":"Told"}', None, 3],
)
@pytest.mark.parametrize("read", [event_from_json, decision_from_json, prediction_from_json])
def test_what_was_not_written_here_is_refused_by_json(blob, read):
    with pytest.raises(InvalidInput, match=r"^wire: expected .*, got "):
        read(blob)


@pytest.mark.parametrize("blob", [b"", b"\xc1", b"\x03", b"\x80", b"\x81\xa4type\xa4Told", b"\x90", None])
@pytest.mark.parametrize("read", [event_from_msgpack, decision_from_msgpack])
def test_what_was_not_written_here_is_refused_by_messagepack(blob, read):
    with pytest.raises(InvalidInput, match=r"^wire: expected .*, got "):
        read(blob)


@given(events, st.data())
def test_a_damaged_message_is_read_or_refused(event, data):
    blob = bytearray(to_msgpack(event))
    blob[data.draw(st.integers(0, len(blob) - 1))] = data.draw(st.integers(0, 255))
    with suppress(InvalidInput):
        event_from_msgpack(bytes(blob))
