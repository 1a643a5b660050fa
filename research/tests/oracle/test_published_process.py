"""The process behind the published figures, against scikit-learn with the settings of the published code."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from breakeven.beliefs.gp import Parameters
from breakeven.beliefs.gp.likelihood import Likelihood
from breakeven_research.experiments import run
from breakeven_research.experiments.runs.methods import algorithm
from breakeven_research.experiments.runs.problems import problem_named
from breakeven_research.experiments.runs.published_process import (
    LEAST,
    MOST,
    Fits,
    PublishedProcess,
    starts_anew,
)

PROBLEMS = ("branin", "hartmann")
ANEW = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 27, 33, 40, 48, 58, 70, 84, 101, 122, 147, 177, 213, 256]


def labels_of(name, count, trial=0):
    """The first labels of a published stream, and its noise."""
    stream = problem_named(name).stream("figures", trial).first(count)
    return stream.points, stream.labels, stream.noise_std


def taught(X, y, noise_std):
    """A belief that knows these labels and was never fitted."""
    belief = PublishedProcess(X.shape[1], noise_std)
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        belief.learn(belief.point(x), label, str(i))
    return belief


def fitted(belief, seed=0):
    return Parameters.of(belief.fit(belief.fit_job(), np.random.default_rng(seed)))


def log_likelihood(X, y, parameters):
    likelihood = Likelihood(X, y, parameters, fit_noise=False, fit_mean=False)
    return -likelihood.value(likelihood.theta(parameters))


def by_scikit_learn(X, y, noise_std, restarts=10):
    lengths = [(1e-2, 1e2)[j % 2] for j in range(X.shape[1])]
    kernel = ConstantKernel(1.0, (1e-5, 1e5)) * RBF(lengths, (1e-5, 1e5))
    regressor = GaussianProcessRegressor(
        kernel, alpha=noise_std**2, n_restarts_optimizer=restarts, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return regressor.fit(X, y)


# -- against scikit-learn -------------------------------------------------------------------------------


# Eleven random starts are luck, ours and theirs: these are streams on which both find the same summit.
SUMMITS = [("branin", 10, trial) for trial in range(3)] + [("branin", 33, trial) for trial in range(3)]
SUMMITS += [("hartmann", 33, 1)]


@pytest.mark.parametrize(("name", "count", "trial"), SUMMITS)
def test_a_fit_from_all_starts_is_as_likely_as_scikit_learns_best_of_eleven(name, count, trial):
    assert starts_anew(count)
    X, y, noise_std = labels_of(name, count, trial)
    found = log_likelihood(X, y, fitted(taught(X, y, noise_std)))
    assert found >= by_scikit_learn(X, y, noise_std).log_marginal_likelihood_value_ - 1e-3


@pytest.mark.parametrize("trial", [0, 1, 2])
def test_fits_along_a_run_stay_as_likely_as_scikit_learns_best_of_eleven(trial):
    X, y, noise_std = labels_of("branin", 33, trial)
    belief = PublishedProcess(2, noise_std)
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        belief.learn(belief.point(x), label, str(i))
        belief.adopt(belief.fit(belief.fit_job(), np.random.default_rng([trial, i])))
    theirs = by_scikit_learn(X, y, noise_std)
    assert log_likelihood(X, y, belief.parameters) >= theirs.log_marginal_likelihood_value_ - 1e-3
    lengths = theirs.kernel_.k2.length_scale
    assert belief.parameters.kernel.lengthscale == pytest.approx(lengths, rel=1e-2)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_same_parameters_are_as_likely_and_predict_the_same(name):
    X, y, noise_std = labels_of(name, 40)
    X, y, new = X[:30], y[:30], X[30:]
    belief = taught(X, y, noise_std)
    belief.adopt(fitted(belief).plain())
    kernel = belief.parameters.kernel
    theirs = by_scikit_learn(X, y, noise_std, restarts=0)
    theta = np.log([kernel.amplitude, *kernel.lengthscale])
    assert log_likelihood(X, y, belief.parameters) == pytest.approx(
        theirs.log_marginal_likelihood(theta), rel=1e-9
    )
    theirs.set_params(kernel=theirs.kernel_.clone_with_theta(theta), optimizer=None)
    mean, std = theirs.fit(X, y).predict(new, return_std=True)
    ours = belief.predict_many(belief.points(new))
    assert [one.mean for one in ours] == pytest.approx(mean, rel=1e-6, abs=1e-8)
    assert [one.std for one in ours] == pytest.approx(std, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("dim", [1, 2, 3, 9])
def test_before_any_label_the_kernel_is_the_published_start(dim):
    kernel = PublishedProcess(dim, 0.5).parameters.kernel
    assert kernel.lengthscale == tuple([1e-2, 1e2] * 5)[:dim]
    assert kernel.amplitude == 1.0


# -- bounds ---------------------------------------------------------------------------------------------

X, Y, NOISE_STD = labels_of("branin", 12)
EXTREME = {
    "as they are": (X, Y),
    "large labels": (X, 1e6 * Y),
    "small labels": (X, 1e-6 * Y),
    "zero labels": (X, 0.0 * Y),
    "far points": (1e7 * X, Y),
    "close points": (1e-7 * X, Y),
}


@pytest.mark.parametrize(("points", "labels"), EXTREME.values(), ids=EXTREME)
def test_parameters_stay_within_the_published_bounds(points, labels):
    found = fitted(taught(points, labels, NOISE_STD))
    numbers = np.array([found.kernel.amplitude, *found.kernel.lengthscale])
    assert (numbers >= LEAST * (1 - 1e-9)).all()
    assert (numbers <= MOST * (1 + 1e-9)).all()
    assert (found.noise_std, found.mean) == (NOISE_STD, 0.0)


def test_large_labels_push_the_amplitude_to_its_bound():
    found = fitted(taught(X, 1e6 * Y, NOISE_STD))
    assert found.kernel.amplitude == pytest.approx(1e5)


# -- when it searches -----------------------------------------------------------------------------------


def test_all_starts_are_tried_when_the_labels_grew_by_a_fifth():
    assert [n for n in range(1, ANEW[-1] + 1) if starts_anew(n)] == ANEW
    assert all((6 * now + 4) // 5 == after for now, after in pairwise(ANEW))


def test_between_searches_a_fit_climbs_from_the_last_optimum_and_draws_nothing():
    points, labels, noise_std = labels_of("branin", 11)
    belief = taught(points[:10], labels[:10], noise_std)
    belief.adopt(fitted(belief).plain())
    last = belief.parameters
    belief.learn(belief.point(points[10]), labels[10], "10")
    random = np.random.default_rng(1)
    before = random.bit_generator.state
    found = Parameters.of(belief.fit(belief.fit_job(), random))
    assert random.bit_generator.state == before
    assert found == fitted(belief, seed=2)
    assert log_likelihood(points, labels, found) >= log_likelihood(points, labels, last)


def test_a_fit_changes_nothing_but_what_is_returned():
    belief = taught(X, Y, NOISE_STD)
    before = belief.state()
    assert fitted(belief) == fitted(belief)
    assert belief.state() == before


# -- shared fits ----------------------------------------------------------------------------------------


class Counting(Fits):
    """Fits that count how often one was there already."""

    found = 0

    def made(self, key):
        made = super().made(key)
        self.found += made is not None
        return made


@pytest.mark.parametrize(("name", "rounds"), [("branin", 40), ("hartmann", 45)])
def test_sharing_fits_changes_no_bit_of_a_run(name, rounds):
    problem, shared = problem_named(name), Counting()
    stream = problem.stream("figures", 0).first(rounds)
    for price in problem.prices:
        together = run(algorithm(problem, "figures", price, price.scale, 0, shared), stream)
        alone = run(algorithm(problem, "figures", price, price.scale, 0, Fits()), stream)
        assert together == alone
    assert shared.found >= problem.warmup


def test_another_seed_or_noise_shares_no_fit():
    fits = Counting()
    for noise_std, seed in ((1.0, 0), (2.0, 0), (1.0, 1)):
        belief = PublishedProcess(2, noise_std, fits)
        belief.learn(belief.point([0.5, 0.5]), 1.0, "0")
        belief.fit(belief.fit_job(), np.random.default_rng(seed))
    assert fits.found == 0
    belief.fit(belief.fit_job(), np.random.default_rng(1))
    assert fits.found == 1
