"""The blocked factor against NumPy's Cholesky, on both sides of every block boundary."""

from copy import deepcopy
from functools import cache

import numpy as np
import pytest
from scipy.linalg import cholesky, solve_triangular
from threadpoolctl import threadpool_limits

from breakeven.beliefs.gp.factor import ROWS_PER_BLOCK, Factor

SIZES = [
    0,
    1,
    2,
    ROWS_PER_BLOCK - 1,
    ROWS_PER_BLOCK,
    ROWS_PER_BLOCK + 1,
    2 * ROWS_PER_BLOCK,
    2 * ROWS_PER_BLOCK + 40,
]
NOISE = 0.01


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with threadpool_limits(1):  # small matrices: a second thread only waits
        yield


@cache
def gram(size):
    x = np.random.default_rng(1).random((size, 2)) * 3.0
    return np.exp(-0.5 * ((x[:, None] - x[None]) ** 2).sum(axis=2))


def dense(K):
    return cholesky(K + NOISE * np.eye(len(K)), lower=True) if len(K) else K


def extended(K, size=None, factor=None):
    factor = factor or Factor()
    factor.extend(
        lambda low, high: K[low:high, :high], len(K) if size is None else size, np.full(len(K), NOISE)
    )
    return factor


def columns(n, count=5):
    return np.random.default_rng(2).normal(size=(n, count))


def check(factor, K):
    L, B = dense(K), columns(len(K))
    expected = solve_triangular(L, B, lower=True) if len(K) else B
    assert factor.size == len(K)
    assert factor.solve_many(B.copy()) == pytest.approx(expected, abs=1e-10)
    assert factor.solve(B[:, 0].copy()) == pytest.approx(expected[:, 0], abs=1e-10)
    assert factor.log_determinant() == pytest.approx(2.0 * np.log(np.diag(L)).sum(), abs=1e-9)


@pytest.mark.parametrize("size", SIZES)
def test_a_factor_extended_at_once_is_the_cholesky_factor(size):
    check(extended(gram(size)), gram(size))


@pytest.mark.parametrize("size", SIZES)
def test_a_factor_grown_row_by_row_is_the_cholesky_factor(size):
    K, factor = gram(size), Factor()
    for row in dense(K):
        factor.append(row[: factor.size], row[factor.size])
    check(factor, K)


@pytest.mark.parametrize(
    "kept", [0, 1, ROWS_PER_BLOCK - 1, ROWS_PER_BLOCK, ROWS_PER_BLOCK + 1, 2 * ROWS_PER_BLOCK]
)
def test_rows_from_any_one_on_can_be_forgotten_and_computed_anew(kept):
    K = gram(2 * ROWS_PER_BLOCK + 40)
    factor = extended(K)
    order = [*range(kept), *reversed(range(kept, len(K)))]
    other = K[np.ix_(order, order)]
    factor.truncate(kept)
    check(factor, K[:kept, :kept])
    check(extended(other, factor=factor), other)


@pytest.mark.parametrize("size", SIZES)
def test_a_factor_loaded_from_bytes_has_the_same_bits(size):
    factor = extended(gram(size))
    copy = Factor.of(size, factor.to_bytes())
    b = columns(size)[:, 0]
    assert copy.to_bytes() == factor.to_bytes()
    assert copy.solve(b.copy()).tobytes() == factor.solve(b.copy()).tobytes()
    assert copy.solve_many(columns(size)).tobytes() == factor.solve_many(columns(size)).tobytes()


def test_forgotten_rows_leave_no_bytes_behind():
    K = gram(ROWS_PER_BLOCK + 20)
    factor = extended(K)
    factor.truncate(10)
    assert extended(K, size=30, factor=factor).to_bytes() == extended(K, 30, extended(K, 10)).to_bytes()


@pytest.mark.parametrize("size", SIZES)
def test_solves_are_written_over_their_argument(size):
    factor, B = extended(gram(size)), columns(size)
    b = B[:, 0].copy()
    assert factor.solve(b) is b
    assert factor.solve_many(B) is B
    assert b == pytest.approx(B[:, 0], abs=1e-10)


@pytest.mark.parametrize("size", SIZES)
def test_a_copy_goes_its_own_way(size):
    K = gram(size + 10)
    factor = extended(K, size)
    copy = deepcopy(factor)
    check(extended(K, factor=copy), K)
    check(factor, K[:size, :size])


def test_equal_rows_with_hardly_any_noise_never_fail():
    factor = Factor()
    factor.extend(
        lambda low, high: np.ones((high - low, high)),
        ROWS_PER_BLOCK + 50,
        np.full(ROWS_PER_BLOCK + 50, 1e-18),
    )
    assert np.isfinite(factor.solve(np.ones(ROWS_PER_BLOCK + 50))).all()


def test_no_columns_are_solved_at_any_size():
    factor = Factor()
    for i in range(ROWS_PER_BLOCK + 3):
        factor.append(np.zeros(i), 1.0)
    assert factor.solve_many(np.empty((ROWS_PER_BLOCK + 3, 0))).shape == (ROWS_PER_BLOCK + 3, 0)
