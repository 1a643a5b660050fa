"""A learner under limits: nobody goes past them, neither the warm-up nor a person."""

from functools import partial

import pytest

from breakeven import (
    Always,
    Budget,
    GaussianProcess,
    Labeller,
    Learner,
    Never,
    Queue,
    RandomSelect,
    Rule,
    TypeMeans,
    Verdict,
)
from breakeven.errors import InvalidInput
from breakeven.testing.stream_runs import assert_same_state


def learner(rule, **more):
    return Learner(TypeMeans(noise_std=1.0), rule, **{"label_cost": 1.0, **more})


def refused(one, call, match):
    before = one.snapshot()
    with pytest.raises(InvalidInput, match=match):
        call(one)
    assert one.snapshot() == before


def test_a_person_cannot_spend_what_is_not_there():
    one = learner(Budget(Never(), total=2.5))
    one.decide("flu", force=True)
    one.decide("flu", force=True)
    refused(
        one,
        lambda one: one.decide("flu", force=True),
        r"^force: expected a label that the rule's limits allow, got True \(no_money\); wait, or reprice",
    )
    assert one.decide("flu", force=True, cost=0.5).wants_label
    assert not one.decide("flu", force=False).wants_label


@pytest.mark.parametrize("warmup", [0, 9])
def test_who_is_asked_first_or_by_a_person_can_be_paid(warmup):
    both = {"mri": Labeller(50.0, 0.5), "nurse": Labeller(2.0, 3.0)}
    one = learner(Budget(Never(), total=55.0), label_cost=None, labellers=both, warmup=warmup)
    asked = [one.decide("flu", force=None if warmup else True) for _ in range(3)]
    assert [(d.labeller, d.cost) for d in asked] == [("mri", 50.0), ("nurse", 2.0), ("nurse", 2.0)]
    assert one.ledger.label_spend == 54.0
    if warmup:
        assert one.decide("flu").reason == "no_money"
    refused(one, lambda one: one.decide("flu", force=True), r"got True \(no_money\)")


def test_a_person_cannot_go_past_a_full_queue():
    one = learner(Queue(Never(), 1))
    one.decide("flu", force=True)
    refused(one, lambda one: one.decide("flu", force=True), r"got True \(queue_full\)")
    one.tell("1", 3.0)
    assert one.decide("flu", force=True).wants_label


def test_a_warmup_waits_for_what_a_limit_forbids():
    one = learner(Queue(Never(), 1), warmup=3)
    reasons = []
    for _ in range(6):
        decision = one.decide("flu")
        reasons.append(decision.reason)
        if decision.reason == "queue_full":
            one.tell(next(iter(one.awaited)), 1.0)
    assert reasons == ["warmup", "queue_full", "warmup", "queue_full", "warmup", "queue_full"]
    assert one.summary().warmup_left == 0
    assert one.decide("flu").reason == "never"


def test_a_warmup_cannot_spend_what_is_not_there_and_stays_open():
    one = learner(Budget(Always(), total=2.0), warmup=5)
    assert [one.decide("flu").reason for _ in range(4)] == ["warmup", "warmup", "no_money", "no_money"]
    one.withdraw("1")
    assert one.decide("flu").reason == "warmup"
    assert one.summary().warmup_left == 5


def test_awaited_labels_count_and_only_uncharged_withdrawals_return_money():
    one = learner(Budget(Always(), total=3.0))
    one.decide_many(["flu"] * 3)
    assert one.decide("flu").reason == "no_money"
    one.tell("1", 1.0)
    assert one.decide("flu").reason == "no_money"
    one.withdraw("1", charged=True)
    assert one.decide("flu").reason == "no_money"
    one.withdraw("2")
    assert one.decide("flu").wants_label
    one.tell("3", 1.0)
    one.withdraw("3")
    assert one.decide("flu").wants_label
    assert one.decide("flu").reason == "no_money"
    assert one.ledger.label_spend == 3.0


def test_a_withdrawal_that_is_undone_may_spend_what_is_not_there_and_leaves_nothing():
    one = learner(Budget(Always(), total=2.0, per=(2.0, 50)))
    first, _ = one.decide("flu").id, one.decide("flu")
    one.withdraw(first)
    assert one.decide("flu").wants_label  # with the money that came back
    one.reopen(first)
    assert (one.rule.left, one.ledger.label_spend) == (-1.0, 3.0)
    assert one.decide("flu").reason == "no_money"
    one.withdraw(first)
    assert one.rule.left == 0.0


def test_a_queue_counts_a_label_whose_withdrawal_is_undone():
    one = learner(Queue(Always(), most=1))
    first = one.decide("flu").id
    one.withdraw(first)
    assert one.decide("flu").wants_label
    one.reopen(first)
    one.tell("2", 1.0)
    assert one.decide("flu").reason == "queue_full"


def test_a_gift_and_an_unasked_label_cost_nothing():
    one = learner(Budget(RandomSelect(0.0), total=1.0))
    one.learn("flu", 1.0)
    one.tell(one.decide("flu").id, 1.0)
    one.withdraw("1")
    assert one.rule.left == 1.0


def test_the_queue_never_holds_more_than_it_may():
    one = learner(Queue(RandomSelect(0.8), 4), warmup=6)
    for i in range(200):
        one.decide(i % 3)
        assert len(one.awaited) <= 4
        if i % 3 == 0 and one.awaited:
            one.tell(next(iter(one.awaited)), 1.0)
    assert one.ledger.labels > 50


@pytest.mark.parametrize("limits", [{"total": 0.9}, {"per": (0.9, 10)}])
def test_a_budget_smaller_than_one_label_is_no_start(limits):
    with pytest.raises(InvalidInput, match=r"expected at least 1, the cost of one label, got 0\.9"):
        learner(Queue(Budget(Always(), **limits), 3))


class Mine(Rule):
    """Wants everything, but no more than three labels, whoever wants them."""

    bought_so_far: int = 0

    def decide(self, view):
        return Verdict(self.forbids(view) is None, reason="Three are enough.")

    def forbids(self, view):
        return "Three are enough." if self.bought_so_far >= 3 else None

    def bought(self, round, cost, *, audited):
        self.bought_so_far += 1

    def returned(self, round, cost, *, audited):
        self.bought_so_far -= 1


@pytest.mark.parametrize(
    "wrap", [lambda rule: rule, lambda rule: Queue(rule, 9), lambda rule: Budget(rule, total=9.0)]
)
def test_a_limit_of_ones_own_holds_too(wrap):
    one = learner(wrap(Mine()), warmup=1)
    assert [d.wants_label for d in one.decide_many(["flu"] * 5)] == [True, True, True, False, False]
    refused(one, lambda one: one.decide("flu", force=True), r"got True \(Three are enough\.\)")
    one.withdraw("2")
    assert one.decide("flu").wants_label
    again = Learner.restore(one.snapshot(), rules=(Mine,))
    assert again.snapshot() == one.snapshot()
    assert again.decide("flu") == one.decide("flu")


def test_a_rule_of_ones_own_inside_is_checked_and_asked_for():
    class Odd(Rule):
        def decide(self, view):
            return 3

    with pytest.raises(InvalidInput, match=r"^Queue\.decide: expected to return a Verdict, got 3"):
        learner(Queue(Odd(), 2)).decide("flu")


def test_limits_hold_in_batches_of_a_process_too():
    make = partial(Learner, GaussianProcess(1, 0.1), Budget(Queue(Always(), 7), total=5.0), label_cost=1.0)
    batched, looped = make(), make()
    X = [[i / 20] for i in range(20)]
    many = batched.decide_many(X)
    assert [d.wants_label for d in many] == [looped.decide(x).wants_label for x in X]
    assert sum(d.wants_label for d in many) == 5
    assert_same_state(batched, looped)
