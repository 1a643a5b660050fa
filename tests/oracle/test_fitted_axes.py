"""How long axes are taken to be: the slope of what is climbed, and axes that a plain climb would miss."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.stats import kurtosis

from breakeven.beliefs.averaged.frame import MOVING, SHAPED, Moments
from breakeven.beliefs.averaged.proposing import (
    APART,
    USUAL_AXIS,
    USUAL_NOISE,
    AxesClimb,
    families,
    fitted_axes,
)


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


# -- another way: the evidence by dense algebra, and a general minimiser ------------------------------------


def plain_loss(places, z, ratios, usual):
    """Minus the log evidence of log axes and log noise, mean and scale left open, with their prior."""
    features, n = 3, len(z)

    def loss(at):
        apart = (places[:, None, :] - places[None, :, :]) / np.exp(at[:-1])
        q = np.sqrt(5.0 * (apart**2).sum(axis=2) / (2.0 * features))
        K = (1.0 + q + q**2 / 3.0) * np.exp(-q) + np.diag(np.exp(at[-1]) * ratios)
        inverse = np.linalg.inv(K)
        P = inverse - np.outer(inverse.sum(axis=1), inverse.sum(axis=0)) / inverse.sum()
        evidence = np.linalg.slogdet(K)[1] + np.log(inverse.sum()) + (n - 1) * np.log(z @ P @ z)
        prior = ((at[:-1] - usual) ** 2).sum() + ((at[-1] - np.log(0.1)) / 1.5) ** 2
        return 0.5 * (evidence + prior)

    return loss


def labelled(seed, *, moving=False, heavy=False):
    random = np.random.default_rng(seed)
    X = random.normal(size=(24, 3))
    frame, places = placed(X)
    times = places[:, -1] if moving else 0.0
    y = np.sin(1.5 * X[:, 0]) + 0.7 * X[:, 1] + times + 0.2 * random.normal(size=24)
    return frame, places, np.exp(3.0 * y) if heavy else y, random.uniform(0.5, 2.0, 24)


@pytest.mark.parametrize("heavy", [False, True])
def test_what_is_climbed_is_the_evidence_and_the_prior(heavy):
    """Tamed labels where some lie far out: a kurtosis above 6."""
    frame, places, y, ratios = labelled(1, heavy=heavy)
    apart = y - np.median(y)
    z = np.arcsinh(apart / np.median(np.abs(apart))) if heavy else apart / y.std()
    assert (kurtosis(y, fisher=False) > 6.0) == heavy
    climb, plain = AxesClimb(places[:, :-1], y, ratios, frame), plain_loss(places[:, :-1], z, ratios, 0.4)
    for at in np.random.default_rng(2).normal(size=(5, 4)):
        usual = np.append(np.full(3, USUAL_AXIS), USUAL_NOISE)
        assert climb.loss(at, usual)[0] == pytest.approx(plain(at), rel=1e-9)


@pytest.mark.parametrize("moving", [False, True])
def test_the_axes_of_a_fit_are_those_of_greatest_evidence(moving):
    """Lengths count from 1.2, the middle one; time is pulled towards a longer axis than features are."""
    frame, places, y, ratios = labelled(3, moving=moving)
    z = (y - np.median(y)) / y.std()
    found = families(places, y, ratios, frame, None)
    pulled = np.array([0.4, 0.4, 0.4, 1.5]) if moving else 0.4
    seen = places if moving else places[:, :-1]
    loss = plain_loss(seen, z, ratios, pulled)
    begun = np.append(np.log(1.2 * found[SHAPED][0][:3]), 1.5) if moving else np.full(3, 0.4)
    start = np.append(begun, np.log(0.1))
    bounds = [(-5.0, 4.5)] * seen.shape[1] + [(-7.0, 3.0)]
    best = minimize(loss, start, method="L-BFGS-B", bounds=bounds)
    axes = found[MOVING if moving else SHAPED][0][: seen.shape[1]]
    assert np.log(1.2 * axes) == pytest.approx(best.x[:-1], abs=0.1)


def test_one_axis_apart_must_be_likelier_by_as_many_times_as_there_are_such():
    frame, places, y, ratios = labelled(4)
    climb = AxesClimb(places[:, :-1], y, ratios, frame)
    value, at = climb.one_apart(np.full(3, USUAL_AXIS), 30)
    z = (y - np.median(y)) / y.std()
    starts = np.array(
        [np.where(np.arange(3) == i, one, 0.4 + longer) for longer, one in APART for i in range(3)]
    )
    losses = [plain_loss(places[:, :-1], z, ratios, start)(at) for start in starts]
    assert value - np.log(6.0) == pytest.approx(min(losses, key=lambda one: abs(one - value + np.log(6.0))))
