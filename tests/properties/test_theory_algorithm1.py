"""Theorem 1 against Algorithm 1 itself, written out in plain Python."""

from math import inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven import theory


def run(stream, means, noise, *, label_cost, noise_std, delta, threshold_scale=1.0):
    """Algorithm 1 with predictions clipped to [0, 1]: its loss, arrivals and labels per type."""
    arrivals, labels, sums = ([0] * len(means) for _ in range(3))
    loss = 0.0
    for k, error in zip(stream, noise, strict=True):
        arrivals[k] += 1
        bought = sum(labels)
        radius = sqrt(2 * noise_std**2 * log(2 * bought**3 / delta) / labels[k]) if labels[k] else inf
        if radius > threshold_scale * label_cost ** (1 / 3) * arrivals[k] ** (-1 / 3):
            labels[k] += 1
            sums[k] += means[k] + error
            loss += label_cost
        loss += abs(means[k] - min(1.0, max(0.0, sums[k] / labels[k])))
    return loss, arrivals, labels


def draw(seed, types, rounds, noise_std):
    rng = np.random.default_rng(seed)
    return rng.integers(types, size=rounds), rng.random(types), rng.normal(0, noise_std, rounds)


def test_the_printed_bound_is_crossed_where_types_are_seen_seldom_and_the_corrected_is_not():
    setting = {"label_cost": 100.0, "noise_std": 0.1, "delta": 0.01}
    loss, arrivals, labels = run(*draw(0, 100, 1000, 0.1), **setting)
    printed = theory.upper_bound(arrivals, form="printed", **setting)
    assert loss == pytest.approx(10_080, abs=20)
    assert printed == pytest.approx(4_305, abs=40)
    assert sum(labels) == 100
    assert printed < loss < theory.upper_bound(arrivals, **setting)


SETTINGS = st.fixed_dictionaries(
    {
        "label_cost": st.floats(0.01, 500.0),
        "noise_std": st.floats(0.01, 2.0),
        "delta": st.floats(1e-4, 0.5),
        "threshold_scale": st.floats(0.1, 5.0),
    }
)
STREAMS = st.integers(1, 8).flatmap(
    lambda types: st.tuples(
        st.just(types),
        st.lists(st.integers(0, types - 1), min_size=1, max_size=150),
        st.integers(0, 2**32 - 1),
    )
)


@given(STREAMS, SETTINGS)
def test_no_order_of_arrivals_buys_more_labels_than_the_bound(drawn, setting):
    types, stream, seed = drawn
    rng = np.random.default_rng(seed)
    noise = rng.normal(0, setting["noise_std"], len(stream))
    _, arrivals, labels = run(stream, rng.random(types), noise, **setting)
    within = theory.label_bound(arrivals, labels=sum(labels), **setting)
    assert (np.array(labels) <= within).all()
    assert (within <= theory.label_bound(arrivals, **setting)).all()


@given(STREAMS, SETTINGS)
def test_the_loss_without_noise_stays_below_the_corrected_bound(drawn, setting):
    types, stream, seed = drawn  # no noise: the confidence intervals cannot fail
    means = np.random.default_rng(seed).random(types)
    loss, arrivals, _ = run(stream, means, [0.0] * len(stream), **setting)
    assert loss <= theory.upper_bound(arrivals, **setting)


def test_the_corrected_bound_fails_no_more_often_than_it_says():
    setting = {"label_cost": 2.0, "noise_std": 0.5, "delta": 0.02, "threshold_scale": 0.7}
    failures = 0
    for seed in range(150):
        loss, arrivals, _ = run(*draw(seed, 4, 300, 0.5), **setting)
        failures += loss > theory.upper_bound(arrivals, **setting)
    assert failures <= 150 * theory.failure_probability(4, 0.02)


def test_the_mean_loss_stays_between_nothing_and_the_expected_bound():
    setting = {"label_cost": 5.0, "noise_std": 0.3}
    losses, bounds = [], []
    for seed in range(40):
        loss, arrivals, _ = run(*draw(seed, 5, 400, 0.3), delta=1 / 400, **setting)
        losses.append(loss)
        bounds.append(theory.expected_upper_bound(arrivals, **setting))
    assert np.mean(losses) < np.mean(bounds)


def bought(stream, types, *, label_cost, noise_std, delta):
    """The type and the count of each label that Algorithm 1 buys, in order: no label is looked at."""
    arrivals, labels, order = [0] * types, [0] * types, []
    for k in stream:
        arrivals[k] += 1
        radius = theory.radius(noise_std, labels[k], max(sum(labels), 1), delta)
        if radius > label_cost ** (1 / 3) * arrivals[k] ** (-1 / 3):
            labels[k] += 1
            order.append((k, labels[k]))
    return order


NOISES = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "uniform": lambda rng, shape: rng.uniform(-1, 1, shape),  # sub-Gaussian with σ = 1, its bound
    "plus or minus": lambda rng, shape: rng.choice([-1.0, 1.0], shape),
}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("in_turn", [False, True])
def test_radii_fail_no_more_often_than_the_form_without_the_types_says(noise, in_turn):
    types, delta, streams = 30, 0.2, 2000
    rng = np.random.default_rng(7)
    stream = rng.integers(types, size=600)
    stream = np.sort(stream) if in_turn else stream  # an adversary's order, or an even one
    order = bought(stream, types, label_cost=0.5, noise_std=1.0, delta=delta)
    assert max(count for _, count in order) > 5
    drawn = NOISES[noise](rng, (streams, len(order)))
    failed = np.zeros(streams, dtype=bool)
    for n, (k, count) in enumerate(order, start=1):  # this mean is used while N is n or more
        mean = drawn[:, [i for i in range(n) if order[i][0] == k]].mean(axis=1)
        failed |= np.abs(mean) > theory.radius(1.0, count, n, delta)
    promised = theory.failure_probability(types, delta, arrivals_react=False)
    assert theory.failure_probability(types, delta) == 1.0  # with the types there is no promise at all
    assert failed.mean() <= promised + 3 * np.sqrt(promised * (1 - promised) / streams)
