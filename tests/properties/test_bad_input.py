"""Bad input: always one of our errors, which is also the builtin, names both sides, and changes nothing."""

import re
from math import inf, nan

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from breakeven import (
    Always,
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
    simulate,
)
from breakeven.errors import (
    BreakevenError,
    ConflictingLabel,
    DuplicateId,
    InvalidInput,
    UnknownId,
)
from breakeven.values import (
    Arrived,
    Corrected,
    Decision,
    Erased,
    Fitted,
    Learnt,
    Prediction,
    Reopened,
    Repriced,
    Told,
    Withdrawn,
)
from tests.naming import Thing, plain_name

BUILTIN = {
    InvalidInput: ValueError,
    DuplicateId: ValueError,
    ConflictingLabel: ValueError,
    UnknownId: KeyError,
}

BELIEFS = {
    "types": TypeMeans(noise_std=0.5),
    "cells": Cells(low=[0.0, 0.0], high=[1.0, 1.0], noise_std=0.5),
    "gp": GaussianProcess(2, 0.5, Matern(1.5, lengthscale=0.4)),
}
GOOD = {
    "types": ["flu", 7, ("clinic", b"x")],
    "cells": [[0.1, 0.9]] * 3,
    "gp": [[0.1, 0.9], [0.5, 0.5], [1, 2]],
}


def busy(kind):
    """A learner with the ids "told" (as 1.0), "awaited" and "unasked"."""
    learner = Learner(BELIEFS[kind], Threshold(), label_cost=2.0)
    for id, x, force in zip(("told", "awaited", "unasked"), GOOD[kind], (True, True, False), strict=True):
        learner.decide(x, id=id, force=force)
    learner.tell("told", 1.0)
    return learner


def assert_refused(learner, kind, call, error, match):
    before = learner.snapshot()
    with pytest.raises(error, match=match) as caught:
        call(learner)
    assert type(caught.value) is error
    assert isinstance(caught.value, BreakevenError)
    assert isinstance(caught.value, BUILTIN[error])
    assert learner.snapshot() == before
    assert_goes_on(learner, kind)


def assert_goes_on(learner, kind):
    rounds = learner.rounds
    decision = learner.decide(GOOD[kind][0], force=True)
    learner.tell(decision.id, 0.5)
    assert (learner.rounds, decision.id in learner.awaited) == (rounds + 1, False)


def named(cases):
    return {"argvalues": list(cases.values()), "ids": list(cases)}


@pytest.fixture(params=list(BELIEFS))
def kind(request):
    return request.param


# -- numbers, ids and states that are wrong for every learner ------------------------------------------

NOT_A_COST = [0, 0.0, -1.0, nan, inf, -inf, True, False, "3", b"3", [1.0], np.array([1.0]), 1j, Thing()]
NOT_A_LABEL = [nan, inf, -inf, True, "1", b"1", None, [1.0], np.array([1.0]), 1j, Thing(), np.float64("nan")]
NOT_AN_ID = [3, [], {}, Thing(), b"told", 1.5, ("told",), True, "", "\ud800"]


@pytest.mark.parametrize("cost", NOT_A_COST, ids=repr)
def test_a_cost_is_a_positive_finite_number(kind, cost):
    expected = r"cost: expected a positive, finite number, got "
    assert_refused(busy(kind), kind, lambda one: one.decide(GOOD[kind][0], cost=cost), InvalidInput, expected)


@pytest.mark.parametrize("cost", [1e200, 1e-200, 10**200, 5e-324], ids=repr)
def test_a_cost_whose_square_would_overflow_or_vanish_is_refused_with_the_range(kind, cost):
    expected = r"^cost: expected a number from 1e-\d+ to 1e\+\d+, got "
    assert_refused(busy(kind), kind, lambda one: one.decide(GOOD[kind][0], cost=cost), InvalidInput, expected)


@pytest.mark.parametrize("y", NOT_A_LABEL, ids=repr)
def test_a_label_is_a_finite_number(kind, y):
    expected = r"y: expected a finite number, got "
    for verb in (
        lambda one: one.tell("awaited", y),
        lambda one: one.tell("unasked", y),
        lambda one: one.tell("told", y),
        lambda one: one.correct("told", y),
        lambda one: one.learn(GOOD[kind][0], y),
    ):
        assert_refused(busy(kind), kind, verb, InvalidInput, expected)


def test_a_label_whose_square_would_overflow_is_refused_with_the_limit(kind):
    expected = r"^y: expected a finite number of size 1e\+\d+ at most, got 1e\+200"
    assert_refused(busy(kind), kind, lambda one: one.tell("awaited", 1e200), InvalidInput, expected)


@pytest.mark.parametrize("id", NOT_AN_ID, ids=ascii)
def test_an_id_is_text(kind, id):
    for verb in (
        lambda one: one.decide(GOOD[kind][0], id=id),
        lambda one: one.decide_many(GOOD[kind][:1], ids=[id]),
        lambda one: one.tell(id, 1.0),
        lambda one: one.tell_many([id], [1.0]),
        lambda one: one.correct(id, 1.0),
        lambda one: one.withdraw(id),
    ):
        assert_refused(busy(kind), kind, verb, InvalidInput, r"^id: expected text, got ")


def test_only_decide_takes_none_for_an_id(kind):
    for verb in (
        lambda one: one.decide_many(GOOD[kind][:1], ids=[None]),
        lambda one: one.tell(None, 1.0),
        lambda one: one.tell_many([None], [1.0]),
        lambda one: one.correct(None, 1.0),
        lambda one: one.withdraw(None),
    ):
        assert_refused(busy(kind), kind, verb, InvalidInput, r"^id: expected text, got None")


@pytest.mark.parametrize("force", ["yes", 1, 0, 0.5, [], np.array([True])], ids=repr)
def test_an_override_is_true_or_false(kind, force):
    expected = r"^force: expected True or False, got "
    call = lambda one: one.decide(GOOD[kind][0], id="new", force=force)  # noqa: E731
    assert_refused(busy(kind), kind, call, InvalidInput, expected)


@pytest.mark.parametrize("charged", ["no", 1, None, 0.0], ids=repr)
def test_charged_is_true_or_false(kind, charged):
    expected = r"^charged: expected True or False, got "
    assert_refused(
        busy(kind), kind, lambda one: one.withdraw("awaited", charged=charged), InvalidInput, expected
    )


WRONG_STATE = {
    "decide on an awaited id": (
        lambda one, good: one.decide(good[0], id="awaited"),
        DuplicateId,
        "^id: expected one that is not in use, got 'awaited', whose label is still awaited; it arrived with",
    ),
    "decide on a told id": (
        lambda one, good: one.decide(good[0], id="told"),
        DuplicateId,
        "^id: expected one that is not in use, got 'told', whose label is told",
    ),
    "decide_many on an awaited id": (
        lambda one, good: one.decide_many(good[:2], ids=["new", "awaited"]),
        DuplicateId,
        "got 'awaited', whose label is still awaited; it arrived with another",
    ),
    "decide_many on a told id": (
        lambda one, good: one.decide_many(good[:2], ids=["new", "told"]),
        DuplicateId,
        "got 'told', whose label is told; it arrived with another",
    ),
    "decide_many on one id twice": (
        lambda one, good: one.decide_many(good[:3], ids=["new", "more", "new"]),
        DuplicateId,
        "^ids: expected each id once, got 'new' twice",
    ),
    "decide_many on an unasked id twice": (
        lambda one, good: one.decide_many(good[:2], ids=["unasked", "unasked"]),
        DuplicateId,
        "^ids: expected each id once, got 'unasked' twice",
    ),
    "tell an unknown id": (
        lambda one, good: one.tell("nobody", 1.0),
        UnknownId,
        "^id: expected an arrival whose label is awaited, or one of those remembered, got 'nobody'",
    ),
    "tell_many an unknown id after a known one": (
        lambda one, good: one.tell_many(["awaited", "nobody"], [1.0, 2.0]),
        UnknownId,
        "got 'nobody'",
    ),
    "tell another value": (
        lambda one, good: one.tell("told", 2.0),
        ConflictingLabel,
        "^id 'told': expected the label 1.0 told before, got 2.0; use correct to change it",
    ),
    "tell_many another value after a good one": (
        lambda one, good: one.tell_many(["awaited", "told"], [1.0, 2.0]),
        ConflictingLabel,
        "^id 'told': expected the label 1.0 told before, got 2.0; use correct",
    ),
    "tell_many two values for one id": (
        lambda one, good: one.tell_many(["awaited", "unasked", "awaited"], [1.0, 1.0, 2.0]),
        ConflictingLabel,
        "^id 'awaited': expected the label 1.0 in the same batch, got 2.0$",
    ),
    "correct an awaited label": (
        lambda one, good: one.correct("awaited", 1.0),
        UnknownId,
        "^id: expected a label told before, got 'awaited'; its label is still awaited, use tell",
    ),
    "correct an unasked arrival": (
        lambda one, good: one.correct("unasked", 1.0),
        UnknownId,
        "^id: expected a label told before, got 'unasked'; that arrival was not asked about$",
    ),
    "correct an unknown id": (
        lambda one, good: one.correct("nobody", 1.0),
        UnknownId,
        "^id: expected a label told before, got 'nobody'",
    ),
    "withdraw an unasked arrival": (
        lambda one, good: one.withdraw("unasked"),
        UnknownId,
        "^id: expected a label awaited or told, got 'unasked'; that arrival was not asked about$",
    ),
    "withdraw an unknown id": (
        lambda one, good: one.withdraw("nobody", charged=True),
        UnknownId,
        "^id: expected a label awaited or told, got 'nobody'",
    ),
}


@pytest.mark.parametrize(("call", "error", "match"), **named(WRONG_STATE))
def test_an_id_in_the_wrong_state_is_refused(kind, call, error, match):
    assert_refused(busy(kind), kind, lambda one: call(one, GOOD[kind]), error, match)


@pytest.mark.parametrize("id", ["awaited", "told"])
def test_a_label_is_withdrawn_in_one_way(kind, id):
    learner = busy(kind)
    learner.withdraw(id)
    before = learner.snapshot()
    learner.withdraw(id)
    assert learner.snapshot() == before
    charged = f"^id '{id}': expected not charged, as it was withdrawn before, got charged"
    assert_refused(learner, kind, lambda one: one.withdraw(id, charged=True), ConflictingLabel, charged)
    gone = f"^id: expected a label told before, got '{id}'; its label is withdrawn"
    assert_refused(learner, kind, lambda one: one.correct(id, 1.0), UnknownId, gone)
    learner.reopen(id)
    assert id in learner.awaited  # the withdrawal is undone


LENGTHS = {
    "decide_many ids": (
        lambda one, good: one.decide_many(good[:2], ids=["a"]),
        "^ids: expected 2, as many as there are of the others, got 1",
    ),
    "decide_many too many ids": (
        lambda one, good: one.decide_many(good[:2], ids=["a", "b", "c"]),
        "^ids: expected 2, as many as there are of the others, got 3",
    ),
    "decide_many costs": (
        lambda one, good: one.decide_many(good[:2], costs=[1.0, 2.0, 3.0]),
        "^costs: expected 2, as many as there are of the others, got 3",
    ),
    "decide_many nothing at a cost": (
        lambda one, good: one.decide_many([], costs=[1.0]),
        "^costs: expected 0, as many as there are of the others, got 1",
    ),
    "tell_many ys": (
        lambda one, good: one.tell_many(["awaited"], []),
        "^ys: expected 1, as many as there are of the others, got 0",
    ),
    "tell_many ids": (
        lambda one, good: one.tell_many(["awaited"], [1.0, 2.0]),
        "^ys: expected 1, as many as there are of the others, got 2",
    ),
    "simulate labels": (
        lambda one, good: simulate(one, good[:2], [1.0]),
        "labels: expected 2 numbers, one for each point, got 1",
    ),
    "simulate truth": (
        lambda one, good: simulate(one, good[:2], [1.0, 2.0], truth=[1.0, 2.0, 3.0]),
        "truth: expected 2 numbers, one for each point, got 3",
    ),
}


@pytest.mark.parametrize(("call", "match"), **named(LENGTHS))
def test_lists_of_different_length_are_refused(kind, call, match):
    assert_refused(busy(kind), kind, lambda one: call(one, GOOD[kind]), InvalidInput, match)


NOT_A_LIST = ["awaited", b"awaited", 3, 1.5, True, Thing(), np.array(1.0)]


@pytest.mark.parametrize("value", NOT_A_LIST, ids=repr)
def test_ids_costs_and_labels_come_in_lists(kind, value):
    for verb, name in (
        (lambda one: one.decide_many(GOOD[kind], ids=value), "ids"),
        (lambda one: one.decide_many(GOOD[kind], costs=value), "costs"),
        (lambda one: one.tell_many(value, [1.0]), "ids"),
        (lambda one: one.tell_many(["awaited"], value), "ys"),
    ):
        assert_refused(busy(kind), kind, verb, InvalidInput, f"^{name}: expected a list, got ")


MIDDLE = {
    "a cost": (
        lambda one, good: one.decide_many(good, costs=[1.0, nan, 1.0]),
        r"costs\[1\]: expected .* nan",
    ),
    "a zero cost": (
        lambda one, good: one.decide_many(good, costs=[1.0, 1.0, 0.0]),
        r"costs\[2\]: .* got 0.0",
    ),
    "an id": (lambda one, good: one.decide_many(good, ids=["a", 3, "c"]), "id: expected text, got 3"),
    "a label": (lambda one, good: one.tell_many(["awaited", "unasked"], [1.0, nan]), r"ys\[1\]: .* got nan"),
    "a label as text": (lambda one, good: one.tell_many(["awaited"], ["1.0"]), r"ys\[0\]: .* got '1.0'"),
    "a replayed label": (lambda one, good: simulate(one, good, [1.0, nan, 2.0]), "labels: expected a row of"),
    "a replayed text": (lambda one, good: simulate(one, good, [1.0, "x", 2.0]), "labels: expected a row of"),
    "a replayed truth": (
        lambda one, good: simulate(one, good, [1.0] * 3, truth=[1.0, inf, 2.0]),
        "truth: expected a row of finite numbers, got",
    ),
}


@pytest.mark.parametrize(("call", "match"), **named(MIDDLE))
def test_one_bad_entry_refuses_the_whole_batch(kind, call, match):
    assert_refused(busy(kind), kind, lambda one: call(one, GOOD[kind]), InvalidInput, match)


# -- points --------------------------------------------------------------------------------------------

NOT_A_TYPE = {
    "a float": 1.5,
    "nan": nan,
    "a NumPy float": np.float64(2.0),
    "none": None,
    "a truth value": True,
    "a NumPy truth value": np.bool_(True),
    "a list": ["flu"],
    "a set": {"flu"},
    "a dict": {},
    "an array": np.array(["flu"]),
    "an object": Thing(),
    "an int past 64 bits": 2**63,
    "text that cannot be stored": "\ud800",
    "a tuple with a float": ("clinic", 1.5),
    "a deep tuple with a list": ("clinic", ("ward", [3])),
}
NOT_A_ROW = {
    "nan": [0.5, nan],
    "inf": [inf, 0.5],
    "too far": [0.5, 1e200],
    "one number": 0.5,
    "too few": [0.5],
    "too many": [0.5, 0.5, 0.5],
    "a row of a row": [[0.5, 0.5]],
    "ragged": [0.5, [0.5]],
    "text": "ab",
    "a row of text": ["0.5", "0.5"],
    "bytes": b"ab",
    "none": None,
    "a row with none": [0.5, None],
    "complex": [0.5, 1j],
    "truth values": [True, False],
    "a truth value among numbers": [True, 0.5],
    "a mask": np.ma.array([0.5, 0.5], mask=[False, True]),
    "a dict": {0: 0.5, 1: 0.5},
    "a set": {0.25, 0.5},
    "dates": np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]"),
    "an int past floats": [0.5, 10**400],
    "nothing": [],
}


def assert_point_refused(kind, x, match):
    for verb in (
        lambda one: one.decide(x),
        lambda one: one.decide(x, id="new", force=True, cost=1.0),
        lambda one: one.predict(x),
        lambda one: one.learn(x, 1.0),
    ):
        assert_refused(busy(kind), kind, verb, InvalidInput, match)


@pytest.mark.parametrize("x", **named(NOT_A_TYPE))
def test_a_type_is_text_an_int_bytes_or_a_tuple_of_these(x):
    assert_point_refused("types", x, r"^x(\[\d\])*: expected a type: a str, an int .*, got ")


@pytest.mark.parametrize("x", **named(NOT_A_TYPE))
def test_a_batch_of_types_names_the_bad_one(x):
    match = r"^X\[1\](\[\d\])*: expected a type: .*, got "
    for verb in (
        lambda one: one.decide_many(["flu", x, "flu"], ids=["a", "b", "c"]),
        lambda one: one.predict_many(["flu", x]),
        lambda one: simulate(one, ["flu", x], [1.0, 2.0]),
    ):
        assert_refused(busy("types"), "types", verb, InvalidInput, match)


@pytest.mark.parametrize("X", ["flu", b"flu", 3, None, 1.5, Thing(), np.array("flu")], ids=repr)
def test_a_batch_of_types_is_a_list(X):
    for verb in (
        lambda one: one.decide_many(X),
        lambda one: one.predict_many(X),
        lambda one: simulate(one, X, [1.0]),
    ):
        assert_refused(busy("types"), "types", verb, InvalidInput, "^X: expected a list, got ")


@pytest.mark.parametrize("kind", ["cells", "gp"])
@pytest.mark.parametrize("x", **named(NOT_A_ROW))
def test_a_row_holds_as_many_finite_numbers_as_dimensions(kind, x):
    assert_point_refused(kind, x, "^x: expected a row of 2 finite numbers.*, got ")


NOT_ROWS = {
    "nan in the middle": (
        [[0.5, 0.5], [0.5, nan], [0.5, 0.5]],
        r"X\[1\]: expected 2 finite numbers, got .*nan",
    ),
    "inf at the end": ([[0.5, 0.5], [-inf, 0.5]], r"X\[1\]: expected 2 finite numbers, got \[-inf, 0.5\]"),
    "too far": (
        np.array([[0.5, 0.5], [1e200, 0.5]]),
        r"X\[1\]: expected 2 finite numbers of size 1e\+100 at most, got \[1e\+200",
    ),
    "ragged": ([[0.5, 0.5], [0.5], [0.5, 0.5]], r"X\[1\]: expected 2 numbers, got \[0.5\]"),
    "too wide": ([[0.5] * 3] * 2, r"X: expected rows of 2 numbers each, got .*shape \(2, 3\)"),
    "too narrow": ([[0.5], [0.5]], r"X: expected rows of 2 numbers each, got .*shape \(2, 1\)"),
    "one row": ([0.5, 0.5], r"X: expected rows of 2 numbers each, got .*shape \(2,\)"),
    "too deep": (np.zeros((2, 2, 2)), r"X: expected rows of 2 numbers each, got .*shape \(2, 2, 2\)"),
    "text": ("abc", "X: expected rows of 2 finite numbers each, got 'abc'"),
    "rows of text": ([["a", "b"]], "X: expected rows of 2 finite numbers each, got"),
    "numbers as text": ([["0.5", "0.5"], [0.5, 0.5]], "X: expected rows of 2 finite numbers each, got"),
    "none": (None, "X: expected rows of 2 finite numbers each, got None"),
    "a row that is none": ([[0.5, 0.5], None], "X: expected rows of 2 finite numbers each, got"),
    "a mask": (
        np.ma.array([[0.5, 0.5]], mask=[[True, False]]),
        "X: expected rows .* got an array with a mask",
    ),
    "rows of nothing": ([[], []], r"X: expected rows of 2 numbers each, got an array of shape \(2, 0\)"),
    "truth values": ([[True, False]], "X: expected rows of 2 finite numbers each, got"),
    "complex": (np.ones((1, 2)) * 1j, "X: expected rows of 2 finite numbers each, got"),
    "a generator": ((row for row in [[0.5, 0.5]]), "X: expected rows of 2 finite numbers each, got <gen"),
    "a number": (3.0, r"X: expected rows of 2 numbers each, got .*shape \(\)"),
}


@pytest.mark.parametrize("kind", ["cells", "gp"])
@pytest.mark.parametrize(("X", "match"), **named(NOT_ROWS))
def test_a_batch_of_rows_names_the_bad_one(kind, X, match):
    for verb in (
        lambda one: one.decide_many(X),
        lambda one: one.predict_many(X),
        lambda one: simulate(one, X, [1.0] * 3),
    ):
        assert_refused(busy(kind), kind, verb, InvalidInput, "^" + match)


# -- making things -------------------------------------------------------------------------------------

TYPES = TypeMeans(noise_std=1.0)
POSITIVE = "expected a positive, finite number, got "
BETWEEN = r"expected a number in \(0, 1\), got "


def whole(name, least=0):
    return f"^{name}: expected a whole number of at least {least}, got "


MAKING = {
    "Learner label_cost": (
        lambda bad: Learner(TYPES, Always(), label_cost=bad),
        [0, -1.0, nan, inf, True, "10", [1.0]],
        f"^label_cost: {POSITIVE}",
    ),
    "Learner warmup": (
        lambda bad: Learner(TYPES, Always(), label_cost=1.0, warmup=bad),
        [-1, 1.0, True, "3", None, nan],
        whole("warmup"),
    ),
    "Learner seed": (
        lambda bad: Learner(TYPES, Always(), label_cost=1.0, seed=bad),
        [-1, 1.0, False, "3", None, [1]],
        whole("seed"),
    ),
    "Learner keep": (
        lambda bad: Learner(TYPES, Always(), label_cost=1.0, keep=bad),
        [-1, 10.0, True, "3", None],
        whole("keep"),
    ),
    "Learner rule": (
        lambda bad: Learner(TYPES, bad, label_cost=1.0),
        [Always, Threshold, None, "threshold", TYPES, len],
        r"^rule: expected a rule such as Threshold\(\), got ",
    ),
    "Learner belief": (
        lambda bad: Learner(bad, Always(), label_cost=1.0),
        [TypeMeans, GaussianProcess, None, "types", Always()],
        r"^belief: expected a belief such as TypeMeans\(noise_std=1.0\), got ",
    ),
    "TypeMeans noise_std": (TypeMeans, [0, -0.1, nan, inf, True, "1"], f"^noise_std: {POSITIVE}"),
    "TypeMeans delta": (
        lambda bad: TypeMeans(1.0, delta=bad),
        [0, 1, 0.0, 1.0, -0.1, 1.5, nan, inf, True, "0.05", None],
        f"^delta: {BETWEEN}",
    ),
    "TypeMeans prior_mean": (
        lambda bad: TypeMeans(1.0, prior_mean=bad),
        [nan, inf, True, "0", None],
        "^prior_mean: expected a finite number, got ",
    ),
    "Cells noise_std": (lambda bad: Cells([0], [1], bad), [0, -1, nan, "1", True], f"^noise_std: {POSITIVE}"),
    "Cells delta": (lambda bad: Cells([0], [1], 1.0, bad), [0, 1, nan, "0.05", True], f"^delta: {BETWEEN}"),
    "Cells low": (
        lambda bad: Cells(bad, [1.0], 1.0),
        [nan, [inf], "a", None, [[0.0]], [True]],
        "^low: expected a row of finite numbers, got ",
    ),
    "Cells high": (
        lambda bad: Cells([0.0], bad, 1.0),
        [nan, [inf], "a", None, [1.0, 2.0], []],
        "^high: expected a row of 1 finite number, got ",
    ),
    "Cells box": (
        lambda bad: Cells([0.0, 1.0], bad, 1.0),
        [[1.0, 1.0], [-1.0, 2.0], [0.0, 0.0]],
        "^high: expected numbers above low on every axis, got ",
    ),
    "GaussianProcess dim": (
        lambda bad: GaussianProcess(bad, 1.0),
        [0, -1, 2.0, True, "2", None],
        whole("dim", least=1),
    ),
    "GaussianProcess noise_std": (
        lambda bad: GaussianProcess(1, bad),
        [0, -1.0, nan, inf, True, "1"],
        f"^noise_std: {POSITIVE}",
    ),
    "GaussianProcess without noise": (
        lambda bad: GaussianProcess(1, bad),
        [None],
        "^noise_std: expected a positive number, because fit=None fits nothing, got None",
    ),
    "GaussianProcess fit": (
        lambda bad: GaussianProcess(1, 1.0, fit=bad),
        ["sometimes", True, 3, ["growing"]],
        "^fit: expected one of None, 'after_warmup', 'every_label', 'growing', got ",
    ),
    "GaussianProcess mean": (
        lambda bad: GaussianProcess(1, 1.0, mean=bad),
        [nan, inf, True, "zero", None],
        "^mean: expected a finite number, got ",
    ),
    "GaussianProcess kernel": (
        lambda bad: GaussianProcess(1, 1.0, bad),
        [Matern, SquaredExponential, "sea", 3, Always()],
        "^kernel: expected a SquaredExponential, a Matern, or one of .*, got ",
    ),
    "GaussianProcess lengthscales": (
        lambda bad: GaussianProcess(3, 1.0, SquaredExponential(bad)),
        [(1.0,), (1.0, 2.0), ()],
        "^kernel: expected one lengthscale, or one for each of 3 dimensions, got ",
    ),
    "SquaredExponential lengthscale": (
        SquaredExponential,
        [0.0, -1, nan, True, (1.0, 0.0)],
        f"^lengthscale: {POSITIVE}",
    ),
    "SquaredExponential amplitude": (
        lambda bad: SquaredExponential(1.0, bad),
        [0.0, -1, nan, True, "1", None],
        f"^amplitude: {POSITIVE}",
    ),
    "Matern smoothness": (Matern, [0.0, -1, nan, inf, True, "1", None], f"^smoothness: {POSITIVE}"),
    "Threshold scale": (Threshold, [0, -1.0, nan, inf, True, "1", None], f"^scale: {POSITIVE}"),
    "Threshold clock": (
        lambda bad: Threshold(clock=bad),
        ["round", None, 1, True],
        "^clock: expected one of 'type', 'stream', got ",
    ),
    "RandomSelect": (
        RandomSelect,
        [-0.1, 1.1, nan, inf, True, "0.5", None],
        r"^probability: expected a number in \[0, 1\], got ",
    ),
    "VariableUncertainty reading": (
        VariableUncertainty,
        ["paper", None, 1, ["printed"]],
        "^reading: expected one of 'printed', 'figures', 'figures_gp', 'uncertain', 'original', got ",
    ),
    "VariableUncertainty budget": (
        lambda bad: VariableUncertainty(budget=bad),
        [-0.1, 1.1, nan, True, "0.5"],
        r"^budget: expected a number in \[0, 1\], got ",
    ),
    "VariableUncertainty without a budget": (
        lambda bad: VariableUncertainty("original", budget=bad),
        [None],
        r"^budget: expected a share in \[0, 1\], which the original reading needs, got None",
    ),
    "algorithm1": (
        lambda bad: algorithm1(label_cost=1.0, noise_std=0.1, threshold_scale=bad),
        [0, nan, "1", True],
        f"^scale: {POSITIVE}",
    ),
    "algorithm2 dim": (
        lambda bad: algorithm2(bad, label_cost=1.0, noise_std=0.1),
        [0, -2, 1.5, "2", None, True],
        whole("dim", least=1),
    ),
    "algorithm2 warmup": (
        lambda bad: algorithm2(2, label_cost=1.0, noise_std=0.1, warmup=bad),
        [-1, 1.5, "2", True],
        whole("warmup"),
    ),
    "Prediction.interval level": (
        Prediction(0.0, 1.0, 1.0).interval,
        [0, 1, 0.0, 1.0, -0.5, 1.5, nan, inf, True, "0.95", None],
        f"^level: {BETWEEN}",
    ),
    "Prediction.interval of": (
        lambda bad: Prediction(0.0, 1.0, 1.0).interval(0.5, of=bad),
        ["y", None, 3],
        "^of: expected one of 'f', 'label', got ",
    ),
}


@pytest.mark.parametrize(
    ("make", "bad", "match"),
    [
        pytest.param(make, bad, match, id=f"{name} {plain_name(bad)}"[:60])
        for name, (make, values, match) in MAKING.items()
        for bad in values
    ],
)
def test_a_wrong_argument_is_refused_by_name(make, bad, match):
    with pytest.raises(InvalidInput, match=match) as caught:
        make(bad)
    assert isinstance(caught.value, ValueError)


def test_a_fit_after_the_warmup_needs_a_warmup():
    expected = "warmup: expected at least 1, because the belief's fit waits for the warm-up, got 0"
    with pytest.raises(InvalidInput, match=expected):
        Learner(GaussianProcess(1, 1.0, fit="after_warmup"), Always(), label_cost=1.0)
    with pytest.raises(InvalidInput, match=expected):
        algorithm2(2, label_cost=1.0, noise_std=0.1, warmup=0)


def test_a_long_value_is_cut_short_in_the_message():
    with pytest.raises(InvalidInput, match=r"got \[0\.5, 0\.5, .*\.\.\.$") as caught:
        busy("gp").decide([0.5] * 1000)
    assert len(str(caught.value)) < 140


def test_an_unknown_id_is_shown_without_the_quotes_of_a_key_error():
    with pytest.raises(UnknownId, match=r"^id: expected") as caught:
        busy("gp").withdraw("nobody")
    assert str(caught.value) == "id: expected a label awaited or told, got 'nobody'"


# -- anything at all -----------------------------------------------------------------------------------

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.sampled_from([10**400, -(10**400)]),
    st.floats(),
    st.text(max_size=4),
    st.text(st.characters(), max_size=2),
    st.binary(max_size=4),
    st.complex_numbers(),
    st.sampled_from(["told", "awaited", "unasked"]),
    st.floats(width=32).map(np.float32),
    st.floats().map(np.float64),
    st.booleans().map(np.bool_),
    st.integers(-5, 5).map(np.int8),
)
JUNK = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=3),
    st.lists(st.lists(SCALARS, max_size=2) | SCALARS, max_size=3),
    st.lists(st.floats(), min_size=2, max_size=2),
    st.tuples(st.text(max_size=2), st.integers()),
    st.dictionaries(st.text(max_size=2), SCALARS, max_size=2),
    st.lists(st.floats(), max_size=3).map(np.array),
)
VERBS = {
    "decide": lambda one, good, a, b: one.decide(a),
    "decide at a cost": lambda one, good, a, b: one.decide(good[0], cost=a, id=b),
    "decide by force": lambda one, good, a, b: one.decide(good[0], id=a, force=b),
    "tell an awaited one": lambda one, good, a, b: one.tell("awaited", a),
    "correct": lambda one, good, a, b: one.correct(a, b),
    "correct a told one": lambda one, good, a, b: one.correct("told", a),
    "withdraw": lambda one, good, a, b: one.withdraw(a, charged=b),
    "reopen": lambda one, good, a, b: one.reopen(a),
    "learn under an id": lambda one, good, a, b: one.learn(good[0], a, id=b),
    "decision": lambda one, good, a, b: one.decision(a),
    "adopt": lambda one, good, a, b: one.adopt(a),
    "snapshot": lambda one, good, a, b: Learner.restore(one.snapshot(a), key=b),
    "learn": lambda one, good, a, b: one.learn(a, b),
    "learn a good point": lambda one, good, a, b: one.learn(good[0], a),
    "predict": lambda one, good, a, b: one.predict(a),
    "predict_many": lambda one, good, a, b: one.predict_many([good[0], a, b]),
    "predict_many of it": lambda one, good, a, b: one.predict_many(a),
    "decide_many": lambda one, good, a, b: one.decide_many([good[0], a, b]),
    "decide_many on it": lambda one, good, a, b: one.decide_many(a, costs=b),
    "decide_many with its ids": lambda one, good, a, b: one.decide_many(good[:1], costs=[a], ids=b),
    "decide_many at costs": lambda one, good, a, b: one.decide_many(good, costs=[1.0, a, b]),
    "decide_many with ids": lambda one, good, a, b: one.decide_many(good, ids=["new", a, b]),
    "tell": lambda one, good, a, b: one.tell(a, b),
    "tell by somebody": lambda one, good, a, b: one.tell("awaited", a, labeller=b),
    "tell_many": lambda one, good, a, b: one.tell_many(["awaited", a], [1.0, b]),
    "tell_many of it": lambda one, good, a, b: one.tell_many(a, b),
    "simulate": lambda one, good, a, b: simulate(one, good, [1.0, a, b]),
    "simulate points": lambda one, good, a, b: simulate(one, [good[0], a], [1.0, 2.0]),
    "apply": lambda one, good, a, b: one.apply(a),
    "apply numbered": lambda one, good, a, b: one.apply(Told(a, b, "awaited", 1.0)),
    "apply arrived": lambda one, good, a, b: applied(one, Arrived, a, answer(cost=b)),
    "apply decided": lambda one, good, a, b: applied(one, Arrived, good[0], answer(id=a, wants_label=b)),
    "apply reasoned": lambda one, good, a, b: applied(one, Arrived, good[0], answer(reason=a, by=b)),
    "apply given": lambda one, good, a, b: applied(one, Arrived, good[0], answer(), a, b),
    "apply told": lambda one, good, a, b: applied(one, Told, "awaited", a, b),
    "apply corrected": lambda one, good, a, b: applied(one, Corrected, "told", a),
    "apply withdrawn": lambda one, good, a, b: applied(one, Withdrawn, a, b),
    "apply reopened": lambda one, good, a, b: applied(one, Reopened, a),
    "apply learnt": lambda one, good, a, b: applied(one, Learnt, a, b),
    "apply learnt under an id": lambda one, good, a, b: applied(one, Learnt, good[0], 1.0, None, a),
    "apply fitted": lambda one, good, a, b: applied(one, Fitted, a, b),
    "apply repriced": lambda one, good, a, b: applied(one, Repriced, a, None, b),
    "apply another rule": lambda one, good, a, b: applied(one, Repriced, None, None, None, a),
    "apply erased": lambda one, good, a, b: applied(one, Erased, a),
}


def applied(one, kind, *content):
    """Apply the next event, with this content."""
    one.apply(kind(one.number + 1, "", *content))


def answer(id="new", wants_label=True, cost=1.0, reason="x", by="rule"):
    """A decision in the fourth round."""
    return Decision(id, wants_label, Prediction(0.0, 1.0, 0.5), 1.0, 0.5, cost, 1.0, reason, by=by, round=4)


@pytest.mark.parametrize("verb", list(VERBS))
@given(kind=st.sampled_from(list(BELIEFS)), a=JUNK, b=JUNK)
@example(kind="types", a=0, b=1)  # a whole number where a float is stored
def test_anything_at_all_is_either_taken_or_refused_without_a_trace(verb, kind, a, b):
    learner = busy(kind)
    before = learner.snapshot()
    message = refusal(lambda: VERBS[verb](learner, GOOD[kind], a, b))
    if message is None:
        assert Learner.restore(learner.snapshot()).snapshot() == learner.snapshot()
    else:
        assert re.search(r"expected .* got ", message, re.DOTALL)
        assert learner.snapshot() == before
    assert_goes_on(learner, kind)


def refusal(call):
    """Why it was refused, or None if it was not; other errors come through."""
    try:
        call()
    except BreakevenError as error:
        return str(error)
    return None
