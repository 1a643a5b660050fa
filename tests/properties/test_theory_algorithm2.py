"""Theorem 3's label bounds against Algorithm 2 itself, with dense posteriors."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, Matern

from breakeven import theory


def labels_bought(points, kernel, exponent, label_cost, noise_std):
    labelled = []
    for t, x in enumerate(points, start=1):
        variance = 1.0
        if labelled:
            known = np.array(labelled)
            row = kernel(known, x[None, :])[:, 0]
            variance -= row @ np.linalg.solve(kernel(known) + noise_std**2 * np.eye(len(known)), row)
        level = np.sqrt(2 * noise_std**2) * label_cost**exponent * t**-exponent
        if np.sqrt(max(variance, 0.0)) > level:
            labelled.append(x)
    return len(labelled)


STREAMS = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "rounds": st.integers(1, 60),
        "dim": st.integers(1, 2),
        "label_cost": st.floats(0.05, 50.0),
        "noise_std": st.floats(0.05, 1.0),
        "lengthscale": st.floats(0.2, 20.0),
    }
)


def points_of(stream):
    return np.random.default_rng(stream["seed"]).random((stream["rounds"], stream["dim"]))


@given(STREAMS)
def test_algorithm_2_with_an_se_kernel_buys_no_more_labels_than_the_bound(stream):
    kernel, exponent = RBF(stream["lengthscale"]), 1 / (stream["dim"] + 3)
    bought = labels_bought(points_of(stream), kernel, exponent, stream["label_cost"], stream["noise_std"])
    setting = {name: stream[name] for name in ("dim", "label_cost", "noise_std", "lengthscale")}
    assert bought <= theory.label_bound_se(stream["rounds"], **setting)


@given(STREAMS, st.sampled_from([0.5, 1.5, 2.5]))
def test_algorithm_2_with_a_matern_kernel_buys_no_more_labels_than_the_bound(stream, smoothness):
    kernel, exponent = Matern(stream["lengthscale"], nu=smoothness), 1 / (2 * stream["dim"] + 3)
    bought = labels_bought(points_of(stream), kernel, exponent, stream["label_cost"], stream["noise_std"])
    setting = {name: stream[name] for name in ("dim", "label_cost", "noise_std")}
    slope = theory.matern_lipschitz(smoothness, stream["lengthscale"])
    assert bought <= theory.label_bound_matern(stream["rounds"], lipschitz=slope, **setting)


def test_the_printed_label_count_is_exceeded_when_one_cell_is_the_whole_domain():
    points = np.random.default_rng(0).random((50, 1))
    setting = {"dim": 1, "label_cost": 50.0, "noise_std": 0.1, "lengthscale": 100.0}
    bought = labels_bought(points, RBF(100.0), 1 / 4, 50.0, 0.1)
    assert theory.label_bound_se(50, form="printed", **setting) < bought
    assert bought <= theory.label_bound_se(50, **setting) == 1
