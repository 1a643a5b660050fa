"""The likelihood against scikit-learn and dense solves, its gradient against finite differences."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from breakeven import Matern, SquaredExponential
from breakeven.beliefs.gp import Parameters
from breakeven.beliefs.gp import likelihood as module
from breakeven.beliefs.gp.likelihood import Likelihood

KINDS = {
    "se": SquaredExponential,
    **{
        f"matern {nu}": lambda *rest, nu=nu: Matern(nu, *rest)
        for nu in (0.02, 0.3, 0.5, 1.0, 1.3, 1.5, 2.5, 4.2, 130.0)
    },
}
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
scales = pytest.mark.parametrize("lengthscale", [0.6, (0.4, 0.8, 2.0)], ids=["one", "each"])
noises = pytest.mark.parametrize("fit_noise", [False, True], ids=["noise known", "noise fitted"])
means = pytest.mark.parametrize("fit_mean", [False, True], ids=["mean known", "mean fitted"])


@dataclass(frozen=True)
class Labels:
    """Labels in three dimensions, some at the same point."""

    n: int = 25
    noise_std: float = 0.3

    @property
    def X(self):
        X = np.random.default_rng(0).random((self.n, 3))
        X[1:3] = X[0]
        return X

    @property
    def y(self):
        return 5.0 + np.sin(4.0 * self.X).sum(axis=1) + 0.1 * np.random.default_rng(1).normal(size=self.n)

    def likelihood(self, kernel, *, fit_noise=False, fit_mean=False):
        start = Parameters(kernel, self.noise_std, 4.0)
        return Likelihood(self.X, self.y, start, fit_noise=fit_noise, fit_mean=fit_mean)


def differences(function, theta, step=1e-5):
    steps = step * np.eye(len(theta))
    return np.array([(function(theta + h) - function(theta - h)) / (2.0 * step) for h in steps])


@kinds
@scales
@noises
@means
def test_the_gradient_is_that_of_the_value(kind, lengthscale, fit_noise, fit_mean):
    likelihood = Labels().likelihood(kind(lengthscale, 1.7), fit_noise=fit_noise, fit_mean=fit_mean)
    theta = likelihood.theta(likelihood.start)
    value, gradient = likelihood.value_and_gradient(theta)
    assert len(theta) == len(np.atleast_1d(lengthscale)) + 1 + fit_noise
    assert value == likelihood.value(theta)
    assert gradient == pytest.approx(differences(likelihood.value, theta), rel=1e-5, abs=1e-6)


@kinds
@scales
def test_the_gradient_stays_finite_with_hardly_any_noise(kind, lengthscale):
    likelihood = Labels(noise_std=1e-7).likelihood(kind(lengthscale, 1.7))
    value, gradient = likelihood.value_and_gradient(likelihood.theta(likelihood.start))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


@kinds
@scales
@noises
def test_distances_kept_or_computed_as_needed_give_the_same(kind, lengthscale, fit_noise, monkeypatch):
    kept = Labels().likelihood(kind(lengthscale, 1.7), fit_noise=fit_noise)
    monkeypatch.setattr(module, "PAIRS_KEPT", 0)
    needed = Labels().likelihood(kind(lengthscale, 1.7), fit_noise=fit_noise)
    assert (kept._kept is None, needed._kept is None) == (False, True)
    theta = kept.theta(kept.start)
    value, gradient = needed.value_and_gradient(theta)
    assert value == pytest.approx(kept.value(theta), rel=1e-12)
    assert gradient == pytest.approx(kept.value_and_gradient(theta)[1], rel=1e-9, abs=1e-9)


@kinds
def test_the_value_is_the_density_of_the_labels(kind):
    labels, kernel = Labels(), kind((0.4, 0.8, 2.0), 1.7)
    likelihood = labels.likelihood(kernel)
    covariance = kernel(labels.X, labels.X) + labels.noise_std**2 * np.eye(labels.n)
    expected = multivariate_normal.logpdf(labels.y, np.full(labels.n, 4.0), covariance)
    assert likelihood.value(likelihood.theta(likelihood.start)) == pytest.approx(-expected, abs=1e-9)


def test_value_and_gradient_agree_with_scikit_learn():
    labels = Labels()
    likelihood = labels.likelihood(SquaredExponential((0.4, 0.8, 2.0), 1.7), fit_noise=True)
    kernel = ConstantKernel(1.7) * RBF([0.4, 0.8, 2.0]) + WhiteKernel(labels.noise_std**2)
    theirs = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(labels.X, labels.y - 4.0)
    value, gradient = theirs.log_marginal_likelihood(theirs.kernel_.theta, eval_gradient=True)
    amplitude, *lengthscales, noise_variance = -gradient
    ours = likelihood.value_and_gradient(likelihood.theta(likelihood.start))
    assert ours[0] == pytest.approx(-value, abs=1e-9)
    assert ours[1] == pytest.approx([*lengthscales, amplitude, 2.0 * noise_variance], abs=1e-8)


@scales
def test_a_fitted_mean_is_the_best_of_all_means(lengthscale):
    labels = Labels()
    fitted = labels.likelihood(SquaredExponential(lengthscale), fit_mean=True)
    theta = fitted.theta(fitted.start)
    best = fitted.parameters(theta)

    def at(mean):
        start = Parameters(best.kernel, best.noise_std, mean)
        return Likelihood(labels.X, labels.y, start, fit_noise=False, fit_mean=False).value(theta)

    assert at(best.mean) == pytest.approx(fitted.value(theta), rel=1e-12)
    assert min(at(best.mean - 1e-3), at(best.mean + 1e-3)) > at(best.mean)


@scales
@noises
def test_theta_and_parameters_are_each_others_inverse(lengthscale, fit_noise):
    likelihood = Labels().likelihood(Matern(2.5, lengthscale, 1.7), fit_noise=fit_noise)
    again = likelihood.parameters(likelihood.theta(likelihood.start))
    assert again.kernel.lengthscale == pytest.approx(lengthscale, rel=1e-14)
    assert (again.kernel.amplitude, again.noise_std) == pytest.approx((1.7, 0.3), rel=1e-14)
    assert (again.mean, again.kernel.smoothness) == (4.0, 2.5)


def test_a_matrix_that_cannot_be_factored_is_infinitely_unlikely():
    X, y = np.zeros((3, 1)), np.arange(3.0)
    likelihood = Likelihood(X, y, Parameters(SquaredExponential(), 0.1), fit_noise=False, fit_mean=False)
    theta = np.log([1.0, 1e30])
    assert likelihood.value(theta) == np.inf
    assert likelihood.value_and_gradient(theta)[0] >= 1e300
    assert likelihood.value_and_gradient(theta)[1].tolist() == [0.0, 0.0]
