"""Where labels changed: running evidence against scipy's normal densities, and the change that it finds."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from breakeven import GaussianProcess, Matern, TypeMeans
from breakeven.beliefs.gp.evidence import evidence
from breakeven.beliefs.types.history import running_evidence
from breakeven.beliefs.types.weighing import TypePrior
from breakeven.values import NO_SUM


def dense(covariance, y):
    return multivariate_normal(np.zeros(len(y)), covariance).logpdf(y) if len(y) else 0.0


def test_the_evidence_of_a_process_in_two_parts():
    rng = np.random.default_rng(0)
    x = rng.random((12, 1))
    covariance = np.exp(-((x - x.T) ** 2) / 0.1) + 0.04 * np.eye(12)
    y = rng.multivariate_normal(np.zeros(12), covariance)
    before, after = evidence(covariance, y)
    for k in range(13):
        assert before[k] == pytest.approx(dense(covariance[:k, :k], y[:k]))
        assert after[k] == pytest.approx(dense(covariance[k:, k:], y[k:]))


def test_the_evidence_of_types_given_older_labels():
    rng, prior = np.random.default_rng(1), TypePrior(0.5, 2.0, 1.5)
    names = rng.choice(["a", "b", "c"], 14).tolist()
    y = rng.normal(2.0, 1.5, 14)
    alike = np.array([[one == other for one in names] for other in names])
    covariance = prior.std**2 * alike + prior.noise_std**2 * np.eye(14)
    older = {}
    for name, one in zip(names[:4], y[:4], strict=True):
        count, total = older.get(name, (0, NO_SUM))
        older[name] = count + 1, total.plus(float(one))
    running = running_evidence(list(zip(names[4:], y[4:].tolist(), strict=True)), prior, older)
    for k in range(11):
        both = dense(covariance[: 4 + k, : 4 + k], y[: 4 + k] - prior.mean)
        assert running[k] == pytest.approx(both - dense(covariance[:4, :4], y[:4] - prior.mean))


@pytest.mark.parametrize("kind", ["process", "dictionary", "types"])
def test_a_change_is_found_near_its_place_and_none_where_there_is_none(kind):
    found, still = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        for shift, into in ((1.0, found), (0.0, still)):
            belief = make(kind)
            for i in range(60):
                x, f = case(kind, rng)
                point = belief.point(x)
                y = f + 0.3 * rng.normal() + (shift if i >= 40 else 0.0)
                belief.learn(point, y, key=i)
            into.append(belief.outdated())
    assert np.mean(np.abs(np.array(found) - 40) <= 4) >= 0.9, found
    assert np.mean(np.array(still) == 0) >= 0.9, still


def make(kind):
    if kind == "types":
        belief = TypeMeans(0.3, prior_mean=0.0, prior_std=1.0)
        belief.remember(labels=True)
        return belief
    return GaussianProcess(1, 0.3, Matern(2.5, 0.5), capacity="auto" if kind == "dictionary" else "exact")


def case(kind, rng):
    if kind == "types":
        k = int(rng.integers(6))
        return f"type {k}", np.sin(1.7 * k)
    x = rng.random()
    return x, np.sin(5.0 * x)
