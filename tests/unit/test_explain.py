"""Explanations: what was saved, which cases are similar, what is listened to, and where the answer flips."""

from copy import deepcopy
from math import inf

import numpy as np
import pytest

from breakeven import (
    Always,
    Audit,
    Averaged,
    AveragedShares,
    Budget,
    Cells,
    Check,
    GaussianProcess,
    Labeller,
    Learner,
    Never,
    Queue,
    RandomSelect,
    SquaredExponential,
    Threshold,
    TypeMeans,
    TypeShares,
    Value,
    VariableUncertainty,
)
from breakeven.beliefs import Recognised
from breakeven.errors import CalledByListener, InvalidInput, TornLearner, UnknownId
from breakeven.learner.state import CHANGING
from breakeven.rows import Column, Columns, Feature
from breakeven.theory import threshold
from breakeven.wire import explanation_from_json, explanation_from_msgpack, to_json, to_msgpack

NO_MATTER = "What a label costs made no difference."


def plane(rows=60, dim=3, seed=0):
    """Points whose first number matters most, the second a little, and the others not at all."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, dim))
    return X, 3.0 * X[:, 0] + 0.7 * X[:, 1] + 0.05 * random.normal(size=rows)


def smooth(rule=None, **more):
    belief = GaussianProcess(3, 0.1, SquaredExponential(lengthscale=(1.0, 2.0, 8.0)))
    return Learner(belief, rule or Threshold(), label_cost=1.0, **more)


def run(learner, X, y):
    for x, label in zip(X, y, strict=True):
        decision = learner.decide(x)
        if decision.wants_label:
            learner.tell(decision.id, label)
    return learner


# -- what is saved, and where it flips ---------------------------------------------------------------


def test_what_is_saved_now_and_later_is_the_worth():
    learner = run(smooth(Value(horizon=500)), *plane())
    one = learner.explain(learner.decide([0.3, 0.2, 0.1]).id)
    assert one.saves_now > 0.0
    assert one.saves_later > 0.0
    assert one.saves_now + one.saves_later == pytest.approx(one.decision.worth)
    assert one.flips_at == one.decision.worth
    assert f"about {one.saves_now:.3g} at this case" in one.why


def test_the_threshold_meets_the_uncertainty_at_the_cost_where_it_flips():
    learner = run(smooth(), *plane())
    one = learner.explain(learner.decide([0.3, 0.2, 0.1]).id)
    traits = learner.belief.traits
    limit = threshold(one.flips_at, one.decision.round, traits.exponent, traits.unit)
    assert limit == pytest.approx(one.decision.uncertainty)


def test_a_first_label_is_asked_for_at_any_cost():
    learner = Learner(TypeMeans(0.5), Threshold(), label_cost=2.0)
    one = learner.explain(learner.decide("flu").id)
    assert one.flips_at == inf
    assert "It would be asked for at any cost." in one.why


@pytest.mark.parametrize("dim", [1, 40, 400])
def test_the_flip_is_a_number_however_flat_the_threshold_is(dim):
    belief = GaussianProcess(dim, 0.1, SquaredExponential(lengthscale=1.0))
    learner = Learner(belief, Threshold(), label_cost=1e-6)
    one = learner.explain(learner.decide(np.zeros(dim)).id)
    assert one.flips_at > 1e-6


def test_scarce_money_moves_the_flip():
    learner = smooth(Budget(Value(horizon=500), total=12.0))
    X, y = plane(40)
    run(learner, X, y)
    scarce = [learner.decision(str(i)) for i in range(1, 41) if learner.decision(str(i)).scarcity > 1.0]
    one = learner.explain(scarce[-1].id)
    assert one.flips_at == one.decision.worth / one.decision.scarcity
    before = smooth(Budget(Value(horizon=500), total=12.0))
    for x, label in zip(X, y, strict=True):
        copy = deepcopy(before)
        decision = before.decide(x)
        if decision.scarcity > 1.0 and decision.reason != "no_money":
            flip = before.explain(decision.id).flips_at
            left = before.rule.left
            if flip * 1.001 < left:
                assert deepcopy(copy).decide(x, cost=0.999 * flip).wants_label
                assert not copy.decide(x, cost=1.001 * flip).wants_label
        if decision.wants_label:
            before.tell(decision.id, label)


@pytest.mark.parametrize(
    ("rule", "force"),
    [
        (Always(), None), (Never(), None), (RandomSelect(0.5), None), (VariableUncertainty(), None),
        (Value(), True), (Threshold(), False), (Queue(Always(), 1), None), (Value(), None),
    ],
    ids=["always", "never", "random", "moving", "asked", "declined", "queue", "nothing known"],
)  # fmt: skip
def test_some_answers_do_not_depend_on_the_cost(rule, force):
    learner = Learner(TypeMeans(0.5), rule, label_cost=2.0)
    for x in ("flu", "cold"):
        one = learner.explain(learner.decide(x, force=force).id)
    assert (one.flips_at is None and NO_MATTER in one.why) or one.flips_at == inf


def test_a_label_that_was_drawn_says_what_the_rule_would_have_done():
    learner = Learner(TypeMeans(0.5), Audit(Threshold(), 0.9, bound=9.0), label_cost=1000.0)
    for _ in range(40):
        decision = learner.decide("flu")
        if decision.wants_label:
            learner.tell(decision.id, 37.0)
    drawn = [str(i) for i in range(1, 41) if learner.decision(str(i)).reason == "audited"]
    one = learner.explain(drawn[-1])
    assert one.flips_at < 1000.0
    assert "Without the draw it would be asked for only if a label cost less than" in one.why


def test_without_money_no_cost_is_low_enough():
    learner = Learner(TypeMeans(0.5, prior_std=9.0), Budget(Value(horizon=900), total=2.0), label_cost=2.0)
    learner.tell(learner.decide("flu").id, 37.0)
    one = learner.explain(learner.decide("cold").id)
    assert (one.decision.wants_label, one.flips_at) == (False, 0.0)
    assert "It would not be asked for at any cost." in one.why


def test_a_label_that_is_wanted_but_cannot_be_paid_says_what_the_rule_would_pay():
    learner = Learner(TypeMeans(0.5, prior_std=9.0), Budget(Value(horizon=900), total=3.0), label_cost=2.0)
    learner.tell(learner.decide("flu").id, 37.0)
    one = learner.explain(learner.decide("cold").id)
    assert one.decision.reason == "no_money"
    assert one.flips_at > 2.0
    assert f"The rule would pay up to {one.flips_at:,.3g}" in one.why


def test_a_rule_that_was_replaced_leaves_only_what_a_label_was_worth():
    weighed, compared = smooth(Value(horizon=500)), smooth()
    for learner, known in ((weighed, True), (compared, False)):
        run(learner, *plane())
        learner.reprice(rule=Never())
        one = learner.explain("60")
        assert (one.flips_at is not None) == known
        assert any("The rule has changed since" in sentence for sentence in one.missing) != known


def test_the_worth_is_in_the_money_of_the_decision():
    learners = [smooth(Value(horizon=500), error_cost=cost) for cost in (1.0, 10.0)]
    for learner in learners:
        learner.reprice(label_cost=learner.error_cost)
        run(learner, *plane())
    one, other = (learner.explain("60") for learner in learners)
    assert other.saves_now == pytest.approx(10.0 * one.saves_now)
    assert other.flips_at == pytest.approx(10.0 * one.flips_at)


def test_the_cost_flips_for_the_labeller_who_is_asked():
    labellers = {"nurse": Labeller(2.0, 3.0), "mri": Labeller(50.0, 0.5)}
    learner = Learner(TypeMeans(0.5, prior_std=9.0), Value(horizon=900), labellers=labellers)
    one = learner.explain(learner.decide("flu").id)
    assert one.flips_at == one.decision.worth


# -- similar cases -----------------------------------------------------------------------------------


def test_similar_cases_of_a_process_are_nearest_in_lengthscales():
    X, y = plane()
    learner = smooth(Always())
    run(learner, X, y)
    x = np.array([0.3, 0.2, 0.1])
    one = learner.explain(learner.decide(x, force=False).id)
    scaled = (X - x) / np.array([1.0, 2.0, 8.0])
    order = np.argsort((scaled**2).sum(axis=1))[:3]
    assert [case.id for case in one.similar] == [str(i + 1) for i in order]
    assert [case.label for case in one.similar] == [y[i] for i in order]
    assert [case.x for case in one.similar] == [tuple(X[i]) for i in order]


@pytest.mark.parametrize("make", [smooth, lambda rule: Learner(Averaged(3), rule, label_cost=1.0)])
def test_two_cases_drawn_at_random_are_about_1_apart(make):
    X, y = plane(120)
    learner = run(make(Always()), X, y)
    random = np.random.default_rng(5)
    hearing_of = learner.belief.grounds
    far = []
    for i in random.integers(120, size=40):
        shown = hearing_of(learner.belief.point(X[i]), 10**9, ())
        assert shown.nearest[0].distance == 0.0
        weights = np.zeros(3)
        for feature in shown.features:
            if feature.position is not None:
                weights[feature.position] = feature.weight
        j = random.integers(120)
        far.append(float(((X[i] - X[j]) ** 2 / X.var(axis=0)) @ weights / weights.sum() / 2.0))
    assert np.sqrt(np.mean(far)) == pytest.approx(1.0, abs=0.3)


def test_a_case_that_came_later_is_no_reason():
    learner = smooth(Always())
    first = learner.decide([0.0, 0.0, 0.0]).id
    later = learner.decide([0.0, 0.0, 0.0]).id
    learner.tell(first, 1.0)
    learner.tell(later, 2.0)
    assert learner.explain(first).similar == ()
    assert [case.id for case in learner.explain(later).similar] == [first]


def test_the_last_labels_of_the_same_type_are_similar():
    learner = Learner(TypeMeans(0.5), Always(), label_cost=2.0)
    for i, kind in enumerate(["flu", "cold", "flu", "flu", "flu"]):
        learner.tell(learner.decide(kind).id, float(i))
    one = learner.explain(learner.decide("flu").id)
    assert [(case.id, case.label, case.distance) for case in one.similar] == [
        ("5", 4.0, 0.0), ("4", 3.0, 0.0), ("3", 2.0, 0.0),
    ]  # fmt: skip
    assert one.labels == 4
    assert "4 labels of this type" in one.why


def test_cells_listen_to_the_cell():
    learner = Learner(Cells([0.0, 0.0], [1.0, 1.0], 0.1), Always(), label_cost=1.0)
    learner.tell(learner.decide([0.9, 0.1]).id, 3.0)
    learner.tell(learner.decide([0.1, 0.1]).id, 4.0)
    one = learner.explain(learner.decide([0.8, 0.2]).id)
    assert [case.x for case in one.similar] == [(0.9, 0.1)]
    assert one.features[0].name == "cell"


def test_before_the_first_label_there_is_no_similar_case():
    learner = Learner(Averaged(2), Value(), label_cost=1.0)
    one = learner.explain(learner.decide([0.0, 1.0]).id)
    assert (one.similar, one.features, one.labels) == ((), (), 0)
    assert "No case has been labelled yet." in one.why


def test_labels_that_came_without_an_id_are_unnamed():
    learner = smooth()
    for x, y in zip(*plane(5), strict=True):
        learner.learn(x, y)
    one = learner.explain(learner.decide([0.0, 0.0, 0.0]).id)
    assert {case.id for case in one.similar} == {None}
    assert "an unnamed case (label" in one.why
    assert "A case is unnamed where" in one.why


def test_labels_set_aside_are_no_reason_any_more():
    learner = Learner(TypeMeans(0.5), Check(Always(), share=0.0), label_cost=2.0)
    for y in [37.0] * 12 + [90.0] * 12:
        learner.tell(learner.decide("flu").id, y)
    assert learner.ledger.standing.alarms
    one = learner.explain(learner.decide("flu").id)
    assert {case.label for case in one.similar} == {90.0}


# -- what is listened to -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("belief", "yes_no"),
    [(Averaged(3), False), (AveragedShares(3), True), (Recognised(Averaged(3), AveragedShares(3)), True)],
    ids=["numbers", "yes/no", "recognised"],
)
def test_an_average_listens_to_what_matters(belief, yes_no):
    X, y = plane(60)
    learner = run(Learner(belief, Always(), label_cost=1.0), X, (y > 0.0).astype(float) if yes_no else y)
    one = learner.explain("60")
    assert one.features[0].position == 0
    assert one.features[0].weight > 0.5
    assert sum(feature.weight for feature in one.features) == pytest.approx(1.0)
    assert "The belief listens most to x[0]" in one.why


def test_an_average_says_how_far_no_feature_matters():
    random = np.random.default_rng(1)
    learner = run(
        Learner(Averaged(2), Always(), label_cost=1.0),
        random.normal(size=(40, 2)),
        random.normal(size=40),
    )
    one = learner.explain("40")
    assert one.heeded < 0.9
    assert "of its weight to the view that no feature matters" in one.why


def test_where_most_labels_are_equal_what_tells_exceptions_is_listened_to():
    X, _ = plane(60)
    learner = run(Learner(Averaged(3), Always(), label_cost=1.0), X, np.where(X[:, 2] > 0.8, 9.0, 0.0))
    assert learner.explain("60").features[0].position == 2


def test_a_feature_that_never_varies_is_not_heard():
    X, y = plane(30)
    X[:, 2] = 7.0
    for belief in (Averaged(3), GaussianProcess(3, 0.1)):
        learner = run(Learner(belief, Always(), label_cost=1.0), X, y)
        assert 2 not in [feature.position for feature in learner.explain("30").features]


# -- refusals and travels ----------------------------------------------------------------------------


def test_an_arrival_that_is_not_remembered_is_refused():
    learner = Learner(TypeMeans(0.5), Never(), label_cost=2.0, keep=1)
    learner.decide("flu")
    learner.decide("flu")
    learner.learn("flu", 3.0, id="gift")
    for id in ("1", "gift", "nobody"):
        with pytest.raises(UnknownId, match=r"^id: expected an arrival that is awaited or remembered, got"):
            learner.explain(id)
    with pytest.raises(InvalidInput, match=r"^id: expected"):
        learner.explain(7)


def test_a_torn_learner_and_a_listener_cannot_ask():
    learner = Learner(TypeMeans(0.5), Never(), label_cost=2.0)
    learner.decide("flu")
    failures = []

    def ask(event):
        try:
            learner.explain("1")
        except CalledByListener as error:
            failures.append(error)

    learner.listen(ask)
    learner.decide("flu")
    assert len(failures) == 1
    learner.state.phase = CHANGING
    with pytest.raises(TornLearner, match=r"^learner: expected a whole one"):
        learner.explain("1")


class Silent(TypeMeans):
    """A belief that says nothing of what it rests on."""

    grounds = None


def test_a_belief_of_ones_own_need_not_explain():
    learner = Learner(Silent(0.5), Threshold(), label_cost=2.0)
    one = learner.explain(learner.decide("flu").id)
    assert one.similar == ()
    assert "This belief cannot say which cases it takes to be similar" in one.why


@pytest.mark.parametrize(
    "learner",
    [
        run(smooth(Value(horizon=500)), *plane(12)),
        Learner(TypeMeans(0.5), Threshold(), label_cost=2.0),
        Learner(TypeShares(), Value(), label_cost=0.1),
    ],
    ids=["process", "types", "shares"],
)
def test_an_explanation_comes_back_from_json_and_messagepack(learner):
    x = [0.0, 0.1, 0.2] if isinstance(learner.belief, GaussianProcess) else ("clinic", 3)
    learner = deepcopy(learner)
    for _ in range(3):
        decision = learner.decide(x)
        one = learner.explain(decision.id)
        assert repr(explanation_from_json(to_json(one))) == repr(one)
        assert repr(explanation_from_msgpack(to_msgpack(one))) == repr(one)
        if decision.wants_label:
            learner.tell(decision.id, 1.0)


def test_types_of_bytes_are_refused_by_json():
    learner = Learner(TypeMeans(0.5), Always(), label_cost=2.0)
    learner.tell(learner.decide(b"flu").id, 1.0)
    with pytest.raises(InvalidInput, match=r"^x: expected a type that JSON can hold"):
        to_json(learner.explain(learner.decide(b"flu").id))


# -- in the words of a table -------------------------------------------------------------------------


def test_columns_name_features_and_points():
    sex, age = Feature("sex", "text", categories=("f", "m")), Feature("age")
    smokes = Feature("smokes", "truth")
    columns = Columns(label_column=Column("score"), features=(sex, age, smokes))
    kernel = SquaredExponential(lengthscale=(1.0, 1.0, 20.0, 1.0))
    learner = Learner(GaussianProcess(4, 0.1, kernel), Always(), label_cost=1.0)
    rows = [
        {"sex": "m", "age": 61, "smokes": True},
        {"sex": "f", "age": 40, "smokes": False},
        {"sex": "?", "age": 60, "smokes": True},
    ]
    for row in rows:
        learner.tell(learner.decide(columns.point(row)).id, 1.0)
    one = columns.explained(learner.explain("3"))
    assert {case.id: case.x for case in one.similar} == {
        "1": {"sex": "m", "age": 61.0, "smokes": True},
        "2": {"sex": "f", "age": 40.0, "smokes": False},
    }
    assert one.x == {"sex": None, "age": 60.0, "smokes": True}
    assert {feature.name for feature in one.features} == {"sex", "age", "smokes"}
    assert sum(feature.weight for feature in one.features) == pytest.approx(1.0)
    assert "listens most to sex" in one.why


def test_columns_name_the_type():
    columns = Columns(label_column=Column("score"), type_column=Column("ward", "text"))
    learner = Learner(TypeMeans(0.5), Always(), label_cost=1.0)
    learner.tell(learner.decide("A").id, 1.0)
    one = columns.explained(learner.explain(learner.decide("A").id))
    assert "1 label of this ward" in one.why
    assert one.similar[0].x == {"ward": "A"}


def test_labels_that_say_yes_or_no_are_read_so():
    learner = Learner(TypeShares(), Value(horizon=50), label_cost=0.01)
    for y in (0, 1):
        learner.tell(learner.decide("flu", force=True).id, y)
    explained = learner.explain(learner.decide("flu").id)
    assert "the last before this case: 2 (label yes) and 1 (label no)." in explained.why
