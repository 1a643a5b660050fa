"""`BreakevenClassifier` keeps scikit-learn's conventions, and answers what costs less."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks

from breakeven import GaussianProcess
from breakeven.adapters.classifier import BreakevenClassifier
from breakeven.beliefs import recognised
from breakeven.beliefs.belief_data import OUR_BELIEFS
from breakeven.values import Prediction


class Regressed(GaussianProcess):
    """Stands in for a belief in yes/no labels: a process of 0 and 1, its mean taken for the probability."""

    def _answer(self, mean, variance):
        return _yes_no(mean, variance**0.5, self._noise_std, self.level)

    def predict_many(self, points):
        return [self.predict(point) for point in points]


def _yes_no(mean, std, noise_std, level):
    q = min(max(mean, 0.001), 0.999)
    return Prediction(float(q > 1.0 - level), std, noise_std, probability=q, centre=q)


@pytest.fixture(autouse=True)
def belief(monkeypatch):
    monkeypatch.setitem(OUR_BELIEFS, "own:Regressed", Regressed)
    monkeypatch.setattr(recognised, "YES_NO_ROWS", lambda dim: Regressed(dim, 0.3, mean=0.5))


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
