"""A budget is a hard limit: whatever happens, no more is spent, in all and in any stretch of rounds."""

import os
from math import fsum

from hypothesis import given, settings
from hypothesis import strategies as st

from breakeven import Always, Audit, Budget, Labeller, Learner, Queue, RandomSelect, Threshold, TypeMeans
from breakeven.errors import InvalidInput
from tests.unit.weighing import Weighing

CASES = 10_000 if os.environ.get("HYPOTHESIS_PROFILE") == "proof" else 200

COSTS = st.sampled_from([0.1, 0.2, 0.3, 0.7, 1 / 3, 1.0]) | st.floats(0.01, 3.0)
INNER = [
    Always(),
    Threshold(0.2),
    RandomSelect(0.6),
    Audit(RandomSelect(0.3), 0.4, bound=9.0),
    Queue(Audit(Threshold(), 0.4, bound=9.0), 4),
]
AROUND = [
    lambda rule: rule,
    lambda rule: Queue(rule, 5),
    lambda rule: Budget(rule, total=50.0),
    lambda rule: rule if rule.audit else Audit(rule, 0.3, bound=9.0),
]


@st.composite
def budgets(draw):
    """A learner under a budget that holds one label at least, and the budget's limits."""
    cost = draw(COSTS)
    labellers = {"a": Labeller(cost, 1.0), "b": Labeller(cost * draw(st.floats(1.0, 3.0)), 0.5)}
    prices = {"labellers": labellers} if draw(st.booleans()) else {"label_cost": cost}
    factors = st.sampled_from([1.0, 2.0, 3.0, 10.0]) | st.floats(1.0, 12.0)
    total = draw(st.none() | factors.map(lambda factor: cost * factor))
    per = draw(st.tuples(factors.map(lambda factor: cost * factor), st.integers(1, 12)) | st.none())
    if total is None and per is None:
        total = cost
    budget = Budget(draw(st.sampled_from(INNER)), total=total, per=per)
    rule = draw(st.sampled_from(AROUND))(budget)
    warmup, seed = draw(st.integers(0, 4)), draw(st.integers(0, 99))
    return Learner(Weighing(), rule, warmup=warmup, seed=seed, **prices), total, per


STEPS = st.lists(
    st.tuples(
        COSTS | st.none(),
        st.sampled_from([None, None, None, True, True, False]),
        st.sampled_from(["wait", "wait", "tell", "return", "charge", "restart", "batch"]),
        st.integers(0, 20),
    ),
    max_size=40,
)


class Purse:
    """What was really spent, kept apart from the learner: the money of each round that was not given back."""

    def __init__(self, total, per):
        self.total, self.per, self.paid, self.held = total, per, {}, []

    def check(self, rounds):
        if self.total is not None:
            assert fsum(self.paid.values()) <= self.total
        if self.per is not None:
            money, length = self.per
            for last in range(1, rounds + 1):
                within = [cost for round, cost in self.paid.items() if last - length < int(round) <= last]
                assert fsum(within) <= money, (last, within)

    def note(self, decision):
        if decision.wants_label:
            self.paid[decision.id] = decision.cost
            self.held.append(decision.id)

    def withdraw(self, id, charged):
        self.held.remove(id)
        if not charged:
            del self.paid[id]


def priced(learner, cost):
    return {"a": cost} if learner.labellers and cost is not None else cost


def arrive(learner, purse, cost, force):
    try:
        purse.note(learner.decide("flu", cost=priced(learner, cost), force=force))
    except InvalidInput:
        if not force:
            raise


@settings(max_examples=CASES)
@given(budgets(), STEPS)
def test_the_cap_is_never_exceeded(made, steps):
    learner, total, per = made
    purse = Purse(total, per)
    for cost, force, then, which in steps:
        arrive(learner, purse, cost, force)
        id = purse.held[which % len(purse.held)] if purse.held else None
        if then == "tell" and id in learner.awaited:
            learner.tell(id, float(which))
        elif then in ("return", "charge") and id is not None:
            learner.withdraw(id, charged=then == "charge")
            purse.withdraw(id, then == "charge")
        elif then == "restart":
            learner = Learner.restore(learner.snapshot(), beliefs=(Weighing,))
        elif then == "batch":
            for decision in learner.decide_many(["flu"] * (which % 4)):
                purse.note(decision)
        purse.check(learner.rounds)
    assert learner.ledger.label_spend == fsum(purse.paid.values())


@settings(max_examples=CASES)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=60), st.integers(1, 5), st.integers(0, 4)
)
def test_a_queue_is_never_longer_than_it_may_be(steps, most, warmup):
    learner = Learner(
        TypeMeans(1.0), Queue(Audit(RandomSelect(0.5), 0.5, bound=9.0), most), label_cost=1.0, warmup=warmup
    )
    for force, which in steps:
        arrive(learner, Purse(None, None), None, force or None)
        assert len(learner.awaited) <= most
        if which < len(learner.awaited):
            learner.tell(list(learner.awaited)[which], 1.0)
