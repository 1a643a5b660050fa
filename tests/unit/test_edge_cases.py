"""Input from the edge: odd numbers, ids, lists, verdicts, events and snapshots; all work or are refused."""

import math
from contextlib import contextmanager
from enum import StrEnum
from hashlib import blake2b

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
    Threshold,
    TypeMeans,
    VariableUncertainty,
    Verdict,
    algorithm1,
    simulate,
)
from breakeven.beliefs.types.type_names import DEEPEST_TUPLE
from breakeven.errors import BreakevenError, InvalidInput, SnapshotError
from breakeven.learner import Awaited, snapshot
from breakeven.values import Arrived, Corrected, Erased, Fitted, Learnt, Reopened, Told, Withdrawn

BEYOND = 10**400  # an int that no float can hold
ENDLESS = 10**5000  # an int that Python does not even print


def types(rule=None):
    return Learner(TypeMeans(0.5), rule or Always(), label_cost=2.0)


def asked():
    """A learner over types that awaits the label "1"."""
    learner = types()
    learner.decide("a")
    return learner


def process(rule=None):
    return Learner(GaussianProcess(2, 0.5), rule or Always(), label_cost=2.0)


def answer(id="2", wants_label=True, cost=1.0, propensity=1.0, reason="always", by="rule"):
    """A decision in round 2."""
    prediction = Prediction(0.0, 1.0, 0.5)
    return Decision(id, wants_label, prediction, 1.0, 0.5, cost, propensity, reason, by=by, round=2)


@contextmanager
def refused(learner, match, error=InvalidInput):
    """Refused in these words, and nothing changed."""
    before = learner.snapshot()
    with pytest.raises(error, match=match):
        yield
    assert learner.snapshot() == before


# -- numbers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [np.float32, np.float16])
def test_single_precision_numbers_are_numbers(number):
    learner = types()
    assert learner.decide("a", cost=number(1.5)).cost == 1.5
    assert learner.tell("1", number(2.5)).mean == 2.5


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda one: one.tell("1", BEYOND), "^y: expected a finite number, got 1000"),
        (lambda one: one.learn("a", -BEYOND), "^y: expected a finite number, got -1000"),
        (lambda one: one.decide("a", cost=BEYOND), "^cost: expected a positive, finite number, got 1000"),
        (lambda one: TypeMeans(0.5, delta=BEYOND), r"^delta: expected a number in \(0, 1\), got 1000"),
        (lambda one: one.tell("1", ENDLESS), "^y: expected a finite number, got a very large int"),
        (lambda one: one.decide(ENDLESS), "^x: expected a type: .*, got a very large int"),
    ],
)
def test_an_int_too_large_for_a_float_is_refused(call, match):
    learner = asked()
    with refused(learner, match):
        call(learner)


def test_truth_values_among_numbers_are_refused():
    learner = process()
    with refused(learner, r"^x: expected a row of 2 finite numbers, got \[True, 1\.0\]"):
        learner.decide([True, 1.0])


def test_an_array_too_far_out_is_refused_without_a_warning():
    learner = process()
    with refused(learner, r"^x: expected a row of 2 finite numbers of size 1e\+100 at most, got "):
        learner.decide(np.array([0.0, 1e160]))


def test_an_array_with_a_mask_is_refused():
    learner = process()
    with refused(learner, "^x: expected a row of 2 finite numbers, got an array with a mask; fill or drop"):
        learner.decide(np.ma.array([0.5, 0.5], mask=[False, True]))


@pytest.mark.parametrize(
    "row",
    [[True, 1.0], (np.True_, 1.0), np.ma.array([0.5, 0.5], mask=[False, True])],
    ids=["truth", "truth of numpy", "mask"],
)
def test_what_is_refused_in_a_row_is_refused_in_a_row_of_a_batch(row):
    learner = process()
    with refused(learner, "^X.*: expected .*2 finite numbers.*, got "):
        learner.decide_many([[0.5, 0.5], row])


def test_a_mean_that_is_an_array_is_refused():
    with pytest.raises(InvalidInput, match=r"^mean: expected a finite number, got array\(\[1\., 2\.\]\)"):
        GaussianProcess(2, 0.1, mean=np.array([1.0, 2.0]))


# -- ids and labellers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("id", ["", "\ud800", b"a", 3], ids=ascii)
def test_an_id_that_is_empty_or_cannot_be_stored_is_refused(id):
    learner = types()
    with refused(learner, "^id: expected text, got "):
        learner.decide("a", id=id)


@pytest.mark.parametrize("labeller", ["", "\ud800"], ids=ascii)
def test_a_labeller_that_is_empty_or_cannot_be_stored_is_refused(labeller):
    learner = asked()
    with refused(learner, "^labeller: expected text, got "):
        learner.tell("1", 1.0, labeller=labeller)


class Case(StrEnum):
    A = "a"


def test_an_id_that_is_an_enum_is_its_text_in_a_batch_too():
    one, many = types(), types()
    one.decide("x", id=Case.A)
    many.decide_many(["x"], ids=[Case.A])
    assert type(next(iter(one.awaited))) is type(next(iter(many.awaited))) is str
    one.tell(Case.A, 1.0, labeller=Case.A)
    many.tell("a", 1.0, labeller="a")
    assert one.snapshot() == many.snapshot()


def test_a_type_that_is_an_enum_is_the_text_it_equals():
    learner = types()
    learner.learn("a", 3.0)
    assert learner.predict(Case.A).mean == 3.0


# -- lists ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda one: one.decide_many(["a"], costs=3.0), r"^costs: expected a list, got 3\.0"),
        (lambda one: one.decide_many(["a"], ids=3), "^ids: expected a list, got 3"),
        (lambda one: one.tell_many(3, [1.0]), "^ids: expected a list, got 3"),
        (lambda one: one.tell_many(["1"], 1.0), r"^ys: expected a list, got 1\.0"),
    ],
)
def test_a_number_where_a_list_belongs_is_refused(call, match):
    learner = asked()
    with refused(learner, match):
        call(learner)


def test_one_text_is_no_list_of_ids():
    learner = asked()
    with refused(learner, "^ids: expected a list, got 'xy'"):
        learner.decide_many(["a", "b"], ids="xy")
    with refused(learner, "^ids: expected a list, got '1'"):
        learner.tell_many("1", [1.0])


def test_an_array_without_a_length_is_no_batch_of_types():
    learner = types()
    with refused(learner, "^X: expected a list, got array"):
        learner.decide_many(np.array("a"))


@pytest.mark.parametrize("X", [[[1.0, [2.0]], [1.0, 2.0]], [["", b"\x80"], [1.0, 2.0]]], ids=repr)
def test_a_ragged_row_inside_a_batch_is_refused(X):
    learner = process()
    with refused(learner, "^X: expected rows of 2 finite numbers each, got "):
        learner.decide_many(X)


@pytest.mark.parametrize("X", [[[], []], np.empty((5, 0))], ids=repr)
def test_rows_without_numbers_are_refused(X):
    learner = process()
    with refused(learner, r"^X: expected rows of 2 numbers each, got an array of shape \(\d, 0\)"):
        learner.decide_many(X)


def test_one_arrival_does_not_keep_its_whole_batch_in_memory():
    learner = process()
    learner.decide_many(np.zeros((5, 2)))
    assert all(label.x.base is None for label in learner.state.book.awaited.values())


# -- types ---------------------------------------------------------------------------------------------


def nested(depth):
    """A tuple in a tuple in a tuple, so many of them."""
    x = ()
    for _ in range(depth - 1):
        x = (x,)
    return x


def test_a_type_nested_as_deep_as_it_may_be_is_kept():
    learner = types()
    learner.tell(learner.decide(nested(DEEPEST_TUPLE)).id, 3.0)
    assert Learner.restore(learner.snapshot()).predict(nested(DEEPEST_TUPLE)).mean == 3.0


@pytest.mark.parametrize(
    ("depth", "shown"),
    [(DEEPEST_TUPLE + 1, r"\(\)"), (100, r"\(\(\("), (5000, r"(a very large tuple|\(\(\()")],
)
def test_a_type_nested_too_deep_is_refused_when_it_comes_and_not_when_it_is_kept(depth, shown):
    learner = types()
    with refused(learner, rf"^x(\[0\])*: expected a type: a str, an int .*, got {shown}"):
        learner.decide(nested(depth))


# -- intervals -----------------------------------------------------------------------------------------


def test_an_interval_just_below_one_is_an_interval():
    low, high = Prediction(0.0, 1.0, 1.0).interval(math.nextafter(1.0, 0.0))
    assert -9.0 < low < -8.0 < 8.0 < high < 9.0


def test_an_interval_of_an_unknown_f_is_endless_at_any_level():
    assert Prediction(0.0, math.inf, 1.0).interval(1e-300) == (-math.inf, math.inf)


# -- rules ---------------------------------------------------------------------------------------------


class Answering(Rule):
    """Answers whatever it was given, and remembers nothing."""

    answer: object = None

    def decide(self, view):
        return self.answer


@pytest.mark.parametrize(
    ("verdict", "match"),
    [
        (Verdict(True, "x"), r"^Answering\.decide threshold: expected a number, got 'x'"),
        (Verdict(True, None), r"^Answering\.decide threshold: expected a number, got None"),
        (Verdict(True, reason=3), r"^Answering\.decide reason: expected text, got 3"),
        (Verdict(True, reason=[]), r"^Answering\.decide reason: expected text, got \[\]"),
        (Verdict(True, reason=""), r"^Answering\.decide reason: expected text, got ''"),
        (Verdict(True, propensity="x"), r"^Answering\.decide propensity: expected a number in \[0, 1\]"),
        (Verdict(True, propensity=7.0), r"^Answering\.decide propensity: .*, got 7\.0"),
        (Verdict(True, propensity=math.nan), r"^Answering\.decide propensity: .*, got nan"),
        (Verdict(True, BEYOND), r"^Answering\.decide threshold: expected a number, got 1000"),
    ],
)
def test_a_verdict_with_rubbish_in_it_is_refused(verdict, match):
    learner = types(Answering())
    before = learner.snapshot()
    learner.rule.answer = verdict
    with pytest.raises(InvalidInput, match=match):
        learner.decide("a")
    learner.rule.answer = None
    assert learner.snapshot() == before


class Numpy(Rule):
    """Answers in the numbers of NumPy."""

    def decide(self, view):
        return Verdict(view.uncertainty > np.float64(0.5), np.float32(0.5), propensity=np.float64(0.25))


def test_a_rule_may_answer_with_the_values_of_numpy():
    decision = types(Numpy()).decide("a")
    assert (decision.wants_label, decision.threshold, decision.propensity) == (True, 0.5, 0.25)
    assert [type(one) for one in (decision.wants_label, decision.threshold)] == [bool, float]
    assert msgspec.json.decode(msgspec.json.encode(decision))["threshold"] == 0.5


class Warming(Rule):
    """Calls its own reason "warmup", and counts what it hears."""

    heard: int = 0

    def decide(self, view):
        return Verdict(True, reason="warmup")

    def observe(self, *, labelled):
        self.heard += labelled


def test_a_rule_of_ones_own_hears_its_answers_whatever_it_calls_their_reason():
    learner = types(Warming())
    learner.decide_many(["a"] * 3)
    assert learner.rule.heard == 3


class Breaking(Rule):
    """Breaks in the third round."""

    def decide(self, view):
        if view.round == 3:
            raise RuntimeError("tired")
        return Verdict(True)


def test_what_a_rule_decided_before_it_broke_in_a_batch_stands():
    one, many = types(Breaking()), types(Breaking())
    one.decide_many(["a", "b"])
    with pytest.raises(RuntimeError, match="tired"):
        many.decide_many(["a", "b", "c", "d"])
    assert many.snapshot() == one.snapshot()


class Sharing(Rule):
    """Holds a dict."""

    shares: dict[str, float] = msgspec.field(default_factory=dict)

    def decide(self, view):
        return Verdict(True)


def test_a_summary_prints_a_rule_that_holds_a_dict():
    assert "rule              Sharing (shares flu=0.5)" in str(types(Sharing({"flu": 0.5})).summary())


@pytest.mark.parametrize("sentence", ["{mean.x}", "{mean[a]}", "{mean!z}"])
def test_a_sentence_with_odd_braces_is_left_alone(sentence):
    assert Decision("1", True, Prediction(1.0, 1.0, 1.0), 1.0, 1.0, 1.0, 1.0, sentence).why == sentence


@pytest.mark.parametrize("theta", [0.0, -1.0, math.nan, math.inf, 1e-301, "x", None, True])
def test_a_wrong_theta_is_refused(theta):
    with pytest.raises(InvalidInput, match=r"^theta: expected a number from 1e-300 to 1e\+300, got "):
        VariableUncertainty(theta=theta)


@pytest.mark.parametrize("lately", [-1.0, math.nan, 100.5, "x", None, True])
def test_a_wrong_lately_is_refused(lately):
    with pytest.raises(InvalidInput, match=r"^lately: expected a number from 0 to 100, got "):
        VariableUncertainty(lately=lately)


@pytest.mark.parametrize(
    "rule",
    [
        {"theta": 2},
        {"theta": np.float64(1e-300)},
        {"lately": 0},
        {"lately": np.float32(100.0)},
    ],
    ids=repr,
)
def test_any_number_in_the_range_is_a_theta_or_lately_and_can_be_stored(rule):
    blob = types(VariableUncertainty(**rule)).snapshot()
    assert Learner.restore(blob).rule == VariableUncertainty(**rule)


def test_enough_labels_on_their_way_are_no_reason_for_one_more():
    learner = types(Threshold())
    learner.decide("a")
    second = learner.decide("a", cost=1e6)
    assert (second.wants_label, second.reason) == (False, "on_their_way")
    assert second.why == "No label: enough labels of this type are already on their way."


# -- what is awaited -----------------------------------------------------------------------------------


def test_what_is_awaited_is_plain_data():
    learner = process()
    decision = learner.decide(np.array([0.1, 0.2]), cost=3)
    assert learner.awaited == {"1": Awaited((0.1, 0.2), decision)}


def test_what_is_awaited_cannot_be_changed_from_outside():
    learner = process()
    learner.decide([0.1, 0.2])
    before = learner.snapshot()
    with pytest.raises(AttributeError, match="immutable"):
        learner.awaited["1"].x = 0.5
    assert not hasattr(learner.awaited, "clear")
    assert learner.snapshot() == before


def test_one_may_tell_while_walking_over_a_list_of_what_is_awaited():
    learner = types()
    learner.decide_many(["a"] * 3)
    for id in list(learner.awaited):
        learner.tell(id, 1.0)
    assert not learner.awaited


def test_charged_may_be_a_truth_value_of_numpy():
    learner = asked()
    learner.withdraw("1", charged=np.bool_(True))
    assert learner.ledger.label_spend == 2.0


# -- events --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "match"),
    [
        (Told(3, "", "1", "x"), "^y: expected a finite number, got 'x'"),
        (Told(3, "", "1", math.nan), "^y: expected a finite number, got nan"),
        (Told(3, "", 3, 1.0), "^id: expected text, got 3"),
        (Corrected(3, "", "told", math.inf), "^y: expected a finite number, got inf"),
        (Withdrawn(3, "", "1", "yes"), "^charged: expected True or False, got 'yes'"),
        (Reopened(3, "", 3), "^id: expected text, got 3"),
        (Arrived(3, "", "a", answer(cost=-1.0)), r"^cost: expected a positive.*, got -1\.0"),
        (Arrived(3, "", [1.5], answer()), r"^x\[0\]: expected a type: .*, got 1\.5"),
        (Arrived(3, "", "a", answer(wants_label="yes")), "^wants_label: expected True or False, got 'yes'"),
        (Arrived(3, "", "a", answer(id="")), "^id: expected text, got ''"),
        (
            Arrived(3, "", "a", answer(propensity=1.5)),
            r"^propensity: expected a number in \[0, 1\]",
        ),
        (Arrived(3, "", "a", answer(reason=3)), "^reason: expected text, got 3"),
        (Arrived(3, "", "a", answer(by="robot")), "^by: expected one of 'rule', 'warmup', 'person'"),
        (Arrived(3, "", "a", "yes"), "^decision: expected a Decision, got 'yes'"),
        (Learnt(3, "", "a", math.inf), "^y: expected a finite number, got inf"),
        (Learnt(3, "", None, 1.0), "^x: expected a type: .*, got None"),
        (Learnt(3, "", "a", 1.0, id=""), "^id: expected text, got ''"),
        (Told(3, "", "1", 1.0, 3), "^labeller: expected text, got 3"),
        (Told(3, "", "1", 1.0, ""), "^labeller: expected text, got ''"),
        (Told(3, "", "1", 1.0, 0), "^labeller: expected text, got 0"),
        (Erased(3, "", "yes"), "^arrival: expected True or False, got 'yes'"),
        (Fitted(3, "", {}, -1), "^labels: expected a whole number"),
    ],
)
def test_an_event_with_rubbish_in_it_is_refused(event, match):
    learner = asked()
    if isinstance(event, Corrected):
        learner.learn("a", 1.0, id="told")
        event = msgspec.structs.replace(event, number=4)
    with refused(learner, match):
        learner.apply(event)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({}, "^parameters: expected kernel, noise_std and mean, got Object missing required field"),
        ({"kernel": {"type": "Matern"}, "noise_std": 1.0, "mean": 0.0}, "^parameters: expected kernel"),
        (
            {"kernel": {"type": "SquaredExponential"}, "noise_std": 0.0, "mean": 0.0},
            r"^noise_std: expected a positive, finite number, got 0\.0",
        ),
    ],
)
def test_a_fit_of_nothing_is_refused(parameters, match):
    learner = process()
    with refused(learner, match):
        learner.apply(Fitted(2, "", parameters, 0))


def test_a_listener_that_cannot_be_called_is_refused():
    with pytest.raises(InvalidInput, match=r"^listener: expected a function that takes an event, got 3"):
        types().listen(3)


# -- snapshots -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [b"", b"\xc1", b"\x81"])
def test_a_true_digest_around_no_messagepack_is_refused(body):
    head = snapshot.MARK + b"\x00\x01\x00"
    blob = head + blake2b(head + body, digest_size=32).digest() + body
    with pytest.raises(SnapshotError, match=r"^snapshot: expected a learner's state, got something else"):
        Learner.restore(blob)


def test_version_zero_never_existed():
    blob = types().snapshot()
    with pytest.raises(SnapshotError, match=r"^snapshot: expected a version from 1 to 1, got 0"):
        Learner.restore(blob[:9] + b"\x00\x00" + blob[11:])


def test_a_restored_bad_argument_is_a_snapshot_error():
    content = snapshot.unseal(types().snapshot())
    content["config"]["label_cost"] = -1.0
    with pytest.raises(SnapshotError, match=r"^snapshot: .*label_cost: expected a positive"):
        Learner.restore(snapshot.seal(content))


def test_a_rule_of_ones_own_with_a_name_of_ours_is_not_taken_for_ours():
    class Never(Rule):
        def decide(self, view):
            return Verdict(True)

    blob = types(Never()).snapshot()
    with pytest.raises(SnapshotError, match=r"expected a known name, .* got 'own:Never'; name classes of"):
        Learner.restore(blob)
    assert Learner.restore(blob, rules=(Never,)).decide("a").wants_label


def test_a_rule_of_ones_own_is_named_in_a_list():
    blob = types(Answering()).snapshot()
    with pytest.raises(BreakevenError, match=r"^rules: expected a list, got <class .*Answering'>"):
        Learner.restore(blob, rules=Answering)


# -- bills ---------------------------------------------------------------------------------------------


def replayed():
    return simulate(algorithm1(label_cost=1.0, noise_std=0.1), ["a", "b"], [1.0, 2.0]).ledger


def test_the_bill_of_a_replay_is_json():
    stored = msgspec.json.decode(msgspec.json.encode(replayed().plain()))
    assert (stored["spend_by_round"], stored["error_by_round"]) == ([1.0, 1.0], [0.0, 0.0])


def test_two_bills_can_be_compared():
    assert replayed() == replayed()


# -- processes -----------------------------------------------------------------------------------------


def test_a_view_of_a_process_counts_awaited_labels():
    learner = process()
    learner.decide([0.1, 0.2])
    learner.learn([0.5, 0.5], 1.0)
    assert learner.belief.look(learner.belief.point([0.1, 0.2])).labels == 2


def test_a_told_label_may_be_withdrawn_while_one_is_fresh():
    learner = process()
    learner.decide([0.1, 0.2])
    learner.tell("1", 1.0)
    learner.decide([0.3, 0.2])
    learner.withdraw("1")
    assert learner.predict([0.1, 0.2]).mean == 0.0


@pytest.mark.parametrize("noise_std", [1e-8, 1e-12, 1e-40])
def test_labels_without_noise_do_not_break_a_process(noise_std):
    learner = Learner(GaussianProcess(1, noise_std), Always(), label_cost=1.0)
    for x in np.linspace(0.0, 1.0, 60):
        learner.tell(learner.decide([x]).id, np.sin(5.0 * x))
    assert learner.predict([0.5]).mean == pytest.approx(np.sin(2.5), abs=1e-4)
