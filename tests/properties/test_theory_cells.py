"""The cell lemma against dense Gaussian process solves on random points."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, Matern

from breakeven import theory
from breakeven.errors import InvalidInput

SCENES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "inside": st.integers(1, 25),
        "outside": st.integers(0, 10),
        "dim": st.integers(1, 3),
        "side": st.floats(1e-3, 1.5),
        "lengthscale": st.floats(0.05, 3.0),
        "noise_std": st.floats(0.02, 2.0),
    }
)


def posterior_variance(kernel, points, x, noise_std):
    dense = kernel(points) + noise_std**2 * np.eye(len(points))
    row = kernel(points, x[None, :])[:, 0]
    return 1.0 - row @ np.linalg.solve(dense, row)


def labelled_scene(scene):
    rng = np.random.default_rng(scene["seed"])
    cell = rng.random((scene["inside"] + 1, scene["dim"])) * scene["side"]
    elsewhere = rng.normal(size=(scene["outside"], scene["dim"])) * 2
    diameter = max(np.linalg.norm(a - b) for a in cell for b in cell)
    return cell[0], np.vstack([cell[1:], elsewhere]), float(diameter)


@given(SCENES)
def test_se_posterior_variance_stays_within_the_cell_lemma(scene):
    x, points, diameter = labelled_scene(scene)
    variance = posterior_variance(RBF(scene["lengthscale"]), points, x, scene["noise_std"])
    bound = theory.cell_variance_bound_se(
        diameter, scene["inside"], lengthscale=scene["lengthscale"], noise_std=scene["noise_std"]
    )
    assert variance <= bound + 1e-9


@given(SCENES, st.sampled_from([0.5, 1.5, 2.5]))
def test_matern_posterior_variance_stays_within_the_cell_lemma(scene, smoothness):
    x, points, diameter = labelled_scene(scene)
    kernel = Matern(scene["lengthscale"], nu=smoothness)
    variance = posterior_variance(kernel, points, x, scene["noise_std"])
    slope = theory.matern_lipschitz(smoothness, scene["lengthscale"])
    bound = theory.cell_variance_bound_matern(
        diameter, scene["inside"], lipschitz=slope, noise_std=scene["noise_std"]
    )
    assert variance <= bound + 1e-9


def test_the_lemma_is_nearly_met_by_many_labels_at_one_distant_point():
    x, there = np.zeros(1), np.full((400, 1), 0.01)
    variance = posterior_variance(RBF(1.0), there, x, 0.1)
    bound = theory.cell_variance_bound_se(0.01, 400, lengthscale=1.0, noise_std=0.1)
    assert 0.95 * bound < variance < bound


def test_bounds_are_worked_out_by_hand():
    assert theory.cell_variance_bound_se(0.3, 5, lengthscale=0.6, noise_std=0.5) == pytest.approx(0.25 + 0.05)
    assert theory.cell_variance_bound_matern(0.3, 5, lipschitz=2.0, noise_std=0.5) == pytest.approx(
        1.2 + 0.05
    )


def test_a_cell_without_labels_is_unbounded_and_one_without_extent_has_noise_only():
    assert theory.cell_variance_bound_se(0.3, 0, lengthscale=1.0, noise_std=0.5) == inf
    assert theory.cell_variance_bound_matern(0.3, 0, lipschitz=1.0, noise_std=0.5) == inf
    assert theory.cell_variance_bound_se(0.0, 4, lengthscale=1.0, noise_std=1.0) == 0.25
    assert theory.cell_variance_bound_matern(0.0, 4, lipschitz=inf, noise_std=1.0) == 0.25
    assert theory.cell_variance_bound_matern(0.1, 4, lipschitz=inf, noise_std=1.0) == inf


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"diameter": -1.0}, "diameter: expected a positive, finite number, got -1.0"),
        ({"labels": -1}, "labels: expected a whole number of at least 0, got -1"),
        ({"labels": 1.5}, "labels: expected a whole number"),
        ({"lengthscale": 0.0}, "lengthscale: expected a positive"),
        ({"noise_std": 0.0}, "noise_std: expected a positive"),
    ],
)
def test_bad_cells_are_refused(change, message):
    arguments = {"diameter": 1.0, "labels": 3, "lengthscale": 1.0, "noise_std": 1.0} | change
    with pytest.raises(InvalidInput, match=message):
        theory.cell_variance_bound_se(**arguments)


def test_a_lipschitz_constant_must_be_positive():
    with pytest.raises(InvalidInput, match="lipschitz: expected a positive, finite number, got -2"):
        theory.cell_variance_bound_matern(1.0, 3, lipschitz=-2.0, noise_std=1.0)
