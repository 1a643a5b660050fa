"""`Value` in compiled loops, whatever is believed of types before, is the loop written out, to the bit."""

from contextlib import nullcontext
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breakeven import Learner, TypeMeans, Value, simulate
from breakeven.beliefs.types.type_savings import familiarity
from breakeven.learner import bulk
from breakeven.learner.bulk import judges, stream
from tests.oracle.test_bulk_batches import assert_same as assert_same_batches
from tests.oracle.test_bulk_batches import tell_a_third
from tests.oracle.test_bulk_types import assert_same as assert_same_streams
from tests.oracle.test_bulk_types import assert_same_before
from tests.oracle.type_streams import EXAMPLES, NAMES, eventful, one_by_one, small_sizes

pytest.importorskip("numba")

PRIORS = [None, 0.4, "learn"]
RULES = {
    "endless": Value(),
    "until the end": Value(horizon=1500),
    "outlived": Value(horizon=600),
    "no lessons": Value(horizon=1500, lessons=False),
    "outright": Value(horizon=1500, scored="labels"),
}
COSTS = {"all": 1e-9, "some": 0.3, "few": 10.0, "none": 1e6}

arrivals = st.lists(st.tuples(st.sampled_from(NAMES), st.floats(-100, 100)), max_size=150)


@pytest.fixture(autouse=True, scope="module")
def _small_sizes():
    with small_sizes():
        yield


def maker(prior_std, rule, cost, before=()):
    """Makes learners that have been through the same."""

    def make():
        belief = TypeMeans(0.3, prior_mean=0.25, prior_std=prior_std)
        learner = Learner(belief, rule, label_cost=cost, error_cost=2.5, keep=40)
        eventful(learner, *columns(before))
        return learner

    return make


def columns(rows):
    return [x for x, _ in rows], [y for _, y in rows]


def typed(types, rounds=1500):
    """Integers, their labels and their truth."""
    random = np.random.default_rng(types)
    xs = random.integers(-types, types, size=rounds)
    truth = random.random(2 * types)[xs]
    return xs, truth + 0.3 * random.standard_normal(rounds), truth


@pytest.mark.parametrize("prior_std", PRIORS)
@settings(max_examples=2 * EXAMPLES)
@given(
    before=arrivals, first=arrivals, second=arrivals, with_truth=st.booleans(), lessons=st.booleans(),
    scored=st.sampled_from(["truth", "labels"]),
    horizon=st.sampled_from([None, 1, 100, 1000]), cost=st.sampled_from(list(COSTS.values())),
)  # fmt: skip
def test_any_stream_is_the_loop(prior_std, before, first, second, with_truth, lessons, scored, horizon, cost):
    rule = Value(horizon=horizon, lessons=lessons, scored=scored)
    histories = [(xs, ys, ys[::-1] if with_truth else None) for xs, ys in map(columns, (first, second))]
    assert_same_streams(maker(prior_std, rule, cost, before), *histories)


@pytest.mark.parametrize("prior_std", PRIORS)
@settings(max_examples=2 * EXAMPLES)
@given(
    before=arrivals, first=arrivals, second=arrivals, lessons=st.booleans(),
    scored=st.sampled_from(["truth", "labels"]),
    horizon=st.sampled_from([None, 1, 100, 1000]), cost=st.sampled_from(list(COSTS.values())),
)  # fmt: skip
def test_any_batch_is_the_loop(prior_std, before, first, second, lessons, scored, horizon, cost):
    rule = Value(horizon=horizon, lessons=lessons, scored=scored)
    batches = columns(first)[0], columns(second)[0]
    assert_same_batches(maker(prior_std, rule, cost, before), *batches, between=tell_a_third)


@pytest.mark.parametrize("prior_std", PRIORS)
@settings(max_examples=2 * EXAMPLES)
@given(
    before=arrivals, rows=arrivals, scored=st.sampled_from(["truth", "labels"]),
    horizon=st.sampled_from([None, 1, 100, 1000]), cost=st.sampled_from(list(COSTS.values())),
)  # fmt: skip
def test_what_was_believed_before_a_label_is_that_of_the_loop(prior_std, before, rows, scored, horizon, cost):
    rule = Value(horizon=horizon, scored=scored)
    assert_same_before(maker(prior_std, rule, cost, before), *columns(rows))


@pytest.mark.parametrize("prior_std", PRIORS)
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS)
@pytest.mark.parametrize(
    "types", [pytest.param(1, marks=pytest.mark.slow), 7, pytest.param(300, marks=pytest.mark.slow)]
)
def test_long_streams_of_integers_are_the_loop(prior_std, rule, cost, types):
    xs, ys, truth = typed(types)
    half = (xs[:700], ys[:700], truth[:700]), (xs[700:], ys[700:], None)
    fast, slow = assert_same_streams(maker(prior_std, rule, cost), *half)
    for x in (int(xs[-1]), 10**6):
        assert repr(fast.decide(x)) == repr(slow.decide(x))


@pytest.mark.parametrize("prior_std", PRIORS)
def test_long_streams_of_text_are_the_loop(prior_std):
    xs, ys, truth = typed(40)
    names = [f"no {x}" for x in xs.tolist()]
    assert_same_streams(maker(prior_std, RULES["until the end"], 0.3), (names, ys, truth), (names, ys, None))


def test_a_prior_is_learnt_as_often_as_one_by_one():
    xs, ys, truth = typed(300)
    fast, slow = assert_same_streams(maker("learn", Value(horizon=1500), 0.01), (xs, ys, truth))
    assert fast.summary() == slow.summary()
    assert fast.summary().fits > 20


def test_types_that_do_not_come_again_are_learnt_from_as_well():
    before = [(f"gone {i}", float(i)) for i in range(30)]
    xs, ys, _ = typed(20)
    fast, _ = assert_same_streams(maker("learn", Value(), 0.3, before), (xs, ys, None))
    assert fast.summary().belief["prior_mean"] > 1.0


def test_a_belief_that_knows_many_types_learns_with_the_next_label():
    belief = TypeMeans(0.3, prior_std="learn")
    for i in range(5):
        belief.learn(i, float(i))
    xs, ys, truth = typed(7)
    fast, slow = (Learner(belief, Value(), label_cost=0.3) for _ in range(2))
    assert fast.fit_due
    for learner, part in product((fast, slow), (slice(0, 700), slice(700, None))):
        with one_by_one() if learner is slow else nullcontext():
            simulate(learner, xs[part], ys[part], truth[part])
    assert not fast.fit_due
    assert fast.snapshot() == slow.snapshot()


def test_a_batch_waits_for_the_labels_that_will_say_how_large_errors_are():
    *_, decisions = assert_same_batches(maker("learn", Value(), 0.3), list(range(20)))
    reasons = [decision.reason for decision in decisions]
    assert reasons == ["nothing_known"] * 3 + ["enough_on_their_way"] * 17


def test_a_type_first_met_in_the_last_round_is_labelled_both_ways():
    make = maker(None, Value(horizon=5), 0.3)
    fast, _ = assert_same_streams(make, (list(range(5)), np.zeros(5), None))
    assert fast.ledger.labels == 5


def test_an_interrupted_stream_leaves_the_learner_as_it_was(monkeypatch):
    xs, ys, _ = typed(300)
    learner = maker("learn", Value(), 0.3)()
    before = learner.snapshot()
    interrupted = iter([False] * 10 + [True])

    def fit(self, given, start, done):
        if next(interrupted):
            raise KeyboardInterrupt
        fitted(self, given, start, done)

    fitted = judges.ByWorth._fit
    monkeypatch.setattr(judges.ByWorth, "_fit", fit)
    with pytest.raises(KeyboardInterrupt):
        simulate(learner, xs, ys)
    assert learner.snapshot() == before


def test_compiled_rates_are_the_beliefs_to_the_bit():
    from breakeven.learner.bulk import worth_loop

    for variety in (np.arange(1, 20_000) / 20_000).tolist() + np.geomspace(1e-15, 1e-3, 1000).tolist():
        assert worth_loop.familiarity(variety) == familiarity(variety)


def test_streams_run_one_by_one_where_compiled_rates_differ(monkeypatch):
    monkeypatch.setattr(stream, "rates_agree", lambda: False)
    xs, ys, _ = typed(7)
    fast, slow = (maker("learn", Value(), 0.3)() for _ in range(2))
    assert not bulk.pays(fast.state, len(xs))
    simulate(fast, xs, ys)
    with one_by_one():
        simulate(slow, xs, ys)
    assert fast.snapshot() == slow.snapshot()
