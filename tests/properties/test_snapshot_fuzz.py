"""Damaged snapshots are never read, and whole ones always are, wherever in its life a learner is."""

from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from breakeven import (
    Cells,
    GaussianProcess,
    Learner,
    Matern,
    RandomSelect,
    SquaredExponential,
    Threshold,
    TypeMeans,
    VariableUncertainty,
    algorithm1,
    algorithm2,
)
from breakeven.errors import BreakevenError, SnapshotError

# -- damage --------------------------------------------------------------------------------------------


@cache
def small():
    learner = algorithm1(label_cost=1.0, noise_std=0.1)
    learner.tell(learner.decide("a").id, 1.0)
    learner.decide_many(["b", "a", ("c", 3)])
    return learner.snapshot()


@cache
def smooth():
    learner = algorithm2(1, label_cost=1.0, noise_std=0.1, warmup=2)
    learner.decide_many([0.1, 0.5, 0.9])
    learner.tell_many(["1", "2"], [0.0, 1.0])
    return learner.snapshot()


SNAPSHOTS = {"types": small, "process": smooth}


def assert_refused(blob):
    with pytest.raises(SnapshotError, match=r"^snapshot: expected .*, got ") as caught:
        Learner.restore(blob)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, BreakevenError)


@pytest.mark.parametrize("kind", list(SNAPSHOTS))
def test_a_snapshot_cut_short_anywhere_is_refused(kind):
    blob = SNAPSHOTS[kind]()
    for length in range(0, len(blob), 1 if kind == "types" else 7):
        assert_refused(blob[:length])


@pytest.mark.parametrize("kind", list(SNAPSHOTS))
def test_a_snapshot_with_any_one_bit_turned_is_refused(kind):
    blob = SNAPSHOTS[kind]()
    for place in range(0, len(blob), 1 if kind == "types" else 5):
        damaged = bytearray(blob)
        damaged[place] ^= 1 << place % 8
        assert_refused(bytes(damaged))


def test_300_snapshots_with_one_random_byte_changed_are_refused():
    random = np.random.default_rng(8)
    for blob in (small(), smooth()):
        for _ in range(150):
            damaged = bytearray(blob)
            damaged[random.integers(len(blob))] ^= int(random.integers(1, 256))
            assert_refused(bytes(damaged))


@given(st.data())
def test_a_snapshot_with_bytes_lost_doubled_or_swapped_is_refused(data):
    blob = data.draw(st.sampled_from([small(), smooth()]))
    low, high = sorted(data.draw(st.integers(0, len(blob))) for _ in range(2))
    damaged = data.draw(
        st.sampled_from(
            [
                blob[:low] + blob[high:],
                blob[:high] + blob[low:],
                blob[:low] + blob[low:high][::-1] + blob[high:],
                blob[:low] + bytes(high - low) + blob[high:],
                blob[low:] + blob[:low],
            ]
        )
    )
    assume(damaged != blob)
    assert_refused(damaged)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused(blob):
    assert_refused(blob)


@given(st.binary(max_size=60))
def test_random_bytes_behind_a_true_head_are_refused(tail):
    assert_refused(small()[:44] + tail)


# -- whole ---------------------------------------------------------------------------------------------

LEARNERS = {
    "types": lambda: Learner(TypeMeans(0.5), Threshold(0.3), label_cost=1.0, warmup=2, keep=3),
    "cells": lambda: Learner(Cells([0, 0], [1, 1], 0.5), VariableUncertainty("figures"), label_cost=1.0),
    "process": lambda: Learner(
        GaussianProcess(2, 0.3, Matern(1.5, 0.4)), Threshold(0.5), label_cost=1.0, keep=2
    ),
    "random process": lambda: Learner(
        GaussianProcess(2, 0.3, SquaredExponential((0.2, 0.6))), RandomSelect(0.5), label_cost=1.0, seed=4
    ),
}
VERBS = [
    "decide",
    "decide",
    "ask",
    "decline",
    "tell",
    "tell",
    "tell",
    "correct",
    "withdraw",
    "charge",
    "reopen",
    "learn",
    "name",
]
LIVES = st.lists(st.tuples(st.sampled_from(VERBS), st.integers(0, 10**6)), max_size=40)


def point(kind, number):
    if kind == "types":
        return ["a", 7, b"\xff", ("b", 1)][number % 4]
    return [number % 13 / 13, number % 7 / 7]


def live(learner, kind, life):
    """All that was answered, errors included."""
    answers = []
    for verb, number in life:
        x, y, id = point(kind, number), number % 101 / 7, str(1 + number % (learner.rounds + 1))
        act = {
            "decide": lambda: learner.decide(x),  # noqa: B023
            "ask": lambda: learner.decide(x, force=True, cost=1.0 + y),  # noqa: B023
            "decline": lambda: learner.decide(x, force=False),  # noqa: B023
            "tell": lambda: learner.tell(id, y),  # noqa: B023
            "correct": lambda: learner.correct(id, y),  # noqa: B023
            "withdraw": lambda: learner.withdraw(id),  # noqa: B023
            "charge": lambda: learner.withdraw(id, charged=True),  # noqa: B023
            "reopen": lambda: learner.reopen(id),  # noqa: B023
            "learn": lambda: learner.learn(x, y),  # noqa: B023
            "name": lambda: learner.learn(x, y, id=id),  # noqa: B023
        }[verb]
        try:
            answers.append(repr(act()))
        except BreakevenError as error:
            answers.append(str(error))
    return answers


@pytest.mark.parametrize("kind", list(LEARNERS))
@given(before=LIVES, after=LIVES)
def test_restoring_at_any_moment_changes_nothing_of_what_follows(kind, before, after):
    learner = LEARNERS[kind]()
    live(learner, kind, before)
    blob = learner.snapshot()
    again = Learner.restore(blob)
    assert again.snapshot() == blob
    assert live(again, kind, after) == live(learner, kind, after)
    assert again.snapshot() == learner.snapshot()


@pytest.mark.parametrize("kind", list(LEARNERS))
@given(life=LIVES)
def test_replaying_any_life_gives_the_same_bits(kind, life):
    learner = LEARNERS[kind]()
    log = [learner.created]
    learner.listen(log.append)
    live(learner, kind, life)
    assert [event.number for event in log] == list(range(1, learner.number + 1))
    assert Learner.fold(log).snapshot() == learner.snapshot()
