"""The growing table against a plain list of rows."""

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven.beliefs.gp.factor import GrowingTable

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 2**32 - 1)),
        st.tuples(st.just("widen"), st.integers(0, 2**32 - 1)),
        st.tuples(st.just("remove"), st.integers(0, 2**32 - 1)),
        st.tuples(st.just("copy"), st.just(0)),
    ),
    max_size=120,
)


@given(width=st.integers(0, 3), steps=STEPS)
def test_a_table_holds_what_a_plain_matrix_would(width, steps):
    table, plain = GrowingTable(width), np.empty((0, width))
    for verb, seed in steps:
        numbers = np.random.default_rng(seed)
        if verb == "append":
            row = numbers.normal(size=plain.shape[1])
            table.append(row)
            plain = np.vstack([plain, row])
        elif verb == "widen":
            column = numbers.normal(size=len(plain))
            table.widen(column)
            plain = np.column_stack([plain, column])
        elif verb == "copy":
            table = deepcopy(table)
        elif len(plain):
            j = seed % len(plain)
            table.remove(j)
            plain = np.delete(plain, j, axis=0)
        assert table.all.shape == plain.shape
        assert (table.all == plain).all()


@pytest.mark.parametrize("count", [0, 1, 16, 17, 40])
def test_a_table_starts_from_rows_and_owns_them(count):
    rows = np.arange(2.0 * count).reshape(count, 2)
    table = GrowingTable(2, rows)
    rows[:] = -1.0
    table.append(np.array([7.0, 8.0]))
    assert table.all[:-1].ravel().tolist() == list(range(2 * count))
    assert table.all[-1].tolist() == [7.0, 8.0]


def test_writing_into_the_view_changes_the_table():
    table = GrowingTable(1, np.zeros((3, 1)))
    table.all[1] = 5.0
    assert table.all[:, 0].tolist() == [0.0, 5.0, 0.0]


def test_a_long_queue_in_and_out_stays_small():
    table = GrowingTable(1)
    for i in range(10_000):
        table.append(float(i))
        if i >= 3:
            table.remove(0)
    assert table.all[:, 0].tolist() == [9997.0, 9998.0, 9999.0]
    assert len(table._data) < 100
