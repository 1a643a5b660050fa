"""A process answers in the user's units: another zero or unit of labels and features changes nothing else."""

import numpy as np
import pytest

from breakeven import (
    GaussianProcess,
    Learner,
    Prior,
    SquaredExponential,
    Threshold,
    Value,
    VariableUncertainty,
)
from breakeven.beliefs import untuned
from breakeven.beliefs.gp import Parameters
from breakeven.errors import InvalidInput

SHIFTS = {
    "shifted by 1000": (1.0, 1000.0, 1.0),
    "labels in 1e-9": (1e-9, 0.0, 1.0),
    "labels in 1e3": (1e3, 0.0, 1.0),
    "features in 1e-6": (1.0, 0.0, 1e-6),
    "features in 1e6": (1.0, 0.0, 1e6),
    "a large offset": (1e-3, 1000.0, 1.0),
}
shifts = pytest.mark.parametrize(("unit", "zero", "feature"), SHIFTS.values(), ids=SHIFTS)


def data(n=60, dim=2, seed=0):
    random = np.random.default_rng(seed)
    X = random.uniform(-1.0, 2.0, size=(n, dim)) * np.arange(1.0, dim + 1.0)
    return X, np.sin(2.0 * X.sum(axis=1)) + 0.1 * random.standard_normal(n)


def fitted(belief, X, y):
    for x, label in zip(X, y, strict=True):
        belief.learn(belief.point(x), label)
    belief.adopt(belief.fit(belief.fit_job(), np.random.default_rng(3)), belief.labels)
    return belief.parameters


BELIEFS = {
    "untuned": lambda **_: untuned(2),
    "untuned, noise given": lambda unit, **_: untuned(2, noise_std=0.1 * unit),
    "one lengthscale": lambda **_: untuned(2, kernel=SquaredExponential(1.0)),
    "noise and mean": lambda **_: GaussianProcess(2, None, mean="fit", fit="growing", label_scale="fit"),
    "forgetting": lambda **_: GaussianProcess(
        2, None, mean="fit", fit="growing", prior=Prior(), forgetting=50.0, label_scale="fit"
    ),
}


@shifts
@pytest.mark.parametrize("make", BELIEFS.values(), ids=BELIEFS)
def test_fitted_parameters_are_the_same_up_to_units(make, unit, zero, feature):
    X, y = data()
    ours = fitted(make(unit=1.0), X, y)
    theirs = fitted(make(unit=unit), X * feature, y * unit + zero)
    near = {"rel": 1e-6}
    assert np.array(theirs.kernel.lengthscale) / feature == pytest.approx(
        np.array(ours.kernel.lengthscale), **near
    )
    assert theirs.kernel.amplitude / unit**2 == pytest.approx(ours.kernel.amplitude, **near)
    assert theirs.noise_std / unit == pytest.approx(ours.noise_std, **near)
    assert (theirs.mean - zero) / unit == pytest.approx(ours.mean, rel=1e-6, abs=1e-6)
    assert theirs.label_scale / unit == pytest.approx(ours.label_scale, **near)


def decisions(rule, X, y, unit, zero, feature, cost=0.6, **arguments):
    learner = Learner(untuned(2), rule, label_cost=cost * unit, **arguments)
    answers = []
    for x, label in zip(X * feature, y * unit + zero, strict=True):
        decision = learner.decide(x)
        answers.append(decision.wants_label)
        if decision.wants_label:
            learner.tell(decision.id, label)
    return answers


@shifts
def test_a_learner_that_weighs_worth_decides_alike_in_any_units(unit, zero, feature):
    X, y = data(80)
    ours = decisions(Value(), X, y, 1.0, 0.0, 1.0)
    assert 8 < sum(ours) < 70
    assert decisions(Value(), X, y, unit, zero, feature) == ours


@shifts
def test_a_learner_with_the_papers_threshold_decides_alike_in_any_units(unit, zero, feature):
    X, y = data(80)
    rule = Threshold(scale=1.5)
    ours = decisions(rule, X, y, 1.0, 0.0, 1.0, cost=40.0, warmup=12)
    assert 15 < sum(ours) < 70
    assert decisions(rule, X, y, unit, zero, feature, cost=40.0, warmup=12) == ours


def test_the_label_scale_is_the_std_of_the_labels_at_the_first_fit_and_stays():
    X, y = data()
    belief = untuned(2)
    assert (belief.traits.label_scale, belief.parameters.label_scale) == (1.0, None)
    found = fitted(belief, X[:20], 50.0 * y[:20])
    assert found.label_scale == pytest.approx(50.0 * y[:20].std(), rel=1e-12)
    assert belief.traits.label_scale == found.label_scale
    assert fitted(belief, X[20:], y[20:]).label_scale == found.label_scale
    given = GaussianProcess(2, 0.1, fit="growing", label_scale=3.0)
    assert fitted(given, X, y).label_scale == given.traits.label_scale == 3.0


def test_labels_all_alike_have_no_scale_yet():
    belief = untuned(1)
    found = fitted(belief, np.arange(4.0)[:, None], np.full(4, 7.0))
    assert (found.label_scale, belief.traits.label_scale) == (None, 1.0)
    assert fitted(belief, np.array([[9.0]]), [8.0]).label_scale == pytest.approx(0.4)


@pytest.mark.parametrize("label_scale", [0.0, -1.0, "fitted", None, float("inf"), True])
def test_a_label_scale_that_is_none_is_refused(label_scale):
    with pytest.raises(InvalidInput, match="label_scale: expected a"):
        GaussianProcess(1, 0.1, fit="growing", label_scale=label_scale)


def test_without_a_fit_there_is_no_scale_to_find():
    with pytest.raises(InvalidInput, match="label_scale: expected a number, because fit=None fits nothing"):
        GaussianProcess(1, 0.1, label_scale="fit")


def test_a_noise_to_be_fitted_is_known_after_the_first_fit():
    X, y = data()
    belief = untuned(2)
    assert not belief.traits.noise_known
    fitted(belief, X, y)
    assert belief.traits.noise_known
    copy = untuned(2)
    copy.load(belief.state())
    assert copy.traits == belief.traits
    assert untuned(2, noise_std=0.1).traits.noise_known


def test_where_only_the_kernel_is_fitted_nothing_is_rescaled():
    X, y = data(30)
    belief = GaussianProcess(2, 0.1, fit="growing")
    job = {**belief.fit_job(), "X": X.tobytes(), "y": y.tobytes(), "noise": np.zeros(30).tobytes()}
    found = Parameters.of(belief.fit(job, np.random.default_rng(0)))
    assert (found.noise_std, found.mean, found.label_scale) == (0.1, 0.0, 1.0)


@pytest.mark.parametrize("size", [1e100, 1e99, 1e-40])
@pytest.mark.parametrize(
    "belief",
    [
        untuned(2),
        untuned(2, noise_std=0.1),
        GaussianProcess(2, 0.1, fit="every_label"),
        GaussianProcess(2, 1e-50, fit="every_label"),
        GaussianProcess(2, None, mean="fit", fit="every_label"),
        GaussianProcess(2, 0.1, fit="growing", prior=Prior(), forgetting=9.0),
    ],
    ids=["untuned", "noise given", "kernel", "hardly any noise", "all", "forgetting"],
)
def test_labels_of_any_size_are_told_without_an_error_or_a_warning(belief, size):
    X, y = data(12)
    learner = Learner(belief, Value(), label_cost=0.1)
    for x, label in zip(X, size * y / np.abs(y).max(), strict=True):
        learner.tell(learner.decide(x, force=True).id, label)
    assert learner.fits > 0
    assert np.isfinite(learner.predict(X[0]).mean)


@pytest.mark.parametrize("rule", [Threshold(0.5), VariableUncertainty()], ids=["threshold", "variable"])
def test_without_a_warmup_thresholds_wait_for_the_first_fit_in_any_unit(rule):
    def decided(unit):
        random, found = np.random.default_rng(0), []
        learner = Learner(untuned(1), rule, label_cost=0.1 * unit)
        for x in random.random((40, 1)):
            decision = learner.decide(x)
            found.append((decision.wants_label, decision.reason))
            if decision.wants_label:
                learner.tell(decision.id, float(unit * (np.sin(5.0 * x[0]) + 0.3 * random.normal())))
        return found

    assert decided(1.0) == decided(1e9) == decided(1e-9)
    assert decided(1.0)[0] == (True, "nothing_known")


def test_a_process_that_waits_for_its_first_labels_asks_for_no_more():
    learner = Learner(untuned(2), Threshold(), label_cost=1.0)
    decisions = learner.decide_many(np.random.default_rng(0).random((20, 2)))
    assert [one.wants_label for one in decisions] == [True] * 4 + [False] * 16
    assert decisions[-1].reason == "enough_on_their_way"
