"""Cells against a search through all of them for the nearest."""

from itertools import product

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven import Cells, TypeMeans
from breakeven.errors import InvalidInput

SIDES = st.floats(-100.0, 100.0)


def boxes(dim):
    axis = st.tuples(SIDES, st.floats(0.01, 50.0)).map(lambda side: (side[0], side[0] + side[1]))
    return st.lists(axis, min_size=dim, max_size=dim)


SCENES = st.integers(1, 4).flatmap(
    lambda dim: st.tuples(boxes(dim), st.lists(st.lists(SIDES, min_size=dim, max_size=dim), max_size=12))
)


def cells(box):
    low, high = zip(*box, strict=True)
    return Cells(low, high, noise_std=0.5)


def halvings(box):
    return product((0, 1), repeat=len(box))


def centre(box, halves):
    return np.array(
        [low + (0.25 + 0.5 * half) * (high - low) for half, (low, high) in zip(halves, box, strict=True)]
    )


def nearest(box, x):
    """The cells at the least distance, as tuples of halves: more than one on a boundary."""
    distances = {}
    for halves in halvings(box):
        gaps = []
        for half, (low, high), coordinate in zip(halves, box, x, strict=True):
            middle = low / 2 + high / 2
            left, right = (low, middle) if half == 0 else (middle, high)
            gaps.append(max(left - coordinate, 0.0, coordinate - right))
        distances[halves] = np.hypot.reduce(gaps) if len(gaps) > 1 else gaps[0]
    least = min(distances.values())
    return {halves for halves, distance in distances.items() if distance <= least * (1 + 1e-12)}


@given(SCENES)
def test_a_point_shares_its_label_with_the_nearest_cell_and_no_other(scene):
    box, points = scene
    for x in points:
        belief = cells(box)
        belief.learn(belief.point(x), 7.0)
        taught = {halves for halves in halvings(box) if belief.predict(centre(box, halves)).mean == 7.0}
        assert len(taught) == 1
        assert taught <= nearest(box, x)


@given(SCENES)
def test_cells_are_type_means_of_the_halves(scene):
    box, points = scene
    belief, types = cells(box), TypeMeans(noise_std=0.5)
    middles = [low / 2 + high / 2 for low, high in box]
    for i, x in enumerate(points):
        point = belief.point(x)
        name = tuple(int(coordinate >= middle) for coordinate, middle in zip(x, middles, strict=True))
        mine, other = belief.look(point), types.look(name)
        assert (mine.uncertainty, mine.arrivals, mine.labels) == (
            other.uncertainty,
            other.arrivals,
            other.labels,
        )
        belief.arrive(point, mine)
        types.arrive(name, other)
        assert belief.learn(point, float(i)) == types.learn(name, float(i))
    assert belief.labels == types.labels == len(points)


@pytest.mark.parametrize(
    ("x", "half"), [(-1e100, 0), (0.0, 0), (1.9999999, 0), (2.0, 1), (4.0, 1), (1e100, 1)]
)
def test_the_midpoint_belongs_to_the_upper_half(x, half):
    belief = Cells(0.0, 4.0, noise_std=1.0)
    belief.learn(belief.point(half * 3.0 + 0.5), 5.0)
    assert belief.predict(belief.point(x)).mean == 5.0


def test_a_box_as_wide_as_numbers_may_be_has_its_middle_at_zero():
    belief = Cells([-1e100], [1e100], noise_std=1.0)
    belief.learn(belief.point(0.0), 5.0)
    assert belief.predict(belief.point(1e-300)).mean == 5.0
    assert belief.predict(belief.point(-1e-300)).mean == 0.0


def test_seventy_dimensions_have_their_cells_too():
    belief = Cells(np.zeros(70), np.ones(70), noise_std=1.0)
    x = belief.point(np.linspace(0.0, 1.0, 70))
    belief.learn(x, 5.0)
    for axis in (0, 7, 8, 63, 64, 69):
        other = x.copy()
        other[axis] = 1.0 - other[axis]
        assert belief.predict(other).mean == 0.0
    assert belief.predict(x).mean == 5.0


def test_the_last_cells_of_a_byte_are_not_confused_across_dimensions():
    belief = Cells(np.zeros(9), np.ones(9), noise_std=1.0)
    for number in range(512):
        x = belief.point([(number >> axis) & 1 for axis in range(9)])
        belief.learn(x, float(number))
    assert belief.describe()["types"] == 512


def test_stored_cells_go_on_with_the_same_bits():
    belief = Cells([0.0, 0.0], [1.0, 2.0], noise_std=0.3, delta=0.1)
    for i, x in enumerate(np.random.default_rng(0).random((20, 2))):
        belief.arrive(x)
        belief.learn(x, 0.1 * i)
    config = msgspec.json.decode(msgspec.json.encode(belief.config()))
    copy = Cells(**config)
    copy.load(msgspec.msgpack.decode(msgspec.msgpack.encode(belief.state())))
    assert copy.config() == belief.config()
    assert copy.state() == belief.state()
    assert copy.predict_many(copy.points([[0.1, 0.1], [9.0, 9.0]])) == belief.predict_many(
        belief.points([[0.1, 0.1], [9.0, 9.0]])
    )


def test_a_point_survives_storage():
    belief = Cells([0.0, 0.0], [1.0, 1.0], noise_std=1.0)
    plain = msgspec.json.decode(msgspec.json.encode(belief.plain(belief.point([0.1, 1 / 3]))))
    assert belief.recall(plain).tolist() == [0.1, 1 / 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"low": [0.0, 1.0]}, r"high: expected numbers above low on every axis, got \[1.0, 1.0\]"),
        ({"low": [2.0, 0.0]}, r"high: expected numbers above low on every axis, got \[1.0, 1.0\]"),
        ({"low": [], "high": []}, r"high: expected numbers above low on every axis, got \[\]"),
        ({"high": [1.0]}, r"high: expected a row of 2 finite numbers, got \[1.0\]"),
        ({"high": [1.0, float("inf")]}, r"high: expected a row of 2 finite numbers, got \[1.0, inf\]"),
        ({"low": [0.0, float("nan")]}, r"low: expected a row of finite numbers, got \[0.0, nan\]"),
        ({"low": "ab"}, "low: expected a row of finite numbers, got 'ab'"),
        ({"low": [[0.0, 0.0]]}, r"low: expected a row of finite numbers, got \[\[0.0, 0.0\]\]"),
        ({"noise_std": 0.0}, "noise_std: expected a positive, finite number, got 0.0"),
        ({"delta": 0.0}, r"delta: expected a number in \(0, 1\), got 0.0"),
    ],
)
def test_bad_boxes_are_refused(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        Cells(**({"low": [0.0, 0.0], "high": [1.0, 1.0], "noise_std": 1.0} | arguments))


@pytest.mark.parametrize("x", [[0.5], [0.5, float("nan")], "ab", [[0.5, 0.5]], None])
def test_bad_points_are_refused(x):
    with pytest.raises(InvalidInput, match="x: expected a row of 2 finite numbers, got"):
        Cells([0.0, 0.0], [1.0, 1.0], noise_std=1.0).point(x)
