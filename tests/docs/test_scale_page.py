"""What docs/scale.md says of a key of the default belief is what a key needs, within one and a half times."""

import gc
import tracemalloc

import numpy as np
import pytest

from breakeven import Averaged, Learner, Value
from tests.docs.reader import ROOT, examples

WITHIN = 1.5


@pytest.fixture(scope="module")
def default_key():
    names = {}
    page = ROOT / "docs" / "scale.md"
    (block,) = [text for _, text in examples(page) if "def default_key(" in text]
    exec(compile(block, str(page), "exec"), names)
    return names["default_key"]


def clinic(labels, dim, seed=3):
    """A learner whose arrivals are all labelled."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(labels, dim))
    Y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.3 * random.normal(size=labels)
    learner = Learner(Averaged(dim), Value(horizon=10**6, scored="labels"), label_cost=1e-9)
    for x, y in zip(X, Y.tolist(), strict=True):
        learner.tell(learner.decide(x).id, y)
    return learner


def is_right(default_key, labels, dim):
    learner = clinic(labels, dim)
    blob, said = learner.snapshot(), default_key(labels, dim, remembered=learner.rounds)
    measured = {"state": len(blob), "memory": memory(blob, np.zeros(dim))}
    for what, size in measured.items():
        assert 1 / WITHIN <= size / said[what] <= WITHIN, (what, size, said[what])


def memory(blob, point):
    """Bytes that a restored learner holds once it has decided."""
    gc.collect()
    tracemalloc.start()
    learner = Learner.restore(blob)
    learner.decide(point)
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return held


@pytest.mark.parametrize("labels", [30, 100])
def test_a_key_of_the_default_belief_needs_what_the_page_says(default_key, labels):
    is_right(default_key, labels, dim=8)


@pytest.mark.slow
@pytest.mark.parametrize("dim", [2, 8, 20])
@pytest.mark.parametrize("labels", [30, 100, 300, 1000])
def test_keys_of_every_size_need_what_the_page_says(default_key, labels, dim):
    is_right(default_key, labels, dim)
