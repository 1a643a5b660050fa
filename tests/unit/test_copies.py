"""Columns that say the label itself are told from those that do by chance."""

import numpy as np
import pytest

from breakeven.rows.copies import copies_of, sorts


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ([1.0, 2.0, 3.0, 4.0, 5.0], []),
        ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0]),
        ([0.0, 1.0] * 5, []),
        ([0.0, 1.0] * 7, [0]),
        ([7.0] * 10, []),
        ([], []),
    ],
    ids=["too few", "enough", "too few of two values", "enough of two values", "equal", "none"],
)
def test_what_may_be_chance_is_no_copy(labels, found):
    assert copies_of(np.array(labels), np.array(labels).reshape(-1, 1)) == found


@pytest.mark.parametrize(
    ("groups", "labels", "told"),
    [
        (["a", "b"] * 8, [0.0, 1.0] * 8, True),
        (["a", "b"] * 4, [0.0, 1.0] * 4, False),
        (["a", "b"] * 8, [0.0, 1.0] * 7 + [1.0, 1.0], False),
        (list(range(60)), np.arange(60.0), False),
        (list(range(8)) * 2, [0.0, 1.0] * 8, False),
        (list(range(30)) * 2, [0.0, 1.0] * 30, True),
        (list(range(30)) * 2, list(np.arange(30.0)) * 2, True),
        (["a", "b"] * 30, [7.0] * 60, False),
        ([], [], False),
    ],
    ids=["one each", "too few", "one differs", "all differ", "few pairs", "pairs", "many", "equal", "none"],
)
def test_groups_that_have_one_label_each_sort_them_unless_by_chance(groups, labels, told):
    assert sorts(np.array(labels), groups, tried=1) == told


def test_a_random_column_sorts_labels_hardly_ever():
    random, falsely = np.random.default_rng(0), 0
    for _ in range(2_000):
        labels, groups = random.integers(2, size=14).astype(float), random.integers(2, size=14).tolist()
        falsely += sorts(labels, groups, tried=1)
    assert falsely <= 2_000 / 500
