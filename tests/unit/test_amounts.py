"""One way to write numbers, for the terminal and for the page."""

import pytest

from breakeven.cli import output
from breakeven.values.amounts import amount


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (0.2, "0.2"),
        (0.30000000000000004, "0.3"),
        (0.12300001, "0.123"),
        (-2.34567, "-2.346"),
        (5.00001, "5"),
        (51.0, "51"),
        (99.996, "100"),
        (999.96, "1,000"),
        (15_500.0, "15,500"),
        (9_876_543.2, "9,876,543"),
        (9_999_999.7, "10M"),
        (21_312_345.0, "21.31M"),
        (9_999_999_999.0, "10bn"),
        (132_504_515_000.0, "132.5bn"),
        (-1.659e12, "-1,659bn"),
        (4.2e13, "42tn"),
        (9.87654e15, "9,877tn"),
        (1.23456e20, "1.235e20"),
        (0.00012345, "0.0001234"),
        (0.000099999, "0.0001"),
        (1.5e-7, "1.5e-7"),
        (-2e-300, "-2e-300"),
        (123_456_789, "123,456,789"),
        (float("inf"), "∞"),
        (float("-inf"), "-∞"),
        (float("nan"), "–"),
    ],
)
def test_a_number_has_the_digits_that_matter(number, text):
    assert amount(number) == text


def test_the_terminal_writes_numbers_the_same_way():
    assert [output.amount(one) for one in (0.5, 44200.0)] == [amount(one) for one in (0.5, 44200.0)]
