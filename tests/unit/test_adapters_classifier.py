"""`BreakevenClassifier` keeps scikit-learn's conventions, and answers what costs less."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks

from breakeven.adapters.classifier import BreakevenClassifier


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
