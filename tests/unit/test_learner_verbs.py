"""The verbs of a learner, one at a time: ids, costs, late, corrected, withdrawn and given labels."""

from math import inf, log, sqrt

import numpy as np
import pytest

from breakeven import (
    Always,
    Budget,
    Cells,
    GaussianProcess,
    Learner,
    Never,
    SquaredExponential,
    Threshold,
    TypeMeans,
    VariableUncertainty,
    algorithm1,
)
from breakeven.errors import DuplicateId, InvalidInput, UnknownId
from breakeven.learner import Awaited
from breakeven.values import Arrived, Prediction, Told
from tests.naming import Thing


def types(rule=None, **options):
    return Learner(TypeMeans(noise_std=0.5), rule or Always(), label_cost=2.0, **options)


def process(rule=None, **options):
    belief = GaussianProcess(1, 0.5, SquaredExponential(lengthscale=0.3))
    return Learner(belief, rule or Always(), label_cost=2.0, **options)


# -- telling -------------------------------------------------------------------------------------------


def test_tell_returns_the_mean_over_the_type_and_its_error():
    learner = types()
    ids = [learner.decide("flu").id for _ in range(3)]
    assert learner.tell(ids[0], 4.0) == Prediction(4.0, 0.5, 0.5)
    assert learner.tell(ids[2], 1.0) == Prediction(2.5, 0.5 / sqrt(2), 0.5)
    assert learner.tell(ids[1], 1.0) == Prediction(2.0, 0.5 / sqrt(3), 0.5)
    assert learner.predict("flu") == Prediction(2.0, 0.5 / sqrt(3), 0.5)


def test_tell_returns_the_posterior_of_a_process_there():
    learner = process()
    told = learner.tell(learner.decide(0.0).id, 3.0)
    assert told.mean == pytest.approx(3.0 / 1.25, rel=1e-14)
    assert told.std == pytest.approx(sqrt(1.0 - 1.0 / 1.25), rel=1e-14)
    assert learner.predict(0.0).mean == pytest.approx(told.mean, rel=1e-14)


def test_an_awaited_label_narrows_the_uncertainty_and_leaves_the_prediction_alone():
    learner = process()
    first, second = learner.decide(0.0), learner.decide(0.0)
    assert (first.uncertainty, first.prediction.std) == (1.0, 1.0)
    assert second.uncertainty == pytest.approx(sqrt(1.0 - 1.0 / 1.25), rel=1e-14)
    assert second.prediction == first.prediction == learner.predict(0.0)


@pytest.mark.parametrize("make", [types, process])
def test_the_same_value_again_changes_nothing_and_is_no_event(make):
    learner, events = make(), []
    x = "flu" if make is types else 0.4
    id = learner.decide(x).id
    first = learner.tell(id, 3.0)
    before = learner.snapshot()
    learner.listen(events.append)
    again = learner.tell(id, 3)
    assert again.mean == pytest.approx(first.mean, rel=1e-14)
    assert learner.tell_many([id, id], [3.0, 3.0]) == [again, again]
    assert learner.snapshot() == before
    assert events == []


def test_the_same_value_twice_in_one_batch_counts_once():
    learner, events = types(), []
    id = learner.decide("flu").id
    learner.listen(events.append)
    assert learner.tell_many([id, id], [3.0, 3.0]) == [Prediction(3.0, 0.5, 0.5)] * 2
    assert len(events) == 1


def test_a_corrected_value_is_the_one_that_may_be_told_again():
    learner = types()
    id = learner.decide("flu").id
    learner.tell(id, 3.0)
    learner.correct(id, 5.0)
    assert learner.tell(id, 5.0).mean == 5.0
    learner.correct(id, 5.0)
    assert learner.predict("flu").mean == 5.0


def test_a_correction_leaves_every_uncertainty_as_it_was():
    learner = process()
    ids = [learner.decide(x).id for x in (0.0, 0.2, 0.9)]
    learner.tell_many(ids[:2], [1.0, 2.0])
    point = learner.belief.point(0.1)
    before = learner.belief.look(point)
    learner.correct(ids[0], 7.0)
    after = learner.belief.look(point)
    assert after.uncertainty == before.uncertainty
    assert after.prediction.std == before.prediction.std
    assert after.prediction.mean > before.prediction.mean


def test_who_gave_a_label_is_recorded():
    learner, events = types(), []
    learner.listen(events.append)
    learner.decide_many(["flu", "flu"])
    learner.tell("1", 3.0, labeller="Ann")
    learner.tell("2", 4.0)
    assert events[2:] == [Told(4, "", "1", 3.0, "Ann"), Told(5, "", "2", 4.0, None)]
    again = types()
    for event in events:
        again.apply(event)
    assert again.snapshot() == learner.snapshot()
    anonymous = types()
    anonymous.decide_many(["flu", "flu"])
    anonymous.tell_many(["1", "2"], [3.0, 4.0])
    assert anonymous.snapshot() != learner.snapshot()


@pytest.mark.parametrize("labeller", [3, b"Ann", ["Ann"], Thing(), "", True], ids=repr)
def test_a_labeller_has_a_name(labeller):
    learner = types()
    learner.decide("flu")
    before = learner.snapshot()
    with pytest.raises(InvalidInput, match=r"^labeller: expected text, got "):
        learner.tell("1", 3.0, labeller=labeller)
    assert learner.snapshot() == before


# -- arrivals nobody asked about -----------------------------------------------------------------------


def test_an_unasked_arrival_may_be_told_and_costs_nothing():
    learner = types(Never())
    id = learner.decide("flu").id
    assert learner.tell(id, 3.0).mean == 3.0
    assert (learner.ledger.labels, learner.ledger.label_spend) == (0, 0.0)
    learner.correct(id, 4.0)
    assert learner.predict("flu").mean == 4.0
    learner.withdraw(id)
    assert learner.predict("flu") == Prediction(0.0, inf, 0.5)
    assert learner.ledger.label_spend == 0.0


@pytest.mark.parametrize("ids", [{}, {"id": "Anna"}])
@pytest.mark.parametrize(
    ("belief", "x"),
    [
        (TypeMeans(0.5, prior_std=1.0, forgetting=10.0), "flu"),
        (GaussianProcess(1, 0.5, forgetting=10.0), 0.3),
    ],
)
def test_a_belief_that_forgets_takes_an_unasked_label_for_as_old_as_its_arrival(belief, x, ids):
    late, prompt = (Learner(belief, Never(), label_cost=1.0) for _ in range(2))
    late_id, prompt_id = late.decide(x, **ids).id, prompt.decide(x, **ids).id
    prompt.tell(prompt_id, 3.0)
    for learner in (late, prompt):
        learner.decide_many([x] * 20)
    late = Learner.restore(late.snapshot())
    late.tell(late_id, 3.0)
    assert late.predict(x).mean == pytest.approx(prompt.predict(x).mean, rel=1e-9)
    assert late.predict(x).std == pytest.approx(prompt.predict(x).std, rel=1e-9)


def test_the_oldest_unasked_arrival_is_forgotten_first():
    learner = types(Never(), keep=2)
    for _ in range(3):
        learner.decide("flu")
    with pytest.raises(UnknownId, match="or one of those remembered, got '1'"):
        learner.tell("1", 3.0)
    learner.tell_many(["2", "3"], [3.0, 4.0])


def test_telling_an_arrival_leaves_it_among_those_remembered():
    learner = types(Never(), keep=2)
    learner.decide_many(["flu"] * 2)
    learner.tell("2", 1.0)
    learner.decide("flu")
    learner.tell_many(["2", "3"], [1.0, 1.0])
    with pytest.raises(UnknownId, match="or one of those remembered, got '1'"):
        learner.tell("1", 1.0)


def test_nothing_but_what_is_awaited_is_remembered_at_keep_zero():
    learner = types(keep=0)
    learner.decide("flu", force=False)
    with pytest.raises(UnknownId, match="or one of those remembered, got '1'"):
        learner.tell("1", 3.0)
    learner.decide("flu")
    learner.tell("2", 3.0)
    for verb in (learner.withdraw, learner.reopen, lambda one: learner.correct(one, 4.0)):
        with pytest.raises(UnknownId, match="got '2'"):
            verb("2")
    assert learner.predict("flu").mean == 3.0


def test_labels_awaited_are_never_forgotten_and_told_ones_within_keep():
    learner = types(keep=1)
    learner.decide_many(["flu"] * 50, ids=[f"old {i}" for i in range(50)])
    for _ in range(5):
        learner.decide("cold", force=False)
    learner.tell("old 0", 1.0)
    learner.correct("old 0", 2.0)
    assert len(learner.awaited) == 49
    learner.decide("cold", force=False)
    with pytest.raises(UnknownId, match="expected a label told before, got 'old 0'"):
        learner.correct("old 0", 3.0)
    assert learner.predict("flu").mean == 2.0


@pytest.mark.parametrize("force", [True, False])
def test_an_id_older_than_what_is_remembered_is_a_new_arrival(force):
    learner = types(keep=2)
    learner.decide("flu", id="a", force=force)
    if force:
        learner.tell("a", 1.0)
    for _ in range(2):
        learner.decide("cold", force=False)
    learner.decide("cold", id="a")
    assert learner.rounds == 4
    assert learner.awaited["a"].x == "cold"


@pytest.mark.parametrize("happened", ["unasked", "awaited", "told", "withdrawn"])
def test_an_id_that_is_remembered_belongs_to_its_arrival(happened):
    learner = types(Never())
    first = learner.decide("flu", id="a", force=happened != "unasked")
    if happened == "told":
        learner.tell("a", 3.0)
    if happened == "withdrawn":
        learner.withdraw("a")
    before = learner.snapshot()
    assert learner.decide("flu", id="a", force=happened != "unasked") == first
    with pytest.raises(DuplicateId, match=r"got 'a', whose label is .*; it arrived with another point"):
        learner.decide("cold", id="a", force=happened != "unasked")
    with pytest.raises(DuplicateId, match=r"got 'a', whose label is .*another person's decision"):
        learner.decide("flu", id="a")
    assert learner.snapshot() == before


# -- ids -----------------------------------------------------------------------------------------------


def test_automatic_ids_are_the_rounds():
    assert [d.id for d in types().decide_many(["flu"] * 3)] == ["1", "2", "3"]


@pytest.mark.parametrize("taken", ["awaited", "told", "unasked"])
def test_an_automatic_id_steps_over_one_that_a_person_took(taken):
    learner = types()
    learner.decide("flu", id="2", force=taken != "unasked")
    if taken == "told":
        learner.tell("2", 1.0)
    ids = [learner.decide("flu").id for _ in range(3)]
    assert len({"2", *ids}) == 4
    assert ids == ["3", "4", "5"]


def test_a_given_id_that_is_the_rounds_own_number_disturbs_nothing():
    learner = types()
    assert learner.decide("flu", id="1").id == "1"
    assert [learner.decide("flu").id for _ in range(2)] == ["2", "3"]


def test_automatic_ids_in_a_batch_step_over_taken_ones_too():
    learner = types()
    learner.decide("flu", id="3")
    assert [d.id for d in learner.decide_many(["flu"] * 4)] == ["4", "5", "6", "7"]


def test_an_id_has_a_length_limit():
    learner = types()
    with pytest.raises(InvalidInput, match=r"^id: expected text of at most 250 characters, got 251 of them$"):
        learner.decide("flu", id="a" * 251)
    with pytest.raises(InvalidInput, match=r"^id: expected text of at most 250 characters, got 251 of them$"):
        learner.learn("flu", 1.0, id="a" * 251)
    assert learner.rounds == 0


def test_text_of_any_kind_is_an_id():
    learner = types()
    for id in (" ", "né", "a" * 250, "None", "\x00"):
        learner.decide("flu", id=id)
        learner.tell(id, 1.0)
    assert learner.belief.labels == 5


# -- costs ---------------------------------------------------------------------------------------------


def test_a_price_of_its_own_moves_the_threshold_and_the_bill():
    learner = algorithm1(label_cost=8.0, noise_std=0.1)
    usual, dear = learner.decide("flu"), learner.decide("cold", cost=64.0)
    assert (usual.threshold, usual.cost) == (2.0, 8.0)
    assert (dear.threshold, dear.cost) == (pytest.approx(4.0), 64.0)
    assert learner.ledger.label_spend == 72.0
    assert [one.cost for one in learner.awaited.values()] == [8.0, 64.0]


def test_a_cheap_label_is_bought_where_a_dear_one_is_not():
    def second(cost):
        learner = algorithm1(label_cost=8.0, noise_std=0.5)
        learner.decide("flu")
        return learner.decide("flu", cost=cost)

    radius = sqrt(2 * 0.25 * log(2 / 0.05))
    assert second(1e4).uncertainty == pytest.approx(radius, rel=1e-14)
    assert not second(1e4).wants_label
    assert second(0.01).wants_label


def test_an_unwanted_label_has_a_price_and_costs_nothing():
    learner = types(Never())
    assert learner.decide("flu", cost=3.0).cost == 3.0
    assert learner.ledger.label_spend == 0.0


def test_each_point_of_a_batch_has_its_own_price():
    learner = types()
    costs = np.array([1.0, 2.5, 4.0])
    assert [d.cost for d in learner.decide_many(["flu"] * 3, costs=costs)] == [1.0, 2.5, 4.0]
    assert learner.ledger.label_spend == 7.5


def test_the_bill_of_many_small_prices_is_exact():
    learner = types()
    learner.decide_many(["flu"] * 10, costs=[0.1] * 10)
    assert learner.ledger.label_spend == 1.0
    for id in list(learner.awaited):
        learner.withdraw(id)
    assert learner.ledger.label_spend == 0.0


# -- withdrawing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize(("charged", "labels", "spend"), [(False, 0, 0.0), (True, 1, 5.0)])
def test_a_withdrawn_label_is_paid_for_only_if_charged(told, charged, labels, spend):
    learner = types()
    learner.decide("flu", cost=5.0)
    if told:
        learner.tell("1", 1.0)
    learner.withdraw("1", charged=charged)
    assert (learner.ledger.labels, learner.ledger.label_spend) == (labels, spend)
    assert learner.ledger.awaited == len(learner.awaited) == 0
    assert learner.belief.labels == 0


@pytest.mark.parametrize("first", [False, True])
def test_the_first_withdrawal_settles_the_money_whatever_a_later_one_says(first):
    learner = Learner(TypeMeans(0.5), Budget(Always(), total=5.0), label_cost=5.0)
    learner.decide("flu")
    learner.withdraw("1", charged=first)
    for charged in (not first, first):
        learner.tell("1", 1.0)
        learner.withdraw("1", charged=charged)
        learner.withdraw("1", charged=charged)  # again, which is harmless
        assert learner.ledger.label_spend == (5.0 if first else 0.0)
    assert learner.decide("flu").wants_label is not first  # the budget holds
    assert Learner.restore(learner.snapshot()).rule.left == learner.rule.left == 0.0


def test_withdrawing_takes_a_label_out_of_both_counts_and_leaves_arrivals():
    learner = types()
    for x in ("flu", "flu", "cold"):
        learner.decide(x)
    learner.withdraw("1")
    view = learner.belief.look("flu")
    assert (view.labels, view.arrivals) == (1, 3)
    assert view.uncertainty == pytest.approx(sqrt(2 * 0.25 * log(2 * 2**3 / 0.05)), rel=1e-14)


def test_withdrawing_the_only_label_of_a_type_leaves_it_unknown():
    learner = types(Threshold())
    learner.decide("flu")
    learner.withdraw("1")
    again = learner.decide("flu")
    assert (again.uncertainty, again.reason, again.wants_label) == (inf, "first_of_type", True)
    assert again.threshold == pytest.approx((2.0 / 2) ** (1 / 3))  # M counts the first arrival too


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_withdrawing_all_labels_of_a_process_gives_the_prior_back(order):
    learner = process()
    ids = [learner.decide(x).id for x in (0.0, 0.2, 0.25)]
    learner.tell(ids[1], 3.0)
    for i in order:
        learner.withdraw(ids[i])
    assert learner.predict(0.1) == Prediction(0.0, 1.0, 0.5)
    assert learner.belief.look(learner.belief.point(0.1)).uncertainty == 1.0


# -- gifts ---------------------------------------------------------------------------------------------


def test_a_gift_is_neither_an_arrival_nor_an_expense():
    learner = types(Threshold())
    learner.learn("flu", 3.0)
    assert (learner.rounds, learner.ledger.labels, learner.ledger.label_spend) == (0, 0, 0.0)
    assert learner.predict("flu").mean == 3.0
    view = learner.belief.look("flu")
    assert (view.labels, view.arrivals) == (1, 1)
    assert learner.decide("flu", cost=1e4).reason == "sure"


def test_many_gifts_at_one_point_make_a_process_sure():
    learner = process()
    for _ in range(100):
        learner.learn(0.5, 2.0)
    assert learner.predict(0.5).mean == pytest.approx(2.0 / (1 + 0.25 / 100), rel=1e-12)
    assert learner.belief.labels == 100
    assert not learner.awaited


def test_gifts_and_arrivals_keep_apart():
    learner = process()
    learner.decide(0.0, id="a")
    learner.learn(0.9, 5.0)
    learner.tell("a", 1.0)
    learner.correct("a", -1.0)
    learner.learn(0.9, 5.0)
    learner.withdraw("a")
    other = process()
    for _ in range(2):
        other.learn(0.9, 5.0)
    assert learner.predict(0.85).mean == pytest.approx(other.predict(0.85).mean, rel=1e-12)
    assert learner.belief.labels == 2


# -- a person's override -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "force", "reason", "propensity"),
    [(Never(), True, "person_asked", 1.0), (Always(), False, "person_declined", 0.0)],
)
def test_an_override_is_obeyed_and_recorded(rule, force, reason, propensity):
    learner, events = types(rule), []
    learner.listen(events.append)
    decision = learner.decide("flu", force=force)
    assert (decision.wants_label, decision.reason, decision.propensity) == (force, reason, propensity)
    assert events == [Arrived(2, "", "flu", decision)]
    assert (decision.cost, decision.by) == (2.0, "person")
    assert "person" in decision.why
    assert learner.decide("flu", force=np.bool_(force)).reason == reason


def test_an_override_teaches_the_rule_nothing():
    learner = types(VariableUncertainty())
    for force in (True, False, True):
        learner.decide("flu", force=force)
    assert (learner.rule.theta, learner.rule.lately) == (1.0, 0.0)
    learner.decide("flu")
    assert learner.rule.theta == 2.0


def test_an_override_counts_as_a_label_and_as_an_arrival():
    learner = types(Threshold())
    learner.decide("flu", force=True)
    learner.decide("flu", force=False)
    assert (learner.belief.look("flu").labels, learner.belief.look("flu").arrivals) == (1, 3)
    assert learner.ledger.label_spend == 2.0


# -- what is awaited -----------------------------------------------------------------------------------


def test_awaited_labels_are_there_oldest_first():
    learner = types()
    decisions = [learner.decide("flu", id=id, cost=1.0 + len(learner.awaited)) for id in ("z", "a", "m")]
    learner.decide("flu", id="unasked", force=False)
    assert list(learner.awaited) == ["z", "a", "m"]
    assert list(learner.awaited.values()) == [Awaited("flu", one) for one in decisions]
    assert [(one.cost, one.round, one.labeller) for one in learner.awaited.values()] == [
        (1.0, 1, None), (2.0, 2, None), (3.0, 3, None)
    ]  # fmt: skip
    learner.tell("a", 1.0)
    learner.withdraw("z")
    assert list(learner.awaited) == ["m"]
    assert learner.ledger.awaited == 1


def test_awaited_shows_the_learner_as_it_is_and_cannot_be_written_to():
    learner = types()
    first = learner.decide("flu")
    shown = learner.awaited
    assert shown == {"1": Awaited("flu", first)}
    with pytest.raises(TypeError, match="does not support item assignment"):
        shown["2"] = shown["1"]
    second = learner.decide("cold")
    assert dict(shown) == {"1": Awaited("flu", first), "2": Awaited("cold", second)}
    assert repr(shown) == f"AwaitedLabels({dict(shown)!r})"
    learner.tell("1", 1.0)
    assert (list(shown), len(shown), "1" in shown) == (["2"], 1, False)
    with pytest.raises(KeyError, match="1"):
        shown["1"]


def test_an_awaited_label_cannot_be_changed():
    learner = types()
    learner.decide("flu")
    with pytest.raises(AttributeError, match="immutable"):
        learner.awaited["1"].x = 0.5


# -- what is not shared --------------------------------------------------------------------------------


def test_a_learner_keeps_its_own_copies_of_belief_and_rule():
    belief, rule = TypeMeans(noise_std=0.5), VariableUncertainty()
    one, other = (Learner(belief, rule, label_cost=1.0) for _ in range(2))
    one.tell(one.decide("flu").id, 3.0)
    assert other.predict("flu").std == belief.predict("flu").std == inf
    assert other.rule.theta == rule.theta == 1.0
    assert one.rule.theta == 2.0


def test_a_point_changed_by_its_owner_afterwards_stays_as_it_was():
    learner = Learner(GaussianProcess(2, 0.5), Always(), label_cost=1.0)
    x = np.array([0.1, 0.2])
    learner.decide(x)
    X = np.array([[0.3, 0.4], [0.5, 0.6]])
    learner.decide_many(X)
    before = learner.snapshot()
    x[:] = X[:] = 9.0
    assert learner.snapshot() == before


# -- points of every form ------------------------------------------------------------------------------


def test_types_of_every_kind_are_told_apart():
    learner = types(Threshold())
    kinds = ["1", 1, b"1", ("1",), (1,), ((1,),), (), "", b"", -(2**63), 2**63 - 1, "é", ("a", b"b", 3)]
    assert [d.reason for d in learner.decide_many(kinds)] == ["first_of_type"] * len(kinds)


def test_numpy_scalars_are_the_types_that_they_hold():
    learner = types()
    learner.learn(3, 1.0)
    learner.learn("flu", 2.0)
    learner.learn(b"x", 3.0)
    learner.learn(("a", 3), 4.0)
    same = [np.int64(3), np.uint8(3), np.str_("flu"), np.bytes_(b"x"), (np.str_("a"), np.int32(3))]
    assert [p.mean for p in learner.predict_many(same)] == [1.0, 1.0, 2.0, 3.0, 4.0]
    assert [p.mean for p in learner.predict_many(np.array([3, 3]))] == [1.0, 1.0]
    assert [p.mean for p in learner.predict_many(np.array(["flu"]))] == [2.0]
    assert [p.mean for p in learner.predict_many(x for x in ("flu", 3))] == [2.0, 1.0]


def test_a_point_in_one_dimension_may_be_a_bare_number():
    learner = process()
    learner.learn(0.5, 3.0)
    same = learner.predict(0.5)
    assert (
        learner.predict([0.5]) == learner.predict(np.array([0.5])) == learner.predict(np.float64(0.5)) == same
    )
    assert learner.predict_many([0.5, 0.5]) == learner.predict_many([[0.5], [0.5]])


def test_rows_of_whole_numbers_and_single_precision_are_numbers_too():
    learner = Learner(Cells([0, 0], [4, 4], noise_std=1.0), Always(), label_cost=1.0)
    learner.learn([3, 3], 7.0)
    for x in ([3.0, 3.0], (3, 3), np.array([3, 3]), np.array([3.0, 3.0], dtype=np.float32), range(3, 5)):
        assert learner.predict(x).mean == 7.0


# -- what a process may rightly refuse to ask ----------------------------------------------------------


def test_a_process_surer_from_the_start_than_its_threshold_asks_nothing_and_says_so():
    belief = GaussianProcess(1, 1.0, SquaredExponential(amplitude=1e-4))
    decision = Learner(belief, Threshold(), label_cost=1.0).decide(0.0)
    assert (decision.wants_label, decision.reason) == (False, "sure_from_start")
    assert decision.why.startswith(
        "No label: even without any labels the uncertainty would stay within the 1.41"
    )


def test_prior_mean_answers_before_the_first_label():
    learner = Learner(TypeMeans(noise_std=0.5, prior_mean=20.0), Never(), label_cost=1.0)
    assert learner.decide("flu").prediction == Prediction(20.0, inf, 0.5)
    assert learner.predict("cold").mean == 20.0
