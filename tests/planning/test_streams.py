"""A stream's own rules: lengths, kinds of points, and that nobody changes it."""

import dataclasses
from math import inf, nan

import numpy as np
import pytest

from breakeven import algorithm1, algorithm2, simulate
from breakeven.errors import InvalidInput
from breakeven.planning import Stream


def stream(points=(0, 1, 0), labels=(0.9, 2.1, 1.2), truth=(1.0, 2.0, 1.0), noise_std=0.1, name="types"):
    return Stream(points, labels, truth, noise_std, name)


def test_types_are_kept_as_whole_numbers():
    assert stream().points.dtype == np.int64
    assert stream().dim is None


def test_rows_are_kept_as_floats_with_their_width():
    rows = stream(points=[[1, 2], [3, 4], [5, 6]])
    assert rows.points.dtype == np.float64
    assert (rows.dim, len(rows)) == (2, 3)


def test_an_empty_stream_is_a_stream():
    assert len(stream(points=[], labels=[], truth=[])) == 0


def test_a_stream_cannot_be_changed_through_itself_or_through_what_it_was_made_from():
    points, labels = np.array([[1.0], [2.0]]), np.array([1.0, 2.0])
    kept = Stream(points, labels, labels, 0.1, "rows")
    points[0], labels[0] = 9.0, 9.0
    assert kept.points.tolist() == [[1.0], [2.0]]
    assert kept.labels.tolist() == kept.truth.tolist() == [1.0, 2.0]
    for array in (kept.points, kept.labels, kept.truth):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7.0
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'name'"):
        kept.name = "other"


def test_the_first_rounds_are_a_stream_too():
    start = stream().first(2)
    assert (start.points.tolist(), start.labels.tolist()) == ([0, 1], [0.9, 2.1])
    assert (start.truth.tolist(), start.noise_std, start.name) == ([1.0, 2.0], 0.1, "types")
    assert len(stream().first(0)) == 0


def test_no_more_rounds_than_there_are():
    with pytest.raises(InvalidInput, match="rounds: expected a whole number of at most 3, got 4"):
        stream().first(4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": [1.0, 2.0]}, "labels: expected 3 numbers, one for each point, got 2"),
        ({"truth": [1.0] * 4}, "truth: expected 3 numbers, one for each point, got 4"),
        ({"labels": [1.0, nan, 2.0]}, "labels: expected a row of finite numbers"),
        ({"truth": [1.0, inf, 2.0]}, "truth: expected a row of finite numbers"),
        ({"points": [0.5, 1.5, 2.5]}, "points: expected whole numbers, or rows of numbers"),
        ({"points": ["a", "b", "c"]}, "points: expected whole numbers, or rows of numbers"),
        ({"points": [True, False, True]}, "points: expected whole numbers, or rows of numbers"),
        ({"points": 3}, "points: expected whole numbers, or rows of numbers, got 3"),
        ({"points": [[1.0], [nan], [2.0]]}, r"points\[1\]: expected 1 finite number,"),
        ({"points": np.zeros((3, 0))}, "points: expected whole numbers, or rows of numbers"),
        ({"points": [[1.0, 2.0], [3.0], [4.0]]}, "points: expected whole numbers, or rows of numbers"),
        ({"noise_std": 0.0}, "noise_std: expected a positive, finite number, got 0.0"),
        ({"name": ""}, "name: expected text, got ''"),
    ],
    ids=str,
)
def test_what_cannot_be_a_stream_is_refused(change, message):
    with pytest.raises(InvalidInput, match=message):
        stream(**change)


def test_a_learner_takes_a_stream_of_types_as_it_is():
    types = stream()
    trace = simulate(algorithm1(label_cost=1.0, noise_std=0.1), types.points, types.labels, types.truth)
    assert trace.wants_label.tolist()[:2] == [True, True]


def test_a_learner_takes_a_stream_of_rows_as_it_is():
    rows = stream(points=[[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])
    learner = algorithm2(2, label_cost=1.0, noise_std=0.1, warmup=0, fit=None)
    assert simulate(learner, rows.points, rows.labels, rows.truth).ledger.rounds == 3
