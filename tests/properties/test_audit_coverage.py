"""How often an interval from audits fails at any moment of a stream, over many simulated streams.

The error of predictions changes from stretch to stretch and falls with every audit: the sample decides what
is averaged. Between two audits every single arrival is looked at.
"""

import os
from math import sqrt

import numpy as np
import pytest
from scipy.stats import foldnorm

from breakeven import theory

LEVEL, BOUND, NOISE_STD = 0.95, 1.0, 0.2
RATES = (0.01, 0.05, 0.1, 0.3)
RUNS, ROUNDS = (1000, 5000) if os.environ.get("HYPOTHESIS_PROFILE") == "proof" else (100, 1000)


def gaps(rng, drawn, on):
    """f − p of every arrival, within what the assumption lets it be."""
    rounds = len(drawn)
    stretch = np.sort(rng.integers(0, 6, rounds))
    audits = np.concatenate([[0], np.cumsum(drawn)[:-1]])
    learnt = 0.98 ** (audits - audits[np.searchsorted(stretch, stretch)])
    most = BOUND if on == "truth" else BOUND - sqrt(3) * NOISE_STD
    return most * rng.random(6)[stretch] * learnt * rng.uniform(-1, 1, rounds) ** rng.choice([1, 3, 9])


def stream(seed, rate, on):
    """Draws, errors |y − p|, and what the running sums of |y − p| and (y − p)² are held against."""
    rng = np.random.default_rng(seed)
    drawn = rng.random(ROUNDS) < rate
    gap = gaps(rng, drawn, on)
    if on == "labels":
        errors = np.abs(gap + rng.uniform(-sqrt(3), sqrt(3), ROUNDS) * NOISE_STD)
        expected = errors  # the draws alone decide: the labels themselves are averaged
    else:
        errors = np.abs(gap + rng.normal(0, NOISE_STD, ROUNDS))
        expected = foldnorm.mean(np.abs(gap) / NOISE_STD, scale=NOISE_STD)
    return drawn, errors, np.cumsum(expected), np.cumsum(gap**2 + NOISE_STD**2)


def fails(drawn, values, targets, rate, limits):
    """Whether the interval misses its target at any arrival, on either side."""
    average = theory.sampled_average(rate, limits.reach)
    for end in [*np.flatnonzero(drawn), len(drawn)]:
        passed = np.arange(max(1, average.passed), end + 1)  # until the next audit, with the same ends
        low, high = average.surplus(LEVEL)
        guessed = average.guessed + average.guess * (passed - average.passed)
        if (guessed + low > targets[passed - 1]).any():
            return True
        if (guessed + high + limits.hidden * passed < targets[passed - 1]).any():
            return True
        if end < len(drawn):
            average = average.skip(end - average.passed).plus(values[end])
    return False


@pytest.mark.parametrize("on", ["labels", "truth"])
def test_an_interval_fails_at_some_time_no_more_often_than_it_says(on):
    bound = theory.error_bound(BOUND, noise_std=NOISE_STD, on=on)
    failed = np.zeros(2)
    for seed in range(RUNS):
        rate = RATES[seed % len(RATES)]
        drawn, errors, absolute, squared = stream(seed, rate, on)
        failed += (
            fails(drawn, errors, absolute, rate, bound.absolute),
            fails(drawn, errors**2, squared, rate, bound.squared),
        )
    allowed = 1 - LEVEL
    assert (failed / RUNS <= allowed + 2 * sqrt(allowed * (1 - allowed) / RUNS)).all()


def test_the_simulation_notices_an_interval_that_claims_too_much():
    limits = theory.error_bound(0.05, noise_std=0.0, on="labels").absolute  # errors are far larger
    assert all(
        fails(drawn, errors, absolute, 0.3, limits)
        for drawn, errors, absolute, _ in (stream(seed, 0.3, "truth") for seed in range(5))
    )
