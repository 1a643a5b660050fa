"""A learner under audit: what enters the trail, live, in batches, replayed and restored."""

from functools import partial
from itertools import permutations

import msgspec
import numpy as np
import pytest

from breakeven import (
    Always,
    Audit,
    Budget,
    GaussianProcess,
    Labeller,
    Learner,
    Never,
    Queue,
    RandomSelect,
    Rule,
    Threshold,
    TypeMeans,
    VariableUncertainty,
    Verdict,
)
from breakeven.errors import InvalidInput
from breakeven.testing.stream_runs import assert_same_state
from breakeven.values import AnyEvent, Arrived, Decision, Prediction

FLU = ["flu", "cold", 3, ("clinic", 1)]


def audited(rule=None, rate=0.3, belief=None, **more):
    rule = Audit(rule or Never(), rate, bound=10.0)
    return Learner(belief or TypeMeans(noise_std=0.5), rule, **{"label_cost": 1.0, "seed": 4, **more})


def run(learner, rounds, seed=0):
    """Late labels, some corrected, some withdrawn, a few decisions by a person."""
    random = np.random.default_rng(seed)
    decisions = []
    for i in range(rounds):
        force = False if i % 11 == 7 else None
        decisions.append(learner.decide(FLU[i % 4], cost=1.0 + i % 2, force=force))
        waiting = list(learner.awaited)
        if waiting and i % 2:
            id = waiting[random.integers(len(waiting))]
            learner.tell(id, float(random.normal()))
            if i % 5 == 0:
                learner.correct(id, float(random.normal()))
            if i % 7 == 0:
                learner.withdraw(id, charged=bool(i % 3))
    return decisions


# -- what enters -------------------------------------------------------------------------------------


def test_declined_arrivals_enter_and_the_drawn_ones_are_labelled():
    learner = audited()
    decisions = learner.decide_many(["flu"] * 300)
    drawn = [d for d in decisions if d.wants_label]
    assert {d.reason for d in drawn} == {"audited"}
    assert {d.propensity for d in decisions} == {0.3}
    report = learner.ledger.audit
    assert (report.declined, report.audited, report.awaited) == (300, len(drawn), len(drawn))
    assert 60 < len(drawn) < 120


def test_errors_are_against_the_prediction_before_the_label():
    learner = audited(rate=0.9)
    learner.learn("flu", 2.0)
    for _ in range(40):
        decision = learner.decide("flu")
        if decision.wants_label:
            predicted = learner.predict("flu").mean
            assert decision.prediction.mean == predicted
            learner.tell(decision.id, predicted + 0.5)
    assert learner.ledger.audit.absolute.estimate == pytest.approx(0.5, rel=0.4)


def test_what_the_rule_asks_for_itself_is_no_part_of_the_audit():
    learner = audited(Always())
    learner.decide_many(["flu"] * 50)
    assert (learner.ledger.audit.declined, learner.ledger.audit.audited) == (0, 0)


def test_a_person_and_the_warmup_are_left_out():
    learner = audited(warmup=3)
    learner.decide_many(["flu"] * 3)
    for force in (True, False):
        learner.decide("flu", force=force)
    assert learner.ledger.audit.declined == 0
    learner.decide("flu")
    assert learner.ledger.audit.declined == 1


def test_a_label_drawn_for_an_audit_is_not_an_answer_of_the_rule():
    learner = audited(VariableUncertainty(), rate=0.999)
    learner.learn("flu", 1.0)
    reason = None
    while reason != "audited":
        before = learner.rule.rule.theta
        reason = learner.decide("flu").reason
    assert learner.rule.rule.theta < before


def test_labels_that_come_are_corrected_or_go_are_followed():
    learner = audited(rate=0.999)
    ids = [d.id for d in learner.decide_many(["flu"] * 4) if d.wants_label]
    learner.tell(ids[0], 1.0)
    learner.tell(ids[1], 1.0)
    learner.correct(ids[1], 3.0)
    learner.withdraw(ids[2])
    report = learner.ledger.audit
    assert (report.audited, report.awaited, report.missing) == (4, 1, 1)
    assert report.absolute.estimate > 1.0
    learner.reopen(ids[0])
    assert (learner.ledger.audit.awaited, learner.ledger.audit.covers) == (2, 0)
    learner.tell(ids[0], 1.0)
    assert learner.ledger.audit == report


@pytest.mark.parametrize("charged", [False, True])
def test_a_label_that_comes_after_its_withdrawal_stays_out_of_the_audit(charged):
    learner = audited(rate=0.999)
    first, second = (d.id for d in learner.decide_many(["flu"] * 2))
    learner.withdraw(first, charged=charged)
    before = learner.ledger
    assert (before.audit.audited, before.audit.missing, before.label_spend) == (2, 1, 1.0 + charged)
    learner.tell(first, 100.0)
    assert learner.ledger == before
    assert learner.belief.labels == 1
    learner.correct(first, 50.0)
    learner.reopen(first)
    learner.tell(first, 7.0)
    learner.withdraw(first, charged=charged)
    assert learner.ledger == before
    learner.tell(second, 1.0)
    assert (learner.ledger.audit.covers, learner.ledger.audit.missing) == (2, 1)


@pytest.mark.parametrize("told", [False, True])
def test_a_withdrawal_that_is_undone_stays_missing_in_the_audit(told):
    learner = audited(rate=0.999)
    first, second = (d.id for d in learner.decide_many(["flu"] * 2))
    learner.tell(second, 1.0)
    if told:
        learner.tell(first, 9.0)
    learner.withdraw(first)
    missing = learner.ledger.audit
    learner.reopen(first)
    learner.tell(first, 9.0)
    assert learner.ledger.audit == missing
    assert (missing.audited, missing.missing, learner.ledger.label_spend) == (2, 1, 2.0)


def test_a_full_queue_leaves_arrivals_out():
    learner = Learner(TypeMeans(0.5), Audit(Queue(Never(), 1), 0.999, bound=10.0), label_cost=1.0)
    learner.decide_many(["flu"] * 10)
    report = learner.ledger.audit
    assert (report.declined, report.audited, report.uncovered) == (1, 1, 9)
    learner.tell("1", 0.0)
    learner.decide("flu")
    assert learner.ledger.audit.declined == 2


# -- money -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inside", [True, False])
def test_when_the_money_is_gone_the_audit_ends_at_that_round_and_says_so(inside):
    rule = (
        Budget(Audit(Never(), 0.5, bound=10.0), total=3.0)
        if inside
        else Audit(Budget(Never(), total=3.0), 0.5, bound=10.0)
    )
    learner = Learner(TypeMeans(0.5), rule, label_cost=1.0)
    reasons = [d.reason for d in learner.decide_many(["flu"] * 60)]
    assert reasons.count("audited") == 3
    assert reasons.count("no_audit_money") == 1
    end = reasons.index("no_audit_money") + 1
    assert set(reasons[end:]) == {"never"}
    for id in list(learner.awaited):
        learner.tell(id, 1.0)
    report = learner.ledger.audit
    assert (report.stopped_at, report.covers) == (end, end - 1)
    assert f"audits stopped at round {end}" in str(learner.ledger)
    learner.withdraw(next(i for i, r in ((str(k + 1), r) for k, r in enumerate(reasons)) if r == "audited"))
    assert learner.decide("flu").reason == "never"  # money that comes back begins no audit


def test_a_rule_cannot_spend_what_is_kept_for_audits():
    rule = Budget(Audit(Always(), 0.1, bound=10.0), total=10.0)
    learner = Learner(TypeMeans(0.5), rule, label_cost=1.0)
    reasons = [d.reason for d in learner.decide_many(["flu"] * 10)]
    assert reasons[:5] == ["always"] * 5
    assert set(reasons[5:]) <= {"no_money", "audited"}
    assert learner.ledger.audit.declined == 5


def test_what_is_refused_for_money_is_audited_with_what_was_kept_for_that():
    rule = Budget(Audit(Always(), 0.2, bound=10.0), total=20.0)
    learner = Learner(TypeMeans(0.5), rule, label_cost=1.0)
    reasons = [d.reason for d in learner.decide_many(["flu"] * 200)]
    assert (reasons.count("always"), reasons.count("audited"), learner.rule.left) == (10, 10, 0.0)
    report = learner.ledger.audit
    assert (report.declined, report.audited) == (189, 10)  # all but the one at which it ended
    assert reasons[report.stopped_at - 1] == "no_audit_money"
    for id in list(learner.awaited):
        learner.tell(id, 1.0)
    assert learner.ledger.audit.covers == report.stopped_at - 11


def test_a_window_without_room_leaves_arrivals_out_and_the_audit_goes_on():
    rule = Budget(Audit(Always(), 0.1, bound=10.0), per=(12.0, 60))
    learner = Learner(TypeMeans(0.5), rule, label_cost=1.0)
    reasons = [d.reason for d in learner.decide_many(["flu"] * 3000)]
    report = learner.ledger.audit
    assert report.stopped_at is None
    assert "audited" in reasons[-300:]
    assert report.declined + report.uncovered + reasons.count("always") == 3000
    assert report.audited == reasons.count("audited") == pytest.approx(0.1 * report.declined, rel=0.3)
    assert f"; {report.uncovered:,} others could not be drawn" in str(report)


# -- live, in batches, replayed, restored ------------------------------------------------------------

WRAPS = {
    "audit": lambda rule: Audit(rule, 0.3, bound=10.0),
    "budget": lambda rule: Budget(rule, total=40.0, per=(9.0, 20)),
    "queue": lambda rule: Queue(rule, 6),
}
ORDERS = list(permutations(WRAPS))
INNER = {"threshold": Threshold(), "random": RandomSelect(0.2), "moving": VariableUncertainty()}


def nested(order, inner):
    rule = INNER[inner]
    for name in order:
        rule = WRAPS[name](rule)
    return rule


@pytest.mark.parametrize("inner", list(INNER))
@pytest.mark.parametrize("order", ORDERS, ids="-in-".join)
def test_wrappers_in_any_order_replay_and_restore_to_the_bit(order, inner):
    make = partial(Learner, TypeMeans(noise_std=0.5), nested(order, inner), label_cost=1.0, seed=2, warmup=3)
    learner, events = make(), []
    learner.listen(events.append)
    run(learner, 70)
    assert learner.ledger.audit.declined + learner.ledger.audit.uncovered > 0 or inner == "moving"
    stored = msgspec.msgpack.decode(msgspec.msgpack.encode(events), type=list[AnyEvent])
    replayed = make()
    for event in stored:
        replayed.apply(event)
    restored = Learner.restore(learner.snapshot())
    for again in (replayed, restored):
        assert again.snapshot() == learner.snapshot()
        assert again.ledger == learner.ledger
    decisions = [run(one, 60, seed=3) for one in (learner, replayed, restored)]
    assert decisions[0] == decisions[1] == decisions[2]
    assert restored.snapshot() == learner.snapshot()
    assert str(restored.ledger) == str(learner.ledger)


@pytest.mark.parametrize("inner", list(INNER))
@pytest.mark.parametrize("order", ORDERS, ids="-in-".join)
def test_wrappers_in_any_order_decide_in_a_batch_as_in_a_loop(order, inner):
    batched, looped = (
        Learner(TypeMeans(noise_std=0.5), nested(order, inner), label_cost=1.0, seed=2) for _ in range(2)
    )
    many = batched.decide_many(FLU * 40)
    assert many == [looped.decide(x) for x in FLU * 40]
    assert batched.snapshot() == looped.snapshot()


def test_a_process_is_audited_in_a_batch_as_in_a_loop():
    X = np.random.default_rng(1).random((90, 2))
    batched, looped = (
        audited(Threshold(), rate=0.2, belief=GaussianProcess(2, 0.1), label_cost=0.5) for _ in range(2)
    )
    many = batched.decide_many(X)
    loop = [looped.decide(x) for x in X]
    assert [(d.wants_label, d.reason, d.propensity) for d in many] == [
        (d.wants_label, d.reason, d.propensity) for d in loop
    ]
    assert {d.reason for d in loop} >= {"audited", "unsure", "sure"}
    assert_same_state(batched, looped)


@pytest.mark.parametrize("belief", [{"fit": None}, {"fit": "growing"}, {"forgetting": 50.0}])
@pytest.mark.parametrize("rule", [Never(), RandomSelect(0.2)])
def test_a_process_with_labels_is_audited_in_a_batch_to_the_bit_as_in_a_loop(belief, rule):
    random = np.random.default_rng(3)
    X, more = random.random((60, 2)), random.random((200, 2))
    both = []
    for _ in range(2):
        learner, events = audited(rule, 0.2, GaussianProcess(2, 0.1, **belief), label_cost=0.5), []
        for x in X:
            learner.learn(x, float(np.sin(5 * x).sum()))
        learner.listen(events.append)
        both.append((learner, events))
    (batched, heard), (looped, told) = both
    batched.decide_many(more)
    for x in more:
        looped.decide(x)
    for one, other in zip(heard, told, strict=True):
        assert (one.number, one.x, one.predicted) == (other.number, other.x, other.predicted)
        assert (one.decision.reason, one.decision.propensity) == (
            other.decision.reason,
            other.decision.propensity,
        )
    assert sum(event.decision.reason == "audited" for event in heard) > 20
    assert_same_state(batched, looped)


def test_an_audit_after_the_end_cannot_have_happened():
    learner = Learner(TypeMeans(0.5), Budget(Audit(Never(), 0.5, bound=10.0), total=1.0), label_cost=1.0)
    learner.decide_many(["flu"] * 30)
    assert learner.ledger.audit.stopped_at is not None
    before = learner.snapshot()
    for wants_label, by in ((True, "rule"), (True, "person"), (False, "rule")):
        late = drawn("late", wants_label, by=by, round=31)
        with pytest.raises(
            InvalidInput,
            match=r"^(audit: expected none|reason: expected another, as the rule asked for no audit)",
        ):
            learner.apply(Arrived(learner.number + 1, "", "flu", late, predicted=0.0))
        assert learner.snapshot() == before


def drawn(id, wants_label=True, *, by="rule", round=1):
    """A decision that an audit might have made."""
    return Decision(
        id, wants_label, Prediction(0.0, 1.0, 0.5), 1.0, 0.5, 1.0, 0.5, "audited", by=by, round=round
    )


def test_a_rule_that_was_used_starts_afresh():
    rule = Budget(Audit(Never(), 0.5, bound=10.0), total=3.0)
    learner, events = Learner(TypeMeans(0.5), rule, label_cost=1.0), []
    replayed = Learner(TypeMeans(0.5), rule, label_cost=1.0)
    learner.listen(events.append)
    learner.decide_many(["flu"] * 30)
    assert (learner.rule.left, learner.rule.audit.stopped is None) == (0.0, False)
    assert Learner.restore(learner.snapshot()).rule == learner.rule
    other = Learner(TypeMeans(0.5), learner.rule, label_cost=1.0)
    learner.reprice(rule=learner.rule)
    for event in events:
        replayed.apply(event)
    for one in (learner, other, replayed):
        assert (one.rule.left, one.rule.audit.stopped) == (3.0, None)
        assert "audited" in {d.reason for d in one.decide_many(["flu"] * 30)}


@pytest.mark.parametrize("reason", ["audited", "no_audit_money"])
@pytest.mark.parametrize("around", [lambda rule: rule, lambda rule: Queue(rule, 3)])
def test_a_rule_of_ones_own_cannot_say_that_it_audited(reason, around):
    class Pretender(Rule):
        def decide(self, view):
            return Verdict(True, reason=reason)

    learner = Learner(TypeMeans(0.5), around(Pretender()), label_cost=1.0)
    before = learner.snapshot()
    with pytest.raises(InvalidInput, match=r"\.decide reason: expected one that is not reserved for audits"):
        learner.decide("flu")
    assert learner.snapshot() == before


def test_the_event_of_an_audit_holds_what_was_predicted():
    learner, heard = audited(rate=0.999), []
    learner.learn("flu", 2.5)
    learner.listen(heard.append)
    learner.decide("flu")
    learner.decide("flu", force=True)
    assert [(event.decision.reason, event.predicted) for event in heard] == [
        ("audited", 2.5),
        ("person_asked", None),
    ]


def test_an_event_of_an_audit_without_its_prediction_is_refused():
    learner = audited()
    before = learner.snapshot()
    with pytest.raises(InvalidInput, match=r"^predicted: expected a finite number, got None"):
        learner.apply(Arrived(2, "", "flu", drawn("1")))
    assert learner.snapshot() == before


def test_draws_depend_on_the_seed_and_not_on_the_rule():
    def drawn(rule, seed):
        learner = audited(rule, seed=seed)
        return [d.wants_label for d in learner.decide_many(["flu"] * 200)]

    assert drawn(Never(), 1) == drawn(RandomSelect(0.0), 1) != drawn(Never(), 2)


# -- noise -------------------------------------------------------------------------------------------


def test_the_noise_of_audits_is_the_beliefs_or_the_labellers_or_as_given():
    assert "standard deviation 0.5" in str(audited().ledger.audit.assumption)
    both = {"a": Labeller(1.0, 0.25), "b": Labeller(9.0, 0.2)}
    two = audited(label_cost=None, labellers=both)
    assert "standard deviation 0.2 to 0.25" in str(two.ledger.audit.assumption)
    rule = Audit(Never(), 0.1, bound=1.0, noise_std=0.75)
    given = Learner(GaussianProcess(1, None, fit="growing"), rule, label_cost=1.0)
    assert "standard deviation 0.75" in str(given.ledger.audit.assumption)


def test_a_belief_that_only_estimates_noise_needs_it_for_an_audit():
    belief = GaussianProcess(1, None, fit="growing")
    with pytest.raises(InvalidInput, match=r"^noise_std: expected the noise of labels, which"):
        audited(belief=belief)


def test_the_noise_of_audits_cannot_change_while_one_goes_on():
    learner = audited(label_cost=None, labellers={"a": Labeller(1.0, 0.25)})
    learner.decide("flu")
    before = learner.snapshot()
    with pytest.raises(InvalidInput, match=r"^labellers: expected a noise of 0\.25, as the audit assumes"):
        learner.reprice(labellers={"b": Labeller(1.0, 0.5)})
    assert learner.snapshot() == before
    learner.reprice(labellers={"a": Labeller(2.0, 0.25)})
    assert learner.ledger.audit.declined == 1
    learner.reprice(labellers={"b": Labeller(1.0, 0.5)}, rule=Audit(Never(), 0.2, bound=1.0))
    assert learner.ledger.audit.declined == 0
    learner.reprice(rule=Never())
    assert learner.ledger.audit is None


CLINIC = {"nurse": Labeller(2.0, 3.0), "mri": Labeller(50.0, 0.5)}


@pytest.mark.parametrize(
    ("cost", "labeller", "noise_std"),
    [(None, None, 0.5), ({"mri": 90.0}, None, 3.0), (None, "nurse", 3.0), ({"mri": 90.0}, "mri", 0.5)],
)
def test_the_noise_of_an_audit_is_that_of_who_answered(cost, labeller, noise_std):
    learner = audited(rate=0.999, label_cost=None, labellers=CLINIC)
    (id,) = (d.id for d in (learner.decide("flu", cost=cost),) if d.wants_label)
    learner.tell(id, 4.0, labeller=labeller)
    assert learner.ledger.audit.squared.estimate == pytest.approx(16.0 - noise_std**2, abs=0.1)
    again = Learner.restore(learner.snapshot())
    assert again.ledger == learner.ledger


def test_a_label_keeps_the_noise_it_was_asked_with_when_labellers_change():
    learner = audited(rate=0.999, label_cost=None, labellers=CLINIC)
    first = learner.decide("flu", cost={"mri": 90.0})
    learner.reprice(labellers={"mri": CLINIC["mri"], "aide": Labeller(0.1, 2.0)})
    assert first.labeller == "nurse"
    learner.tell(first.id, 4.0)
    assert learner.ledger.audit.squared.estimate == pytest.approx(16.0 - 9.0, abs=0.1)
    assert Learner.restore(learner.snapshot()).snapshot() == learner.snapshot()
    with pytest.raises(InvalidInput, match=r"^labellers: expected a noise of 0\.5 to 3, as the"):
        learner.reprice(labellers={"aide": Labeller(0.1, 4.0)})


def test_a_bill_without_an_audit_has_none():
    learner = Learner(TypeMeans(0.5), Never(), label_cost=1.0)
    assert learner.ledger.audit is None
    assert "audits" not in str(learner.ledger)
    assert "audits            0 of 0 declined arrivals" in str(audited().ledger)


def test_an_audit_learns_labels_that_are_forgotten_at_once():
    learner = audited(rate=0.9, keep=0)
    for _ in range(20):
        decision = learner.decide("flu")
        if decision.wants_label:
            learner.tell(decision.id, 1.0)
    report = learner.ledger.audit
    assert report.audited > 10
    assert (report.awaited, report.covers) == (0, 20)


# -- a belief that goes on fitting its noise -----------------------------------------------------------


def fitted_under_audit(**how):
    """An audit that began with the noise of a good fit, and labels that are noisier since."""
    belief = GaussianProcess(1, None, mean="fit", fit="every_label")
    learner = Learner(belief, Always(), label_cost=0.1)
    for i in range(8):
        learner.learn([i / 8], 0.001 * i)
    learner.reprice(rule=Audit(RandomSelect(0.5), 0.5, **how))
    noise, random = learner.belief.traits.noise_std, np.random.default_rng(0)
    for x, y in zip(random.random(20), random.normal(0.0, 3.0, 20), strict=True):
        decision = learner.decide([x])
        if decision.wants_label:
            learner.tell(decision.id, y)
    assert learner.belief.traits.noise_std > 100 * noise
    return learner, noise


def test_an_audit_goes_on_with_the_noise_it_began_with():
    learner, noise = fitted_under_audit(bound=10.0)
    assert learner.ledger.audit.audited > 0
    assert learner.ledger.audit.assumption.noise_std == noise
    learner.reprice(error_cost=2.0)
    assert learner.error_cost == 2.0


def test_an_audit_is_restored_though_the_belief_finds_more_noise_than_its_bound():
    learner, _ = fitted_under_audit(bound=0.5, bound_on="labels")
    blob = learner.snapshot()
    assert learner.belief.traits.noise_std > 0.5
    assert Learner.restore(blob).snapshot() == blob


def test_a_label_counts_in_the_audit_with_the_noise_it_was_asked_at():
    both = {"nurse": Labeller(1.0, 0.5), "doctor": Labeller(1.0, 2.0)}
    told = {}
    for who in (None, "nurse"):
        learner = Learner(TypeMeans(1.0), Audit(Never(), 0.99, bound=50.0), labellers=both, seed=1)
        decision = learner.decide("flu")
        assert (decision.reason, decision.labeller) == ("audited", "nurse")
        learner.reprice(labellers=both | {"nurse": Labeller(1.0, 1.5)})
        told[who] = learner.tell(decision.id, 1.0, labeller=who), learner.ledger.audit
    assert told[None] == told["nurse"]
