"""Theorem 3 against its constants written out as the paper names them."""

from itertools import pairwise
from math import e, inf, log, sqrt

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gamma, kv

from breakeven import theory
from breakeven.errors import InvalidInput

SETTING = {"dim": 2, "label_cost": 10.0, "noise_std": 0.5}
CONFIDENCE = {"rkhs_norm": 1.5, "delta": 0.05}


def growing(n):
    return 0.7 * log(n + 1)


def beta(t, gain):
    return 2 * 1.5**2 + 300 * gain * log(t / 0.05) ** 3


def se_as_the_paper_has_it(T, d, B, sigma, lengthscale, beta, gain):
    d1 = (d + 2) / (d + 3)
    C1 = (sigma * lengthscale) ** -d * d ** (d / 2)
    C2 = sqrt(2) * sigma * (d + 3) / (d + 2)
    C3 = 2 / log(1 + sigma**-2) * C1
    return (C1 + C2 * sqrt(beta)) * B ** (1 - d1) * T**d1 + sqrt(C3 * beta * B**-d1 * T**d1 * gain)


def matern_as_the_paper_has_it(T, d, B, sigma, L, beta, gain):
    d2 = (2 * d + 2) / (2 * d + 3)
    A1 = sigma ** (-2 * d) * (2 * sqrt(d) * L) ** d
    A2 = sqrt(2) * sigma * (2 * d + 3) / (2 * d + 2)
    A3 = 2 / log(1 + sigma**-2) * A1
    return (A1 + A2 * sqrt(beta)) * B ** (1 - d2) * T**d2 + sqrt(A3 * beta * B**-d2 * T**d2 * gain)


@pytest.mark.parametrize("rounds", [20, 1000, 10**6])
@pytest.mark.parametrize("gain", [2.5, growing])
def test_printed_se_bound_is_the_theorem_written_out(rounds, gain):
    value = theory.upper_bound_se(
        rounds, lengthscale=0.8, information_gain=gain, form="printed", **SETTING, **CONFIDENCE
    )
    n = np.ceil(min(rounds, (0.5 * 0.8) ** -2 * 2 * (rounds / 10) ** (4 / 5)))
    at_n = gain(n) if callable(gain) else gain
    by_hand = se_as_the_paper_has_it(rounds, 2, 10.0, 0.5, 0.8, beta(rounds + 1, 1.0), at_n)
    assert value == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize("rounds", [20, 1000, 10**6])
@pytest.mark.parametrize("gain", [2.5, growing])
def test_printed_matern_bound_is_the_theorem_written_out(rounds, gain):
    value = theory.upper_bound_matern(
        rounds, lipschitz=1.2, information_gain=gain, form="printed", **SETTING, **CONFIDENCE
    )
    n = np.ceil(min(rounds, 0.5**-4 * (2 * sqrt(2) * 1.2) ** 2 * (rounds / 10) ** (6 / 7)))
    at_n = gain(n) if callable(gain) else gain
    by_hand = matern_as_the_paper_has_it(rounds, 2, 10.0, 0.5, 1.2, beta(rounds + 1, 1.0), at_n)
    assert value == pytest.approx(by_hand, rel=1e-12)


def thresholds_summed(rounds, exponent):
    integral, _ = quad(lambda t: sqrt(2 * 0.5**2) * (10 / t) ** exponent, 0, rounds)
    return integral


def three_parts(rounds, labels, exponent):
    b = beta(rounds + 1, growing(rounds + 1))
    asked = sqrt(2 * b * growing(labels) * labels / log(1 + 0.5**-2))
    return 10 * labels + asked + sqrt(b) * thresholds_summed(rounds, exponent)


@pytest.mark.parametrize("rounds", [20, 1000, 10**5])
def test_corrected_bounds_are_the_three_parts_of_the_proof(rounds):
    labels = theory.label_bound_se(rounds, lengthscale=0.8, **SETTING)
    bound = theory.upper_bound_se(rounds, lengthscale=0.8, information_gain=growing, **SETTING, **CONFIDENCE)
    assert bound == pytest.approx(three_parts(rounds, labels, 1 / 5), rel=1e-7)

    labels = theory.label_bound_matern(rounds, lipschitz=1.2, **SETTING)
    bound = theory.upper_bound_matern(
        rounds, lipschitz=1.2, information_gain=growing, **SETTING, **CONFIDENCE
    )
    assert bound == pytest.approx(three_parts(rounds, labels, 1 / 7), rel=1e-7)


def test_label_bound_se_is_whole_cells_times_whole_labels():
    # d=2, σl=½, T/B=32·3: k = 2√2·96^(1/5) = 7.05 → 8, u = 96^(2/5) = 6.2 → 7
    setting = {"dim": 2, "label_cost": 1000.0, "noise_std": 0.5, "lengthscale": 1.0}
    assert theory.label_bound_se(96_000, **setting) == 8**2 * 7
    printed = theory.label_bound_se(96_000, form="printed", **setting)
    assert printed == pytest.approx(8 * 96 ** (4 / 5))


def test_label_bound_matern_is_whole_cells_times_whole_labels():
    # d=1, σ=1, L=1, T/B=50: u = 50^(2/5) = 4.78 → 5, k = 2u = 9.56 → 10
    setting = {"dim": 1, "label_cost": 100.0, "noise_std": 1.0, "lipschitz": 1.0}
    assert theory.label_bound_matern(5000, **setting) == 10 * 5
    printed = theory.label_bound_matern(5000, form="printed", **setting)
    assert printed == pytest.approx(2 * 50 ** (4 / 5))


@pytest.mark.parametrize("form", ["corrected", "printed"])
def test_label_bounds_never_exceed_the_rounds(form):
    assert theory.label_bound_se(7, lengthscale=1e-3, form=form, **SETTING) == 7
    assert theory.label_bound_matern(7, lipschitz=1e5, form=form, **SETTING) == 7
    assert theory.label_bound_matern(7, lipschitz=inf, form=form, **SETTING) == 7
    huge = {"dim": 400, "label_cost": 1.0, "noise_std": 1e-3, "lengthscale": 1e-3}
    assert theory.label_bound_se(7, form=form, **huge) == 7


@pytest.mark.parametrize("form", ["corrected", "printed"])
def test_the_bound_is_infinite_without_a_lipschitz_constant(form):
    rough = theory.matern_lipschitz(0.3, 1.0)
    bound = theory.upper_bound_matern(
        50, lipschitz=rough, information_gain=1.0, form=form, **SETTING, **CONFIDENCE
    )
    assert bound == inf


def test_the_printed_bound_is_below_the_price_of_its_first_label():
    cheap_noise = {"dim": 1, "label_cost": 1e11, "noise_std": 1e-3, "lengthscale": 1.0}
    level = theory.threshold(1e11, 1, exponent=theory.se_exponent(1), unit=theory.gp_unit(1e-3))
    assert level < 1  # the prior std, so the first point is labelled
    rest = {"rkhs_norm": 1.0, "information_gain": lambda n: n / 2 * log(1 + 1e6), "delta": 0.05}
    assert theory.upper_bound_se(1, form="printed", **cheap_noise, **rest) < 1e11
    assert theory.upper_bound_se(1, **cheap_noise, **rest) > 1e11


def test_beta_needs_the_gain_one_round_ahead_when_corrected():
    asked = []

    def gain(n):
        asked.append(n)
        return growing(n)

    theory.upper_bound_se(100, lengthscale=0.8, information_gain=gain, **SETTING, **CONFIDENCE)
    assert asked[0] == 101
    assert all(isinstance(n, int) for n in asked)


def test_confidence_factor_differs_by_the_gain_that_print_drops():
    setting = {"rkhs_norm": 2.0, "information_gain": 7.0, "delta": 0.1}
    printed = theory.confidence_factor(10, form="printed", **setting)
    corrected = theory.confidence_factor(10, **setting)
    assert printed == pytest.approx(8 + 300 * log(100) ** 3)
    assert corrected - 8 == pytest.approx(7 * (printed - 8))


def matern(scaled, nu):
    z = sqrt(2 * nu) * scaled
    return 2 ** (1 - nu) / gamma(nu) * z**nu * kv(nu, z)


@pytest.mark.parametrize("smoothness", [0.5, 0.55, 0.7, 1.0, 1.5, 2.0, 2.5, 3.3, 7.5, 30.0])
@pytest.mark.parametrize("lengthscale", [0.2, 3.0])
def test_lipschitz_constant_is_the_steepest_numerical_slope(smoothness, lengthscale):
    r = np.geomspace(1e-5, 4, 20_000)
    slope = np.abs(np.diff(matern(r, smoothness)) / np.diff(r)).max() / lengthscale
    assert theory.matern_lipschitz(smoothness, lengthscale) == pytest.approx(slope, rel=1e-4)


def test_lipschitz_constant_has_its_closed_forms():
    golden = (1 + sqrt(5)) / 2
    assert theory.matern_lipschitz(0.5, 4.0) == 0.25
    assert theory.matern_lipschitz(1.5, 2.0) == pytest.approx(sqrt(3) / 2 / e, rel=1e-14)
    closed = sqrt(5) / 3 * golden * (1 + golden) * np.exp(-golden)
    assert theory.matern_lipschitz(2.5, 1.0) == pytest.approx(closed, rel=1e-14)


def test_lipschitz_constant_falls_with_smoothness_towards_the_se_slope():
    constants = [theory.matern_lipschitz(nu, 1.0) for nu in np.geomspace(0.5, 200, 60)]
    assert all(a > b for a, b in pairwise(constants))
    assert e**-0.5 < theory.matern_lipschitz(1e6, 1.0) < 1.001 * e**-0.5


def test_rates_are_those_of_the_display():
    assert theory.information_gain_rate_se(1000, 3) == pytest.approx(log(1000) ** 4)
    # d=2, ν=2.5: 6/11
    assert theory.information_gain_rate_matern(1000, 2, smoothness=2.5) == pytest.approx(
        1000 ** (6 / 11) * log(1000)
    )
    assert theory.information_gain_rate_se(1, 3) == 0.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rounds": 0}, "rounds: expected a whole number of at least 1, got 0"),
        ({"rounds": "many"}, "rounds: expected a whole number"),
        ({"dim": 0}, "dim: expected a whole number of at least 1"),
        ({"label_cost": inf}, "label_cost: expected a positive, finite number, got inf"),
        ({"noise_std": 0.0}, "noise_std: expected a positive, finite number"),
        ({"lengthscale": -1.0}, "lengthscale: expected a positive, finite number"),
        ({"form": "proof"}, "form: expected one of"),
    ],
)
def test_bad_settings_are_refused_by_both_se_bounds(change, message):
    arguments = {"rounds": 10, "lengthscale": 1.0} | SETTING | change
    with pytest.raises(InvalidInput, match=message):
        theory.label_bound_se(**arguments)
    with pytest.raises(InvalidInput, match=message):
        theory.upper_bound_se(information_gain=1.0, **CONFIDENCE, **arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lipschitz": 0.0}, "lipschitz: expected a positive, finite number"),
        ({"rkhs_norm": -1.0}, "rkhs_norm: expected a positive, finite number"),
        ({"delta": 0.0}, r"delta: expected a number in \(0, 1\)"),
        ({"information_gain": -1.0}, "information_gain: expected a positive, finite number"),
        ({"information_gain": lambda n: inf}, "information_gain: expected a positive, finite number"),
    ],
)
def test_bad_confidence_is_refused(change, message):
    arguments = {"lipschitz": 1.0, "information_gain": 1.0} | SETTING | CONFIDENCE | change
    with pytest.raises(InvalidInput, match=message):
        theory.upper_bound_matern(10, **arguments)


@pytest.mark.parametrize(("smoothness", "lengthscale"), [(0.0, 1.0), (1.5, 0.0)])
def test_lipschitz_needs_positive_arguments(smoothness, lengthscale):
    with pytest.raises(InvalidInput, match="expected a positive, finite number"):
        theory.matern_lipschitz(smoothness, lengthscale)
