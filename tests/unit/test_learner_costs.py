"""Costs: what errors cost, several labellers, and other costs or rules in the middle of a stream."""

from functools import partial

import msgspec
import numpy as np
import pytest

from breakeven import (
    Always,
    Budget,
    GaussianProcess,
    Labeller,
    Learner,
    Matern,
    Never,
    Queue,
    Rule,
    Threshold,
    TypeMeans,
    Value,
    VariableUncertainty,
    Verdict,
    simulate,
)
from breakeven.errors import InvalidInput
from breakeven.learner import Awaited
from breakeven.values import AnyEvent, Arrived, Decision, Learnt, Prediction, Repriced, Told
from tests.unit.weighing import Bargain, Weighing

NURSE, MRI = Labeller(cost=2.0, noise_std=3.0), Labeller(cost=50.0, noise_std=0.5)
BOTH = {"nurse": NURSE, "mri": MRI}
ASKED_OF_NUN = Decision(
    "9", True, Prediction(0.0, 1.0, 1.0), 1.0, 0.5, 1.0, 1.0, "always", labeller="nun", round=2
)


def clinic(rule=None, **more):
    return Learner(Weighing(), rule or Always(), **{"labellers": BOTH, **more})


def refused(learner, call, match):
    before = learner.snapshot()
    with pytest.raises(InvalidInput, match=match):
        call(learner)
    assert learner.snapshot() == before


# -- what errors cost --------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [2.0**-20, 0.5, 4.0, 2.0**30])
@pytest.mark.parametrize(
    "belief", [TypeMeans(noise_std=0.05), GaussianProcess(1, 0.3, Matern(1.5, lengthscale=0.2))]
)
def test_costs_of_labels_and_errors_in_another_currency_change_no_decision(belief, scale):
    random = np.random.default_rng(0)
    X = random.integers(5, size=80) if type(belief) is TypeMeans else random.random((80, 1))
    runs = []
    for unit in (1.0, scale):
        learner = Learner(belief, Threshold(0.5), label_cost=3.0 * unit, error_cost=7.0 * unit)
        one_by_one = [learner.decide(x, cost=(1.0 + i) * unit) for i, x in enumerate(X[:40])]
        in_batch = learner.decide_many(X[40:])
        runs.append([(d.wants_label, d.threshold, d.cost / unit) for d in one_by_one + in_batch])
    assert runs[0] == runs[1]
    assert {wanted for wanted, *_ in runs[0]} == {True, False}


def test_a_dearer_error_makes_labels_cheap():
    learners = [
        Learner(TypeMeans(noise_std=0.3), Threshold(), label_cost=8.0, error_cost=cost) for cost in (1.0, 8.0)
    ]
    assert [learner.decide("flu").threshold for learner in learners] == [2.0, 1.0]
    assert [learner.decide("flu").cost for learner in learners] == [8.0, 8.0]


def test_the_bill_counts_errors_at_what_they_cost():
    learner = Learner(TypeMeans(noise_std=0.3), Never(), label_cost=8.0, error_cost=5.0)
    ledger = simulate(learner, ["a", "b"], [1.0, -2.0], truth=[1.0, -2.0]).ledger
    assert (ledger.prediction_error, ledger.total_loss, ledger.average_loss) == (3.0, 15.0, 7.5)
    assert ledger.running_average_loss.tolist() == [5.0, 7.5]
    assert learner.ledger.error_cost == 5.0


def test_a_long_stream_of_types_sees_the_same_prices(monkeypatch):
    pytest.importorskip("numba")
    from breakeven.learner.bulk import stream

    xs, ys = np.arange(600) % 7, np.zeros(600)
    make = partial(Learner, TypeMeans(noise_std=0.3), Threshold(), label_cost=30.0, error_cost=9.0)
    plain = simulate(make(), xs, ys)
    monkeypatch.setattr(stream, "SHORTEST", 1)
    fast = simulate(make(), xs, ys)
    np.testing.assert_array_equal(fast.threshold, plain.threshold)
    assert fast.ledger == plain.ledger


def test_what_a_label_is_worth_is_told_in_money():
    learner = clinic(Bargain(most=4.0), error_cost=3.0)
    decision = learner.decide("flu")
    assert (decision.worth, decision.threshold) == (12.0, 4.0)
    assert Learner(TypeMeans(1.0), Always(), label_cost=1.0).decide("flu").worth is None


@pytest.mark.parametrize("bad", [0, -1.0, float("nan"), float("inf"), "two", True])
def test_an_error_costs_something(bad):
    with pytest.raises(InvalidInput, match=r"^error_cost: expected a positive, finite number, got "):
        Learner(TypeMeans(1.0), Always(), label_cost=1.0, error_cost=bad)


# -- who is asked ------------------------------------------------------------------------------------


def test_a_rule_without_a_say_asks_who_gives_most_information_for_the_money():
    learner = clinic(Threshold())
    decision = learner.decide("flu")  # 50 · 0.5² = 12.5 against 2 · 3² = 18
    assert (decision.labeller, decision.cost, decision.wants_label) == ("mri", 50.0, True)
    assert learner.label_cost == 50.0
    assert learner.awaited == {"1": Awaited("flu", decision)}
    assert [(one.labeller, one.cost) for one in decision.offers] == [("nurse", 2.0), ("mri", 50.0)]


def test_between_equals_the_name_decides():
    twins = {"b": Labeller(1.0, 2.0), "a": Labeller(4.0, 1.0)}
    assert clinic(labellers=twins).decide("flu").labeller == "a"


def test_a_rule_with_a_say_names_the_labeller():
    learner = clinic(Bargain())
    decision = learner.decide("flu")
    assert (decision.labeller, decision.cost, decision.wants_label) == ("nurse", 2.0, True)
    assert learner.ledger.label_spend == 2.0
    dear = learner.decide("flu", cost={"nurse": 11.0, "mri": 10.5})
    assert (dear.labeller, dear.cost, dear.wants_label) == ("mri", 10.5, False)


def test_costs_by_name_hold_for_one_arrival():
    learner = clinic()
    assert [learner.decide("flu", cost=cost).labeller for cost in ({"mri": 80.0}, {"nurse": 1.0}, {})] == [
        "nurse", "nurse", "mri"
    ]  # fmt: skip
    assert learner.ledger.label_spend == 2.0 + 1.0 + 50.0
    batch = learner.decide_many(["flu"] * 2, costs=[{"mri": 80.0}, {"mri": 8.0}])
    assert [(d.labeller, d.cost) for d in batch] == [("nurse", 2.0), ("mri", 8.0)]


def test_warmup_and_a_person_ask_who_is_asked_by_default():
    learner = clinic(Bargain(), warmup=1)
    assert learner.decide("flu").labeller == "mri"
    assert learner.decide("flu", force=True).labeller == "mri"
    assert learner.decide("flu").labeller == "nurse"


def test_offers_are_seen_in_units_of_error_and_in_money():
    class Seer(Rule):
        def decide(self, view):
            assert [(o.labeller, o.price, o.noise_std, o.cost) for o in view.offers] == [
                ("nurse", 0.5, 3.0, 2.0), ("mri", 12.5, 0.5, 50.0)
            ]  # fmt: skip
            assert (view.price, view.cost, view.spent, view.awaited) == (12.5, 50.0, 50.0, 1)
            return Verdict(False)

    learner = clinic(Seer(), error_cost=4.0)
    learner.decide("flu", force=True)
    learner.decide("flu")


def test_a_labeller_nobody_knows_is_not_asked():
    class Wrong(Rule):
        def decide(self, view):
            return Verdict(True, labeller="oracle")

    refused(
        clinic(Wrong()),
        lambda one: one.decide("flu"),
        r"^Wrong\.decide labeller: expected one of None, 'nurse', 'mri', got 'oracle'",
    )


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (
            lambda one: one.decide("flu", cost=3.0),
            r"^cost: expected costs by labeller, such as \{'nurse': 2",
        ),
        (
            lambda one: one.decide("flu", cost={"nun": 3.0}),
            "^cost: a labeller: expected one of 'nurse', 'mri'",
        ),
        (lambda one: one.decide("flu", cost={"mri": 0.0}), r"^cost\['mri'\]: expected a positive, finite"),
        (lambda one: one.decide("flu", cost={3: 1.0}), "^cost: a labeller: expected one of 'nurse', 'mri'"),
        (
            lambda one: one.decide_many(["a", "b"], costs=[{}, 3.0]),
            r"^costs\[1\]: expected costs by labeller",
        ),
        (
            lambda one: one.tell("1", 1.0, labeller="nun"),
            "^labeller: expected one of 'nurse', 'mri', got 'nun'",
        ),
        (lambda one: one.tell("1", 1.0, labeller=3), "^labeller: expected text, got 3"),
        (lambda one: one.learn("flu", 1.0, labeller="nun"), "^labeller: expected one of 'nurse', 'mri'"),
        (lambda one: one.apply(Told(3, "", "1", 1.0, "nun")), "^labeller: expected one of 'nurse', 'mri'"),
        (
            lambda one: one.apply(Learnt(3, "", "flu", 1.0, "nun")),
            "^labeller: expected one of 'nurse', 'mri'",
        ),
        (
            lambda one: one.apply(Arrived(3, "", "flu", ASKED_OF_NUN)),
            "^labeller: expected one of 'nurse', 'mri'",
        ),
    ],
)
def test_who_is_unknown_is_refused_and_nothing_changes(call, match):
    learner = clinic()
    learner.decide("flu")
    refused(learner, call, match)


def test_without_labellers_costs_have_no_names():
    learner = Learner(TypeMeans(1.0), Always(), label_cost=1.0)
    refused(
        learner, lambda one: one.decide("flu", cost={"mri": 2.0}), "^cost: expected a number, as there are"
    )
    refused(
        learner, lambda one: one.decide_many(["a"], costs=[{"mri": 2.0}]), r"^costs\[0\]: expected a number"
    )


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({}, "^label_cost: expected either a label cost or labellers, got neither"),
        (
            {"label_cost": 1.0, "labellers": BOTH},
            "^label_cost: expected either a label cost or labellers, got both",
        ),
        ({"labellers": {}}, "^labellers: expected labellers by name, one at least, got {}"),
        ({"labellers": [NURSE]}, "^labellers: expected labellers by name, one at least, got "),
        ({"labellers": {"": NURSE}}, "^labellers: a name: expected text, got ''"),
        ({"labellers": {3: NURSE}}, "^labellers: a name: expected text, got 3"),
        (
            {"labellers": {"mri": 50.0}},
            r"^labellers\['mri'\]: expected a Labeller\(cost=…, noise_std=…\), got 50.0",
        ),
    ],
)
def test_labels_have_one_cost_or_one_each(arguments, match):
    with pytest.raises(InvalidInput, match=match):
        Learner(TypeMeans(1.0), Always(), **arguments)


# -- noise -------------------------------------------------------------------------------------------


def test_every_label_comes_with_the_noise_of_its_labeller():
    learner = clinic(Bargain())
    learner.decide("flu")
    learner.decide("flu", cost={"mri": 1.0})
    learner.decide("flu", force=False)
    learner.tell("1", 1.0)
    learner.tell("2", 1.0, labeller="mri")
    learner.tell("3", 1.0, labeller="nurse")
    learner.learn("flu", 1.0)
    learner.learn("flu", 1.0, labeller="mri")
    assert learner.belief.noises == [
        ("ask", 2, 3.0),
        ("ask", 3, 0.5),
        ("tell", 2, None),
        ("tell", 3, None),
        ("learn", 4, 3.0),
        ("learn", None, None),
        ("learn", None, 0.5),
    ]


def test_a_label_from_another_one_than_asked_counts_with_that_ones_noise_at_the_cost_agreed():
    learner = clinic(Bargain())
    learner.decide("flu")
    learner.tell("1", 1.0, labeller="mri")
    assert learner.belief.noises[-1] == ("tell", 2, 0.5)
    assert learner.ledger.label_spend == 2.0


def test_with_one_label_cost_beliefs_know_the_noise_themselves():
    learner = Learner(Weighing(), Always(), label_cost=1.0)
    learner.decide("flu")
    learner.tell("1", 1.0, labeller="somebody")
    assert learner.belief.noises == [("ask", 2, None), ("tell", 2, None)]


# -- events and snapshots ----------------------------------------------------------------------------


def live(learner):
    for i in range(12):
        decision = learner.decide("flu", cost={"mri": 1.0 + i % 3} if learner.labellers and i % 2 else None)
        if decision.wants_label and i % 3:
            learner.tell(decision.id, float(i), labeller="nurse" if learner.labellers else None)
        if i == 4:
            learner.reprice(error_cost=2.0)
        if i == 6:
            learner.reprice(labellers={"nurse": Labeller(1.0, 1.0), "mri": MRI}, rule=Queue(Bargain(), 3))
        if i == 9:
            learner.reprice(label_cost=3.0, rule=VariableUncertainty())


def test_replaying_labellers_and_new_costs_gives_the_same_bits():
    make = partial(clinic, Bargain(), warmup=1)
    learner, events = make(), []
    learner.listen(events.append)
    live(learner)
    assert {event.decision.labeller for event in events if isinstance(event, Arrived)} == {
        "nurse",
        "mri",
        None,
    }
    stored = msgspec.msgpack.decode(msgspec.msgpack.encode(events), type=list[AnyEvent])
    again = make()
    for event in stored:
        again.apply(event, rules=(Bargain,))
    assert again.snapshot() == learner.snapshot()
    assert again.belief.noises == learner.belief.noises


def test_a_restored_learner_keeps_costs_and_labellers():
    learner = clinic(Bargain(), error_cost=2.0)
    learner.decide("flu")
    again = Learner.restore(learner.snapshot(), rules=(Bargain,), beliefs=(Weighing,))
    assert (again.labellers, again.error_cost) == (BOTH, 2.0)
    assert again.awaited == learner.awaited
    live(again)
    live(learner)
    assert again.snapshot() == learner.snapshot()


def test_a_batch_of_own_costs_is_a_loop():
    batched, looped = clinic(Bargain()), clinic(Bargain())
    costs = [{"mri": 1.0 + i % 4, "nurse": 2.5} for i in range(20)]
    many = batched.decide_many(["flu"] * 20, costs=costs)
    assert many == [looped.decide("flu", cost=cost) for cost in costs]
    assert batched.snapshot() == looped.snapshot()


def test_a_summary_names_the_labellers_and_what_errors_cost():
    summary = clinic(error_cost=4.0).summary()
    assert (summary.labellers, summary.error_cost) == (BOTH, 4.0)
    printed = str(summary)
    assert "cost of a label           2.00   (nurse, noise 3)" in printed
    assert "cost of a label          50.00   (mri, noise 0.5)" in printed
    assert "cost of an error          4.00" in printed
    assert msgspec.json.decode(msgspec.json.encode(summary))["labellers"]["mri"] == {
        "cost": 50.0,
        "noise_std": 0.5,
    }


# -- other costs and rules ---------------------------------------------------------------------------


def test_new_costs_hold_from_the_next_arrival_and_the_belief_stays():
    learner, heard = Learner(TypeMeans(1.0), Threshold(), label_cost=8.0), []
    learner.tell(learner.decide("flu").id, 3.0)
    learner.listen(heard.append)
    learner.reprice(label_cost=2, error_cost=np.float32(0.5))
    assert heard == [Repriced(4, "", label_cost=2.0, error_cost=0.5)]
    decision = learner.decide("flu")
    assert (decision.cost, decision.threshold) == (2.0, pytest.approx(2.0 ** (1 / 3)))
    assert decision.prediction.mean == 3.0
    assert learner.ledger.rounds == 2


def test_a_new_rule_starts_fresh_and_is_a_copy():
    learner = Learner(TypeMeans(1.0), VariableUncertainty(), label_cost=1.0)
    learner.decide_many(["flu"] * 5)
    rule = VariableUncertainty("printed")
    learner.reprice(rule=rule)
    assert learner.rule == rule
    learner.decide("flu")
    assert learner.rule.theta != rule.theta == 1.0


def test_a_new_budget_counts_only_what_is_bought_under_it():
    learner = Learner(TypeMeans(1.0), Always(), label_cost=1.0)
    learner.decide_many(["flu"] * 5)
    learner.reprice(rule=Budget(Always(), total=2.0))
    learner.withdraw("1")
    assert learner.rule.left == 2.0
    answers = learner.decide_many(["flu"] * 4)
    assert [d.wants_label for d in answers] == [True, True, False, False]
    learner.withdraw("6")
    assert learner.decide("flu").wants_label


def test_one_cost_takes_the_place_of_labellers_and_they_of_it():
    learner = clinic()
    learner.decide("flu")
    learner.reprice(label_cost=4.0)
    assert (learner.labellers, learner.decide("flu").labeller, learner.label_cost) == ({}, None, 4.0)
    learner.tell("1", 1.0, labeller="mri")
    learner.reprice(labellers={"nurse": NURSE})
    assert (learner.decide("flu").labeller, learner.label_cost) == ("nurse", 2.0)


def test_who_was_asked_may_answer_after_leaving():
    learner = clinic()
    learner.decide("flu")
    learner.reprice(labellers={"nurse": NURSE})
    learner.tell("1", 1.0, labeller="mri")
    assert learner.belief.noises == [("ask", 2, 0.5), ("tell", 2, None)]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({}, "^reprice: expected label_cost, labellers, error_cost or rule, got nothing"),
        ({"label_cost": 0.0}, "^label_cost: expected a positive, finite number, got 0.0"),
        (
            {"label_cost": 1.0, "labellers": BOTH},
            "^label_cost: expected either a label cost or labellers, got both",
        ),
        ({"labellers": {}}, "^labellers: expected labellers by name"),
        ({"error_cost": -1.0}, "^error_cost: expected a positive, finite number, got -1.0"),
        ({"rule": Always}, r"^rule: expected a rule such as Threshold\(\), got "),
        (
            {"rule": Budget(Always(), total=0.5)},
            "^total: expected at least 1, the cost of one label, got 0.5",
        ),
        ({"label_cost": 30.0}, "^total: expected at least 30, the cost of one label, got 20.0"),
        ({"rule": Value(horizon=3)}, "^horizon: expected more than the 3 rounds that have passed, got 3"),
    ],
)
def test_a_change_that_cannot_be_is_refused_and_nothing_changes(arguments, match):
    class Watchful(TypeMeans):
        def watch(self, most):
            pass

    learner, heard = Learner(Watchful(1.0), Budget(Always(), total=20.0), label_cost=1.0), []
    learner.decide_many(["flu"] * 3)
    learner.listen(heard.append)
    refused(learner, lambda one: one.reprice(**arguments), match)
    assert heard == []


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ({"kind": "own:Bargain"}, r"name a class of your own with apply\(event, rules="),
        ({"kind": "Bargain"}, "^rule: kind: expected a known name, .*, got 'Bargain'"),
        ({"kind": "Threshold", "scale": "big"}, "^Threshold: scale: expected a setting of its type, got "),
        ({"kind": "Threshold", "scale": -1.0}, "^scale: expected a positive, finite number, got -1.0"),
        ({"kind": "Queue", "most": 3}, "^Queue: expected all its settings, got "),
        ({"kind": "Queue", "rule": 3, "most": 3}, "^rule: expected plain data such as "),
        ({"kind": "Threshold", "clok": "type"}, "^Threshold: expected a known name, perhaps 'clock'"),
        ({"scale": 1.0}, "^rule: expected plain data such as "),
        (3, "^rule: expected plain data such as "),
    ],
)
def test_an_event_with_a_rule_that_cannot_be_is_refused(data, match):
    refused(
        Learner(TypeMeans(1.0), Always(), label_cost=1.0),
        lambda one: one.apply(Repriced(2, "", rule=data)),
        match,
    )


def test_a_horizon_that_has_passed_is_told_in_the_summary():
    class Watchful(TypeMeans):
        def watch(self, most):
            pass

    learner = Learner(Watchful(1.0), Queue(Value(horizon=2), 9), label_cost=1.0)
    learner.decide("flu", force=False)
    learner.decide("flu", force=False)
    assert learner.summary().horizon_passed is None
    learner.decide("flu", force=False)
    assert learner.summary().horizon_passed == 2
    assert "horizon                      2 rounds have passed" in str(learner.summary())


def test_a_belief_that_cannot_say_what_labels_save_is_refused():
    class Plain(TypeMeans):
        watch = None

    with pytest.raises(
        InvalidInput, match=r"^belief: expected one that can say what a label saves, which this rule needs"
    ):
        Learner(Plain(1.0), Value(), label_cost=1.0)


def test_a_rule_that_looks_at_no_past_arrivals_ends_the_watching_of_one_that_did():
    learner = Learner(GaussianProcess(1, 0.1), Value(), label_cost=1.0)
    learner.decide(0.5)
    assert learner.belief.solver.reservoir is not None
    learner.reprice(rule=Threshold())
    assert learner.belief.solver.reservoir is None
