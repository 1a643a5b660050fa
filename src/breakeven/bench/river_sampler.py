"""river's `EntropySampler`: alone, on probabilities that cost nothing, and around a cheap model."""

from typing import Any

from breakeven.bench.peers import peer
from breakeven.bench.timing import Task
from breakeven.bench.type_stream import TYPES, type_stream

MANY = 10  # times as many rounds as of slower peers
PROBABILITIES = {False: 0.9, True: 0.1}


class Given:
    """Stands in for a model: always the same two probabilities."""

    def predict_proba_one(self, x: Any) -> dict[bool, float]:
        """What a classifier of river's answers."""
        return PROBABILITIES


def alone(rounds: int) -> Task:
    """Asking only: the model costs nothing and never learns."""
    sampler = peer("river.active").EntropySampler(Given(), seed=0)
    rows = [{"type": x} for x in type_stream(MANY * rounds).xs.tolist()]

    def run() -> None:
        for row in rows:
            sampler.predict_proba_one(row)

    return Task(run, len(rows))


def with_model(rounds: int) -> Task:
    """Asking, and learning what is asked for: whether a type is one of the upper half."""
    active, linear_model = peer("river.active"), peer("river.linear_model")
    xs = type_stream(MANY * rounds).xs.tolist()
    rows = [({x: 1.0}, x >= TYPES // 2) for x in xs]

    def run(sampler: Any) -> None:
        for row, label in rows:
            if sampler.predict_proba_one(row)[1]:
                sampler.learn_one(row, label)

    return Task(run, len(rows), lambda: active.EntropySampler(linear_model.LogisticRegression(), seed=0))
