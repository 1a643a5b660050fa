"""`BreakevenClassifier` keeps scikit-learn's conventions, and answers what costs less."""

import re

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


@pytest.mark.parametrize(
    "classes", [(0, 1), (False, True), (0.0, 1.0), ("no", "yes"), ("No", "Yes")], ids=str
)
@pytest.mark.parametrize("rare", [0, 1])
def test_the_other_answer_may_come_late_and_is_never_ruled_out(classes, rare):
    X, common = np.arange(12.0)[:, None], classes[1 - rare]
    classifier = BreakevenClassifier(label_cost=0.01)
    for x in X:
        assert classifier.query([x]).all()
        classifier.partial_fit([x], [common])
    told = classifier.predict_proba(X)
    assert classifier.classes_.tolist() == list(classes)
    assert 0.0 < told.min() < told.max() < 1.0
    assert told == pytest.approx(BreakevenClassifier().fit(X, [common] * 12).predict_proba(X), abs=0.01)
    classifier.partial_fit([[12.0]], [classes[rare]])
    assert (classifier.predict_proba(X)[:, rare] > told[:, rare]).all()


def test_of_classes_that_say_neither_yes_nor_no_both_are_named_first():
    X = [[0.0], [1.0]]
    with pytest.raises(InvalidInput, match=r"expected both of them, before the first label, got \['b'"):
        BreakevenClassifier().partial_fit(X, ["b", "b"])
    named = BreakevenClassifier().partial_fit(X, ["b", "b"], classes=["a", "b"])
    assert 0.5 < named.predict_proba(X)[:, 1].min() < 1.0
    for classes in (["b", "c"], ["b"]):
        with pytest.raises(InvalidInput, match=r"classes: expected \['a', 'b'\], as before, got"):
            named.partial_fit(X, ["a", "b"], classes=classes)
    named.partial_fit(X, ["a", "b"], classes=["b", "a"])
    with pytest.raises(InvalidInput, match=r"got \['c'\]; ask about one class at a time"):
        named.partial_fit(X, ["a", "c"])
    with pytest.raises(InvalidInput, match=r"got \['a'\]; begin with `partial_fit`, which takes both"):
        BreakevenClassifier().fit(X, ["b", "b"]).partial_fit(X, ["b", "a"])


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


@pytest.mark.parametrize("y", [["good", "bad"], [True, False]], ids=["words", "truth values"])
@pytest.mark.parametrize("verb", ["fit", "partial_fit"])
def test_labels_that_are_no_numbers_are_refused_with_who_takes_them(verb, y):
    words = f"y: expected a row of finite numbers, got {y}; for two classes there is BreakevenClassifier"
    with pytest.raises(InvalidInput, match=re.escape(words)):
        getattr(BreakevenRegressor(), verb)([[0.0], [1.0]], y)
