"""Branin and Hartmann against their published optima, and against formulas written out point by point."""

from math import cos, exp, pi

import numpy as np
import pytest

from breakeven.errors import InvalidInput
from breakeven_research.datasets import BRANIN, HARTMANN6

FUNCTIONS = [BRANIN, HARTMANN6]
named = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)


def gradient(function, point, step=1e-6):
    steps = step * np.eye(function.dim)
    return (function(point + steps) - function(point - steps)) / (2 * step)


def test_bounds_and_minima_are_the_published_ones():
    assert (BRANIN.low, BRANIN.high, BRANIN.dim) == ((-5, 0), (10, 15), 2)
    assert (HARTMANN6.low, HARTMANN6.high, HARTMANN6.dim) == ((0,) * 6, (1,) * 6, 6)
    assert BRANIN.minimum == pytest.approx(0.397887, abs=5e-7)
    assert HARTMANN6.minimum == pytest.approx(-3.32237, abs=5e-6)
    assert np.array(BRANIN.minimisers) == pytest.approx(
        np.array([[-3.14159, 12.275], [3.14159, 2.275], [9.42478, 2.475]]), abs=5e-6
    )
    published = [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573]
    assert HARTMANN6.minimisers[0] == pytest.approx(published, abs=5e-6)


@named
def test_the_value_at_each_minimiser_is_the_minimum(function):
    values = function(function.minimisers)
    assert values == pytest.approx(np.full(len(function.minimisers), function.minimum), abs=1e-12)


@named
def test_minimisers_lie_inside_the_box(function):
    for point in function.minimisers:
        assert all(low < x < high for low, x, high in zip(function.low, point, function.high, strict=True))


@named
def test_the_gradient_vanishes_at_each_minimiser_and_not_elsewhere(function):
    for point in function.minimisers:
        assert gradient(function, np.array(point)) == pytest.approx(np.zeros(function.dim), abs=1e-7)
        assert np.abs(gradient(function, np.array(point) + 0.05)).max() > 1e-2


@named
def test_no_point_of_the_box_lies_below_the_minimum(function):
    rows = np.random.default_rng(1).uniform(function.low, function.high, (20_000, function.dim))
    assert function(rows).min() > function.minimum
    near = np.random.default_rng(2).normal(function.minimisers[0], 1e-3, (2_000, function.dim))
    assert function(near).min() >= function.minimum - 1e-14


def test_branin_is_its_formula():
    rows = np.random.default_rng(3).uniform(BRANIN.low, BRANIN.high, (50, 2))
    by_hand = [
        (y - 5.1 * x * x / (4 * pi * pi) + 5 * x / pi - 6) ** 2 + 10 * (1 - 1 / (8 * pi)) * cos(x) + 10
        for x, y in rows
    ]
    assert BRANIN(rows) == pytest.approx(by_hand, rel=1e-12)


def test_branin_has_the_values_that_others_print():
    assert BRANIN([[0.0, 0.0], [-5.0, 0.0], [10.0, 15.0]]) == pytest.approx(
        [55.602113, 308.129096, 145.872191]
    )


def test_hartmann_is_the_negative_sum_of_four_bumps():
    bumps = [  # weight, sharpness, centre
        (1.0, (10, 3, 17, 3.5, 1.7, 8), (0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886)),
        (1.2, (0.05, 10, 17, 0.1, 8, 14), (0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991)),
        (3.0, (3, 3.5, 1.7, 10, 17, 8), (0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650)),
        (3.2, (17, 8, 0.05, 10, 0.1, 14), (0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381)),
    ]
    rows = np.random.default_rng(4).random((50, 6))
    by_hand = [
        -sum(w * exp(-sum(s * (x - c) ** 2 for s, x, c in zip(S, row, C, strict=True))) for w, S, C in bumps)
        for row in rows
    ]
    assert HARTMANN6(rows) == pytest.approx(by_hand, rel=1e-12)


def test_no_rows_have_no_values():
    assert BRANIN([]).shape == (0,)


@named
def test_rows_of_the_wrong_width_are_refused(function):
    with pytest.raises(InvalidInput, match=f"rows: expected rows of {function.dim} numbers each"):
        function([[0.0] * 3])
    with pytest.raises(InvalidInput, match=r"rows\[0\]: expected"):
        function([[float("nan")] * function.dim])
