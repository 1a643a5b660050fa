"""The supernova simulator against adaptive quadrature, and against the published labels."""

import os
from math import log, pi
from pathlib import Path

import numpy as np
import pytest

from breakeven.errors import InvalidInput
from breakeven_research.datasets import (
    SUPERNOVA,
    distance_modulus,
    locate,
    log_likelihood,
    log_likelihoods,
    read_supernovae,
    supernova_figures_trials,
    supernova_stream,
)

SHARED = Path(__file__).parents[4] / "shared" / "data"
FEW = [[0.426, 41.98, 0.23], [0.531, 42.96, 0.17], [1.755, 45.31, 0.36]]


@pytest.fixture(scope="module")
def supernovae():
    folders = [Path(folder) for folder in (os.environ.get("BREAKEVEN_DATA"), SHARED) if folder]
    with pytest.MonkeyPatch.context() as patch:
        for folder in folders:
            if (folder / SUPERNOVA.filename).is_file():
                patch.setenv("BREAKEVEN_DATA", str(folder))
                assert locate(SUPERNOVA) == folder / SUPERNOVA.filename
                return read_supernovae()
    pytest.skip(f"no {SUPERNOVA.filename} in $BREAKEVEN_DATA or {SHARED}")


def modulus_by_quadrature(H0, matter, energy, z):
    from scipy.integrate import quad

    radiation = max(0.0, 1 - matter - energy)
    integral, _ = quad(
        lambda u: (radiation * (1 + u) ** 4 + matter * (1 + u) ** 3 + energy) ** -0.5,
        0,
        z,
        epsabs=0,
        epsrel=1e-12,
    )
    return 5 * np.log10(299792.48 * (1 + z) / H0 * integral) + 25


CORNERS = [
    (60, 0, 0),
    (60, 0, 1),
    (80, 1, 0),
    (80, 1, 1),
    (70, 0.3, 0.7),
    (70, 1e-9, 1 - 1e-9),
    (65, 0.02, 0.9),
]


@pytest.mark.parametrize("constants", CORNERS, ids=str)
def test_the_integral_is_accurate_over_the_whole_domain(constants):
    redshifts = [1e-6, 0.016, 0.3, 0.9, 1.755, 3.0]
    expected = [modulus_by_quadrature(*constants, z) for z in redshifts]
    assert distance_modulus(*constants, redshifts) == pytest.approx(expected, abs=1e-9)


def test_the_integral_is_accurate_at_random_constants_and_at_the_rows_themselves(supernovae):
    random = np.random.default_rng(1)
    points = [*random.uniform((60, 0, 0), (80, 1, 1), (20, 3)), *supernovae[:20]]
    for point in points:
        z = random.choice(supernovae[:, 0], 3)
        expected = [modulus_by_quadrature(*point, one) for one in z]
        assert distance_modulus(*point, z) == pytest.approx(expected, abs=1e-9)


def test_without_matter_and_with_it_alone_the_distance_has_a_closed_form():
    z = np.array([0.1, 0.7, 1.5])
    for constants, integral in (
        ((70.0, 0.0, 1.0), z),
        ((70.0, 1.0, 0.0), 2 * (1 - (1 + z) ** -0.5)),
        ((70.0, 0.0, 0.0), z / (1 + z)),  # radiation alone
    ):
        expected = 5 * np.log10(299792.48 * (1 + z) / 70.0 * integral) + 25
        assert distance_modulus(*constants, z) == pytest.approx(expected, abs=1e-12)


def test_the_file_has_192_rows_in_their_ranges(supernovae):
    assert supernovae.shape == (192, 3)
    assert supernovae[0].tolist() == [0.426, 41.98, 0.23]
    assert supernovae.min(axis=0).tolist() == [0.016, 33.98, 0.13]
    assert supernovae.max(axis=0).tolist() == [1.755, 45.31, 0.43]


def test_the_first_five_published_labels_come_out(supernovae):
    published = [-496.3282763, -418.0998238, -587.4924874, -426.4950673, -522.6788599]
    values = [log_likelihood(*row, supernovae) for row in supernovae[:5].tolist()]
    assert values == pytest.approx(published, abs=1e-6)


def test_published_labels_have_the_published_range(supernovae):
    (stream,) = supernova_figures_trials(trials=1, supernovae=supernovae)
    assert stream.truth.min() == pytest.approx(-980, abs=2)
    assert stream.truth.max() == pytest.approx(-129, abs=1)


def test_the_true_domain_has_the_range_that_was_measured(supernovae):
    truth = supernova_stream(seed=0, supernovae=supernovae).truth
    assert -25 < truth.min() < -10
    assert 0.0 < truth.max() < 0.1


def test_a_likelihood_is_the_mean_of_gaussian_ones():
    terms = []
    for z, mu, error in FEW:
        gap = (mu - modulus_by_quadrature(70.0, 0.3, 0.6, z)) / error
        terms.append(-gap * gap / 2 - log(error) - log(2 * pi) / 2)
    assert log_likelihood(70.0, 0.3, 0.6, FEW) == pytest.approx(sum(terms) / 3, abs=1e-9)


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        (30.0, -450.0 - log(2 * pi) / 2),
        (37.0, -684.5 - log(2 * pi) / 2),
        (39.0, -1000.0),  # e^−760 is 0 in float64
        (60.0, -1000.0),
        (1e6, -1000.0),
    ],
)
def test_a_density_that_vanishes_counts_as_minus_1000(gap, expected):
    (mu,) = distance_modulus(70.0, 0.3, 0.7, [0.5])
    assert log_likelihood(70.0, 0.3, 0.7, [[0.5, mu + gap, 1.0]]) == pytest.approx(expected, abs=1e-6)


def test_rows_of_constants_are_one_call_each():
    points = [[70.0, 0.3, 0.7], [61.0, 0.9, 0.0]]
    assert log_likelihoods(points, FEW).tolist() == [log_likelihood(*point, FEW) for point in points]
    assert log_likelihoods([], FEW).shape == (0,)


def test_published_trials_are_the_rows_in_file_order_with_noise_of_one_state(supernovae):
    random = np.random.RandomState(0)
    streams = supernova_figures_trials(supernovae=supernovae)
    assert len(streams) == 5
    for stream in streams:
        assert (stream.points == supernovae).all()
        assert (stream.truth == streams[0].truth).all()
        assert (stream.labels == stream.truth + 10 * random.normal(0, 1, (192, 1))[:, 0]).all()
        assert (stream.noise_std, stream.name) == (10.0, "supernova-figures")


def test_the_text_has_192_points_of_the_true_domain():
    stream = supernova_stream(seed=4, supernovae=FEW)
    assert stream.points.shape == (192, 3)
    for column, low, high in zip(stream.points.T, (60, 0, 0), (80, 1, 1), strict=True):
        assert low <= column.min() < low + 0.05 * (high - low)
        assert high - 0.05 * (high - low) < column.max() <= high
    assert (stream.truth == log_likelihoods(stream.points, FEW)).all()
    assert (stream.labels - stream.truth).std() == pytest.approx(10.0, abs=1.5)


def test_a_seed_changes_the_noise_and_a_points_seed_the_points():
    one, same, noise = (supernova_stream(seed=seed, supernovae=FEW) for seed in (1, 1, 2))
    moved = supernova_stream(seed=1, points_seed=9, supernovae=FEW)
    assert (one.labels == same.labels).all()
    assert (one.points == noise.points).all()
    assert (one.labels != noise.labels).all()
    assert (one.points != moved.points).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 0.3, 0.7, FEW), "H0: expected a positive, finite number, got 0.0"),
        ((70.0, -0.1, 0.7, FEW), "dark_matter: expected a share that is not negative, got -0.1"),
        ((70.0, 0.3, -1.0, FEW), "dark_energy: expected a share that is not negative, got -1.0"),
        ((70.0, 0.3, float("nan"), FEW), "dark_energy: expected a finite number"),
        ((70.0, 0.3, 0.7, [[0.0, 40.0, 0.1]]), "redshifts: expected numbers above zero, got 0.0"),
        ((70.0, 0.3, 0.7, [[0.5, 40.0, 0.0]]), "errors: expected numbers above zero, got 0.0"),
        ((70.0, 0.3, 0.7, [[0.5, 40.0]]), "supernovae: expected rows of 3 numbers each"),
        ((70.0, 0.3, 0.7, []), "supernovae: expected one row at least, got none"),
    ],
    ids=str,
)
def test_what_has_no_likelihood_is_refused(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        log_likelihood(*arguments)
