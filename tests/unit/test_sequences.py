"""Averages of which a sample is seen: what they count, and how narrow their intervals are."""

import numpy as np
import pytest

from breakeven import theory
from breakeven.errors import InvalidInput
from breakeven.theory.sequences import LOG_WEIGHTS


def average(values, drawn, rate, reach=1.0):
    made = theory.sampled_average(rate, reach)
    for value, seen in zip(values, drawn, strict=True):
        made = made.plus(value) if seen else made.skip()
    return made


def test_before_the_first_value_nothing_is_known():
    made = theory.sampled_average(0.1, 2.0)
    assert (made.estimate, made.interval(0.95)) == (None, (0.0, 2.0))


def test_values_that_pass_undrawn_may_be_skipped_at_once():
    start = theory.sampled_average(0.2, 1.0).plus(0.75)
    one_by_one = start
    for _ in range(8):
        one_by_one = one_by_one.skip()
    assert start.skip(8) == one_by_one


def test_a_higher_level_is_wider_and_the_estimate_lies_inside():
    made = average([0.2, 0.9] * 500, [False, False, True, True] * 250, 0.5)
    (low, high), (lower, higher) = made.interval(0.9), made.interval(0.999)
    assert 0.0 < lower < low < made.estimate < high < higher < 1.0


def test_a_value_beyond_reach_is_counted_and_cut_for_the_interval():
    cut, whole = (average([value] * 50, [True] * 50, 0.5) for value in (1.0, 3.0))
    assert (cut.beyond, whole.beyond) == (0, 50)
    assert whole.interval(0.95) == cut.interval(0.95)
    assert whole.estimate > cut.estimate
    assert average([1.0 + 1e-12], [True], 0.5).beyond == 0


def test_a_lost_value_widens_the_interval_and_leaves_the_estimate():
    made = average([0.5] * 300, [True, False, False] * 100, 1 / 3)
    (low, high), (lower, higher) = made.skip().interval(0.95), made.lost().interval(0.95)
    assert lower < low < high < higher
    assert made.lost().estimate == made.skip().estimate


def test_the_weights_of_the_bets_sum_to_no_more_than_one():
    assert np.exp(LOG_WEIGHTS).sum() <= 1


def width(kind, rate, n, seed):
    rng = np.random.default_rng(seed)
    low, high = average(kind(rng, n), rng.random(n) < rate, rate).interval(0.95)
    return high - low


@pytest.mark.parametrize(
    ("kind", "rate", "n", "most"),
    [
        (lambda rng, n: rng.random(n), 0.05, 10_000, 0.095),
        (lambda rng, n: np.abs(rng.normal(0, 0.1, n)), 0.05, 10_000, 0.026),
        (lambda rng, n: rng.random(n), 0.01, 5_000, 0.33),
    ],
    ids=["uniform", "far below the bound", "fifty audits"],
)
def test_intervals_are_narrow(kind, rate, n, most):
    assert np.mean([width(kind, rate, n, seed) for seed in range(8)]) < most


def test_four_times_the_values_halve_the_width_but_for_the_iterated_logarithm():
    def uniform(rng, n):
        return rng.random(n)

    widths = [np.mean([width(uniform, 0.1, n, seed) for seed in range(4)]) for n in (20_000, 80_000)]
    assert 0.45 < widths[1] / widths[0] < 0.56


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1, float("nan"), "0.1"])
def test_a_rate_is_a_chance(rate):
    with pytest.raises(InvalidInput, match=r"^rate: expected a number in \(0, 1\), got "):
        theory.sampled_average(rate, 1.0)


@pytest.mark.parametrize("reach", [0.0, -1.0, float("inf")])
def test_a_reach_is_positive(reach):
    with pytest.raises(InvalidInput, match=r"^reach: expected a positive, finite number, got "):
        theory.sampled_average(0.1, reach)


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_a_level_is_a_chance(level):
    with pytest.raises(InvalidInput, match=r"^level: expected a number in \(0, 1\), got "):
        theory.sampled_average(0.1, 1.0).plus(0.5).interval(level)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"bound": 0.0}, "bound: expected a positive, finite number"),
        ({"noise_std": -1.0}, "noise_std: expected a positive, finite number"),
        ({"on": "both"}, "bound_on: expected one of 'labels', 'truth'"),
        ({"on": "labels", "noise_std": 2.0}, "bound: expected at least the noise_std of 2"),
    ],
)
def test_bounds_that_cannot_be_right_are_refused(changed, message):
    with pytest.raises(InvalidInput, match=message):
        theory.error_bound(**{"bound": 1.0, "noise_std": 0.5, "on": "truth", **changed})


def test_without_noise_both_bounds_say_the_same():
    labels, truth = (theory.error_bound(2.0, noise_std=0.0, on=on) for on in ("labels", "truth"))
    assert (labels.absolute, labels.squared) == (truth.absolute, truth.squared)
