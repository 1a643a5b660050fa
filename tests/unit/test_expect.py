"""What counts as valid input, and the exact words in which the rest is refused."""

from decimal import Decimal
from enum import Enum
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

from breakeven.errors import BreakevenError, InvalidInput, expect
from tests.naming import plain_name

BEYOND = 10**400  # an int that no float can hold
ENDLESS = 10**5000  # an int that Python does not even print
NOT_NUMBERS = [True, np.False_, "1", b"1", None, 1j, [1.0], np.array(1.0), np.array([1.0]), Decimal(1)]
NOT_FINITE = [nan, inf, -inf, np.float64("nan"), np.float64("inf")]
MISSING = "an array with a mask; fill or drop what is missing"
EVERY_NUMBER = [0.5, Fraction(1, 2), np.float64(0.5)]


def same(one, other):
    return type(one) is type(other) and one == other


def refused(function, *arguments, message, **options):
    with pytest.raises(InvalidInput) as caught:
        function("it", *arguments, **options)
    assert str(caught.value) == f"it: expected {message}"


# -- messages ------------------------------------------------------------------------------------


def test_a_refusal_is_a_value_error_and_one_of_ours():
    with pytest.raises(BreakevenError, match=r"^price: expected less, got 'more'$") as caught:
        expect.refuse("price", "less", "more")
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(("length", "shown"), [(78, 80), (79, 80), (10_000, 80)])
def test_long_values_are_cut(length, shown):
    text = expect.shown("a" * length)
    assert len(text) == shown
    assert text.endswith("..." if length > 78 else "a'")


# -- single numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "number"),
    [
        *[(one, 0.5) for one in EVERY_NUMBER],
        (3, 3.0),
        (np.int64(-3), -3.0),
        (np.uint8(3), 3.0),
        (-0.0, 0.0),
        (5e-324, 5e-324),
        (expect.LARGEST, expect.LARGEST),
        (-expect.LARGEST, -expect.LARGEST),
        (10**50, 1e50),
        (np.float32(0.5), 0.5),
        (np.float16(0.5), 0.5),
    ],
    ids=repr,
)
def test_finite_numbers_become_floats(value, number):
    assert same(expect.finite("it", value), number)


@pytest.mark.parametrize("value", ["yes", True, None, 2, 0.5, nan, inf, [1.0]])
def test_a_label_that_is_neither_yes_nor_no_is_told_how_to_say_so(value):
    words = f"1 for yes or 0 for no, as this learner has yes/no labels, got {value!r}"
    refused(expect.yes_no_label, value, message=words)


@pytest.mark.parametrize("value", [*NOT_NUMBERS, *NOT_FINITE, np.float32("inf")], ids=repr)
def test_what_is_not_a_finite_number_is_refused(value):
    refused(expect.finite, value, message=f"a finite number, got {value!r}")


@pytest.mark.parametrize("value", [1e101, -1e101, 10**101])
def test_a_number_too_large_to_square_is_refused(value):
    expected = f"a finite number of size 1e+100 at most, got {expect.shown(value)}"
    refused(expect.finite, value, message=expected)


@pytest.mark.parametrize("value", [BEYOND, -BEYOND, ENDLESS], ids=["beyond", "below", "endless"])
def test_an_int_that_no_float_can_hold_is_refused(value):
    with pytest.raises(InvalidInput, match=r"^it: expected a finite number, got "):
        expect.finite("it", value)
    with pytest.raises(InvalidInput, match=r"^it: expected a positive, finite number, got "):
        expect.positive("it", value)


@pytest.mark.parametrize(
    "value", [*EVERY_NUMBER, expect.SMALLEST, expect.LARGEST, 3, np.int32(3), np.float32(0.5)], ids=repr
)
def test_positive_numbers_become_floats(value):
    assert same(expect.positive("it", value), float(value))


@pytest.mark.parametrize(
    "value",
    [*NOT_NUMBERS, *NOT_FINITE, 0, 0.0, -0.0, -1, -5e-324, np.float64(0.0), np.float32(0.0)],
    ids=repr,
)
def test_what_is_not_positive_and_finite_is_refused(value):
    refused(expect.positive, value, message=f"a positive, finite number, got {value!r}")


@pytest.mark.parametrize("value", [1e101, 5e-324, 9e-51, 10**101])
def test_a_positive_number_out_of_range_is_refused_with_the_range(value):
    with pytest.raises(InvalidInput, match=r"^it: expected a number from 1e-50 to 1e\+100, got "):
        expect.positive("it", value)


@pytest.mark.parametrize("value", [*EVERY_NUMBER, np.float32(0.5), 5e-324], ids=repr)
@pytest.mark.parametrize("open", [False, True])
def test_probabilities_become_floats(value, open):
    assert same(expect.probability("it", value, open=open), float(value))


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0, np.int64(1)])
def test_the_ends_are_probabilities_unless_the_interval_is_open(value):
    assert same(expect.probability("it", value), float(value))
    refused(expect.probability, value, open=True, message=f"a number in (0, 1), got {value!r}")


@pytest.mark.parametrize(
    "value",
    [*NOT_NUMBERS, *NOT_FINITE, -5e-324, 1.0000001, 2, BEYOND, -BEYOND],
    ids=lambda one: "",
)
@pytest.mark.parametrize(("open", "interval"), [(False, "[0, 1]"), (True, "(0, 1)")])
def test_what_is_not_a_probability_is_refused(value, open, interval):
    expected = f"a number in {interval}, got {expect.shown(value)}"
    refused(expect.probability, value, open=open, message=expected)


@pytest.mark.parametrize("value", [2, np.int64(2), np.uint8(2), 2**63 - 1])
def test_whole_numbers_become_ints(value):
    assert same(expect.whole("it", value, least=2), int(value))


@pytest.mark.parametrize(
    "value", [*NOT_NUMBERS, *NOT_FINITE, 1, -1, 2.0, np.float64(2.0), Fraction(5, 2)], ids=repr
)
def test_what_is_not_whole_or_too_small_is_refused(value):
    refused(expect.whole, value, least=2, message=f"a whole number of at least 2, got {value!r}")


@pytest.mark.parametrize("value", [2**63, BEYOND, ENDLESS], ids=lambda one: "")
def test_a_whole_number_that_64_bits_cannot_hold_is_refused(value):
    expected = f"^it: expected a whole number of at most {2**63 - 1}, got "
    with pytest.raises(InvalidInput, match=expected):
        expect.whole("it", value)


@pytest.mark.parametrize("value", ["a", "b", None])
def test_one_of_the_choices_is_taken(value):
    assert expect.one_of("it", value, ("a", "b", None)) is value


@pytest.mark.parametrize("value", ["c", "", "ab", True, 1, ["a"], ("a",), {}, np.array(["a"])], ids=repr)
def test_what_is_not_a_choice_is_refused_with_the_choices(value):
    refused(expect.one_of, value, ("a", "b", None), message=f"one of 'a', 'b', None, got {value!r}")


@pytest.mark.parametrize("value", [True, False, np.True_, np.False_], ids=repr)
def test_truth_values_become_plain(value):
    assert expect.truth("it", value) is bool(value)


@pytest.mark.parametrize("value", [0, 1, None, "True", [], np.array([True]), 1.0], ids=repr)
def test_what_is_not_a_truth_value_is_refused(value):
    refused(expect.truth, value, message=f"True or False, got {value!r}")


class Colour(str, Enum):  # noqa: UP042 - its str() is not what it holds
    RED = "red"


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", "a"), (" ", " "), ("ß🙂", "ß🙂"), (np.str_("a"), "a"), (Colour.RED, "red")],
    ids=ascii,
)
def test_text_becomes_plain(value, text):
    assert same(expect.text("it", value), text)


@pytest.mark.parametrize("value", ["", "\ud800", "a\udfff", b"a", None, 1, ["a"], True], ids=ascii)
def test_what_is_not_storable_text_is_refused(value):
    refused(expect.text, value, message=f"text, got {value!r}")


@pytest.mark.parametrize(
    "value", [[1, 2], (1, 2), iter([1, 2]), range(1, 3), np.array([1, 2]), {1: 0, 2: 0}], ids=plain_name
)
def test_anything_with_elements_becomes_a_list(value):
    assert expect.rows("it", value) == [1, 2]


@pytest.mark.parametrize("value", ["ab", b"ab", "", 3, None, np.array(3), object], ids=repr)
def test_what_has_no_elements_or_is_text_is_no_list(value):
    refused(expect.rows, value, message=f"a list, got {value!r}")


# -- rows ----------------------------------------------------------------------------------------

ROWS = [
    [1.0, 2.0],
    (1, 2),
    np.array([1, 2]),
    np.array([1.0, 2.0]),
    np.array([1, 2], dtype=np.float32),
    range(1, 3),
]


@pytest.mark.parametrize("dim", [None, 2])
@pytest.mark.parametrize("row", ROWS, ids=repr)
def test_rows_become_arrays_of_floats(row, dim):
    array = expect.vector("it", row, dim)
    assert (array.dtype, array.tolist()) == (np.float64, [1.0, 2.0])


@pytest.mark.parametrize("dim", [None, 2])
def test_a_row_is_copied(dim):
    row = np.array([1.0, 2.0])
    array = expect.vector("it", row, dim)
    row[0] = 99.0
    assert array.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("one", [3, 3.0, np.float64(3.0), np.array(3.0), [3.0]], ids=repr)
@pytest.mark.parametrize("dim", [None, 1])
def test_one_number_is_a_row_of_one(one, dim):
    assert expect.vector("it", one, dim).tolist() == [3.0]


def test_the_largest_numbers_may_all_stand_in_one_row():
    row = np.array([expect.LARGEST, -expect.LARGEST])
    assert expect.vector("it", row, 2).tolist() == row.tolist()


@pytest.mark.parametrize("empty", [[], (), np.array([])], ids=repr)
def test_a_row_of_unknown_length_may_be_empty(empty):
    assert expect.vector("it", empty).shape == (0,)


@pytest.mark.parametrize(
    "row",
    [
        [1.0],
        [1.0, 2.0, 3.0],
        3.0,
        [],
        [[1.0, 2.0]],
        [1.0, [2.0]],
        [1.0, nan],
        np.array([1.0, inf]),
        [1.0, BEYOND],
        ["1", "2"],
        "12",
        b"12",
        [None, 1.0],
        None,
        [True, False],
        np.array([True, False]),
        [1j, 2.0],
        np.array([1.0, 2.0], dtype=object),
        np.array(["2026-01-01"] * 2, dtype="datetime64[D]"),
        {1.0, 2.0},
        {"a": 1.0},
        [True, 2.0],
    ],
    ids=ascii,
)
def test_what_is_not_such_a_row_is_refused(row):
    refused(expect.vector, row, 2, message=f"a row of 2 finite numbers, got {expect.shown(row)}")


@pytest.mark.parametrize("row", [[1.0, 1e101], [-1e101, 1.0], np.array([1.0, 1e160])], ids=ascii)
def test_a_row_that_lies_too_far_out_is_told_how_far_it_may_lie(row):
    words = f"a row of 2 finite numbers of size 1e+100 at most, got {expect.shown(row)}"
    refused(expect.vector, row, 2, message=words)


class Frame:
    """What pandas hands over: an array within, and a method called `mask`."""

    def __init__(self, array):
        self.array = np.array(array)

    def __array__(self, dtype=None, copy=None):
        return self.array

    def mask(self):
        raise NotImplementedError


def test_numbers_that_are_missing_are_not_taken_for_the_numbers_beneath():
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    refused(expect.vector, masked, 2, message=f"a row of 2 finite numbers, got {MISSING}")


def test_a_mask_that_hides_nothing_does_not_matter():
    assert expect.vector("it", np.ma.array([1.0, 2.0]), 2).tolist() == [1.0, 2.0]


def test_tables_of_other_libraries_are_read_as_arrays():
    assert expect.vector("it", Frame([1.0, 2.0]), 2).tolist() == [1.0, 2.0]
    assert expect.matrix("it", Frame([[1.0, 2.0]]), 2).tolist() == [[1.0, 2.0]]


def test_one_number_is_expected_in_the_singular():
    refused(expect.vector, [1, 2], 1, message="a row of 1 finite number, got [1, 2]")
    refused(expect.vector, [nan], message="a row of finite numbers, got [nan]")


# -- rows of rows --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 2], [3, 4]],
        ((1.0, 2.0), np.array([3.0, 4.0])),
        np.array([[1, 2], [3, 4]]),
        np.array([[1.0, 3.0], [2.0, 4.0]]).T,
        [range(1, 3), range(3, 5)],
    ],
    ids=repr,
)
def test_rows_of_rows_become_arrays_of_floats(rows):
    array = expect.matrix("it", rows, 2)
    assert (array.dtype, array.tolist()) == (np.float64, [[1.0, 2.0], [3.0, 4.0]])


def test_rows_of_rows_are_copied():
    rows = np.ones((2, 2))
    array = expect.matrix("it", rows, 2)
    rows[:] = 99.0
    assert array.tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("numbers", [[1, 2, 3], np.array([1, 2, 3]), [[1], [2], [3]]], ids=repr)
def test_plain_numbers_are_rows_of_one(numbers):
    assert expect.matrix("it", numbers, 1).tolist() == [[1.0], [2.0], [3.0]]


@pytest.mark.parametrize("empty", [[], (), np.empty((0, 2)), np.empty((0, 5)), np.empty(0)], ids=repr)
def test_empty_input_gives_no_rows(empty):
    assert expect.matrix("it", empty, 2).shape == (0, 2)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, 2.0], [3.0, nan]], "it[1]: expected 2 finite numbers, got [3.0, nan]"),
        ([[inf, 2.0], [3.0, nan]], "it[0]: expected 2 finite numbers, got [inf, 2.0]"),
        (
            [[1.0, 2.0], [1e101, 0.0]],
            "it[1]: expected 2 finite numbers of size 1e+100 at most, got [1e+101, 0.0]",
        ),
        ([[1.0, 2.0], [3.0]], "it[1]: expected 2 numbers, got [3.0]"),
        ([[1.0], [2.0], [3.0, 4.0]], "it[0]: expected 2 numbers, got [1.0]"),
        (
            [[1.0, 2.0], None],
            "it: expected rows of 2 finite numbers each, got [[1.0, 2.0], None]",
        ),
        ([[1.0, 2.0, 3.0]], "it: expected rows of 2 numbers each, got an array of shape (1, 3)"),
        ([1.0, 2.0], "it: expected rows of 2 numbers each, got an array of shape (2,)"),
        (1.0, "it: expected rows of 2 numbers each, got an array of shape ()"),
        ([[[1.0, 2.0]]], "it: expected rows of 2 numbers each, got an array of shape (1, 1, 2)"),
        ([[1.0, 2.0], 3.0], "it: expected rows of 2 finite numbers each, got [[1.0, 2.0], 3.0]"),
        ([["a", "b"]], "it: expected rows of 2 finite numbers each, got [['a', 'b']]"),
        ([[True, False]], "it: expected rows of 2 finite numbers each, got [[True, False]]"),
        ([[1j, 2.0]], "it: expected rows of 2 finite numbers each, got [[1j, 2.0]]"),
        ("ab", "it: expected rows of 2 finite numbers each, got 'ab'"),
        ("", "it: expected rows of 2 finite numbers each, got ''"),
        (None, "it: expected rows of 2 finite numbers each, got None"),
        ({}, "it: expected rows of 2 finite numbers each, got {}"),
        ([[None, None]], "it: expected rows of 2 finite numbers each, got [[None, None]]"),
        (
            [[1.0, [2.0]], [3.0, 4.0]],
            "it: expected rows of 2 finite numbers each, got [[1.0, [2.0]], [3.0, 4.0]]",
        ),
        ([[], []], "it: expected rows of 2 numbers each, got an array of shape (2, 0)"),
        (
            np.ma.array([[1.0, 2.0]], mask=[[False, True]]),
            f"it: expected rows of 2 finite numbers each, got {MISSING}",
        ),
    ],
)
def test_bad_rows_are_refused_by_name(rows, message):
    with pytest.raises(InvalidInput) as caught:
        expect.matrix("it", rows, 2)
    assert str(caught.value) == message
