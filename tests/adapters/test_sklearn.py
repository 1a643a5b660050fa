"""`BreakevenRegressor` keeps scikit-learn's conventions, and its query is the learner's."""

import os
import subprocess
import sys

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency, parametrize_with_checks

from breakeven import Matern
from breakeven.adapters.matching import learner_for
from breakeven.adapters.sklearn import BreakevenRegressor
from breakeven.errors import InvalidInput

NOT_APPLICABLE: dict[str, str] = {}  # checks by name, each with its reason: all apply


@parametrize_with_checks([BreakevenRegressor()], expected_failed_checks=lambda _: NOT_APPLICABLE)
def test_it_keeps_the_conventions(estimator, check):
    check(estimator)


def test_it_does_so_with_array_api_dispatch():
    """A check that scikit-learn skips unless SciPy was told so before it was loaded."""
    pytest.importorskip("sklearn", minversion="1.9", reason="older ones check it with array-api-compat only")
    code = """
from sklearn.utils.estimator_checks import check_array_api_input
from breakeven.adapters.sklearn import BreakevenRegressor
check_array_api_input(
    "BreakevenRegressor", BreakevenRegressor(), array_namespace="numpy", expect_only_array_outputs=False
)
"""
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "SCIPY_ARRAY_API": "1"}, check=True)


def test_it_takes_the_names_of_columns():
    pytest.importorskip("pandas", reason="names of columns come with a frame of pandas")
    check_dataframe_column_names_consistency("BreakevenRegressor", BreakevenRegressor())


@pytest.fixture
def stream():
    X = np.random.default_rng(1).uniform(0.0, 6.0, size=(60, 1))
    return X, np.sin(X[:, 0])


def test_a_stream_row_by_row_is_the_learners(stream):
    regressor = BreakevenRegressor(label_cost=0.2, noise_std=0.1, horizon=60)
    learner = learner_for(1, label_cost=0.2, noise_std=0.1, horizon=60)
    for x, y in zip(*stream, strict=True):
        if regressor.query([x])[0]:
            regressor.partial_fit([x], [y])
        decision = learner.decide(x)
        if decision.wants_label:
            learner.tell(decision.id, y)
            learner.fit()
    assert regressor.learner_.snapshot() == learner.snapshot()
    means, stds = regressor.predict(stream[0], return_std=True)
    assert means == pytest.approx(stream[1], abs=0.1)
    assert stds.tolist() == [one.std for one in learner.predict_many(stream[0])]


def test_batches_leave_nothing_awaited(stream):
    X, y = stream
    regressor = BreakevenRegressor(label_cost=0.2, noise_std=0.1, horizon=60)
    asked = []
    for low in range(0, 60, 20):
        rows = slice(low, low + 20)
        wanted = regressor.query(X[rows])
        assert wanted.dtype == bool
        asked.append(int(wanted.sum()))
        if wanted.any():
            regressor.partial_fit(X[rows][wanted], y[rows][wanted])
    assert asked[0] == 3  # whose labels say what more are worth
    ledger = regressor.learner_.ledger
    assert (ledger.rounds, ledger.labels, ledger.awaited) == (60, sum(asked), 0)
    assert sum(asked) < 20


def test_rows_in_single_precision_answer_their_questions():
    X = np.random.default_rng(2).normal(size=(10, 3)).astype(np.float32)
    regressor = BreakevenRegressor()
    wanted = regressor.query(X)
    regressor.partial_fit(X[wanted], np.ones(wanted.sum()))
    assert not regressor.learner_.awaited


def test_fit_starts_afresh_and_buys_nothing(stream):
    regressor = BreakevenRegressor().fit(*stream)
    regressor.query(stream[0])
    regressor.fit(stream[0][:30], stream[1][:30])
    assert (regressor.learner_.rounds, regressor.learner_.belief.labels) == (0, 30)
    assert regressor.learner_.ledger.labels == 0


def test_inputs_need_no_scaling():
    X, y = load_diabetes(return_X_y=True, scaled=False)
    plain = BreakevenRegressor().fit(X[:150], y[:150])
    scaled = make_pipeline(StandardScaler(), BreakevenRegressor()).fit(X[:150], y[:150])
    assert plain.predict(X[150:]) == pytest.approx(scaled.predict(X[150:]), abs=5.0)


def test_it_comes_back_from_joblib_even_where_arrays_are_mapped(stream, tmp_path):
    regressor = BreakevenRegressor(noise_std=0.1).fit(*stream)
    regressor.query(stream[0][:5])
    joblib.dump(regressor, tmp_path / "regressor")
    back = joblib.load(tmp_path / "regressor", mmap_mode="r")
    assert back.predict(stream[0]).tolist() == regressor.predict(stream[0]).tolist()
    assert back.query(stream[0]).tolist() == regressor.query(stream[0]).tolist()
    for one in (regressor, back):
        one.partial_fit(*stream)
    assert back.learner_.snapshot() == regressor.learner_.snapshot()


def test_it_clones_and_searches_with_a_kernel(stream):
    kernel = Matern(2.5, lengthscale=0.5)
    regressor = clone(BreakevenRegressor(noise_std=0.1, kernel=kernel, seed=3))
    assert regressor.get_params()["kernel"] == kernel
    search = GridSearchCV(regressor, {"kernel": [None, kernel]}, cv=2).fit(*stream)
    assert search.best_score_ > 0.9
    assert isinstance(regressor.fit(*stream).learner_.belief.parameters.kernel, Matern)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"label_cost": 0.0}, "label_cost: expected a positive, finite number, got 0.0"),
        ({"error_cost": "1"}, "error_cost: expected a positive, finite number, got '1'"),
        ({"noise_std": -1.0}, "noise_std: expected a positive, finite number, got -1.0"),
        ({"horizon": 2.5}, "horizon: expected a whole number of at least 1, got 2.5"),
        ({"kernel": "rbf"}, "kernel: expected a SquaredExponential, a Matern, or one of .*, got 'rbf'"),
        ({"seed": None}, "seed: expected a whole number of at least 0, got None"),
    ],
)
@pytest.mark.parametrize("verb", ["fit", "partial_fit", "query"])
def test_bad_parameters_are_refused_at_the_first_use(parameters, message, verb):
    regressor = BreakevenRegressor(**parameters)
    arguments = ([[0.0], [1.0]],) if verb == "query" else ([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(InvalidInput, match=message):
        getattr(regressor, verb)(*arguments)
    assert not hasattr(regressor, "learner_")


@pytest.mark.parametrize(
    ("X", "y", "parameters"),
    [
        ([[0.0, 1.0], [1.0, 0.0]], [0.0, 1.0], {"label_cost": -1.0}),
        ([[0.0, 1.0], [1.0, np.nan]], [0.0, 1.0], {}),
        ([[0.0, 1.0], [1.0, 1e200]], [0.0, 1.0], {}),
        ([[0.0, 1.0]], [0.0, 1.0], {}),
    ],
    ids=["price", "nan", "large", "lengths"],
)
def test_a_refused_fit_changes_nothing(stream, X, y, parameters):
    regressor = BreakevenRegressor(noise_std=0.1).fit(*stream)
    before = regressor.predict(stream[0]).tolist()
    regressor.set_params(**parameters)
    with pytest.raises(ValueError, match=r"expected|NaN|inconsistent"):
        regressor.fit(X, y)
    assert regressor.n_features_in_ == 1
    assert regressor.predict(stream[0]).tolist() == before


def test_a_refused_first_call_leaves_nothing_behind():
    regressor = BreakevenRegressor(label_cost=-1.0)
    before = dict(vars(regressor))
    with pytest.raises(InvalidInput):
        regressor.query([[0.0]])
    assert vars(regressor) == before


def test_before_the_first_label_nothing_says_how_large_labels_are():
    regressor = BreakevenRegressor()
    regressor.query([[0.0], [1.0]])
    means, stds = regressor.predict([[0.0], [1.0]], return_std=True)
    assert (means.tolist(), stds.tolist()) == ([0.0, 0.0], [np.inf, np.inf])
    regressor.partial_fit([[0.0], [1.0]], [100.0, 130.0])
    means, stds = regressor.predict([[0.0], [1.0]], return_std=True)
    assert (means.tolist(), stds.tolist()) == ([115.0, 115.0], [np.inf, np.inf])
    regressor.partial_fit([[0.5]], [120.0])
    means, stds = regressor.predict([[0.0], [1.0]], return_std=True)
    assert np.isfinite(stds).all()
    assert means.mean() == pytest.approx(115.0, abs=15.0)


def test_the_std_and_intervals_are_those_of_the_average(stream):
    regressor = BreakevenRegressor().fit(*stream)
    _, stds = regressor.predict(stream[0][:3], return_std=True)
    for x, std in zip(stream[0], stds, strict=False):
        prediction = regressor.learner_.predict(x)
        low, high = prediction.interval(0.68)
        assert std == prediction.std == pytest.approx((high - low) / 2, rel=1e-6)
        assert prediction.interval(of="label")[1] == prediction.label_quantiles[-2]
