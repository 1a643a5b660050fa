"""Groups of keys: however rows are batched, shuffled and spread over groups, each key is one learner."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breakeven.engines import GroupSetup
from tests.oracle.group_worlds import LEARNERS, TIMINGS, World, kept, one_machine, said, through_groups

EXAMPLES = max(settings().max_examples // 10, 4)


@pytest.mark.parametrize("kind", list(LEARNERS))
@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 10**6), text=st.booleans(), groups=st.sampled_from([1, 7, 64]))
def test_groups_are_one_machine(kind, seed, text, groups):
    make = LEARNERS[kind]
    world = World(seed, text=text, numbers=kind == "process")
    answers, counts, learners = through_groups(world, GroupSetup.of(make()), groups)
    expected, machine = one_machine(world, make)
    assert said(answers) == said(expected)
    assert {key: kept(one) for key, one in learners.items()} == {
        key: kept(one) for key, one in machine.items()
    }
    assert (counts["decided"], counts["faults"], counts["out_of_order"]) == (len(world.keys), 0, 0)


@pytest.mark.parametrize("kind", list(LEARNERS))
@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 10**6), groups=st.sampled_from([1, 7, 64]))
def test_shuffled_rows_are_the_same_rows(kind, seed, groups):
    setup = GroupSetup.of(LEARNERS[kind]())
    outcomes = [
        through_groups(World(seed, numbers=kind == "process"), setup, number, random)
        for number, random in ((1, None), (groups, np.random.default_rng(seed)))
    ]
    (answers, counts, learners), (others, other_counts, other_learners) = outcomes
    assert said(answers) == said(others)
    assert counts == other_counts
    assert {key: kept(one) for key, one in learners.items()} == {
        key: kept(one) for key, one in other_learners.items()
    }


@pytest.mark.parametrize("kind", list(LEARNERS))
@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 10**6), text=st.booleans(), move=st.integers(1, 8))
def test_keys_may_be_carried_to_another_number_of_groups(kind, seed, text, move):
    world = World(seed, text=text, numbers=kind == "process")
    setup = GroupSetup.of(LEARNERS[kind]())
    answers, counts, learners = through_groups(world, setup, 3, moves=(move,))
    expected, machine = one_machine(world, LEARNERS[kind])
    assert said(answers) == said(expected)
    assert {key: kept(one) for key, one in learners.items()} == {
        key: kept(one) for key, one in machine.items()
    }
    assert counts["out_of_order"] == 0


@pytest.mark.parametrize("kind", ["algorithm 1", "own counts", "drawn", "process"])
@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 10**6), cut=st.integers(1, 30))
def test_decisions_do_not_depend_on_the_batches(kind, seed, cut):
    """Withdrawn labels do change later decisions, so there are none here."""
    setup, wanted = GroupSetup.of(LEARNERS[kind]()), []
    for batches in (6, cut):
        world = World(seed, numbers=kind == "process").recut(batches, seed)
        world.timing = ["never" if one == "withdrawn" else one for one in world.timing]
        answers, _, _ = through_groups(world, setup, 3)
        wanted.append({i: bool(one["wants_label"]) for i, one in answers.items()})
    assert wanted[0] == wanted[1]


@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 10**6), groups=st.sampled_from([2, 3, 7]))
def test_a_stream_split_by_type_is_one_stream(seed, groups):
    """With types that count their own labels, the type itself may be the key."""
    make, world = LEARNERS["own counts"], World(seed)
    whole = make()
    world.timing = ["late"] * len(world.keys)
    world.keys = world.xs
    answers, _, _ = through_groups(world, GroupSetup.of(make()), groups)
    for batch in range(world.batches):
        told = [i for i in answers if world.batch[i] == batch - 1 and answers[i]["wants_label"]]
        for i in told:
            whole.tell(str(world.ids[i]), world.ys[i])
        for i in world.arrivals(batch)[0]:
            cost = world.costs[i]
            decision = whole.decide(world.xs[i], id=str(world.ids[i]), cost=None if np.isnan(cost) else cost)
            assert decision.wants_label == answers[i]["wants_label"]
            assert decision.prediction.mean == answers[i]["prediction"]
            assert decision.uncertainty == answers[i]["uncertainty"]


def test_every_timing_is_met():
    world = World(1, rows=200)
    assert set(world.timing) == set(TIMINGS)
    answers, counts, _ = through_groups(world, GroupSetup.of(LEARNERS["algorithm 1"]()), 7)
    assert all(counts[name] > 0 for name in ("decided", "told", "again", "early", "withdrawn"))
    assert all(a["round"] > 0 for a in answers.values())
    assert all(a <= b for a, b in pairwise(world.batch))
