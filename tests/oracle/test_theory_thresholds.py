"""Thresholds and radii against numbers worked out by hand."""

from math import inf, log, sqrt

import pytest

from breakeven import theory
from breakeven.errors import InvalidInput


def test_algorithm_1_compares_with_the_cube_root_of_cost_over_arrivals():
    assert theory.threshold(27.0, 1, exponent=theory.DISCRETE_EXPONENT) == pytest.approx(3.0)
    assert theory.threshold(27.0, 216, exponent=theory.DISCRETE_EXPONENT) == pytest.approx(0.5)


@pytest.mark.parametrize(("dim", "se", "matern"), [(1, 1 / 4, 1 / 5), (2, 1 / 5, 1 / 7), (9, 1 / 12, 1 / 21)])
def test_exponents_follow_the_dimension(dim, se, matern):
    assert theory.se_exponent(dim) == se
    assert theory.matern_exponent(dim) == matern


def test_algorithm_2_scales_the_threshold_by_noise_and_lambda():
    level = theory.threshold(
        16.0, 1, exponent=theory.se_exponent(1), unit=theory.gp_unit(0.5), scale=3.0
    )  # 3 · √2 · ½ · 16^¼
    assert level == pytest.approx(3 * sqrt(2))


def test_radius_is_the_sub_gaussian_one_at_delta_over_labels_cubed():
    by_hand = sqrt(2 * 0.3**2 * log(2 / (0.05 / 7**3)) / 4)
    assert theory.radius(0.3, 4, 7, 0.05) == pytest.approx(by_hand, rel=1e-14)
    assert theory.confidence_spread(0.3, 7, 0.05) == pytest.approx(4 * by_hand**2, rel=1e-14)


def test_radius_is_infinite_before_the_first_label():
    assert theory.radius(0.3, 0, 0, 0.05) == inf


def test_spread_survives_label_counts_whose_cube_overflows():
    assert theory.confidence_spread(1.0, 1e200, 0.5) == pytest.approx(2 * (log(4) + 600 * log(10)))


@pytest.mark.parametrize("exponent", [theory.se_exponent, theory.matern_exponent])
def test_a_dimension_below_one_is_refused(exponent):
    with pytest.raises(InvalidInput, match="dim: expected a whole number of at least 1, got 0"):
        exponent(0)


def test_exports_are_sorted_and_exist():
    assert theory.__all__ == sorted(theory.__all__)
    assert all(hasattr(theory, name) for name in theory.__all__)
