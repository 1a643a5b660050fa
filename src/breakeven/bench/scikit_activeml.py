"""scikit-activeml's `VariableUncertainty`: its budget manager alone, and around a cheap model."""

from typing import Any

import numpy as np

from breakeven.bench.peers import peer
from breakeven.bench.timing import Task

BUDGET = 0.1
SEEN = 20  # labels that the model starts from


def alone(rounds: int) -> Task:
    """Asking only, on uncertainties that cost nothing."""
    managers = peer("skactiveml.stream.budgetmanager")
    rows = np.random.default_rng(0).random((rounds, 1, 1)) / 2

    def run(manager: Any) -> None:
        for row in rows:
            asked = manager.query_by_utility(row[0])
            manager.update(row, asked)

    return Task(run, rounds, lambda: managers.VariableUncertaintyBudgetManager(budget=BUDGET))


def with_model(rounds: int) -> Task:
    """Asking, and learning what is asked for: which half a number lies in."""
    stream, classifiers = peer("skactiveml.stream"), peer("skactiveml.classifier")
    bayes = peer("sklearn.naive_bayes")
    X = np.random.default_rng(0).random((SEEN + rounds, 1, 1))
    y = (X[:, :, 0] > 0.5).astype(int)

    def prepare() -> tuple[Any, Any]:
        model = classifiers.SklearnClassifier(bayes.GaussianNB(), classes=[0, 1], random_state=0)
        return (
            stream.VariableUncertainty(budget=BUDGET, random_state=0),
            model.fit(X[:SEEN, 0], y[:SEEN, 0]),
        )

    def run(pair: tuple[Any, Any]) -> None:
        strategy, model = pair
        for row, label in zip(X[SEEN:], y[SEEN:], strict=True):
            asked = strategy.query(row, clf=model)
            strategy.update(row, asked)
            if len(asked):
                model.partial_fit(row, label)

    return Task(run, rounds, prepare)
