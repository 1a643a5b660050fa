"""A fleet is one learner for each key, to the bit: decisions, state, bytes, and learners out and in."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breakeven.learner.fleet import Fleet
from tests.oracle.fleet_streams import (
    BELIEFS,
    CASES,
    RULES,
    OneForEachKey,
    batches,
    events,
    made,
    told,
    told_by_columns,
    without_answers,
)

EXAMPLES = max(settings().max_examples // 4, 5)
BETWEEN = ["nothing", "dump", "learners"]


def through(fleet, each, history, names=str, between="nothing"):
    """Both ways through a history; `names` turns numbers into what the fleet is given."""
    for kind, rows in batches(history):
        keys, *columns = zip(*rows, strict=True)
        keys, ids = list(map(names, keys)), [names(one) for one in columns[-2]]
        if kind == "decide":
            costs = [np.nan if cost is None else cost for cost in columns[2]]
            found = fleet.decide(
                keys, list(map(names, columns[0])), ids, None if np.isnan(costs).all() else costs
            )
            decisions = [
                each.decide(key, names(x), id, cost)
                for key, x, id, cost in zip(keys, columns[0], ids, columns[2], strict=True)
            ]
            assert told_by_columns(found) == list(map(told, decisions))
            each.tell_early(zip(keys, ids, decisions, strict=True))
        elif kind == "tell":
            fleet.tell(keys, ids, list(columns[1]))
            for key, id, y in zip(keys, ids, columns[1], strict=True):
                each.tell(key, id, y)
        else:
            for key, id, charged in zip(keys, ids, columns[1], strict=True):
                fleet.withdraw([key], [id], charged=charged)
                each.withdraw(key, id, charged)
        fleet = turned(fleet, between, names)
    return fleet


def turned(fleet, between, ids):
    if between == "dump":
        return Fleet.load(fleet.dump())
    if between == "learners" and not fleet.state.labels.counts()[2]:
        other = Fleet(fleet.config())
        for key in fleet.keys:
            other.put(key, fleet.learner(key), "integers" if ids is int else "texts")
        return other
    return fleet


def assert_same(fleet, each):
    assert set(fleet.keys) == set(each.learners)
    for key, learner in each.learners.items():
        assert without_answers(fleet.learner(key)) == without_answers(learner)
    assert fleet.state.labels.counts()[2] == len(each.early)


@pytest.mark.parametrize(("belief", "rule"), CASES, ids=[f"{belief}-{rule}" for belief, rule in CASES])
@settings(max_examples=EXAMPLES)
@given(
    history=events,
    text=st.booleans(),
    between=st.sampled_from(BETWEEN),
    cost=st.sampled_from([0.01, 0.4, 9.0]),
)
def test_any_history_is_that_of_one_learner_for_each_key(belief, rule, history, text, between, cost):
    fleet, each = Fleet(made(belief, rule, cost)), OneForEachKey(belief, rule, cost)
    fleet = through(fleet, each, history, str if text else int, between)
    assert_same(fleet, each)


def stream(rows, keys, types, seed=0):
    random = np.random.default_rng(seed)
    means = random.random((keys, types))
    key, x = random.integers(keys, size=rows), random.integers(types, size=rows)
    return key, x, np.arange(rows), means[key, x] + 0.3 * random.normal(size=rows)


LONG = [("all", "type_clock"), ("own", "type_clock"), *((belief, "value") for belief in BELIEFS)]


@pytest.mark.parametrize(("belief", "rule"), LONG, ids=[f"{belief}-{rule}" for belief, rule in LONG])
def test_long_streams_are_those_of_the_learners(belief, rule):
    key, x, ids, y = stream(4000, 7, 5)
    fleet, each = Fleet(made(belief, rule)), OneForEachKey(belief, rule)
    for low in range(0, 4000, 500):
        part = slice(low, low + 500)
        found = fleet.decide(key[part], x[part], ids[part])
        decisions = [
            each.decide(*row, None)
            for row in zip(*(one[part].tolist() for one in (key, x, ids)), strict=True)
        ]
        assert told_by_columns(found) == list(map(told, decisions))
        wanted = (low + np.flatnonzero(found.wants_label))[::-1]
        fleet.tell(key[wanted], ids[wanted], y[wanted])
        for i in wanted.tolist():
            each.tell(int(key[i]), i, float(y[i]))
    assert_same(fleet, each)
    assert sum(fleet.state.members["bought"]) > 30


def test_every_rule_is_tried():
    assert {rule for _, rule in CASES} == set(RULES)
