"""The stream of types that all of Algorithm 1's benchmarks run on, and what others do on it.

Plain Python; river's `EntropySampler` and scikit-activeml's `VariableUncertainty`, each alone, on numbers
that cost nothing, and around a cheap model.
"""

from math import inf, log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from breakeven.learner import Learner, algorithm1
from breakeven_research.bench.results import peer
from breakeven_research.bench.timing import Task

TYPES, NOISE, DELTA, PRICE = 100, 0.1, 0.05, 10.0


class TypeStream(NamedTuple):
    """Types with equal chances, as integers, and their noisy labels."""

    xs: NDArray[np.int64]
    ys: NDArray[np.float64]


def type_stream(rounds: int) -> TypeStream:
    """So many rounds; the same for the same number."""
    random = np.random.default_rng(0)
    means, xs = random.random(TYPES), random.integers(TYPES, size=rounds)
    ys = random.standard_normal(rounds)
    ys *= NOISE
    ys += means[xs]
    return TypeStream(xs, ys)


def learner(price: float = PRICE) -> Learner:
    """A new one, that has seen nothing."""
    return algorithm1(label_cost=price, noise_std=NOISE, delta=DELTA)


def one_by_one(xs: list[int], ys: list[float]) -> None:
    """Algorithm 1 through the verbs that everyone uses."""
    ours = learner()
    for x, y in zip(xs, ys, strict=True):
        decision = ours.decide(x)
        if decision.wants_label:
            ours.tell(decision.id, y)


def plain_python(xs: list[int], ys: list[float]) -> None:
    """The lines of the textbook, which check and remember nothing else."""
    labels = 0
    arrivals: dict[int, int] = {}
    labelled: dict[int, int] = {}
    sums: dict[int, float] = {}
    asked, predictions, radii, thresholds = [], [], [], []
    for x, y in zip(xs, ys, strict=True):
        m = arrivals[x] = arrivals.get(x, 0) + 1
        n = labelled.get(x, 0)
        radius = sqrt(2 * NOISE**2 * log(2 * labels**3 / DELTA) / n) if n else inf
        threshold = (PRICE / m) ** (1 / 3)
        wanted = radius > threshold
        if wanted:
            labels += 1
            labelled[x] = n + 1
            sums[x] = sums.get(x, 0.0) + y
        asked.append(wanted)
        predictions.append(sums[x] / labelled[x])
        radii.append(radius)
        thresholds.append(threshold)


# -- river ---------------------------------------------------------------------------------------------------


MANY = 10  # times as many rounds as of slower peers
PROBABILITIES = {False: 0.9, True: 0.1}


class Given:
    """Stands in for a model: always the same two probabilities."""

    def predict_proba_one(self, x: Any) -> dict[bool, float]:
        """What a classifier of river's answers."""
        return PROBABILITIES


def river_alone(rounds: int) -> Task:
    """Asking only: the model costs nothing and never learns."""
    sampler = peer("river.active").EntropySampler(Given(), seed=0)
    rows = [{"type": x} for x in type_stream(MANY * rounds).xs.tolist()]

    def run() -> None:
        for row in rows:
            sampler.predict_proba_one(row)

    return Task(run, len(rows))


def river_with_model(rounds: int) -> Task:
    """Asking, and learning what is asked for: whether a type is one of the upper half."""
    active, linear_model = peer("river.active"), peer("river.linear_model")
    xs = type_stream(MANY * rounds).xs.tolist()
    rows = [({x: 1.0}, x >= TYPES // 2) for x in xs]

    def run(sampler: Any) -> None:
        for row, label in rows:
            if sampler.predict_proba_one(row)[1]:
                sampler.learn_one(row, label)

    return Task(run, len(rows), lambda: active.EntropySampler(linear_model.LogisticRegression(), seed=0))


# -- scikit-activeml -----------------------------------------------------------------------------------------


BUDGET = 0.1
SEEN = 20  # labels that the model starts from


def activeml_alone(rounds: int) -> Task:
    """Asking only, on uncertainties that cost nothing."""
    managers = peer("skactiveml.stream.budgetmanager")
    rows = np.random.default_rng(0).random((rounds, 1, 1)) / 2

    def run(manager: Any) -> None:
        for row in rows:
            asked = manager.query_by_utility(row[0])
            manager.update(row, asked)

    return Task(run, rounds, lambda: managers.VariableUncertaintyBudgetManager(budget=BUDGET))


def activeml_with_model(rounds: int) -> Task:
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
