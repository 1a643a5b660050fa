"""What may name a type, and what may not."""

from enum import Enum, IntEnum, StrEnum
from math import nan

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven.beliefs.types.type_names import A_TYPE, DEEPEST_TUPLE, stored_type_name, type_name
from breakeven.errors import InvalidInput

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
NAMES = st.recursive(
    st.one_of(TEXT, st.integers(-(2**63), 2**63 - 1), st.binary()),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=8,
)


class Ward(StrEnum):
    NORTH = "north"


class Colour(str, Enum):  # noqa: UP042 - its str() is not what it holds
    RED = "red"


class Grade(IntEnum):
    HIGH = 3


def exactly(value):
    """Value and type, all the way down."""
    return tuple(map(exactly, value)) if isinstance(value, tuple) else (type(value), value)


@given(NAMES)
def test_plain_names_are_taken_as_they_are(name):
    assert exactly(type_name(name)) == exactly(name)


@given(NAMES)
def test_a_name_survives_storage(name):
    stored = msgspec.msgpack.decode(msgspec.msgpack.encode(name))
    assert exactly(stored_type_name(stored)) == exactly(name)


@pytest.mark.parametrize(
    ("given_as", "name"),
    [
        (np.int64(3), 3),
        (np.int8(-3), -3),
        (np.uint64(2**63 - 1), 2**63 - 1),
        (np.str_("x"), "x"),
        (np.bytes_(b"x"), b"x"),
        (("clinic", np.str_("B"), (np.int32(1),)), ("clinic", "B", (1,))),
        ((), ()),
        ("", ""),
        ("ß🙂", "ß🙂"),
        (Ward.NORTH, "north"),
        (Colour.RED, "red"),
        (Grade.HIGH, 3),
    ],
    ids=repr,
)
def test_what_holds_a_plain_name_counts_as_that_name(given_as, name):
    assert exactly(type_name(given_as)) == exactly(name)


@pytest.mark.parametrize(
    "bad",
    [
        True,
        np.False_,
        1.0,
        np.float64(1.0),
        np.float32("nan"),
        np.longdouble(1.0),
        nan,
        None,
        1j,
        ["a"],
        {"a"},
        {"a": 1},
        bytearray(b"a"),
        np.array(["a"]),
        np.array(1),
        np.datetime64("2026-01-01"),
        np.datetime64(1, "ns"),
        np.timedelta64(1, "ns"),
        2**63,
        -(2**63) - 1,
        np.uint64(2**63),
        "\ud800",
        "a\udfff",
    ],
    ids=ascii,
)
def test_anything_else_is_refused_and_shown(bad):
    held = isinstance(bad, np.generic) and not isinstance(bad, np.datetime64 | np.timedelta64)
    shown = repr(bad.item() if held else bad)
    with pytest.raises(InvalidInput) as caught:
        type_name(bad)
    assert str(caught.value) == f"x: expected {A_TYPE}, got {shown}"


def nested(depth):
    name = "a"
    for _ in range(depth):
        name = (name,)
    return name


def test_tuples_may_nest_only_so_deep():
    assert type_name(nested(DEEPEST_TUPLE)) == nested(DEEPEST_TUPLE)
    where = r"\[0\]" * DEEPEST_TUPLE
    with pytest.raises(InvalidInput, match=rf"^x{where}: expected a type: .*, got \('a',\)$"):
        type_name(nested(DEEPEST_TUPLE + 1))


@pytest.mark.parametrize(
    ("bad", "where"),
    [
        (("a", 1.5), r"X\[7\]\[1\]: expected a type: .*, got 1.5"),
        (("a", ("b", True)), r"X\[7\]\[1\]\[1\]: expected a type: .*, got True"),
        ((["a"],), r"X\[7\]\[0\]: expected a type: .*, got \['a'\]"),
        (((None,), "b"), r"X\[7\]\[0\]\[0\]: expected a type: .*, got None"),
    ],
)
def test_the_bad_part_of_a_tuple_is_named(bad, where):
    with pytest.raises(InvalidInput, match=where):
        type_name(bad, "X[7]")
