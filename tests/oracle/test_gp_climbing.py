"""The optimiser behind a fit, against known minima and SciPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, rosen, rosen_der

from breakeven.beliefs.gp.likelihood import minimise

WIDE = 1e3


def box(dim, low=-WIDE, high=WIDE):
    return np.tile([low, high], (dim, 1)).astype(float)


def rosenbrock(x):
    return float(rosen(x)), rosen_der(x)


@given(seed=st.integers(0, 2**32 - 1), dim=st.integers(1, 5), half=st.floats(0.05, 5.0))
def test_a_bowl_in_a_box_has_its_minimum_where_scipy_finds_it(seed, dim, half):
    rng = np.random.default_rng(seed)
    root, centre = rng.normal(size=(dim, dim)), rng.normal(size=dim)
    curvature = root @ root.T + 0.1 * np.eye(dim)

    def bowl(x):
        slope = curvature @ (x - centre)
        return 0.5 * float((x - centre) @ slope), slope

    start, bounds = rng.normal(size=dim), box(dim, -half, half)
    value, x = minimise(bowl, start, bounds, tolerance=1e-14)
    expected = minimize(
        bowl, np.clip(start, -half, half), jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-15}
    ).fun
    assert value == bowl(x)[0]
    assert (abs(x) <= half).all()
    assert value <= expected + 1e-6


@pytest.mark.parametrize("dim", [2, 4, 9])
def test_a_curved_valley_is_followed_to_its_end(dim):
    value, x = minimise(rosenbrock, np.full(dim, -0.9), box(dim), tolerance=1e-14)
    assert value < 1e-8
    assert x == pytest.approx(np.ones(dim), abs=1e-3)


def test_a_bound_in_the_way_holds():
    value, x = minimise(rosenbrock, np.array([-0.5, 0.0]), box(2, -2.0, 0.5), tolerance=1e-14)
    assert x == pytest.approx([0.5, 0.25], abs=1e-5)
    assert value == pytest.approx(0.25)


def test_a_start_outside_begins_at_the_nearest_corner():
    assert minimise(rosenbrock, np.array([9.0, 9.0]), box(2, 0.0, 2.0), steps=0)[1].tolist() == [2.0, 2.0]


def test_nothing_moves_where_the_function_is_flat():
    assert minimise(lambda x: (1e300, np.zeros(2)), np.ones(2), box(2))[1].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("beyond", [np.inf, 1e300, np.nan])
def test_a_cliff_is_not_stepped_over(beyond):
    def hill(x):
        return (beyond, np.zeros(1)) if x[0] > 1.0 else (-float(x[0]), np.array([-1.0]))

    value, x = minimise(hill, np.zeros(1), box(1))
    assert 0.99 < x[0] <= 1.0
    assert value == -x[0]


@pytest.mark.parametrize("steps", [1, 3, 10])
def test_more_steps_never_end_higher(steps):
    start = np.array([-1.2, 1.0])
    fewer = minimise(rosenbrock, start, box(2), steps=steps)[0]
    assert minimise(rosenbrock, start, box(2), steps=steps + 1)[0] <= fewer <= rosenbrock(start)[0]
