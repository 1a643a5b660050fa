"""Long streams of types in compiled loops are the loop written out, to the bit: answers, bill and state."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breakeven import (
    Always,
    Learner,
    Never,
    RandomSelect,
    Threshold,
    TypeMeans,
    VariableUncertainty,
    simulate,
    theory,
)
from breakeven.learner import bulk
from breakeven.learner.bulk import coding, stream, tables

pytest.importorskip("numba")

RULES = {
    "type_clock": Threshold(),
    "stream_clock": Threshold(scale=0.4, clock="stream"),
    "random": RandomSelect(0.3),
    "always": Always(),
    "never": Never(),
    "printed": VariableUncertainty("printed"),
    "figures": VariableUncertainty("figures"),
    "figures_gp": VariableUncertainty("figures_gp"),
    "uncertain": VariableUncertainty("uncertain", theta=0.3),
    "uncertain_budget": VariableUncertainty("uncertain", budget=0.1),
    "original": VariableUncertainty("original", budget=0.2, theta=0.9, lately=3.0),
}
NAMES = ["a", "b", b"a", 3, -7, 2**62, ("a", 3), ("a", ("b", b"c"))]
HARD = [1e16, 1.0, -1e16, 1e100, -1e100, 1e-300, 5e-324, -5e-324, 2.0**-1030, 0.1, 1 / 3, -0.0, 2.0**53, 0.5]
COLUMNS = ("wants_label", "prediction", "uncertainty", "threshold", "cost", "error")


@pytest.fixture(autouse=True, scope="module")
def _small_sizes():
    """Every stream is long enough, and every table, window and chunk is soon too short."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "SHORTEST", 1)
        patch.setattr(stream, "CHUNK", 37)
        patch.setattr(tables, "LARGEST_TABLE", 50)
        patch.setattr(tables, "SMALLEST_TABLE", 4)
        patch.setattr(tables, "WINDOW", 5)
        patch.setattr(coding, "WIDEST", 1000)
        yield


def one_by_one(learner, *history):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "SHORTEST", 10**9)
        return simulate(learner, *history)


def assert_same(make, *histories):
    """Both ways through every history in turn; the learner that went in bulk."""
    fast, slow = make(), make()
    for xs, ys, truth in histories:
        assert bulk.pays(fast, len(xs)) == (len(xs) > 0)
        one, other = simulate(fast, xs, ys, truth), one_by_one(slow, xs, ys, truth)
        for name in COLUMNS:
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
            assert getattr(one, name).dtype == getattr(other, name).dtype
        assert one.ledger == other.ledger
        assert fast.ledger == slow.ledger
    assert fast.snapshot() == slow.snapshot()
    return fast, slow


def eventful(learner, xs, ys):
    """A history in which everything happens."""
    for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
        decision = learner.decide(x, cost=1.0 + i % 3, force=[None, None, True, False][i % 4])
        if decision.wants_label and i % 3:
            learner.tell(decision.id, y)
            if i % 5 == 1:
                learner.correct(decision.id, y / 2)
            if i % 5 == 2:
                learner.withdraw(decision.id)
        elif not decision.wants_label and i % 2 and learner.remember:
            learner.tell(decision.id, y)
        if i % 6 == 5:
            learner.learn(x, y)


finite = st.one_of(st.floats(-100, 100), st.sampled_from(HARD))
arrivals = st.lists(st.tuples(st.sampled_from(NAMES), finite), max_size=150)


@pytest.mark.parametrize("rule", list(RULES))
@settings(max_examples=12)
@given(
    before=arrivals, first=arrivals, second=arrivals, with_truth=st.booleans(), seed=st.integers(0, 2**40),
    remember=st.sampled_from([0, 3, 40, 10_000]), cost=st.sampled_from([1e-6, 0.1, 7.3, 1e5]),
)  # fmt: skip
def test_any_stream_is_the_loop(rule, before, first, second, with_truth, seed, remember, cost):
    def make():
        belief = TypeMeans(0.3, prior_mean=0.25)
        learner = Learner(belief, RULES[rule], label_cost=cost, seed=seed, remember=remember)
        eventful(learner, *columns(before)[:2])
        return learner

    def columns(rows):
        xs, ys = [x for x, _ in rows], [y for _, y in rows]
        return xs, ys, [y / 3 for y in ys] if with_truth else None

    assert_same(make, columns(first), columns(second))


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("types", [1, 7, 300])
def test_long_streams_of_integers_are_the_loop(rule, types):
    random = np.random.default_rng(types)
    xs = random.integers(-types, types, size=1500)
    truth = random.random(2 * types)[xs]
    ys = truth + 0.3 * random.standard_normal(1500)
    half = (xs[:700], ys[:700], truth[:700]), (xs[700:], ys[700:], None)
    fast, slow = assert_same(lambda: Learner(TypeMeans(0.3), RULES[rule], label_cost=0.5, seed=3), *half)
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


def test_compiled_tables_are_theory_to_the_bit():
    loops = stream.loops()
    clocks = np.unique(np.geomspace(1, 1e9, 20_000).astype(int))
    assert tables.agrees(loops)
    for price, scale in ((10.0, 1.0), (0.013, 0.7)):
        assert loops.thresholds(clocks, price, scale).tolist() == [
            theory.threshold(price, m, theory.DISCRETE_EXPONENT, scale=scale) for m in clocks.tolist()
        ]
    for noise_std, first in ((0.1, 1), (0.37, 10**7)):
        assert loops.spreads(first, 20_000, noise_std, 0.01).tolist() == [
            theory.confidence_spread(noise_std, n, 0.01) for n in range(first, first + 20_000)
        ]


def test_tables_come_from_theory_where_the_compiled_ones_differ(monkeypatch):
    monkeypatch.setattr(tables, "agrees", lambda loops: False)
    monkeypatch.setattr(stream.loops(), "thresholds", None)
    monkeypatch.setattr(stream.loops(), "spreads", None)
    xs, ys = np.arange(200) % 5, np.cos(np.arange(200.0))
    assert_same(lambda: Learner(TypeMeans(0.3), Threshold(), label_cost=0.5), (xs, ys, None))
