"""Input from the edge: odd numbers, ids, batches, events, verdicts and snapshots. Each is refused or works, in words."""

import math
import zlib
from enum import StrEnum

import msgspec
import numpy as np
import pytest

from breakeven import (
    Always,
    Decision,
    GaussianProcess,
    Learner,
    Prediction,
    Rule,
    TypeMeans,
    VariableUncertainty,
    Verdict,
    algorithm1,
    simulate,
)
from breakeven.errors import BreakevenError, InvalidInput, SnapshotError
from breakeven.learner import snapshot
from breakeven.values import Arrived, Fitted, Learnt, Told


def types(rule=None):
    return Learner(TypeMeans(0.5), rule or Always(), label_cost=2.0)


def process(rule=None):
    return Learner(GaussianProcess(2, 0.5), rule or Always(), label_cost=2.0)


@pytest.mark.parametrize("number", [np.float32, np.float16])
def test_single_precision_numbers_are_numbers(number):
    learner = types()
    learner.decide("a", cost=number(1.5))
    assert learner.tell("1", number(1.5)).mean == 1.5


@pytest.mark.parametrize(
    "call",
    [
        lambda one: one.tell("1", 10**400),
        lambda one: one.decide("a", cost=10**400),
        lambda one: one.learn("a", -(10**400)),
        lambda one: TypeMeans(0.5, delta=10**400),
    ],
)
def test_an_int_too_large_for_a_float_is_refused(call):
    learner = types()
    learner.decide("a")
    with pytest.raises(InvalidInput, match="expected"):
        call(learner)


def test_an_empty_id_is_refused():
    learner = process()
    with pytest.raises(InvalidInput, match="id: expected text, got ''"):
        learner.decide([0.0, 0.0], id="")


def test_an_id_that_cannot_be_stored_is_refused():
    learner = types()
    with pytest.raises(InvalidInput, match="id: expected text"):
        learner.decide("a", id="\ud800")


def test_a_labeller_that_cannot_be_stored_is_refused():
    learner = types()
    learner.decide("a")
    with pytest.raises(InvalidInput, match="labeller"):
        learner.tell("1", 1.0, labeller="\ud800")


@pytest.mark.parametrize(
    "call",
    [
        lambda one: one.decide_many(["a"], costs=3.0),
        lambda one: one.decide_many(["a"], ids=3),
        lambda one: one.tell_many(3, [1.0]),
        lambda one: one.tell_many(["1"], 1.0),
    ],
)
def test_a_number_where_a_list_belongs_is_refused(call):
    learner = types()
    learner.decide("a")
    with pytest.raises(InvalidInput, match="expected"):
        call(learner)


def test_one_text_is_no_list_of_ids():
    learner = types()
    with pytest.raises(InvalidInput, match="ids: expected"):
        learner.decide_many(["a", "b"], ids="xy")


def test_a_batch_of_types_that_is_an_array_without_length_is_refused():
    with pytest.raises(InvalidInput, match="X: expected a list"):
        types().decide_many(np.array("a"))


@pytest.mark.parametrize("X", [[[1.0, [2.0]], [1.0, 2.0]], [["", b"\x80"], [1.0, 2.0]]])
def test_a_ragged_row_inside_a_batch_is_refused(X):
    with pytest.raises(InvalidInput, match="X: expected rows of 2"):
        process().decide_many(X)


@pytest.mark.parametrize("X", [[[], []], np.empty((5, 0))])
def test_rows_without_numbers_are_refused(X):
    with pytest.raises(InvalidInput, match="X: expected rows of 2"):
        process().decide_many(X)


def test_an_interval_just_below_one_is_an_interval():
    _low, high = Prediction(0.0, 1.0, 1.0).interval(math.nextafter(1.0, 0.0))
    assert 8.0 < high < 9.0


def test_an_interval_of_an_unknown_f_is_endless_at_any_level():
    assert Prediction(0.0, math.inf, 1.0).interval(1e-300) == (-math.inf, math.inf)


@pytest.mark.parametrize("body", [b"", b"\xc1", b"\x81"])
def test_a_true_checksum_around_no_messagepack_is_refused(body):
    blob = snapshot.MARK + b"\x00\x01" + zlib.crc32(body).to_bytes(4, "big") + body
    with pytest.raises(SnapshotError, match="snapshot: expected"):
        Learner.restore(blob)


def test_version_zero_never_existed():
    blob = types().snapshot()
    with pytest.raises(SnapshotError, match="version"):
        Learner.restore(blob[:9] + b"\x00\x00" + blob[11:])


def test_a_restored_bad_argument_is_a_snapshot_error():
    content = snapshot.unseal(types().snapshot())
    content["arguments"]["label_cost"] = -1.0
    with pytest.raises(SnapshotError, match="label_cost"):
        Learner.restore(snapshot.seal(content))


class Answering(Rule):
    answer: object = None

    def decide(self, view):
        return self.answer

    def observe(self, *, labelled):
        pass


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict(True, "x"),
        Verdict(True, None),
        Verdict(True, reason=3),
        Verdict(True, reason=[]),
        Verdict(True, propensity="x"),
        Verdict(True, propensity=7.0),
        Verdict(True, propensity=math.nan),
    ],
)
def test_a_verdict_with_rubbish_in_it_is_refused_and_nothing_changes(verdict):
    learner = types(Answering())
    before = learner.snapshot()
    learner.rule.answer = verdict
    with pytest.raises(InvalidInput, match="Answering.decide.*: expected"):
        learner.decide("a")
    learner.rule.answer = None
    assert learner.snapshot() == before


class Third(Rule):
    def decide(self, view):
        return Verdict(view.round == 3)


class Dicts(Rule):
    shares: dict[str, float] = {}

    def decide(self, view):
        return Verdict(True)


def test_a_summary_prints_a_rule_that_holds_a_dict():
    assert "a" in str(types(Dicts({"a": 0.5})).summary())


def test_a_rule_of_ones_own_with_a_name_of_ours_is_not_taken_for_ours():
    class Never(Rule):
        def decide(self, view):
            return Verdict(True)

    blob = types(Never()).snapshot()
    with pytest.raises(SnapshotError, match="Never"):
        assert Learner.restore(blob).decide("a").wants_label


@pytest.mark.parametrize("sentence", ["{mean.x}", "{mean[a]}", "{mean!z}"])
def test_a_sentence_with_odd_braces_is_left_alone(sentence):
    assert Decision("1", True, Prediction(1.0, 1.0, 1.0), 1.0, 1.0, 1.0, 1.0, sentence).why == sentence


@pytest.mark.parametrize("theta", [0.0, -1.0, math.nan, "x", None])
def test_a_wrong_theta_is_refused(theta):
    with pytest.raises(InvalidInput, match="theta: expected"):
        VariableUncertainty(theta=theta)


@pytest.mark.parametrize("lately", [-1.0, math.nan, "x", None])
def test_a_wrong_lately_is_refused(lately):
    with pytest.raises(InvalidInput, match="lately: expected"):
        VariableUncertainty(lately=lately)


def test_what_is_awaited_cannot_be_changed_from_outside():
    learner = process()
    learner.decide([0.1, 0.2])
    before = learner.snapshot()
    with pytest.raises(AttributeError, match="immutable"):
        learner.pending["1"].cost = 0.5
    learner.pending.clear()
    assert learner.snapshot() == before


def test_one_may_tell_while_walking_over_what_is_awaited():
    learner = types()
    learner.decide_many(["a"] * 3)
    for id in learner.pending:
        learner.tell(id, 1.0)
    assert not learner.pending


def test_a_view_of_a_process_counts_awaited_labels():
    learner = process()
    learner.decide([0.1, 0.2])
    assert learner.belief.look(learner.belief.point([0.1, 0.2])).labels == 1


@pytest.mark.parametrize(
    "event",
    [
        Told("1", "x"),
        Told("1", math.nan),
        Arrived("2", "a", True, -1.0, 1.0, "always", "rule"),
        Arrived("2", [1.5], True, 1.0, 1.0, "always", "rule"),
        Arrived("2", "a", "yes", 1.0, 1.0, "always", "rule"),
        Learnt("a", math.inf),
    ],
)
def test_an_event_with_rubbish_in_it_is_refused(event):
    learner = types()
    learner.decide("a")
    before = learner.snapshot()
    with pytest.raises(BreakevenError, match="expected"):
        learner.apply(event)
    assert learner.snapshot() == before


def test_a_fit_of_nothing_is_refused():
    with pytest.raises(BreakevenError, match="expected"):
        process().apply(Fitted({}))


def test_a_type_nested_too_deep_is_refused_when_it_comes_and_not_when_it_is_kept():
    for depth in (300, 400, 600, 900, 5000):
        x = ()
        for _ in range(depth):
            x = (x,)
        learner = types()
        with pytest.raises(InvalidInput, match="expected a type"):
            learner.decide(x)


def test_a_told_label_may_be_withdrawn_while_one_is_fresh():
    learner = process()
    learner.decide([0.1, 0.2])
    learner.tell("1", 1.0)
    learner.decide([0.3, 0.2])
    learner.withdraw("1")
    assert learner.predict([0.1, 0.2]).mean == 0.0


def test_a_mean_that_is_an_array_is_refused():
    with pytest.raises(InvalidInput, match="mean: expected"):
        GaussianProcess(2, 0.1, mean=np.array([1.0, 2.0]))


def test_truth_values_among_numbers_are_refused():
    with pytest.raises(InvalidInput, match="x: expected"):
        process().decide([True, 1.0])


def test_the_bill_of_a_replay_is_json():
    trace = simulate(algorithm1(label_cost=1.0, noise_std=0.1), ["a", "b"], [1.0, 2.0])
    msgspec.json.encode(trace.ledger)


def test_two_bills_can_be_compared():
    bills = [
        simulate(algorithm1(label_cost=1.0, noise_std=0.1), ["a", "b"], [1.0, 2.0]).ledger for _ in range(2)
    ]
    assert bills[0] == bills[1]


def test_charged_may_be_a_numpy_truth_value_as_force_may():
    learner = types()
    learner.decide("a")
    learner.withdraw("1", charged=np.bool_(True))


def test_restore_takes_one_rule_class_or_says_what_it_wants():
    blob = types(Third()).snapshot()
    with pytest.raises(BreakevenError, match="rules: expected"):
        Learner.restore(blob, rules=Third)


def test_a_listener_that_cannot_be_called_is_refused():
    with pytest.raises(InvalidInput, match="listener"):
        types().listen(3)


def test_an_array_too_far_out_is_refused_without_a_warning():
    with pytest.raises(InvalidInput, match="x: expected a row of 2 finite numbers"):
        process().decide(np.array([0.0, 1e160]))


class Case(StrEnum):
    A = "a"


def test_an_id_that_is_an_enum_is_one_id_in_a_batch_too():
    one, many = (Learner(TypeMeans(0.5), Always(), label_cost=2.0) for _ in range(2))
    one.decide("x", id=Case.A)
    many.decide_many(["x"], ids=[Case.A])
    one.tell(Case.A, 1.0)
    many.tell(Case.A, 1.0)
    assert one.snapshot() == many.snapshot()


def test_a_type_that_is_an_enum_is_the_text_it_equals():
    learner = Learner(TypeMeans(0.5), Always(), label_cost=2.0)
    learner.learn("a", 3.0)
    assert learner.predict(Case.A).mean == 3.0


def test_a_rule_may_answer_with_a_numpy_truth_value():
    class Numpy(Rule):
        def decide(self, view):
            return Verdict(view.uncertainty > np.float64(0.5), np.float32(0.5))

    decision = types(Numpy()).decide("a")
    assert decision.wants_label is True
    assert msgspec.json.encode(decision)


def test_a_rule_of_ones_own_hears_its_answers_whatever_it_calls_their_reason():
    class Counting(Rule):
        heard: int = 0

        def decide(self, view):
            return Verdict(True, reason="warmup")

        def observe(self, *, labelled):
            self.heard += labelled

    learner = types(Counting())
    learner.decide_many(["a"] * 3)
    assert learner.rule.heard == 3


@pytest.mark.parametrize("noise_std", [1e-8, 1e-12, 1e-40])
def test_labels_without_noise_do_not_break_a_process(noise_std):
    learner = Learner(GaussianProcess(1, noise_std), Always(), label_cost=1.0)
    for x in np.linspace(0.0, 1.0, 60):
        learner.tell(learner.decide([x]).id, np.sin(5.0 * x))
    assert learner.predict([0.5]).mean == pytest.approx(np.sin(2.5), abs=1e-4)


def test_one_arrival_does_not_keep_its_whole_batch_in_memory():
    learner = process()
    learner.decide_many(np.zeros((5, 2)))
    assert all(label.x.base is None for label in learner._book.awaited.values())
