"""The posterior against scikit-learn and dense solves: long histories, repeated points, many dimensions."""

import msgspec
import numpy as np
import pytest
from scipy.linalg import cho_factor, cho_solve
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.gaussian_process.kernels import Matern as SklearnMatern
from threadpoolctl import threadpool_limits

from breakeven import GaussianProcess, Matern, SquaredExponential
from breakeven.beliefs.gp import Parameters
from breakeven.beliefs.gp.exact import ExactSolver
from breakeven.beliefs.gp.factor import ROWS_PER_BLOCK
from breakeven.beliefs.gp.kernels import LEAST_NOISE

NOISE_STD = 0.2
CASES = [
    (1, SquaredExponential(0.3, 2.0), RBF(0.3)),
    (9, SquaredExponential(tuple(np.linspace(0.5, 3.0, 9)), 2.0), RBF(np.linspace(0.5, 3.0, 9))),
    (2, Matern(0.5, 0.7, 2.0), SklearnMatern(0.7, nu=0.5)),
    (3, Matern(1.5, (0.5, 1.0, 2.0), 2.0), SklearnMatern([0.5, 1.0, 2.0], nu=1.5)),
    (9, Matern(2.5, 1.5, 2.0), SklearnMatern(1.5, nu=2.5)),
    (2, Matern(1.1, 0.8, 2.0), SklearnMatern(0.8, nu=1.1)),
]
cases = pytest.mark.parametrize(
    ("dim", "kernel", "theirs"), CASES, ids=[f"{type(k).__name__}-{d}d" for d, k, _ in CASES]
)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with threadpool_limits(1):  # small matrices: a second thread only waits
        yield


def data(n, dim, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n, dim))
    return X, 3.0 + np.sin(3.0 * X.sum(axis=1)) + NOISE_STD * rng.normal(size=n)


def taught(kernel, X, y, mean=0.0, noise_std=NOISE_STD):
    belief = GaussianProcess(X.shape[1], noise_std, kernel, mean)
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        belief.learn(x, label, str(i))
    return belief


def dense(belief, X, y, probes):
    """Means and variances by one dense solve."""
    kernel, noise, mean = belief.kernel, belief.parameters.noise_variance, belief.parameters.mean
    factor = cho_factor(kernel(X, X) + noise * np.eye(len(X)))
    k = kernel(X, probes)
    weights = cho_solve(factor, k)
    return mean + (y - mean) @ weights, kernel.amplitude - (k * weights).sum(axis=0)


def said(predictions):
    return np.array([(one.mean, one.std**2) for one in predictions]).T


def narrowed(belief, probes):
    return [belief.look(x).uncertainty ** 2 for x in probes]


@cases
def test_predictions_agree_with_scikit_learn(dim, kernel, theirs):
    X, y = data(60, dim)
    probes = np.vstack([data(20, dim, seed=1)[0], X[:3]])
    regressor = GaussianProcessRegressor(ConstantKernel(2.0) * theirs, alpha=NOISE_STD**2, optimizer=None)
    means, stds = regressor.fit(X, y - 3.0).predict(probes, return_std=True)
    belief = taught(kernel, X, y, mean=3.0)
    for predictions in (map(belief.predict, probes), belief.predict_many(probes)):
        ours = said(predictions)
        assert ours[0] == pytest.approx(means + 3.0, abs=1e-9)
        assert ours[1] == pytest.approx(stds**2, abs=1e-9)


@cases
def test_the_log_likelihood_agrees_with_scikit_learn(dim, kernel, theirs):
    X, y = data(60, dim)
    regressor = GaussianProcessRegressor(ConstantKernel(2.0) * theirs, alpha=NOISE_STD**2, optimizer=None)
    expected = regressor.fit(X, y - 3.0).log_marginal_likelihood_value_
    belief = taught(kernel, X, y, mean=3.0)
    assert belief.describe()["log_likelihood"] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("kernel", [SquaredExponential((0.3, 0.6)), Matern(1.5, 0.5)], ids=["se", "matern"])
def test_many_labels_across_blocks_stay_exact(kernel):
    X, y = data(2 * ROWS_PER_BLOCK + 40, 2)
    probes = np.vstack(
        [data(30, 2, seed=1)[0], X[[0, ROWS_PER_BLOCK - 1, ROWS_PER_BLOCK, 2 * ROWS_PER_BLOCK]]]
    )
    belief = GaussianProcess(2, NOISE_STD, kernel, 3.0)
    told, awaited, order = [], [], np.random.default_rng(3)
    for i, x in enumerate(X):
        belief.ask(str(i), x)
        awaited.append(i)
        while len(awaited) > 12:
            now = awaited.pop(0 if i % 3 else int(order.integers(len(awaited))))
            told.append(now)
            answer = belief.tell(str(now), X[now], y[now])
        if len(told) in (
            257,
            ROWS_PER_BLOCK - 1,
            ROWS_PER_BLOCK,
            ROWS_PER_BLOCK + 1,
            2 * ROWS_PER_BLOCK + 10,
        ):
            means, variances = dense(belief, X[told], y[told], probes)
            assert said(belief.predict_many(probes)) == pytest.approx(np.array([means, variances]), abs=1e-9)
            assert said(map(belief.predict, probes)) == pytest.approx(np.array([means, variances]), abs=1e-9)
            assert narrowed(belief, probes) == pytest.approx(
                dense(belief, X[told + awaited], y[told + awaited], probes)[1], abs=1e-9
            )
            assert answer.mean == pytest.approx(belief.predict(X[told[-1]]).mean, abs=1e-10)
            assert answer.std == pytest.approx(belief.predict(X[told[-1]]).std, abs=1e-10)
    assert len(told) > 2 * ROWS_PER_BLOCK


@pytest.mark.parametrize(
    "row", [0, 3, 256, ROWS_PER_BLOCK - 1, ROWS_PER_BLOCK, ROWS_PER_BLOCK + 1, ROWS_PER_BLOCK + 59]
)
def test_a_label_that_goes_from_any_block_leaves_the_posterior_of_the_others(row):
    X, y = data(ROWS_PER_BLOCK + 60, 2)
    probes = data(30, 2, seed=1)[0]
    belief = taught(SquaredExponential(0.4), X, y, mean=3.0)
    belief.ask("a", probes[0])
    belief.ask("b", probes[1])
    belief.withdraw(str(row), X[row], y[row])
    rest = np.delete(np.arange(len(X)), row)
    expected = np.array(dense(belief, X[rest], y[rest], probes))
    assert belief.labels == ROWS_PER_BLOCK + 59
    assert said(belief.predict_many(probes)) == pytest.approx(expected, abs=1e-9)
    both = np.vstack([X[rest], probes[:2]])
    assert narrowed(belief, probes) == pytest.approx(
        dense(belief, both, np.zeros(len(both)), probes)[1], abs=1e-9
    )


def test_other_parameters_change_everything_but_the_labels():
    X, y = data(ROWS_PER_BLOCK + 60, 2)
    probes = data(30, 2, seed=1)[0]
    belief = taught(SquaredExponential(0.4), X, y)
    belief.adopt(Parameters(Matern(2.5, (0.7, 0.9), 3.0), 0.5, 2.0).plain())
    fresh = GaussianProcess(2, 0.5, Matern(2.5, (0.7, 0.9), 3.0), 2.0)
    expected = np.array(dense(fresh, X, y, probes))
    assert said(belief.predict_many(probes)) == pytest.approx(expected, abs=1e-9)
    assert (belief.traits.noise_std, belief.traits.prior_std) == (0.5, np.sqrt(3.0))
    assert belief.traits.exponent == 1 / 7


@pytest.mark.parametrize("noise_std", [1e-6, 1e-3, 0.1])
@pytest.mark.parametrize("dim", [1, 9])
def test_one_point_labelled_three_hundred_times_is_their_average(dim, noise_std):
    x, n = np.full(dim, 0.3), 300
    y = 2.0 + noise_std * np.random.default_rng(0).normal(size=n)
    belief = taught(SquaredExponential(0.5), np.tile(x, (n, 1)), y, noise_std=noise_std)
    share = n / (n + noise_std**2)
    rounding = {belief.predict(x): 0.2, belief.predict_many([x, x])[1]: 1.0}  # dtrsm loses a digit to dtrsv
    for prediction, share_of_std in rounding.items():
        miss = prediction.mean - share * y.mean()
        assert abs(miss) < 1e-9 + share_of_std * noise_std / n**0.5
        assert prediction.std**2 == pytest.approx(noise_std**2 * share / n, abs=1e-12)


@pytest.mark.parametrize("noise_std", [1e-9, 1e-5, 1e-3, 1.0, 1e3])
def test_the_answer_to_a_first_label_is_exact_to_the_last_digits(noise_std):
    belief = GaussianProcess(1, noise_std, SquaredExponential(amplitude=4.0), mean=1.0)
    answer = belief.learn(np.zeros(1), 3.0)
    noise_variance = max(noise_std**2, 4.0 * LEAST_NOISE)
    share = 4.0 / (4.0 + noise_variance)
    assert answer.mean == pytest.approx(1.0 + 2.0 * share, rel=1e-12)
    assert answer.std == pytest.approx(np.sqrt(noise_variance * share), rel=1e-9)
    assert answer.noise_std == noise_std


def test_labels_awaited_at_the_same_point_with_hardly_any_noise_stay_finite():
    belief = GaussianProcess(1, 1e-9, SquaredExponential())
    for i in range(40):
        belief.ask(str(i), np.zeros(1))
    for i in (39, 0, 20, 10, 38):
        assert belief.tell(str(i), np.zeros(1), 1.0).mean == pytest.approx(1.0, abs=1e-6)
    assert belief.look(np.zeros(1)).uncertainty == pytest.approx(np.sqrt(LEAST_NOISE / 40), rel=0.1)


@pytest.mark.parametrize("told", [0, 5, 256, ROWS_PER_BLOCK - 1, ROWS_PER_BLOCK, ROWS_PER_BLOCK + 88])
@pytest.mark.parametrize("awaited", [0, 1, 7, 40])
def test_a_stored_posterior_goes_on_with_the_same_bits(told, awaited):
    X, y = data(told + awaited + 30, 3)
    belief = GaussianProcess(3, NOISE_STD, Matern(2.5, (0.5, 0.8, 1.2)))
    numbers = np.random.default_rng(0)
    waiting = []
    for i in range(told + awaited):
        belief.ask(str(i), X[i])
        waiting.append(i)
        if len(waiting) > awaited:
            now = waiting.pop(int(numbers.integers(len(waiting))))
            belief.tell(str(now), X[now], y[now])
    copy = GaussianProcess(3, NOISE_STD, Matern(2.5, (0.5, 0.8, 1.2)))
    copy.load(msgspec.msgpack.decode(msgspec.msgpack.encode(belief.state())))
    assert copy.state() == belief.state()
    for i in range(told + awaited, len(X)):
        mine, other = belief.look(X[i]), copy.look(X[i])
        assert (mine.uncertainty, mine.prediction) == (other.uncertainty, other.prediction)
        for one, view in ((belief, mine), (copy, other)):
            one.ask(str(i), X[i], view)
        now = waiting.pop(int(numbers.integers(len(waiting)))) if waiting else i
        assert belief.tell(str(now), X[now], y[now]) == copy.tell(str(now), X[now], y[now])
    assert copy.predict_many(X) == belief.predict_many(X)
    assert copy.state() == belief.state()


def test_solving_many_points_is_solving_each_across_blocks_of_columns():
    X, y = data(300, 2)
    belief = taught(SquaredExponential(0.5), X, y)
    probes = data(600, 2, seed=1)[0]
    assert said(belief.predict_many(probes)) == pytest.approx(said(map(belief.predict, probes)), abs=1e-10)
    assert belief.predict_many([]) == []


def test_nothing_is_known_before_the_first_label():
    posterior = ExactSolver(2, Parameters(SquaredExponential(amplitude=4.0), 0.1, 5.0))
    solved = posterior.solve(np.zeros(2))
    assert (solved.mean, solved.variance, solved.narrowed) == (5.0, 4.0, 4.0)
    assert [array.tolist() for array in posterior.solve_many(np.zeros((2, 2)))] == [[5.0, 5.0], [4.0, 4.0]]
    assert posterior.log_likelihood() == 0.0
