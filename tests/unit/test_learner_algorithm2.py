"""Algorithm 2 against a dense Gaussian process that is solved anew in every round."""

from math import sqrt

import numpy as np
import pytest

from breakeven import Matern, SquaredExponential, algorithm2


def se(X, Y, scale):
    apart = (X[:, None, :] - Y[None, :, :]) / scale
    return np.exp(-0.5 * (apart**2).sum(axis=2))


def matern32(X, Y, scale):
    r = np.sqrt(3.0 * (((X[:, None, :] - Y[None, :, :]) / scale) ** 2).sum(axis=2))
    return (1.0 + r) * np.exp(-r)


def dense(X, ys, kernel, amplitude, exponent, *, label_cost, noise_std, scale):
    """The paper's loop with np.linalg.solve: decision, std, threshold and p_t for each round."""
    rows = []
    for t, x in enumerate(X, start=1):

        def posterior(at, rows=rows):
            A = X[rows]
            K = amplitude * kernel(A, A) + noise_std**2 * np.eye(len(rows))
            k = amplitude * kernel(A, at[None])[:, 0]
            solved = np.linalg.solve(K, np.column_stack([k, ys[rows]])) if rows else np.zeros((0, 2))
            return k @ solved[:, 1], sqrt(max(amplitude - k @ solved[:, 0], 0.0))

        std = posterior(x)[1]
        tau = scale * sqrt(2 * noise_std**2) * (label_cost / t) ** exponent
        if std > tau:
            rows.append(t - 1)
        yield std > tau, std, tau, posterior(x)[0]


KERNELS = {
    "se": (SquaredExponential((0.3, 0.5), 4.0), lambda X, Y: se(X, Y, [0.3, 0.5]), 4.0, 1 / 5),
    "se, one lengthscale": (SquaredExponential(0.2), lambda X, Y: se(X, Y, 0.2), 1.0, 1 / 5),
    "matern": (Matern(1.5, 0.4, 2.0), lambda X, Y: matern32(X, Y, 0.4), 2.0, 1 / 7),
}


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("name", list(KERNELS))
def test_decisions_are_those_of_a_dense_solve_in_every_round(name, scale):
    kernel, k, amplitude, exponent = KERNELS[name]
    random = np.random.default_rng(11)
    X = random.random((120, 2))
    ys = np.sin(6 * X).sum(axis=1) + random.normal(0, 0.2, 120)
    setting = {"label_cost": 2.0, "noise_std": 0.2}
    learner = algorithm2(2, kernel=kernel, threshold_scale=scale, warmup=0, fit=None, **setting)
    asked = []
    for x, y, (label, std, tau, p) in zip(
        X, ys, dense(X, ys, k, amplitude, exponent, scale=scale, **setting), strict=True
    ):
        decision = learner.decide(x)
        asked.append(decision.wants_label)
        assert decision.wants_label == label
        assert decision.uncertainty == pytest.approx(std, rel=1e-9)
        assert decision.threshold == pytest.approx(tau, rel=1e-12)
        after = learner.tell(decision.id, y) if label else decision.prediction
        assert after.mean == pytest.approx(p, rel=1e-9, abs=1e-9)
    assert 10 < sum(asked) < 110


def test_late_labels_leave_the_decisions_as_they_are():
    random = np.random.default_rng(12)
    X, ys = random.random((120, 2)), random.normal(size=120)
    kernel = SquaredExponential(0.2)
    now, late = (
        algorithm2(2, label_cost=1.0, noise_std=0.3, kernel=kernel, warmup=0, fit=None) for _ in range(2)
    )
    at_once = []
    for x, y in zip(X, ys, strict=True):
        decision = now.decide(x)
        at_once.append(decision.wants_label)
        if decision.wants_label:
            now.tell(decision.id, y)
    assert [d.wants_label for d in late.decide_many(X)] == at_once
    ids = list(late.awaited)
    random.shuffle(ids)
    late.tell_many(ids, [ys[int(id) - 1] for id in ids])
    for x in random.random((20, 2)):
        assert late.predict(x).mean == pytest.approx(now.predict(x).mean, rel=1e-10, abs=1e-10)
        assert late.predict(x).std == pytest.approx(now.predict(x).std, rel=1e-10, abs=1e-10)


def test_the_first_five_per_dimension_are_labelled_and_then_the_kernel_is_fitted():
    random = np.random.default_rng(13)
    learner = algorithm2(3, label_cost=1.0, noise_std=0.1)
    decisions = learner.decide_many(random.random((15, 3)))
    assert [d.reason for d in decisions] == ["warmup"] * 15
    before = learner.belief.parameters
    learner.tell_many([d.id for d in decisions[:-1]], random.normal(size=14))
    assert learner.belief.parameters == before
    learner.tell(decisions[-1].id, 0.3)
    after = learner.belief.parameters
    assert (learner.summary().fits, learner.summary().warmup_left) == (1, 0)
    assert after.kernel != before.kernel
    assert len(after.kernel.lengthscale) == 3
    assert after.noise_std == before.noise_std == 0.1


def test_the_fit_depends_on_the_seed_and_on_nothing_else():
    random = np.random.default_rng(14)
    X, ys = random.random((10, 2)), random.normal(size=10)

    def fitted(seed):
        learner = algorithm2(2, label_cost=1.0, noise_std=None, seed=seed)
        learner.tell_many([d.id for d in learner.decide_many(X)], ys)
        return learner.belief.parameters

    assert fitted(1) == fitted(1)
