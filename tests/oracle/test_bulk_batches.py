"""Long batches of types in compiled loops are the loop written out, to the bit: decisions and state."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breakeven import Learner, SeparateTypes, Threshold, TypeMeans
from breakeven.learner import bulk
from tests.oracle.type_streams import EXAMPLES, RULES, arrivals, eventful, one_by_one, small_sizes

pytest.importorskip("numba")


@pytest.fixture(autouse=True, scope="module")
def _small_sizes():
    with small_sizes():
        yield


def columns(rows):
    return [x for x, _ in rows], [y for _, y in rows]


def assert_same(make, *batches, between=lambda learner: None):
    """Both ways through every batch in turn; the learners, and all decisions."""
    fast, slow, all_decisions = make(), make(), []
    for X in batches:
        assert bulk.pays(fast.state, len(X)) == (len(X) > 0)
        decisions = fast.decide_many(X)
        with one_by_one():
            others = slow.decide_many(X)
        assert list(map(repr, decisions)) == list(map(repr, others))  # NaN is not equal to itself
        assert fast.snapshot() == slow.snapshot()
        assert list(map(repr, fast.awaited.items())) == list(map(repr, slow.awaited.items()))
        assert fast.ledger == slow.ledger
        all_decisions += decisions
        between(fast)
        between(slow)
    assert fast.snapshot() == slow.snapshot()
    return fast, slow, all_decisions


def tell_a_third(learner):
    """Some labels come, late and out of order."""
    for id in list(learner.awaited)[::-3]:
        learner.tell(id, float(id) / 7)


@pytest.mark.parametrize("rule", list(RULES))
@settings(max_examples=EXAMPLES)
@given(
    kind=st.sampled_from([TypeMeans, SeparateTypes]),
    before=arrivals, first=arrivals, second=arrivals, seed=st.integers(0, 2**40),
    keep=st.sampled_from([0, 3, 40, 10_000]), cost=st.sampled_from([1e-6, 0.1, 7.3, 1e5]),
)  # fmt: skip
def test_any_batch_is_the_loop(kind, rule, before, first, second, seed, keep, cost):
    def make():
        belief = kind(0.3, prior_mean=0.25)
        learner = Learner(belief, RULES[rule], label_cost=cost, seed=seed, keep=keep)
        eventful(learner, *columns(before))
        return learner

    assert_same(make, columns(first)[0], columns(second)[0], between=tell_a_third)


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("types", [1, 7, 300])
def test_long_batches_of_integers_are_the_loop(rule, types):
    xs = np.random.default_rng(types).integers(-types, types, size=1500)
    fast, slow, _ = assert_same(
        lambda: Learner(TypeMeans(0.3), RULES[rule], label_cost=0.5, seed=3),
        xs[:700],
        xs[700:],
        between=tell_a_third,
    )
    for x in (int(xs[-1]), 10**6):
        assert repr(fast.decide(x)) == repr(slow.decide(x))


@pytest.mark.parametrize(
    "xs",
    [
        np.arange(200, dtype=np.int8) % 5,
        np.arange(200, dtype=np.uint64) % 5 + np.uint64(2**63 - 6),
        (np.arange(400) % 6)[::2],
        np.arange(200) % 7 * 2**50 - 2**52,
        np.array(["b", "a"] * 100),
        [np.int64(3), "a", ("a", np.str_("b"))] * 50,
        tuple(range(200)),
    ],
    ids=["int8", "uint64", "strided", "wide", "text", "scalars", "all different"],
)
@pytest.mark.parametrize("rule", ["type_clock", "uncertain"])
def test_types_may_come_in_any_form(xs, rule):
    assert_same(lambda: Learner(TypeMeans(0.3), RULES[rule], label_cost=0.5), xs, xs)


def test_every_reason_that_a_rule_gives_is_met():
    xs = np.random.default_rng(0).integers(3, size=600)
    reasons = set()
    for rule in RULES.values():
        *_, decisions = assert_same(
            lambda rule=rule: Learner(TypeMeans(0.3), rule, label_cost=4.0),
            xs[:300],
            xs[300:],
            between=tell_a_third,
        )
        reasons |= {decision.reason for decision in decisions}
    assert reasons == {
        "unsure", "sure", "on_their_way", "first_of_type", "drawn", "not_drawn", "always", "never",
        "nothing_known", "worth_it", "not_worth_it", "worth_it_late", "not_worth_it_late",
        "above_moving", "not_above_moving", "below_moving", "not_below_moving", "over_budget",
    }  # fmt: skip


def test_labels_asked_for_in_bulk_can_be_told_corrected_and_withdrawn():
    learners = assert_same(
        lambda: Learner(TypeMeans(0.3), RULES["always"], label_cost=0.1), ["a", "b", "a"] * 20
    )[:2]
    for learner in learners:
        learner.tell("3", 2.0)
        learner.correct("3", -1.0)
        learner.withdraw("60")
        assert learner.ledger.label_spend == 5.9
        assert learner.decide("a").id == "61"
    assert learners[0].snapshot() == learners[1].snapshot()


@pytest.mark.parametrize("more", [{"costs": [0.5, 2.0] * 100}, {"ids": [f"no {i}" for i in range(200)]}])
def test_costs_and_ids_of_ones_own_go_one_by_one(more, monkeypatch):
    X = np.arange(200) % 5
    fast, slow = (Learner(TypeMeans(0.3), Threshold(), label_cost=0.5) for _ in range(2))
    monkeypatch.setattr(bulk, "decide_many", None)
    decisions = fast.decide_many(X, **more)
    with one_by_one():
        assert slow.decide_many(X, **more) == decisions
    assert fast.snapshot() == slow.snapshot()
