"""A replayed stream, looked at in blocks, is the stream decided one by one."""

import numpy as np
import pytest

from breakeven import (
    Always,
    Cells,
    GaussianProcess,
    Learner,
    Matern,
    RandomSelect,
    SquaredExponential,
    Threshold,
    VariableUncertainty,
)
from breakeven.beliefs.gp import capacity
from breakeven.beliefs.gp.factor import ROWS_PER_BLOCK
from breakeven.learner.replay import replay
from breakeven.testing.stream_runs import assert_same_state

NOISE_STD = 0.1
RULES = [Threshold(0.3), RandomSelect(0.05), RandomSelect(0.5), VariableUncertainty("figures_gp"), Always()]
BELIEFS = {
    "exact": lambda: GaussianProcess(2, NOISE_STD, SquaredExponential(0.3)),
    "rough": lambda: GaussianProcess(2, NOISE_STD, Matern(1.5, 0.5), mean=1.0),
    "fitted": lambda: GaussianProcess(2, NOISE_STD, fit="growing"),
    "dictionary": lambda: GaussianProcess(2, NOISE_STD, SquaredExponential(0.7), capacity="auto"),
    "cells": lambda: Cells([0.0, 0.0], [1.0, 1.0], NOISE_STD),
}


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(capacity, "FIRST_DICTIONARY", 30)


def stream(count=250, seed=0):
    random = np.random.default_rng(seed)
    X = random.random((count, 2))
    return X, np.sin(4.0 * X.sum(axis=1)) + NOISE_STD * random.standard_normal(count)


def one_by_one(learner, X, y):
    for x, label in zip(X, y, strict=True):
        decision = learner.decide(x)
        yield decision, learner.tell(decision.id, label) if decision.wants_label else decision.prediction


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("belief", BELIEFS)
def test_decisions_and_the_learner_afterwards_are_those_of_the_loop(belief, rule):
    blocks, loop = (Learner(BELIEFS[belief](), rule, label_cost=2.0, seed=3) for _ in range(2))
    X, y = stream()
    replayed = list(replay(blocks, blocks.belief.points(X), y))
    for (decision, after), (alone, then) in zip(replayed, one_by_one(loop, X, y), strict=True):
        assert decision.wants_label == alone.wants_label
        assert decision.uncertainty == pytest.approx(alone.uncertainty, rel=1e-8, abs=1e-8)
        assert after.mean == pytest.approx(then.mean, rel=1e-8, abs=1e-8)
        assert after.std == pytest.approx(then.std, rel=1e-6, abs=1e-6)
    assert_same_state(blocks, loop)


def test_labels_awaited_from_before_narrow_a_replayed_stream_too():
    blocks, loop = (Learner(BELIEFS["exact"](), Threshold(0.3), label_cost=2.0) for _ in range(2))
    X, y = stream()
    for learner in (blocks, loop):
        for x in X[:3]:
            learner.decide(x, force=True)
    replayed = list(replay(blocks, blocks.belief.points(X[3:]), y[3:]))
    alone = list(one_by_one(loop, X[3:], y[3:]))
    assert [decision.wants_label for decision, _ in replayed] == [
        decision.wants_label for decision, _ in alone
    ]
    assert [decision.uncertainty for decision, _ in replayed] == pytest.approx(
        [decision.uncertainty for decision, _ in alone], rel=1e-8
    )
    assert list(blocks.awaited) == list(loop.awaited)


def test_a_replay_that_fills_a_block_of_the_factor_leaves_the_bits_of_the_loop():
    blocks, loop = (Learner(BELIEFS["exact"](), RandomSelect(0.2), label_cost=2.0) for _ in range(2))
    X, y = stream(ROWS_PER_BLOCK + 90)
    for learner in (blocks, loop):
        for x, label in zip(X[: ROWS_PER_BLOCK - 5], y, strict=False):
            learner.learn(x, label)
    rest = slice(ROWS_PER_BLOCK - 5, None)
    replayed = list(replay(blocks, blocks.belief.points(X[rest]), y[rest]))
    for (decision, after), (alone, then) in zip(replayed, one_by_one(loop, X[rest], y[rest]), strict=True):
        assert decision.wants_label == alone.wants_label
        assert after.mean == pytest.approx(then.mean, rel=1e-10, abs=1e-10)
    assert blocks.belief.labels > ROWS_PER_BLOCK
    assert_same_state(blocks, loop)
