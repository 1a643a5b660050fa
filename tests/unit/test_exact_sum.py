"""Exact sums against fractions."""

from fractions import Fraction
from math import fsum, isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven.values import ExactSum

NUMBERS = st.floats(-1e150, 1e150)
LISTS = st.lists(NUMBERS, max_size=30)


def summed(numbers, start=None):
    total = start or ExactSum()
    for number in numbers:
        total = total.plus(number)
    return total


def exactly(total):
    return sum(map(Fraction, total.parts), Fraction(0))


@given(LISTS)
def test_the_parts_sum_to_the_true_sum(numbers):
    assert exactly(summed(numbers)) == sum(map(Fraction, numbers), Fraction(0))


@given(LISTS)
def test_the_value_is_the_float_nearest_to_the_true_sum(numbers):
    assert summed(numbers).value == float(sum(map(Fraction, numbers), Fraction(0))) == fsum(numbers)


@given(LISTS, LISTS)
def test_what_was_added_can_be_taken_away_without_a_trace(kept, gone):
    before = summed(kept)
    assert summed([-number for number in gone], summed(gone, before)) == before


@given(LISTS.flatmap(lambda numbers: st.tuples(st.just(numbers), st.permutations(numbers))))
def test_the_order_does_not_matter(orders):
    assert summed(orders[0]) == summed(orders[1])


@given(LISTS)
def test_each_part_is_the_float_nearest_to_what_is_missing(numbers):
    missing = sum(map(Fraction, numbers), Fraction(0))
    for part in summed(numbers).parts:
        assert part == float(missing) != 0.0
        missing -= Fraction(part)
    assert missing == 0


@pytest.mark.parametrize(
    ("numbers", "value"),
    [
        ([], 0.0),
        ([-0.0], 0.0),
        ([5e-324, -5e-324], 0.0),
        ([1e16, 1.0, -1e16], 1.0),
        ([1e150, 1e-150, -1e150], 1e-150),
        ([0.1] * 10, 1.0),
    ],
)
def test_sums_worked_out_by_hand(numbers, value):
    assert summed(numbers).value == value


def test_adding_leaves_the_old_sum_as_it_was():
    old = ExactSum().plus(1.0)
    assert old.plus(2.0).value == 3.0
    assert old == ExactSum((1.0,))


@pytest.mark.parametrize("parts", [(), (nan,), (1e16, 1.0)], ids=["nothing", "nan", "numbers"])
def test_a_sum_with_nan_is_nan_and_comes_to_an_end(parts):
    assert isnan(ExactSum(parts).plus(nan).value)
