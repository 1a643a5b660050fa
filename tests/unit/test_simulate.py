"""Replaying a labelled history: what is told, what is predicted, and what it costs."""

import tracemalloc
from math import pi, sqrt

import numpy as np
import pytest

from breakeven import (
    Always,
    Audit,
    GaussianProcess,
    Learner,
    Never,
    RandomSelect,
    SquaredExponential,
    Threshold,
    TypeMeans,
    algorithm1,
    algorithm2,
    simulate,
)
from breakeven.beliefs.gp import capacity
from breakeven.errors import InvalidInput, ListenerFailed, TornLearner
from breakeven.trace import Trace


def stream(rounds=300, types=6, noise_std=0.3, seed=0):
    random = np.random.default_rng(seed)
    xs = random.integers(types, size=rounds)
    truth = random.random(types)[xs]
    return xs, truth + random.normal(0, noise_std, rounds), truth


def loop(learner, xs, ys, truth=None):
    """The same, written out: predictions, errors and spend."""
    predictions, errors, spend = [], [], []
    for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
        decision = learner.decide(x)
        p = decision.prediction.mean
        if decision.wants_label:
            after = learner.tell(decision.id, y).mean
            p = y if truth is None else after
        predictions.append(p)
        errors.append(abs(truth[i] - p) if truth is not None else 0.0 if decision.wants_label else abs(y - p))
        spend.append(decision.cost if decision.wants_label else 0.0)
    return predictions, errors, spend


def test_the_bill_of_an_audited_learner_has_its_audit():
    xs, labels, truth = stream()
    learner = Learner(TypeMeans(0.3), Audit(Threshold(), 0.2, bound=5.0), label_cost=20.0)
    audit = simulate(learner, xs, labels, truth).ledger.audit
    assert audit == learner.ledger.audit
    assert audit.audited > 20
    assert simulate(algorithm1(label_cost=1.0, noise_std=0.3), xs, labels).ledger.audit is None


@pytest.mark.parametrize("with_truth", [True, False])
def test_a_replay_is_the_loop_written_out(with_truth):
    xs, ys, truth = stream()
    f = truth if with_truth else None
    one, other = (algorithm1(label_cost=2.0, noise_std=0.3) for _ in range(2))
    trace = simulate(one, xs, ys, truth=f)
    predictions, errors, spend = loop(other, xs.tolist(), ys.tolist(), f)
    assert one.snapshot() == other.snapshot()
    assert trace.prediction.tolist() == predictions
    ledger = trace.ledger
    assert ledger.error_by_round.tolist() == errors
    assert ledger.spend_by_round.tolist() == spend
    assert ledger.label_spend == sum(spend)
    assert ledger.prediction_error == pytest.approx(sum(errors), rel=1e-12)
    assert ledger.labels == trace.wants_label.sum() == sum(one > 0 for one in spend)
    assert (ledger.rounds, ledger.awaited) == (300, 0)
    assert ledger.scored == ("truth" if with_truth else "labels")
    assert 6 <= ledger.labels < 300
    averages = np.cumsum(np.add(spend, errors)) / np.arange(1, 301)
    assert ledger.running_average_loss == pytest.approx(averages, rel=1e-12)
    assert ledger.running_average_loss[-1] == pytest.approx(ledger.average_loss, rel=1e-12)


def test_with_the_truth_a_labelled_round_predicts_after_its_label():
    trace = simulate(
        Learner(TypeMeans(0.5), Always(), label_cost=1.0), ["a", "a"], [3.0, 5.0], truth=[2.0, 2.0]
    )
    assert trace.prediction.tolist() == [3.0, 4.0]
    assert trace.ledger.error_by_round.tolist() == [1.0, 2.0]
    assert trace.ledger.noise_floor is None


def test_without_the_truth_a_labelled_round_answers_its_label():
    learner = Learner(TypeMeans(0.5), Always(), label_cost=1.0)
    trace = simulate(learner, ["a", "a"], [3.0, 5.0])
    assert trace.prediction.tolist() == [3.0, 5.0]
    assert trace.ledger.prediction_error == 0.0
    assert trace.ledger.noise_floor == 0.0
    assert learner.predict("a").mean == 4.0


def test_without_the_truth_an_unlabelled_round_misses_its_label():
    trace = simulate(
        Learner(TypeMeans(0.5, prior_mean=1.0), Never(), label_cost=1.0), ["a", "b"], [3.0, -5.0]
    )
    assert trace.ledger.error_by_round.tolist() == [2.0, 6.0]
    assert (trace.ledger.labels, trace.ledger.label_spend) == (0, 0.0)


@pytest.mark.parametrize("noise_std", [0.1, 2.0])
def test_the_noise_floor_is_the_expected_size_of_the_noise_on_unlabelled_rounds(noise_std):
    xs, ys, _ = stream()
    learner = Learner(TypeMeans(noise_std), RandomSelect(0.3), label_cost=1.0)
    ledger = simulate(learner, xs, ys).ledger
    assert ledger.noise_floor == pytest.approx(noise_std * sqrt(2 / pi) * (300 - ledger.labels), rel=1e-14)
    assert f"label noise alone would give an error of about {ledger.noise_floor:,.2f}" in str(ledger)


def test_a_perfect_prediction_is_charged_the_noise_floor_and_no_more():
    random = np.random.default_rng(1)
    ys = random.normal(4.0, 0.7, 20_000)
    learner = Learner(TypeMeans(0.7, prior_mean=4.0), Never(), label_cost=1.0)
    ledger = simulate(learner, ["a"] * 20_000, ys).ledger
    assert ledger.prediction_error == pytest.approx(ledger.noise_floor, rel=0.02)


def test_a_fitted_noise_is_the_one_in_the_floor():
    random = np.random.default_rng(2)
    X = random.random((40, 1))
    learner = algorithm2(1, label_cost=1.0, noise_std=None, warmup=10, threshold_scale=50.0)
    ledger = simulate(learner, X, np.sin(6 * X[:, 0]) + random.normal(0, 0.2, 40)).ledger
    noise_std = learner.belief.parameters.noise_std
    assert ledger.noise_floor == pytest.approx(noise_std * sqrt(2 / pi) * (40 - ledger.labels), rel=1e-12)
    assert 0.02 < noise_std < 0.6


def test_the_trace_holds_what_was_decided():
    random = np.random.default_rng(3)
    X = random.random((50, 2))
    make = lambda: Learner(  # noqa: E731
        GaussianProcess(2, 0.1, SquaredExponential(0.3)), Threshold(2.0), label_cost=1.0
    )
    trace, other = simulate(make(), X, X[:, 0]), make()
    for i, x in enumerate(X):
        decision = other.decide(x)
        assert decision.wants_label == trace.wants_label[i]
        assert decision.threshold == trace.threshold[i]
        assert decision.uncertainty == pytest.approx(trace.uncertainty[i], rel=1e-10)
        assert decision.cost == trace.cost[i] == 1.0
        if decision.wants_label:
            other.tell(decision.id, X[i, 0])


def test_the_learner_given_is_the_one_that_learns_and_may_go_on():
    learner = algorithm1(label_cost=2.0, noise_std=0.3)
    xs, ys, truth = stream()
    first = simulate(learner, xs[:100], ys[:100], truth[:100])
    second = simulate(learner, xs[100:], ys[100:], truth[100:])
    assert learner.rounds == 300
    assert learner.ledger.label_spend == first.ledger.label_spend + second.ledger.label_spend
    assert second.ledger.rounds == 200
    whole = simulate(algorithm1(label_cost=2.0, noise_std=0.3), xs, ys, truth)
    assert np.concatenate([first.wants_label, second.wants_label]).tolist() == whole.wants_label.tolist()


def test_an_empty_history_costs_nothing():
    for learner in (algorithm1(label_cost=2.0, noise_std=0.3), algorithm2(2, label_cost=1.0, noise_std=0.1)):
        before = learner.snapshot()
        trace = simulate(learner, [], [], truth=[])
        assert (trace.ledger.rounds, trace.ledger.total_loss, trace.ledger.average_loss) == (0, 0.0, None)
        assert len(trace.wants_label) == len(trace.ledger.running_average_loss) == 0
        assert learner.snapshot() == before


def test_points_labels_and_truth_may_be_lists_tuples_or_arrays():
    bills = [
        simulate(algorithm1(label_cost=2.0, noise_std=0.3), xs, ys, truth).ledger.total_loss
        for xs, ys, truth in (
            (["a", "b", "a"], [1, 2, 3], [1, 2, 1]),
            (("a", "b", "a"), (1.0, 2.0, 3.0), (1.0, 2.0, 1.0)),
            (np.array(["a", "b", "a"]), np.array([1, 2, 3]), np.array([1.0, 2.0, 1.0], dtype=np.float32)),
            (iter("aba"), [1.0, 2.0, 3.0], [1.0, 2.0, 1.0]),
        )
    ]
    assert len(set(bills)) == 1


@pytest.mark.parametrize(
    ("xs", "ys", "truth", "match"),
    [
        (["a", "b"], [1.0], None, "^labels: expected 2 numbers, one for each point, got 1"),
        (["a"], [1.0, 2.0], None, "^labels: expected 1 numbers, one for each point, got 2"),
        (["a", "b"], [1.0, 2.0], [1.0], "^truth: expected 2 numbers, one for each point, got 1"),
        (["a", "b"], [[1.0, 2.0]], None, "^labels: expected a row of finite numbers, got"),
        (["a", "b"], None, None, "^labels: expected a row of finite numbers, got None"),
        (["a", "b"], [1.0, float("nan")], None, "^labels: expected a row of finite numbers, got"),
        (["a", 1.5], [1.0, 2.0], None, r"^X\[1\]: expected a type"),
    ],
)
def test_a_wrong_history_is_refused_before_anything_is_learnt(xs, ys, truth, match):
    learner = algorithm1(label_cost=2.0, noise_std=0.3)
    learner.decide("a")
    before = learner.snapshot()
    with pytest.raises(InvalidInput, match=match):
        simulate(learner, xs, ys, truth=truth)
    assert learner.snapshot() == before


# -- what is approximated --------------------------------------------------------------------------------


def test_the_trace_says_of_every_round_whether_it_is_exact(monkeypatch):
    monkeypatch.setattr(capacity, "FIRST_DICTIONARY", 40)
    random = np.random.default_rng(4)
    X = random.random((600, 2))
    y = np.sin(3.0 * X.sum(axis=1)) + 0.1 * random.standard_normal(600)
    make = lambda: Learner(  # noqa: E731
        GaussianProcess(2, 0.1, SquaredExponential(0.5), capacity="auto", tolerance=1e-4),
        Threshold(0.3),
        label_cost=5.0,
    )
    learner, other = make(), make()
    trace = simulate(learner, X, y)
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        decision = other.decide(x)
        assert (decision.exact, decision.ambiguous) == (trace.exact[i], trace.ambiguous[i])
        assert decision.stretch == trace.stretch[i]
        if decision.wants_label:
            other.tell(decision.id, label)
    first = trace.exact.tolist().index(False)
    assert trace.exact[:first].all()
    assert not trace.exact[first:].any()
    assert (np.diff(trace.stretch) >= 0).all()
    assert learner.summary().ambiguous == trace.ambiguous.sum() > 0
    within = np.abs(np.log(trace.uncertainty / trace.threshold)) <= np.log(trace.stretch)
    assert (within == trace.ambiguous)[first:].all()


@pytest.mark.parametrize("rounds", [300, 200_000])
def test_nothing_is_approximated_of_types_which_takes_no_room(rounds):
    trace = simulate(algorithm1(label_cost=2.0, noise_std=0.3), *stream(rounds)[:2])
    assert trace.exact.all()
    assert not trace.ambiguous.any()
    assert (trace.stretch == 1.0).all()
    assert len(trace.exact) == len(trace.ambiguous) == len(trace.stretch) == rounds
    if rounds == 200_000:
        assert trace.ambiguous.strides == trace.stretch.strides == (0,)


def test_the_bill_of_a_long_stream_is_two_arrays():
    rounds = 1_000_000
    column = np.ones(rounds)
    trace = Trace(
        wants_label=column > 0.0, prediction=column, uncertainty=column, threshold=column, cost=2.0 * column,
        ambiguous=column < 0.0, stretch=column, target=1.5 * column, scored="truth", noise_std=0.1,
    )  # fmt: skip
    tracemalloc.start()
    ledger = trace.ledger
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert ledger.total_loss == 2.5 * rounds
    assert ledger.spend_by_round.nbytes + ledger.error_by_round.nbytes == 16 * rounds
    assert kept < 16 * rounds + 10_000
    assert most < 17 * rounds + 10_000


# -- wrong rows ------------------------------------------------------------------------------------------

VERBS = {
    "decide_many": lambda learner, X: learner.decide_many(X),
    "predict_many": lambda learner, X: learner.predict_many(X),
    "simulate": lambda learner, X: simulate(learner, X, np.zeros(len(X))),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e200])
def test_a_wrong_row_far_into_a_batch_is_named_before_anything_is_learnt(verb, wrong):
    learner = Learner(GaussianProcess(2, 0.1, SquaredExponential(0.3)), Threshold(0.3), label_cost=2.0)
    learner.decide_many([[0.1, 0.2], [0.3, 0.4]])
    before, X = learner.snapshot(), np.full((150, 2), 0.5)
    X[137, 1] = wrong
    for batch in (X, X.tolist()):
        with pytest.raises(InvalidInput, match=r"^X\[137\]: expected 2 finite numbers.*, got \[0.5, "):
            VERBS[verb](learner, batch)
    assert learner.snapshot() == before


class CutOff(Exception):
    """Something that nobody expects."""


class Fragile(TypeMeans):
    """A belief that fails in the middle of a change."""

    fails = False

    def tell(self, key, point, y, noise_std=None):
        if self.fails:
            raise CutOff
        return super().tell(key, point, y, noise_std)


def test_a_torn_learner_replays_nothing():
    learner = Learner(Fragile(1.0), Always(), label_cost=1.0)
    for _ in range(200):  # enough for blocks
        learner.learn("flu", 1.0)
    id = learner.decide("flu").id
    learner.belief.fails = True
    with pytest.raises(CutOff):
        learner.tell(id, 1.0)
    learner.belief.fails = False
    with pytest.raises(TornLearner):
        simulate(learner, ["flu"] * 3, [1.0] * 3)
    with pytest.raises(TornLearner):
        learner.snapshot()
    looks = [
        lambda: learner.ledger,
        lambda: learner.awaited,
        lambda: learner.fit_due,
        learner.summary,
        learner.config,
        lambda: learner.decision(id),
    ]
    for look in looks:
        with pytest.raises(TornLearner, match="restore it"):
            look()


def test_a_listener_replays_nothing_and_may_look():
    learner, seen = Learner(TypeMeans(1.0), Always(), label_cost=1.0), []
    learner.learn("flu", 1.0)

    def listen(_):
        seen.append((learner.ledger.rounds, learner.decision("1").round, len(learner.awaited)))
        simulate(learner, ["flu"], [1.0])

    learner.listen(listen)
    with pytest.raises(ListenerFailed, match="CalledByListener"):
        learner.decide("flu")
    assert seen == [(1, 1, 1)]
