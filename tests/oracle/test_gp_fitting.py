"""Fitted parameters against scikit-learn's, on problems of the paper's sizes and on awkward data."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from threadpoolctl import threadpool_limits

from breakeven import GaussianProcess, Matern, SquaredExponential
from breakeven.beliefs.gp import Parameters
from breakeven.beliefs.gp.fitting import SEARCHED, SearchBox, fit
from breakeven.beliefs.gp.likelihood import Likelihood

NOISE_STD = 0.1


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with threadpool_limits(1):  # small matrices: a second thread only waits
        yield


def branin(X):
    u, v = 15.0 * X[:, 0] - 5.0, 15.0 * X[:, 1]
    bowl = (v - 5.1 * (u / (2 * np.pi)) ** 2 + 5.0 * u / np.pi - 6.0) ** 2
    return (bowl + 10.0 * (1.0 - 1.0 / (8 * np.pi)) * np.cos(u) + 10.0) / 50.0


def hills(X):
    """Four hills, as Hartmann's function has them."""
    rng = np.random.default_rng(99)
    centres, widths = rng.random((4, X.shape[1])), rng.uniform(0.5, 8.0, size=(4, X.shape[1]))
    apart = (widths * (X[:, None, :] - centres) ** 2).sum(axis=2)
    return np.exp(-apart) @ np.array([1.0, 1.2, 3.0, 3.2])


def drawn(function, n, dim, seed, noise_std=NOISE_STD):
    rng = np.random.default_rng(seed)
    X = rng.random((n, dim))
    return X, function(X) + noise_std * rng.normal(size=n)


def start(dim, kernel=None):
    return Parameters(kernel or SquaredExponential((1.0,) * dim), NOISE_STD)


def fitted(X, y, begin=None, seed=0, **options):
    return fit(X, y, begin or start(X.shape[1]), np.random.default_rng(seed), **options)


def log_likelihood(X, y, parameters):
    likelihood = Likelihood(X, y, parameters, fit_noise=False, fit_mean=False)
    return -likelihood.value(likelihood.theta(parameters))


def best_by_scikit_learn(X, y):
    kernel = ConstantKernel(1.0, (1e-6, 1e6)) * RBF([1.0] * X.shape[1], (1e-3, 1e5))
    regressor = GaussianProcessRegressor(kernel, alpha=NOISE_STD**2, n_restarts_optimizer=10, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return regressor.fit(X, y).log_marginal_likelihood_value_


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("function", "n", "dim"),
    [(branin, 10, 2), (hills, 30, 6), (hills, 45, 9)],
    ids=["branin", "hartmann-like", "nine dimensions"],
)
def test_a_fit_is_as_likely_as_scikit_learns_best_of_eleven(function, n, dim, seed):
    X, y = drawn(function, n, dim, seed)
    assert log_likelihood(X, y, fitted(X, y)) >= best_by_scikit_learn(X, y) - 1e-3


@pytest.mark.parametrize("options", [{}, {"fit_noise": True}, {"fit_mean": True}], ids=str)
@pytest.mark.parametrize("kernel", [SquaredExponential(), Matern(1.5, (1.0, 1.0)), Matern(0.8)], ids=str)
def test_a_fit_ends_on_a_summit(kernel, options):
    X, y = drawn(branin, 40, 2, seed=4)
    found = fitted(X, y, start(2, kernel), **options)
    likelihood = Likelihood(X, y, found, fit_noise="fit_noise" in options, fit_mean="fit_mean" in options)
    theta = likelihood.theta(found)
    low, high = SearchBox(likelihood).bounds.T
    value, gradient = likelihood.value_and_gradient(theta)
    inside = (theta > low + 1e-9) & (theta < high - 1e-9)
    assert abs(gradient[inside]).max() < 1e-2
    assert value <= likelihood.value(likelihood.theta(start(2, kernel)))
    assert type(found.kernel) is type(kernel)


def test_the_same_seed_gives_the_same_parameters_to_the_bit():
    X, y = drawn(hills, 30, 6, seed=0)
    assert fitted(X, y, seed=3, fit_noise=True) == fitted(X, y, seed=3, fit_noise=True)


def test_fitting_changes_nothing_but_what_is_returned():
    belief = GaussianProcess(2, None, mean="fit", fit="every_label")
    X, y = drawn(branin, 10, 2, seed=0)
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        belief.learn(x, label, str(i))
    before = belief.state()
    parameters = belief.fit(belief.fit_job(), np.random.default_rng(0))
    assert belief.state() == before
    belief.adopt(parameters)
    assert belief.parameters.plain() == parameters
    assert belief.traits.noise_std == parameters["noise_std"]
    assert belief.predict(X[0]).noise_std == parameters["noise_std"]


ORDINARY = drawn(branin, 12, 2, seed=0)
AWKWARD = {
    "one label": (ORDINARY[0][:1], ORDINARY[1][:1]),
    "two labels": (ORDINARY[0][:2], ORDINARY[1][:2]),
    "labels all alike": (ORDINARY[0], np.full(12, 0.1)),
    "labels all zero": (ORDINARY[0], np.zeros(12)),
    "one point only": (np.zeros((12, 2)), ORDINARY[1]),
    "a constant feature": (ORDINARY[0] * [1.0, 0.0] + [0.0, 7.0], ORDINARY[1]),
    "repeated points": (np.repeat(ORDINARY[0][:4], 3, axis=0), ORDINARY[1]),
    "large labels": (ORDINARY[0], 1e6 * ORDINARY[1]),
    "small labels": (ORDINARY[0], 1e-6 * ORDINARY[1]),
    "large points": (1e6 * ORDINARY[0], ORDINARY[1]),
    "far points": (1e6 + ORDINARY[0], ORDINARY[1]),
    "small points": (1e-6 * ORDINARY[0], ORDINARY[1]),
    "vast labels": (ORDINARY[0], 1e60 * ORDINARY[1]),
    "minute labels": (ORDINARY[0], 1e-60 * ORDINARY[1]),
    "vast points": (1e60 * ORDINARY[0], ORDINARY[1]),
    "minute points": (1e-60 * ORDINARY[0], ORDINARY[1]),
}


@pytest.mark.parametrize("options", [{}, {"fit_noise": True, "fit_mean": True}], ids=["kernel", "everything"])
@pytest.mark.parametrize(("X", "y"), AWKWARD.values(), ids=AWKWARD)
def test_awkward_data_is_fitted_and_predicted(X, y, options):
    begin = start(2)
    found = fitted(X, y, begin, **options)
    noise_std, kernel = found.noise_std, found.kernel
    assert np.isfinite([*kernel.lengthscale, kernel.amplitude, noise_std, found.mean]).all()
    assert log_likelihood(X, y, found) >= log_likelihood(X, y, begin) - 1e-9
    belief = GaussianProcess(2, noise_std, kernel, found.mean)
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        belief.learn(x, label, str(i))
    assert np.isfinite([(one.mean, one.std) for one in belief.predict_many(X)]).all()


def test_labels_all_alike_do_not_shrink_the_prior_to_dust():
    X = ORDINARY[0]
    for value in (0.1, 1e6 / 3.0):
        found = fitted(X, np.full(12, value), fit_noise=True, fit_mean=True)
        assert found.mean == pytest.approx(value)
        assert found.kernel.amplitude >= 1e-5
        assert found.noise_std >= 1e-5


def test_no_labels_leave_the_parameters_as_they_are():
    assert fitted(np.empty((0, 2)), np.empty(0)) == start(2)


@pytest.mark.parametrize("scale", [1e6, 1e-6])
def test_a_fit_follows_the_units_of_points_and_labels(scale):
    X, y = drawn(branin, 30, 2, seed=1)
    one = fitted(X, y, fit_noise=True)
    other = fitted(scale * X, scale * y, fit_noise=True)
    lengths = np.divide(other.kernel.lengthscale, one.kernel.lengthscale)
    assert lengths == pytest.approx([scale, scale], rel=1e-2)
    assert other.noise_std == pytest.approx(scale * one.noise_std, rel=1e-2)
    assert other.kernel.amplitude == pytest.approx(scale**2 * one.kernel.amplitude, rel=5e-2)


def test_more_labels_than_are_searched_are_all_used_in_the_end():
    X, y = drawn(branin, SEARCHED + 20, 2, seed=2)
    found = fitted(X, y)
    likelihood = Likelihood(X, y, found, fit_noise=False, fit_mean=False)
    gradient = likelihood.value_and_gradient(likelihood.theta(found))[1]
    assert log_likelihood(X, y, found) >= log_likelihood(X, y, start(2))
    assert abs(gradient).max() < 0.05
    assert fitted(X, y) == found


def test_a_fit_is_never_worse_than_where_it_started():
    X, y = drawn(branin, SEARCHED + 20, 2, seed=2)
    best = fitted(X, y)
    assert log_likelihood(X, y, fitted(X, y, best, seed=5)) >= log_likelihood(X, y, best) - 1e-9


def test_a_fitted_mean_finds_the_offset():
    X, y = drawn(hills, 40, 2, seed=0)
    found = fitted(X, y + 1000.0, fit_mean=True)
    assert found.mean == pytest.approx(1000.0, abs=5.0)
    assert found.kernel.amplitude < 100.0


@pytest.mark.parametrize("noise_std", [0.05, 0.3])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_fitted_noise_is_right_within_a_factor_of_two(noise_std, seed):
    X, y = drawn(branin, 100, 2, seed, noise_std)
    assert noise_std / 2 < fitted(X, y, fit_noise=True).noise_std < 2 * noise_std


def test_what_is_not_fitted_stays_as_given():
    X, y = drawn(branin, 20, 2, seed=0)
    found = fitted(X, y, Parameters(Matern(3.3, 0.5, 2.0), 0.123, 4.5))
    assert (found.noise_std, found.mean, found.kernel.smoothness) == (0.123, 4.5, 3.3)
    assert isinstance(found.kernel.lengthscale, float)
