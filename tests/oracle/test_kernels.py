"""Kernels against scikit-learn, and Matérn of any smoothness as the mixture of Gaussians that it is."""

from math import exp, inf, lgamma, log

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process import kernels as sklearn

from breakeven import Matern, SquaredExponential
from breakeven.errors import InvalidInput
from breakeven.errors.expect import LARGEST, SMALLEST

SMOOTHNESSES = [0.1, 0.3, 0.8, 1.0, 1.7, 2.0, 2.3, 3.0, 3.3, 10.0, 57.3, 99.9, 100.1, 150.0, 400.0, 1e4]
EXTREME = [1e-3, 0.01, 1e8, 1e12, 1e100]
CLOSED = [0.5, 1.5, 2.5]
KERNELS = [SquaredExponential(), *(Matern(nu) for nu in [*SMOOTHNESSES, *EXTREME, *CLOSED])]
DISTANCES = np.array([1e-10, 1e-6, 1e-3, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0])

everywhere = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def at(kernel, q):
    return kernel.shape(np.asarray(q, dtype=float))


def slopes(kernel, q):
    return kernel.slope(q, kernel.shape(q))


def mixture(nu, q, power=0):
    """Σ e^(−power·t) exp(ν(t + 1 − e^t) − e^(−t)·q/2) over a fine grid of t: DLMF 10.32.10 with u = ν·e^t."""
    t = np.linspace(-30.0, 8.0, 4001) / max(nu / 4.0, 1.0) ** 0.5
    exponent = -nu * (np.expm1(t) - t) - np.exp(-t) * np.asarray(q)[:, None] / 2.0 - power * t
    return np.exp(exponent).sum(axis=1) * (t[1] - t[0])


def mixed(nu, q, power=0):
    """E[τ^power exp(−τq/2)] for 1/τ of the Gamma law of shape ν and mean 1; power 0 is the Matérn shape."""
    whole = exp(lgamma(nu) + nu - nu * log(nu)) if nu < 50 else mixture(nu, [0.0])[0]
    return mixture(nu, q, power) / whole


@pytest.mark.parametrize("amplitude", [1.0, 0.3, 250.0])
@pytest.mark.parametrize("lengthscale", [0.7, (0.3, 1.0, 40.0)], ids=["one", "each"])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (SquaredExponential, sklearn.RBF),
        *[
            (
                lambda lengthscale, amplitude, nu=nu: Matern(nu, lengthscale, amplitude),
                lambda length, nu=nu: sklearn.Matern(length, nu=nu),
            )
            for nu in [*CLOSED, 0.3, 1.7, 3.3]
        ],
    ],
)
def test_kernel_matrices_agree_with_scikit_learn(ours, theirs, lengthscale, amplitude):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 3)), rng.normal(size=(15, 3))
    kernel = ours(lengthscale=lengthscale, amplitude=amplitude)
    expected = amplitude * theirs(lengthscale)(X, Y)
    assert kernel(X, Y) == pytest.approx(expected, rel=1e-12, abs=1e-12 * amplitude)
    column = kernel.column(X.T, Y[0], kernel.weights(3))
    assert column == pytest.approx(expected[:, 0], rel=1e-12, abs=1e-12 * amplitude)


@pytest.mark.parametrize("nu", [*SMOOTHNESSES, *CLOSED])
def test_matern_is_the_mixture_of_gaussians_that_the_bessel_integral_says(nu):
    assert at(Matern(nu), DISTANCES) == pytest.approx(mixed(nu, DISTANCES), rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("nu", [nu for nu in [*SMOOTHNESSES, *CLOSED] if nu > 1])
def test_the_slope_is_that_of_the_mixture(nu):
    expected = -0.5 * mixed(nu, DISTANCES, power=1)
    assert slopes(Matern(nu), DISTANCES) == pytest.approx(expected, rel=1e-12, abs=1e-13)


@everywhere
def test_the_slope_is_the_derivative_of_the_shape(kernel):
    q = DISTANCES[4:]
    step = 1e-4 * q
    difference = (at(kernel, q + step) - at(kernel, q - step)) / (2 * step)
    assert slopes(kernel, q) == pytest.approx(difference, rel=1e-5, abs=1e-11)


@pytest.mark.parametrize("nu", [1e6, 1e8, 1e12, 1e16, 1e100])
def test_ever_smoother_matern_becomes_the_squared_exponential(nu):
    q = np.concatenate([[0.0], DISTANCES])
    close = 2.0 * (1.0 + q * q) / nu + 1e-13
    assert (abs(at(Matern(nu), q) - at(SquaredExponential(), q)) <= close).all()
    assert (abs(slopes(Matern(nu), q) - slopes(SquaredExponential(), q)) <= close).all()


@pytest.mark.parametrize("side", [-1e-7, 1e-7])
@pytest.mark.parametrize("nu", CLOSED)
def test_closed_forms_join_the_bessel_form(nu, side):
    assert at(Matern(nu + side), DISTANCES) == pytest.approx(at(Matern(nu), DISTANCES), abs=1e-6)
    ratio = slopes(Matern(nu + side), DISTANCES) / slopes(Matern(nu), DISTANCES)
    assert ratio == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("nu", [100.0, 101.0])
def test_nothing_jumps_where_the_expansion_for_large_orders_begins(nu):
    below, above = Matern(nu * (1 - 1e-12)), Matern(nu * (1 + 1e-12))
    assert at(below, DISTANCES) == pytest.approx(at(above, DISTANCES), rel=1e-11)
    assert slopes(below, DISTANCES) == pytest.approx(slopes(above, DISTANCES), rel=1e-11)


@everywhere
def test_correlation_is_one_at_distance_zero_and_falls_to_zero_far_away(kernel):
    q = np.array([0.0, 1e-320, 1e-300, 1e-100, 1e-50, 1e-20, *DISTANCES, 1e6, 1e12, 1e18, 1e20, 1e40, 1e300])
    shape = at(kernel, q)
    assert shape[0] == 1.0
    assert (np.diff(shape) <= 1e-13).all()
    assert shape[-1] == 0.0
    assert (np.isfinite(slopes(kernel, q)) & (slopes(kernel, q) <= 0.0)).all()


@everywhere
def test_points_as_far_apart_as_numbers_may_be_are_uncorrelated(kernel):
    X = np.array([[LARGEST, 0.0], [-LARGEST, 0.0]])
    smallest = msgspec.structs.replace(kernel, lengthscale=SMALLEST)
    assert smallest(X, X).tolist() == np.eye(2).tolist()
    assert smallest.column(X.T, X[0], smallest.weights(2)).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@settings(max_examples=settings().max_examples // 6)
@given(seed=st.integers(0, 2**32 - 1), dim=st.integers(1, 5), spread=st.floats(0.01, 10.0))
def test_kernel_matrices_are_positive_semi_definite(kernel, seed, dim, spread):
    X = spread * np.random.default_rng(seed).normal(size=(25, dim))
    K = kernel(X, X)
    assert (K == K.T).all()
    assert (np.diag(K) == 1.0).all()
    assert np.linalg.eigvalsh(K).min() >= -1e-10


@pytest.mark.parametrize("dim", [1, 4])
def test_threshold_exponents_are_the_papers(dim):
    assert SquaredExponential().exponent(dim) == 1 / (dim + 3)
    assert Matern(1.5).exponent(dim) == 1 / (2 * dim + 3)


@pytest.mark.parametrize(
    "given_as", [[2, 3], (2.0, 3.0), np.array([2.0, 3.0])], ids=["list", "tuple", "array"]
)
def test_lengthscales_of_any_sequence_are_kept_as_floats(given_as):
    assert SquaredExponential(given_as).lengthscale == (2.0, 3.0)
    assert Matern(2, given_as, np.float64(4.0)) == Matern(2.0, (2.0, 3.0), 4.0)


@pytest.mark.parametrize(
    "kind", [SquaredExponential, lambda **rest: Matern(1.5, **rest)], ids=["se", "matern"]
)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lengthscale": 0.0}, "lengthscale: expected a positive, finite number, got 0.0"),
        ({"lengthscale": -1}, "lengthscale: expected a positive, finite number, got -1"),
        ({"lengthscale": inf}, "lengthscale: expected a positive, finite number, got inf"),
        ({"lengthscale": "1"}, "lengthscale: expected a positive, finite number, got '1'"),
        ({"lengthscale": None}, "lengthscale: expected a row of finite numbers, got None"),
        ({"lengthscale": True}, "lengthscale: expected a positive, finite number, got True"),
        ({"lengthscale": (1.0, -1.0)}, "lengthscale: expected a positive, finite number, got -1.0"),
        (
            {"lengthscale": (1.0, float("nan"))},
            r"lengthscale: expected a positive, finite number, got nan",
        ),
        ({"lengthscale": [[1.0], [2.0]]}, "lengthscale: expected a row of finite numbers"),
        ({"lengthscale": [1.0, [2.0]]}, "lengthscale: expected a row of finite numbers"),
        ({"amplitude": 0.0}, "amplitude: expected a positive, finite number, got 0.0"),
        ({"amplitude": (1.0,)}, r"amplitude: expected a positive, finite number, got \(1.0,\)"),
    ],
)
def test_bad_kernel_numbers_are_refused(kind, arguments, message):
    with pytest.raises(InvalidInput, match=message):
        kind(**arguments)


@pytest.mark.parametrize("smoothness", [0, -0.5, inf, float("nan"), "rough", None])
def test_a_bad_smoothness_is_refused(smoothness):
    with pytest.raises(
        InvalidInput, match=f"smoothness: expected a positive, finite number, got {smoothness!r}"
    ):
        Matern(smoothness)
