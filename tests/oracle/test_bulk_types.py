"""Long streams of types in compiled loops are the loop written out, to the bit: answers, bill and state."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breakeven import Always, Learner, SeparateTypes, Threshold, TypeMeans, simulate, theory
from breakeven.learner import bulk
from breakeven.learner.bulk import arrays, stream
from tests.oracle.type_streams import EXAMPLES, HARD, RULES, arrivals, eventful, one_by_one, small_sizes

pytest.importorskip("numba")

COLUMNS = ("wants_label", "prediction", "uncertainty", "threshold", "cost", "error")


@pytest.fixture(autouse=True, scope="module")
def _small_sizes():
    with small_sizes():
        yield


def assert_same(make, *histories):
    """Both ways through every history in turn; the learner that went in bulk."""
    fast, slow = make(), make()
    for xs, ys, truth in histories:
        assert bulk.pays(fast.state, len(xs)) == (len(xs) > 0)
        one = simulate(fast, xs, ys, truth)
        with one_by_one():
            other = simulate(slow, xs, ys, truth)
        for name in COLUMNS:
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
            assert getattr(one, name).dtype == getattr(other, name).dtype
        assert one.ledger == other.ledger
        assert fast.ledger == slow.ledger
    assert fast.snapshot() == slow.snapshot()
    return fast, slow


def assert_same_before(make, xs, ys, ids=None):
    """What was believed in each round before its label, both ways."""
    fast, slow = make(), make()
    assert bulk.pays(fast.state, len(xs)) == (len(xs) > 0)
    passed = bulk.replay(fast.state, fast.belief.points(xs), np.array(ys), true=False, full=True, ids=ids)
    names = [None] * len(xs) if ids is None else ids
    rounds = zip(xs, ys, names, np.transpose(passed.before).tolist(), passed.reasons.worded(), strict=True)
    for x, y, id, (mean, std, worth, now), reason in rounds:
        decision = slow.decide(x, id=id)
        assert (decision.prediction.mean, decision.prediction.std) == (mean, std)
        assert decision.worth == (None if isnan(worth) else worth * slow.error_cost)
        assert decision.worth_now == (None if isnan(now) else now * slow.error_cost)
        assert decision.reason == reason
        if decision.wants_label:
            slow.tell(decision.id, y)
    assert fast.snapshot() == slow.snapshot()
    return fast, slow


@pytest.mark.parametrize("rule", list(RULES))
@settings(max_examples=EXAMPLES)
@given(
    kind=st.sampled_from([TypeMeans, SeparateTypes]),
    before=arrivals, first=arrivals, second=arrivals, with_truth=st.booleans(), seed=st.integers(0, 2**40),
    keep=st.sampled_from([0, 3, 40, 10_000]), cost=st.sampled_from([1e-6, 0.1, 7.3, 1e5]),
)  # fmt: skip
def test_any_stream_is_the_loop(kind, rule, before, first, second, with_truth, seed, keep, cost):
    def make():
        belief = kind(0.3, prior_mean=0.25)
        learner = Learner(belief, RULES[rule], label_cost=cost, seed=seed, keep=keep)
        eventful(learner, *columns(before)[:2])
        return learner

    def columns(rows):
        xs, ys = [x for x, _ in rows], [y for _, y in rows]
        return xs, ys, [y / 3 for y in ys] if with_truth else None

    assert_same(make, columns(first), columns(second))


@pytest.mark.parametrize("rule", list(RULES))
@settings(max_examples=EXAMPLES)
@given(before=arrivals, rows=arrivals)
def test_what_was_believed_before_a_label_is_that_of_the_loop(rule, before, rows):
    def make():
        learner = Learner(TypeMeans(0.3, prior_mean=0.25), RULES[rule], label_cost=0.5, seed=3)
        eventful(learner, *columns(before))
        return learner

    def columns(rows):
        return [x for x, _ in rows], [y for _, y in rows]

    assert_same_before(make, *columns(rows))


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("types", [1, 7, 300])
@pytest.mark.parametrize("kind", [TypeMeans, SeparateTypes], ids=["all", "own"])
def test_long_streams_of_integers_are_the_loop(rule, types, kind):
    random = np.random.default_rng(types)
    xs = random.integers(-types, types, size=1500)
    truth = random.random(2 * types)[xs]
    ys = truth + 0.3 * random.standard_normal(1500)
    half = (xs[:700], ys[:700], truth[:700]), (xs[700:], ys[700:], None)
    fast, slow = assert_same(lambda: Learner(kind(0.3), RULES[rule], label_cost=0.5, seed=3), *half)
    for x in (int(xs[-1]), 10**6):
        assert fast.decide(x) == slow.decide(x)


@pytest.mark.parametrize(
    "xs",
    [
        np.arange(200, dtype=np.int8) % 5,
        np.arange(200, dtype=np.uint64) % 5 + np.uint64(2**63 - 6),
        (np.arange(400) % 6)[::2],
        np.arange(200) % 7 * 2**50 - 2**52,
        np.append(np.arange(100), np.arange(100) * 5000),
        np.array(["b", "a"] * 100),
        tuple(range(200)),
    ],
    ids=["int8", "uint64", "strided", "wide", "wider later", "text", "all different"],
)
@pytest.mark.parametrize("rule", ["type_clock", "uncertain"])
def test_types_may_come_in_any_form(xs, rule):
    ys = np.sin(np.arange(200.0))[::-1]
    assert_same(lambda: Learner(TypeMeans(0.3), RULES[rule], label_cost=0.5), (xs, ys, None), (xs, ys, ys))


@pytest.mark.parametrize("rule", ["always", "uncertain"])
def test_sums_are_exact_whatever_is_added(rule):
    random = np.random.default_rng(0)
    ys = np.ldexp(random.standard_normal(600), random.integers(-1070, 330, size=600))
    ys[::3] = random.choice(HARD, 200)
    fast, _ = assert_same(
        lambda: Learner(TypeMeans(0.3), RULES[rule], label_cost=0.5), (np.arange(600) % 2, ys, None)
    )
    assert max(len(tally.sum.parts) for tally in fast.belief.tallies([0, 1])) > 8


def test_labels_told_in_bulk_can_be_told_again_corrected_and_withdrawn():
    history = (["a", "b", "a"] * 20, np.arange(60.0), None)
    fast, slow = assert_same(lambda: Learner(TypeMeans(0.3), Always(), label_cost=0.1), history)
    for learner in (fast, slow):
        learner.tell("3", 2.0)
        learner.correct("4", -1.0)
        learner.withdraw("60")
        assert learner.ledger.label_spend == 5.9
        assert learner.decide("a").id == "61"
    assert fast.snapshot() == slow.snapshot()


def test_ids_of_ones_own_that_no_later_round_has_do_not_matter():
    def make():
        learner = Learner(TypeMeans(0.3), Threshold(), label_cost=0.1)
        learner.decide_many(["a", "a"], ids=["Ann", "1"])
        return learner

    assert_same(make, (["a", "b"] * 30, [1.0] * 60, None))


@pytest.mark.parametrize("name", [lambda i: f"case {i}", lambda i: str(i + 3), lambda i: str(1000 - i)])
@pytest.mark.parametrize("rule", [Always(), Threshold()])
def test_ids_of_ones_own_are_kept_in_bulk(rule, name):
    def make():
        learner = Learner(TypeMeans(0.3), rule, label_cost=0.1, keep=40)
        learner.decide_many(["a", "a"], ids=["Ann", "2000"])
        return learner

    fast, slow = assert_same_before(
        make, ["a", "b", "c"] * 50, np.sin(range(150)).tolist(), [name(i) for i in range(150)]
    )
    for learner in (fast, slow):
        learner.correct(name(149), 3.0) if learner.decision(name(149)).wants_label else None
        assert learner.decide("a").id == "2001"
    assert fast.snapshot() == slow.snapshot()


def test_compiled_tables_are_theory_to_the_bit():
    loops = stream.loops()
    clocks = np.unique(np.geomspace(1, 1e9, 20_000).astype(int))
    assert arrays.agrees(loops)
    for price, unit, scale in ((10.0, 1.0, 1.0), (0.013, 2.5, 0.7)):
        assert loops.thresholds(clocks, np.full(len(clocks), price), unit, scale).tolist() == [
            theory.threshold(price, m, theory.DISCRETE_EXPONENT, unit, scale) for m in clocks.tolist()
        ]
    for noise_std, first in ((0.1, 1), (0.37, 10**7)):
        assert loops.spreads(first, 20_000, noise_std, 0.01).tolist() == [
            theory.confidence_spread(noise_std, n, 0.01) for n in range(first, first + 20_000)
        ]


def test_tables_come_from_theory_where_the_compiled_ones_differ(monkeypatch):
    monkeypatch.setattr(arrays, "agrees", lambda loops: False)
    monkeypatch.setattr(stream.loops(), "thresholds", None)
    monkeypatch.setattr(stream.loops(), "spreads", None)
    xs, ys = np.arange(200) % 5, np.cos(np.arange(200.0))
    assert_same(lambda: Learner(TypeMeans(0.3), Threshold(), label_cost=0.5), (xs, ys, None))
