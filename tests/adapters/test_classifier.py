"""`BreakevenClassifier` keeps scikit-learn's conventions, and answers what costs less."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks

from breakeven.adapters.classifier import BreakevenClassifier
from breakeven.adapters.sklearn import BreakevenRegressor
from breakeven.errors import InvalidInput


@parametrize_with_checks([BreakevenClassifier()])
def test_it_keeps_the_conventions(estimator, check):
    check(estimator)


def test_it_answers_what_costs_less():
    X, y = make_blobs(200, centers=2, cluster_std=3.0, random_state=0)
    names = np.array(["no", "yes"])[y]
    even = BreakevenClassifier().fit(X, names)
    careful = BreakevenClassifier(miss_cost=20.0, false_alarm_cost=1.0).fit(X, names)
    assert even.classes_.tolist() == ["no", "yes"]
    assert (careful.predict(X) == "yes").sum() > (even.predict(X) == "yes").sum()
    assert ((even.predict_proba(X)[:, 1] > 0.5) == (even.predict(X) == "yes")).all()


def test_three_classes_are_refused_with_what_to_do():
    with pytest.raises(
        ValueError, match=r"Only binary classification is supported.*ask about one class at a time"
    ):
        BreakevenClassifier().fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])


RANDOM = np.random.default_rng(6)
ODD_FEATURES = {
    "constant": np.ones((24, 2)),
    "more features than labels": RANDOM.standard_normal((24, 40)),
    "duplicates": np.tile(RANDOM.standard_normal((4, 2)), (6, 1)),
}


@pytest.mark.parametrize("X", ODD_FEATURES.values(), ids=ODD_FEATURES)
def test_odd_features_break_nothing_and_make_nothing_certain(X):
    y = np.arange(len(X)) % 3 == 0  # the same point has different labels
    told = BreakevenClassifier().fit(X, y).predict_proba(X)
    assert told.min() > 0.0
    assert told.max() < 1.0
    answers, spread = BreakevenRegressor().fit(X, 1.0 * np.arange(len(X))).predict(X, return_std=True)
    assert np.isfinite(answers).all()
    assert (spread > 0.0).all()


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"label_cost": 0.0}, "label_cost: expected a positive"),
        ({"label_cost": -1.0}, "label_cost: expected a positive"),
        ({"miss_cost": 0.0, "false_alarm_cost": 1.0}, "miss_cost: expected a positive"),
        ({"miss_cost": 2.0}, "false_alarm_cost: expected a cost beside miss_cost"),
    ],
)
def test_costs_that_cannot_be_are_refused(costs, message):
    with pytest.raises(InvalidInput, match=message):
        BreakevenClassifier(**costs).fit([[0.0], [1.0]], [0, 1])


def test_numbers_that_are_words_are_refused():
    with pytest.raises(ValueError, match="y: expected a row of finite numbers"):
        BreakevenRegressor().fit([[0.0], [1.0]], ["good", "bad"])
