"""Streams of types for the compiled loops: every rule of ours, types of every kind, labels hard to add."""

from contextlib import contextmanager

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from breakeven import Always, Never, RandomSelect, Threshold, Value, VariableUncertainty
from breakeven.learner.bulk import arrays, batch, judges, stream

RULES = {
    "type_clock": Threshold(),
    "stream_clock": Threshold(scale=0.4, clock="stream"),
    "random": RandomSelect(0.3),
    "always": Always(),
    "never": Never(),
    "printed": VariableUncertainty("printed"),
    "figures": VariableUncertainty("figures"),
    "figures_gp": VariableUncertainty("figures_gp"),
    "uncertain": VariableUncertainty("uncertain", theta=0.3),
    "uncertain_budget": VariableUncertainty("uncertain", budget=0.1),
    "original": VariableUncertainty("original", budget=0.2, theta=0.9, lately=3.0),
    "value": Value(),
    "value_until": Value(horizon=130),
}
EXAMPLES = settings().max_examples // 5  # of a property that is tried under every rule
NAMES = ["a", "b", b"a", 3, -7, 2**62, ("a", 3), ("a", ("b", b"c"))]
HARD = [1e16, 1.0, -1e16, 1e100, -1e100, 1e-300, 5e-324, -5e-324, 2.0**-1030, 0.1, 1 / 3, -0.0, 2.0**53, 0.5]

finite = st.one_of(st.floats(-100, 100), st.sampled_from(HARD))
arrivals = st.lists(st.tuples(st.sampled_from(NAMES), finite), max_size=150)


@contextmanager
def small_sizes():
    """Every stream is long enough, and every table, window and chunk is soon too short."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "SHORTEST", 1)
        patch.setattr(stream, "SHORTEST_BATCH", 1)
        patch.setattr(stream, "CHUNK_ROUNDS", 37)
        patch.setattr(batch, "FEWEST_IN_COLUMNS", 3)
        patch.setattr(judges, "SHORTEST_FOR_TABLE", 20)
        patch.setattr(arrays, "LARGEST_TABLE", 50)
        patch.setattr(arrays, "SMALLEST_TABLE", 4)
        patch.setattr(arrays, "WINDOW", 5)
        patch.setattr(arrays, "WIDEST", 1000)
        yield


@contextmanager
def one_by_one():
    """No stream is long enough."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "SHORTEST", 10**9)
        patch.setattr(stream, "SHORTEST_BATCH", 10**9)
        yield


def eventful(learner, xs, ys):
    """A history in which everything happens."""
    for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
        decision = learner.decide(x, cost=1.0 + i % 3, force=[None, None, True, False][i % 4])
        if decision.wants_label and i % 3:
            learner.tell(decision.id, y)
            if i % 5 == 1 and learner.keep:
                learner.correct(decision.id, y / 2)
            if i % 5 == 2 and learner.keep:
                learner.withdraw(decision.id)
        elif not decision.wants_label and i % 2 and learner.keep:
            learner.tell(decision.id, y)
        if i % 6 == 5:
            learner.learn(x, y)
