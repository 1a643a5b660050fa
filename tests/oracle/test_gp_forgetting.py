"""What a label is worth where labels fade: against sums over every arrival to come, by dense solves."""

import numpy as np
import pytest

from breakeven import GaussianProcess, Learner, Matern, SquaredExponential, Value

EXPECTED_ERROR = np.sqrt(2.0 / np.pi)
NOISE = 0.2


def stream(n, seed=0, dim=1):
    return np.random.default_rng(seed).uniform(size=(n, dim))


def dense_variances(kernel, half_life, labels, points, time):
    """The variance of f at points in a round, given labels at (point, round)."""
    X, times = np.array([x for x, _ in labels]), np.array([t for _, t in labels], dtype=float)
    K = kernel(X, X) * 2.0 ** (-np.abs(np.subtract.outer(times, times)) / half_life)
    k = kernel(X, points) * (2.0 ** (-np.abs(times - time) / half_life))[:, None]
    return kernel.amplitude - (k * np.linalg.solve(K + NOISE**2 * np.eye(len(X)), k)).sum(axis=0)


def brute_force(kernel, half_life, labels, point, now, arrivals, left):
    """What a label at the point saves of the mean error of these arrivals, in each of the rounds left."""
    total = 0.0
    for k in range(1, left + 1):
        before = dense_variances(kernel, half_life, labels, arrivals, now + k)
        after = dense_variances(kernel, half_life, [*labels, (point, now)], arrivals, now + k)
        total += EXPECTED_ERROR * (np.sqrt(before) - np.sqrt(after)).mean()
    return total


@pytest.mark.parametrize("kernel", [SquaredExponential(0.3, 2.0), Matern(1.5, 0.5)], ids=["se", "matern"])
@pytest.mark.parametrize("half_life", [1.0, 5.0, 30.0, 200.0, 1e4])
@pytest.mark.parametrize("left", [1, 4, 5, 60])
@pytest.mark.parametrize("awaited", [False, True], ids=["told", "awaited"])
def test_a_label_is_worth_the_sum_of_what_it_saves_in_every_round_to_come(kernel, half_life, left, awaited):
    belief = GaussianProcess(1, NOISE, kernel, forgetting=half_life)
    belief.watch(256)
    X, labels = stream(24), []
    for round, x in enumerate(X[:-1], start=1):
        view = belief.look(x)
        belief.arrive(x, view)
        if round % 3 == 0:
            belief.ask(round, x, view)
            labels.append((x, round))
            if not awaited:
                belief.tell(round, x, 1.0)
    saving = belief.look(X[-1]).saves(NOISE)
    exact = brute_force(kernel, half_life, labels, X[-1], len(X), X, left)
    assert saving.over(left, lessons=False) == pytest.approx(exact, rel=1e-3)


def test_an_erased_arrival_lets_a_label_just_asked_for_fade():
    belief, other = (GaussianProcess(1, NOISE, SquaredExponential(0.3), forgetting=5.0) for _ in range(2))
    X = stream(6)
    for one in (belief, other):
        one.watch(16)
        for x in X:
            one.arrive(x)
        one.ask(1, X[2])
    other.look(X[0])  # looking changes nothing
    for one in (belief, other):
        one.arrive(None)
    assert belief.state() == other.state()
    fresh = belief.look(X[0]).saves(NOISE)
    belief.adopt(belief.parameters.plain())  # everything is computed anew
    assert belief.look(X[0]).saves(NOISE).over(9, lessons=True) == pytest.approx(fresh.over(9, lessons=True))


def labelled(half_life, X, rule=None, **arguments):
    belief = GaussianProcess(X.shape[1], NOISE, SquaredExponential(0.2), forgetting=half_life, **arguments)
    learner = Learner(belief, rule or Value(), label_cost=0.5)
    asked = []
    for x in X:
        decision = learner.decide(x)
        asked.append(decision.wants_label)
        if decision.wants_label:
            learner.tell(decision.id, float(np.sin(6.0 * x[0])))
    return asked


@pytest.mark.parametrize("rule", [Value(), Value(horizon=400)], ids=["no horizon", "horizon"])
@pytest.mark.parametrize("half_life", [1e6, 1e8, 1e12])
def test_a_very_long_half_life_is_none(rule, half_life):
    X = stream(200, dim=2)
    lasting = labelled(None, X, rule)
    assert 10 < sum(lasting) < 150
    assert labelled(half_life, X, rule) == lasting


def test_labels_bought_fall_towards_none_as_half_lives_grow():
    X = stream(200)
    *counts, longest, none = [sum(labelled(half_life, X)) for half_life in (50.0, 800.0, 1e4, 1e5, None)]
    assert [*counts, longest] == sorted([*counts, longest], reverse=True)
    assert counts[0] > 2 * none
    assert abs(longest - none) <= 1  # forgetting a tenth of a percent may decide a close call
