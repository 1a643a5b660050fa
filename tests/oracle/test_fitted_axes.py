"""How long axes are taken to be: the slope of what is climbed, and axes that a plain climb would miss."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from breakeven.beliefs.averaged.frame import Moments
from breakeven.beliefs.averaged.proposing import USUAL_AXIS, USUAL_NOISE, AxesClimb, fitted_axes


def placed(X):
    moments = Moments(X.shape[1])
    for row in X:
        moments.add(row)
    frame = moments.frame(len(X))
    return frame, frame.place(np.column_stack([X, np.arange(len(X))]))


@pytest.mark.parametrize("seed", range(3))
def test_the_slope_is_that_of_the_evidence(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(20, 3))
    frame, places = placed(X)
    y = np.sin(X[:, 0]) + 0.2 * random.normal(size=20)
    climb = AxesClimb(places[:, :-1], y, random.uniform(0.5, 2.0, 20), frame)
    at, usual = np.append(random.normal(size=3), -1.5), np.append(np.full(3, USUAL_AXIS), USUAL_NOISE)
    slope = approx_fprime(at, lambda one: climb.loss(one, usual)[0], 1e-6)
    assert climb.loss(at, usual)[1] == pytest.approx(slope, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_a_column_that_says_which_patient_it_is_has_an_axis_far_shorter_than_others(seed):
    random = np.random.default_rng(seed)
    patients, levels = random.uniform(40.0, 80.0, 12), random.normal(size=12)
    who = random.integers(0, 12, size=60)
    X = np.column_stack([patients[who], random.normal(size=(60, 4))])
    frame, places = placed(X)
    axes, spent = fitted_axes(places, levels[who] + 0.1 * random.normal(size=60), np.ones(60), frame, None)
    assert axes[0] < 0.1 * axes[1:5].min()
    assert axes[-1] == np.inf  # time does not matter
    assert 0.0 < spent < 5.0  # of five axes that were fitted


@pytest.mark.parametrize("seed", range(3))
def test_where_no_axis_stands_out_none_is_taken_to(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(40, 10))
    frame, places = placed(X)
    y = X @ random.normal(size=10) + 2.0 * random.normal(size=40)  # ten weak features, as in many tables
    axes, _ = fitted_axes(places, y, np.ones(40), frame, None)
    assert axes[:10].min() > 0.1 * axes[:10].max()
