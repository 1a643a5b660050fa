"""The small factor against NumPy's Cholesky of the same matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven.beliefs.gp.factor import Triangle

CLOSE = {"rel": 1e-10, "abs": 1e-12}

STEPS = st.lists(
    st.tuples(st.sampled_from(["append", "append", "pop", "pop first", "drop"]), st.integers(0, 10**6)),
    max_size=70,
)


def covariance(size, seed=0):
    A = np.random.default_rng(seed).normal(size=(size, size))
    return A @ A.T + np.eye(size)


def factored(C):
    R = Triangle()
    for i in range(len(C)):
        R.extend(C[i, : i + 1], floor=1e-9)
    return R


def check(R, C):
    assert R.size == len(C)
    assert R.rows() == pytest.approx(np.linalg.cholesky(C), **CLOSE)
    w = np.arange(1.0, len(C) + 1)
    assert R.solve(w) == pytest.approx(np.linalg.solve(np.linalg.cholesky(C), w), **CLOSE)


@pytest.mark.parametrize("size", [0, 1, 2, 15, 16, 17, 60])
def test_rows_added_one_by_one_give_the_cholesky_factor(size):
    check(factored(covariance(size)), covariance(size))


@pytest.mark.parametrize("j", [0, 1, 11, 18, 19])
def test_dropping_a_row_factors_the_matrix_without_it(j):
    C = covariance(20)
    R = factored(C)
    R.drop(j)
    check(R, np.delete(np.delete(C, j, axis=0), j, axis=1))


@pytest.mark.parametrize("j", [0, 1, 11, 18, 19])
def test_popping_a_row_conditions_the_others_on_it(j):
    C = covariance(20)
    R = factored(C)
    pivot, lean = R.pop_first(j)
    rest = np.delete(np.arange(20), j)
    assert pivot == pytest.approx(np.sqrt(C[j, j]), **CLOSE)
    assert lean == pytest.approx(C[rest, j] / pivot, **CLOSE)
    check(R, C[np.ix_(rest, rest)] - np.outer(lean, lean))


@given(steps=STEPS, seed=st.integers(0, 2**32 - 1))
def test_any_order_of_growing_and_shrinking_keeps_the_factor_right(steps, seed):
    rng = np.random.default_rng(seed)
    R, C = Triangle(), np.empty((0, 0))
    for verb, number in steps:
        if verb == "append":
            c = rng.normal(size=len(C)) / 8.0
            C = np.block([[C, c[:, None]], [c[None, :], np.array([[len(C) / 4.0 + 1.0]])]])
            R.extend(C[-1], floor=1e-9)
        elif len(C):
            j = 0 if verb == "pop first" else number % len(C)
            rest = np.delete(np.arange(len(C)), j)
            lean = 0.0 * C[rest, j]
            if verb == "drop":
                R.drop(j)
            else:
                lean = R.pop_first(j)[1]
            C = C[np.ix_(rest, rest)] - np.outer(lean, lean)
        check(R, C)


def test_a_complement_that_rounds_below_zero_is_lifted_to_the_floor():
    R = factored(np.ones((1, 1)))
    R.extend(np.array([1.0, 1.0 - 1e-12]), floor=1e-6)
    assert R.rows()[1].tolist() == [1.0, 1e-3]


def test_loading_rows_gives_the_same_bits():
    R = factored(covariance(30))
    R.pop_first(0)
    copy = Triangle()
    copy.load(R.rows())
    w = np.linspace(-1.0, 1.0, 29)
    assert copy.rows().tobytes() == R.rows().tobytes()
    assert copy.solve(w).tobytes() == R.solve(w).tobytes()


def test_a_long_queue_in_and_out_stays_small():
    R = Triangle()
    for _ in range(500):
        R.append(np.zeros(R.size), 1.0)
        if R.size > 3:
            R.pop_first(0)
    assert R.size == 3
    assert R._capacity < 100


@pytest.mark.parametrize("size", [33, 64, 150])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 1.0])
def test_a_row_leaves_a_large_triangle_to_the_last_digits(size, share):
    x = np.random.default_rng(3).random((size, 2))
    C = np.exp(-0.5 * ((x[:, None] - x[None]) ** 2).sum(axis=2) / 0.04) + 0.01 * np.eye(size)
    j = int(share * (size - 1))
    rest = [i for i in range(size) if i != j]
    told, withdrawn = Triangle(), Triangle()
    for R in (told, withdrawn):
        R.factor(C, np.full(size, 0.01))
    pivot, lean = told.pop_first(j)
    assert pivot == pytest.approx(np.sqrt(C[j, j]), abs=1e-12)
    assert lean == pytest.approx(C[rest, j] / pivot, abs=1e-12)
    left = C[np.ix_(rest, rest)]
    assert np.abs(told.rows() - np.linalg.cholesky(left - np.outer(lean, lean))).max() < 1e-12
    withdrawn.drop(j)
    assert np.abs(withdrawn.rows() - np.linalg.cholesky(left)).max() < 1e-12
    for R in (told, withdrawn):  # and the triangle goes on growing
        R.append(np.ones(size - 1), 2.0)
        assert R.solve(R.rows() @ np.arange(size)) == pytest.approx(np.arange(size), abs=1e-8)


def test_a_matrix_that_rounding_makes_indefinite_is_factored_all_the_same():
    C = np.ones((40, 40)) + 1e-18 * np.eye(40)
    R = Triangle()
    R.factor(C, np.full(40, 1e-18))
    assert R.rows() @ R.rows().T == pytest.approx(C, abs=1e-12)
    assert (np.diag(R.rows()) >= 1e-9).all()
