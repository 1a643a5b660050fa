"""What the adapters share: labels that come back with their points."""

from functools import partial

import numpy as np
import pytest

from breakeven import Averaged, Check, Learner, Matern, Value
from breakeven.adapters.matching import LabelAmongFeatures, UnaskedLabel, learner_for, teach
from breakeven.adapters.sklearn import BreakevenRegressor
from breakeven.beliefs import GaussianProcess
from breakeven.beliefs.gp import SMOOTHNESS, kernel_named
from breakeven.errors import InvalidInput
from breakeven.tables.options import Options
from breakeven.values import Fitted
from tests.unit.test_package import loaded_by


def labelled(count, dim=2):
    X = np.random.default_rng(0).normal(size=(count, dim))
    return X, X.sum(axis=1)


def plain_learner(**costs):
    return Learner(Averaged(2), Check(Value(costs.pop("horizon", None))), **costs)


def test_one_by_one_it_is_a_plain_learner_to_the_bit():
    ours, plain = (make(label_cost=0.3, horizon=40) for make in (partial(learner_for, 2), plain_learner))
    for x, y in zip(*labelled(40), strict=True):
        if ours.decide(x).wants_label:
            teach(ours, [x], [y])
        decision = plain.decide(x)
        if decision.wants_label:
            plain.tell(decision.id, y)
    assert 3 < ours.ledger.labels < 40
    assert (ours.ledger, ours.fits) == (plain.ledger, plain.fits)
    assert ours.belief.state() == plain.belief.state()


def test_gifts_are_learnt_as_a_plain_learner_learns_them():
    ours, plain = learner_for(2, label_cost=1.0), plain_learner(label_cost=1.0)
    for x, y in zip(*labelled(10), strict=True):
        teach(ours, [x], [y])
        plain.learn(x, y)
    assert ours.belief.state() == plain.belief.state()


def test_a_kernel_asks_for_one_process_and_no_kernel_for_an_average():
    assert isinstance(learner_for(2, label_cost=1.0, noise_std=0.1).belief, Averaged)
    assert learner_for(2, label_cost=1.0, noise_std=0.1).belief.noise_std == 0.1
    belief = learner_for(2, label_cost=1.0, noise_std=0.1, kernel=Matern(2.5)).belief
    assert isinstance(belief, GaussianProcess)
    assert isinstance(belief.parameters.kernel, Matern)


def test_a_batch_is_fitted_once_after_its_last_label():
    learner, events = learner_for(2, label_cost=1.0), []
    learner.listen(events.append)
    teach(learner, *labelled(30))
    assert [isinstance(event, Fitted) for event in events] == [False] * 30 + [True]
    teach(learner, *labelled(1))
    assert learner.summary().fits == 1


def test_a_label_answers_the_oldest_question_about_its_point():
    learner = learner_for(1, label_cost=1.0)
    _, other, again = (learner.decide(x, force=True).id for x in (0.5, 2.0, 0.5))
    teach(learner, [[0.5]], [1.0])
    assert list(learner.awaited) == [other, again]
    teach(learner, [[0.5]], [1.5])
    assert list(learner.awaited) == [other]
    assert learner.belief.labels == 2


def test_a_gift_while_answers_are_awaited_is_learnt_with_a_warning():
    learner = learner_for(1, label_cost=1.0)
    teach(learner, [[7.0]], [1.0])
    asked = learner.decide(0.5, force=True).id
    with pytest.warns(UnaskedLabel, match=r"with answers still awaited \(1\): an answer"):
        teach(learner, [[0.5001]], [1.0])
    assert (list(learner.awaited), learner.belief.labels) == ([asked], 2)
    teach(learner, [[0.5], [3.0]], [1.0, 2.0])  # nothing is awaited any more
    assert (list(learner.awaited), learner.belief.labels) == ([], 4)


def test_where_that_warning_is_an_error_nothing_changes():
    learner = learner_for(1, label_cost=1.0)
    learner.decide(0.5, force=True)
    before = learner.snapshot()
    with pytest.raises(UnaskedLabel):
        teach(learner, [[0.6]], [1.0])
    assert learner.snapshot() == before


def test_points_of_many_labels_and_no_arrival_are_fitted():
    learner = learner_for(1, label_cost=1.0, noise_std=0.1)
    X, y = labelled(600, dim=1)
    y[0] += 0.1  # no copy of the feature
    teach(learner, X, y)
    assert learner.predict(0.5).mean == pytest.approx(0.5, abs=0.05)


def test_a_feature_that_gives_every_label_is_learnt_with_a_warning_to_the_caller():
    X, y = labelled(20)
    words = r"feature 1 gives every label exactly, as far as 20 labels show: leave it out if it is not known"
    regressor = BreakevenRegressor()
    with pytest.warns(LabelAmongFeatures, match=words) as caught:
        regressor.fit(np.column_stack([X[:, 0], 3.0 - y]), y)
    assert [one.filename for one in caught] == [__file__]
    assert regressor.learner_.belief.labels == 20
    regressor.fit(X, y)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[0.0], [np.nan]], [1.0, 2.0], r"X\[1\]: expected 1 finite number"),
        ([[0.0], [1.0]], [1.0], "y: expected 2 numbers, one for each point, got 1"),
        ([[0.0], [1.0]], [1.0, np.inf], "y: expected a row of finite numbers"),
    ],
)
def test_a_bad_batch_changes_nothing(X, y, message):
    learner = learner_for(1, label_cost=1.0)
    before = learner.snapshot()
    with pytest.raises(InvalidInput, match=message):
        teach(learner, X, y)
    assert learner.snapshot() == before


def test_an_empty_batch_changes_nothing():
    learner = learner_for(1, label_cost=1.0)
    before = learner.snapshot()
    teach(learner, [], [])
    assert learner.snapshot() == before


def test_an_adapter_loads_its_own_library_only():
    assert loaded_by("import breakeven.adapters.matching") & {"sklearn", "river"} == set()
    assert "river" not in loaded_by("import breakeven.adapters.sklearn")


@pytest.mark.parametrize("name", SMOOTHNESS)
def test_a_kernel_has_the_name_that_it_has_on_the_command_line_and_in_tables(name):
    assert learner_for(2, label_cost=1.0, kernel=name).belief.kernel == kernel_named(name, (1.0, 1.0))
    assert Options(label="y", cost=1.0, kernel=name).kernel == name
