"""Sampled averages against enumeration of all draws, and the tails of normal noise against integrals."""

from itertools import product
from math import inf

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import logsumexp
from scipy.stats import norm

from breakeven import theory
from breakeven.theory.sequences import LOG_WEIGHTS, STAKES

VALUES = (0.3, 0.9, 0.0, 1.0, 0.5, 0.2, 0.8)
RATES = (0.05, 0.3, 0.8)


def every_sample(rate, values=VALUES, reach=1.0):
    """Each possible sample's average and its probability; later values depend on what was drawn before."""
    for drawn in product((False, True), repeat=len(values)):
        made, target = theory.sampled_average(rate, reach), 0.0
        for place, seen in enumerate(drawn):
            value = values[place] * 0.5 ** sum(drawn[:place])
            target += value
            made = made.plus(value) if seen else made.skip()
        yield made, target, float(np.prod([rate if seen else 1 - rate for seen in drawn]))


@pytest.mark.parametrize("rate", RATES)
def test_the_estimate_is_unbiased_over_all_samples(rate):
    bias = sum(chance * (made.estimate - target / made.passed) for made, target, chance in every_sample(rate))
    assert bias == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("side", ["ups", "downs"])
def test_no_stake_makes_money_on_average(rate, side):
    sign, stakes = (1 if side == "ups" else -1), np.array(STAKES)
    mean = np.zeros(len(STAKES))
    for made, target, chance in every_sample(rate):
        surplus = rate * (target - made.guessed)
        mean += chance * np.exp(np.array(getattr(made, side)) - sign * stakes * surplus)
    assert (mean <= 1 + 1e-12).all()
    assert mean.min() > 0.5


def won_twice_the_odds(S, capital):
    return logsumexp(np.array(capital) + LOG_WEIGHTS - np.array(STAKES) * S) - np.log(2 / 0.05)


def test_the_ends_are_where_the_mixture_of_bets_has_won_twice_the_odds():
    rng = np.random.default_rng(3)
    made = theory.sampled_average(0.2, 3.0)
    for value in rng.gamma(2.0, 0.2, 80):
        made = made.skip(int(rng.geometric(0.2)) - 1).plus(min(value, 3.0))
    roots = [brentq(won_twice_the_odds, -50, 50, args=(side,)) for side in (made.ups, made.downs)]
    low, high = made.surplus(0.95)
    assert low == pytest.approx(roots[0] * 3.0 / 0.2, rel=1e-9)
    assert high == pytest.approx(-roots[1] * 3.0 / 0.2, rel=1e-9)
    assert made.interval(0.95) == pytest.approx(
        ((made.guessed + low) / made.passed, (made.guessed + high) / made.passed)
    )


@pytest.mark.parametrize("noise_std", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("gap", [0.0, 0.6, 1.0])
def test_what_the_cut_hides_of_normal_noise_is_no_more_than_said(noise_std, gap):
    bound = theory.error_bound(1.0, noise_std=noise_std, on="truth")

    def beyond(power):
        def excess(error):
            density = norm.pdf(error, gap, noise_std) + norm.pdf(-error, gap, noise_std)
            return (error**power - bound.reach**power) * density

        return quad(excess, bound.reach, inf)[0]

    assert 0 <= beyond(1) <= bound.absolute.hidden < 2e-6 * noise_std
    assert 0 <= beyond(2) <= bound.squared.hidden < 2e-5 * (1.0 + noise_std) ** 2


@pytest.mark.parametrize("on", ["labels", "truth"])
def test_the_largest_means_are_not_exceeded(on):
    bound = theory.error_bound(2.0, noise_std=0.5, on=on)
    gap = 2.0 if on == "truth" else 1.5  # a fair coin of ±σ is the noise that makes errors largest
    errors = np.abs(gap + np.array([-0.5, 0.5]))
    assert errors.mean() <= bound.absolute.most
    assert (errors**2).mean() - bound.squared.noise <= bound.squared.most + 1e-12
