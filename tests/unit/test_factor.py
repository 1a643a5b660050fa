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


@pytest.mark.parametrize("row", [0, 1, 300, ROWS_PER_BLOCK - 1, ROWS_PER_BLOCK, ROWS_PER_BLOCK + 30])
@pytest.mark.parametrize("size", [ROWS_PER_BLOCK + 31, 2 * ROWS_PER_BLOCK + 40])
def test_a_factor_without_a_row_is_that_of_the_rest(row, size):
    K = gram(size)
    factor = extended(K)
    before = factor.to_bytes()
    rest = np.delete(np.delete(K, row, axis=0), row, axis=1)
    smaller = factor.without(row)
    assert factor.to_bytes() == before
    L = dense(rest)
    assert np.abs(smaller.rows(0, size - 1) - L).max() < 1e-12
    assert np.abs(smaller.rows(500, 520) - L[500:520, :520]).max() < 1e-12
    smaller.append(np.zeros(size - 1), 3.0)
    assert smaller.solve(np.ones(size))[-1] == pytest.approx(1.0 / 3.0)


def test_the_last_row_may_leave_and_so_may_the_only_one():
    factor = extended(gram(5))
    assert factor.without(4).rows(0, 4) == pytest.approx(factor.rows(0, 4))
    assert extended(gram(1)).without(0).size == 0


@pytest.mark.parametrize("size", [0, 1, 100, ROWS_PER_BLOCK, ROWS_PER_BLOCK + 20])
def test_a_factor_takes_little_more_room_than_its_entries(size):
    factor = extended(gram(size))
    used = sum(len(part) for part in factor.to_bytes())
    held = sum(array.nbytes for array in (*factor._left, *factor._packed))
    assert held <= 4 * used + 3 * ROWS_PER_BLOCK * 16 * 8


@pytest.mark.parametrize("parts", [[], [b""], [b"", b"12345678"], [b"", bytes(16)], None, [b"", 3]])
def test_parts_that_make_no_factor_are_refused(parts):
    with pytest.raises(ValueError, match="expected"):
        Factor.of(3, parts)
