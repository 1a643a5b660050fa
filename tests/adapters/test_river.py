"""`AskingRegressor` lives among river's own streams, metrics, evaluations and pipelines."""

import os
import pickle

import numpy as np
import pytest

from breakeven import Matern
from breakeven.adapters.matching import UnaskedLabel, learner_for
from breakeven.errors import InvalidInput

river = pytest.importorskip("river", reason="needs river: pip install '.[river]'")

from river import checks, compose, evaluate, metrics, preprocessing, stream  # noqa: E402

from breakeven.adapters.river import NOT_APPLICABLE, AskingRegressor  # noqa: E402

LONG = {"check_bounded_memory_growth"}  # 20 s, for `make proof`


@pytest.mark.parametrize("check", list(checks.yield_checks(AskingRegressor())), ids=lambda one: one.__name__)
def test_it_passes_the_checks_of_river(check):
    if check.__name__ in NOT_APPLICABLE:
        pytest.skip(NOT_APPLICABLE[check.__name__])
    if check.__name__ in LONG and os.environ.get("HYPOTHESIS_PROFILE") != "proof":
        pytest.skip("takes 20 s; part of make proof")
    check(AskingRegressor())


def test_river_skips_what_cannot_apply():
    assert AskingRegressor()._unit_test_skips() == set(NOT_APPLICABLE)
    assert set(NOT_APPLICABLE) <= {check.__name__ for check in checks.yield_checks(AskingRegressor())}


def waves(count=80, seed=0):
    X = np.random.default_rng(seed).uniform(0.0, 6.0, size=(count, 2))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1]


def test_a_stream_is_the_learners():
    X, y = waves()
    model = AskingRegressor(label_cost=0.3, noise_std=0.1, horizon=80)
    learner, error = learner_for(2, label_cost=0.3, noise_std=0.1, horizon=80), metrics.MAE()
    for x, label in stream.iter_array(X, y, feature_names=["a", "b"]):
        error.update(label, model.predict_one(x))
        if model.ask_one(x):
            model.learn_one(x, label)
    for row, label in zip(X, y, strict=True):
        decision = learner.decide(row)
        if decision.wants_label:
            learner.tell(decision.id, label)
            learner.fit()
    assert model.learner.snapshot() == learner.snapshot()
    assert error.get() < 0.5
    assert model.learner.ledger.labels < 40


def test_labels_may_come_late():
    model = AskingRegressor(label_cost=0.3, noise_std=0.1, horizon=80)
    asked = set()
    for i, x, y in stream.simulate_qa(stream.iter_array(*waves()), moment=None, delay=5, copy=True):
        if y is None:
            if model.ask_one(x):
                asked.add(i)
        elif i in asked:
            model.learn_one(x, y)
    ledger = model.learner.ledger
    assert (ledger.rounds, ledger.labels, ledger.awaited) == (80, len(asked), 0)
    assert model.learner.belief.labels == len(asked)


@pytest.mark.parametrize("scaled", [False, True], ids=["raw", "scaled"])
def test_an_evaluation_teaches_every_label(scaled):
    model = AskingRegressor(noise_std=0.1)
    whole = preprocessing.StandardScaler() | model if scaled else model
    error = evaluate.progressive_val_score(stream.iter_array(*waves()), whole, metrics.MAE())
    assert error.get() < 0.6
    assert (model.learner.rounds, model.learner.belief.labels) == (0, 80)


def test_behind_a_scaler_one_asks_and_learns_what_it_made_of_an_arrival():
    scaler, model = preprocessing.StandardScaler(), AskingRegressor(label_cost=0.3, noise_std=0.1)
    pipeline = scaler | model
    with compose.learn_during_predict():
        for x, y in stream.iter_array(*waves()):
            if model.ask_one(pipeline.transform_one(x)):
                pipeline.learn_one(x, y)
    assert model.learner.rounds == 80
    assert 3 < model.learner.ledger.labels == model.learner.belief.labels
    assert not model.learner.awaited


def test_a_scaler_that_learns_between_question_and_answer_is_warned_about():
    model = AskingRegressor(label_cost=0.3, noise_std=0.1)
    pipeline = preprocessing.StandardScaler() | model
    (x, y), *_ = stream.iter_array(*waves(2))
    pipeline.learn_one(x, y)
    assert model.ask_one(pipeline.transform_one({name: value + 1.0 for name, value in x.items()}))
    with pytest.warns(UnaskedLabel, match="the very same features as its question"):
        pipeline.learn_one({name: value + 1.0 for name, value in x.items()}, y)


def test_the_order_of_a_dictionary_makes_no_difference():
    model = AskingRegressor(noise_std=0.1)
    model.learn_one({"b": 2.0, "a": 1.0}, 5.0)
    model.learn_one({"a": 3.0, "b": 1.0}, 7.0)
    assert model.names == ("a", "b")
    model.ask_one({"b": 4.0, "a": 0.0})
    assert next(iter(model.learner.awaited.values())).x == (0.0, 4.0)


def test_predicting_fixes_nothing():
    model = AskingRegressor()
    assert model.predict_one({"a": 1.0}) == 0.0
    assert (model.names, model.learner) == ((), None)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"a": 1.0}, "x: expected the features 'a', 'b', as at first, got 'a'"),
        ({"a": 1.0, "b": 2.0, 3: 4.0}, "x: expected the features 'a', 'b', as at first, got 3, 'a', 'b'"),
        ({}, "x: expected one feature at least, got {}"),
        ({"a": 1.0, "b": "tall"}, r"x\['b'\]: expected a finite number, got 'tall'"),
        ({"a": 1.0, "b": None}, r"x\['b'\]: expected a finite number, got None"),
        ({"a": float("nan"), "b": 1.0}, r"x\['a'\]: expected a finite number, got nan"),
    ],
)
def test_bad_features_are_refused_and_change_nothing(x, message):
    model = AskingRegressor()
    model.learn_one({"a": 0.0, "b": 1.0}, 2.0)
    before = model.learner.snapshot()
    verbs = [model.ask_one, model.predict_one, lambda x: model.learn_one(x, 1.0)]
    for verb in verbs:
        with pytest.raises(InvalidInput, match=message):
            verb(x)
    assert model.learner.snapshot() == before


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ({"a": "tall"}, 1.0, r"x\['a'\]: expected a finite number, got 'tall'"),
        ({"a": 1.0}, None, "y: expected a finite number, got None"),
        ({}, 1.0, "x: expected one feature at least, got {}"),
    ],
)
def test_a_bad_first_arrival_fixes_nothing(x, y, message):
    model = AskingRegressor()
    with pytest.raises(InvalidInput, match=message):
        model.learn_one(x, y)
    assert (model.names, model.learner) == ((), None)


def test_bad_parameters_are_refused_at_the_first_arrival():
    model = AskingRegressor(label_cost=-1.0)
    with pytest.raises(InvalidInput, match=r"label_cost: expected a positive, finite number, got -1\.0"):
        model.ask_one({"a": 1.0})
    assert (model.names, model.learner) == ((), None)


def test_it_comes_back_from_a_pickle_and_clones_empty():
    model = AskingRegressor(label_cost=0.3, kernel=Matern(1.5))
    for x, y in stream.iter_array(*waves(10)):
        model.ask_one(x)
        model.learn_one(x, y)
    back = pickle.loads(pickle.dumps(model))
    assert back.names == model.names
    assert back.learner.snapshot() == model.learner.snapshot()
    assert model.clone().learner is None
    assert model.clone().kernel == Matern(1.5)
