"""Greedy information gain against dense determinants and exhaustive search."""

from itertools import combinations_with_replacement
from math import e

import numpy as np
import pytest

from breakeven import theory
from breakeven.errors import InvalidInput


def kernel_matrix(points, lengthscale=0.3):
    gaps = np.linalg.norm(points[:, None] - points[None, :], axis=-1)
    return np.exp(-(gaps**2) / (2 * lengthscale**2))


def dense_gain(matrix, chosen, noise_std):
    sub = matrix[np.ix_(chosen, chosen)]
    sign, logdet = np.linalg.slogdet(np.eye(len(chosen)) + sub / noise_std**2)
    assert sign == 1
    return logdet / 2


@pytest.mark.parametrize("noise_std", [0.05, 0.5, 3.0])
def test_running_gains_are_the_determinants_of_the_chosen_points(noise_std):
    matrix = kernel_matrix(np.random.default_rng(1).random((25, 2)))
    path = theory.greedy_information_gain(matrix, 60, noise_std=noise_std)
    dense = [dense_gain(matrix, path.chosen[: i + 1], noise_std) for i in range(60)]
    assert path.gains == pytest.approx(dense, rel=1e-9)


def test_each_choice_adds_most_among_all_candidates():
    matrix = kernel_matrix(np.random.default_rng(2).random((12, 1)))
    path = theory.greedy_information_gain(matrix, 20, noise_std=0.3)
    for i in range(20):
        before = list(path.chosen[:i])
        best = max(dense_gain(matrix, [*before, j], 0.3) for j in range(12))
        assert path.gains[i] == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_bound_covers_the_best_of_all_choices_with_repetition(seed, n):
    rng = np.random.default_rng(seed)
    matrix = kernel_matrix(rng.random((7, 2)), lengthscale=0.5)
    noise = float(rng.uniform(0.1, 2.0))
    optimum = max(
        dense_gain(matrix, list(chosen), noise) for chosen in combinations_with_replacement(range(7), n)
    )
    greedy = theory.greedy_information_gain(matrix, n, noise_std=noise).gains[-1]
    bound = theory.information_gain_bound(matrix, n, noise_std=noise)
    assert (1 - 1 / e) * optimum <= greedy <= optimum * (1 + 1e-12)
    assert bound[-1] >= optimum
    assert bound[-1] == pytest.approx(greedy * e / (e - 1))


def test_one_candidate_is_chosen_again_and_again():
    path = theory.greedy_information_gain([[1.0]], 50, noise_std=0.5)
    assert path.chosen.tolist() == [0] * 50
    assert path.gains == pytest.approx(0.5 * np.log1p(4.0 * np.arange(1, 51)))


def test_many_repetitions_keep_their_digits():
    matrix = kernel_matrix(np.linspace(0, 1, 8)[:, None])
    path = theory.greedy_information_gain(matrix, 3000, noise_std=0.01)
    counts = np.bincount(path.chosen, minlength=8)
    scaled = np.sqrt(counts)[:, None] * matrix * np.sqrt(counts)[None, :] / 0.01**2
    _, logdet = np.linalg.slogdet(np.eye(8) + scaled)
    assert path.gains[-1] == pytest.approx(logdet / 2, rel=1e-8)


def test_information_gain_matches_the_determinant():
    matrix = kernel_matrix(np.random.default_rng(3).random((40, 3)))
    expected = dense_gain(matrix, range(40), 0.2)
    assert theory.information_gain(matrix, noise_std=0.2) == pytest.approx(expected, rel=1e-12)


def test_the_matrix_given_is_left_alone():
    matrix = kernel_matrix(np.random.default_rng(4).random((5, 1)))
    before = matrix.copy()
    theory.greedy_information_gain(matrix, 4, noise_std=0.2)
    assert (matrix == before).all()


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0, 0.5]], r"kernel_matrix: expected a square matrix, got 'an array of shape \(1, 2\)'"),
        ([], "kernel_matrix: expected a square matrix"),
        ([[1.0, 0.5], [0.4, 1.0]], "kernel_matrix: expected a symmetric matrix"),
        ([[float("nan")]], "kernel_matrix: expected a symmetric matrix of finite numbers"),
        ([[-1.0]], "its diagonal not negative"),
        ([["a"]], "kernel_matrix: expected a symmetric matrix"),
    ],
)
def test_matrices_that_are_no_kernels_are_refused(matrix, message):
    for gain in (
        theory.information_gain,
        lambda K, noise_std: theory.information_gain_bound(K, 2, noise_std=1),
    ):
        with pytest.raises(InvalidInput, match=message):
            gain(matrix, noise_std=1.0)


def test_an_indefinite_matrix_is_refused():
    with pytest.raises(InvalidInput, match="kernel_matrix: expected a matrix with no negative eigenvalue"):
        theory.information_gain([[0.0, 5.0], [5.0, 0.0]], noise_std=1.0)


def test_noise_and_count_are_checked():
    with pytest.raises(InvalidInput, match="noise_std: expected a positive"):
        theory.information_gain([[1.0]], noise_std=0.0)
    with pytest.raises(InvalidInput, match="n: expected a whole number of at least 1, got 0"):
        theory.greedy_information_gain([[1.0]], 0, noise_std=1.0)
    with pytest.raises(InvalidInput, match="dim: expected a whole number"):
        theory.information_gain_rate_se(10, 0)
    with pytest.raises(InvalidInput, match="smoothness: expected a positive"):
        theory.information_gain_rate_matern(10, 1, smoothness=0.0)
