"""What counts as valid input: each function returns the value, converted, or raises `InvalidInput`.

The message always has the same shape: name: expected this, got that. `shown` keeps it short.
"""

from collections.abc import Collection, Sequence
from math import hypot, inf, isfinite, nan
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from breakeven.errors import InvalidInput

Array = NDArray[np.float64]
Vector = Array

LARGEST = 1e100
SMALLEST = 1e-50
LONGEST_NAME = 250  # characters of an id or of a stream's name


def shown(value: object) -> str:
    """Show a value in a message, cut to a readable length."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an int of thousands of digits, a tuple nested as deep
        text = f"a very large {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def refuse(name: str, expected: str, came: object, *, described: bool = False) -> NoReturn:
    """Raise: expected this, got that; `described` says that `came` is already words.

    >>> refuse("delta", "a number in (0, 1)", 2)
    Traceback (most recent call last):
    breakeven.errors.InvalidInput: delta: expected a number in (0, 1), got 2
    """
    raise InvalidInput(f"{name}: expected {expected}, got {came if described else shown(came)}")


def is_number(value: Any) -> bool:
    """Whether it is a real number, and not a truth value."""
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def _number(value: Any) -> float:
    """The value as a float; NaN if it is no number, ∞ if it is too large for one."""
    if type(value) is float:
        return value
    try:
        return float(value) if is_number(value) else nan
    except OverflowError:
        return inf if value > 0 else -inf


def number(name: str, value: Any, low: float = -inf, high: float = inf) -> float:
    """Any number from `low` to `high`; without these also ∞ and NaN."""
    result = _number(value)
    unbounded = low == -inf and isinstance(value, float | np.floating)
    if unbounded or (low <= result <= high and isfinite(result)):
        return result
    refuse(name, "a number" if low == -inf else f"a number from {low:g} to {high:g}", value)


def finite(name: str, value: Any) -> float:
    """A number that can be squared and summed without overflow."""
    number = _number(value)
    if -LARGEST <= number <= LARGEST:
        return number
    refuse(
        name, f"a finite number of size {LARGEST:g} at most" if isfinite(number) else "a finite number", value
    )


def positive(name: str, value: Any) -> float:
    """A number above zero whose square neither overflows nor vanishes."""
    number = _number(value)
    if SMALLEST <= number <= LARGEST:
        return number
    in_reach = isfinite(number) and number > 0
    refuse(
        name, f"a number from {SMALLEST:g} to {LARGEST:g}" if in_reach else "a positive, finite number", value
    )


def probability(name: str, value: Any, *, open: bool = False) -> float:
    """A number in [0, 1], or in (0, 1) when `open`."""
    number = _number(value)
    if 0.0 < number < 1.0 or (not open and number in (0.0, 1.0)):
        return number
    refuse(name, "a number in (0, 1)" if open else "a number in [0, 1]", value)


def whole(name: str, value: Any, *, least: int = 0, most: int = 2**63 - 1) -> int:
    """An integer of at least `least`, that 64 bits can hold."""
    if type(value) is int and least <= value <= most:
        return value
    if isinstance(value, Integral) and is_number(value) and least <= int(value) <= most:
        return int(value)
    too_large = isinstance(value, Integral) and int(value) > most
    refuse(
        name,
        f"a whole number of at most {most}" if too_large else f"a whole number of at least {least}",
        value,
    )


def yes_no_label(name: str, value: Any) -> float:
    """A label that says yes or no.

    >>> yes_no_label("y", 1)
    1.0
    """
    number = _number(value)
    if number not in (0.0, 1.0):
        refuse(name, "1 for yes or 0 for no, as this learner has yes/no labels", value)
    return number


def truth(name: str, value: Any) -> bool:
    """True or False."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    refuse(name, "True or False", value)


def text(name: str, value: Any) -> str:
    """Words that can be stored: not empty, and Unicode that has an encoding."""
    if isinstance(value, str) and value and encodable(value):
        return str.__str__(value)
    refuse(name, "text", value)


def name_of(name: str, value: Any) -> str:
    """Text that names a thing, such as an arrival's id: not empty and not too long."""
    if isinstance(value, str) and len(value) > LONGEST_NAME:
        refuse(name, f"text of at most {LONGEST_NAME} characters", f"{len(value)} of them", described=True)
    return text(name, value)


def encodable(value: str) -> bool:
    """Whether text can be stored; a lone surrogate cannot."""
    return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)


def rows(name: str, value: Any) -> list[Any]:
    """A list, or anything that can be made one. Text is refused."""
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0:
        refuse(name, "a list", value)
    return list(value)


def one_of(name: str, value: Any, choices: Collection[Any]) -> Any:
    """One of the named choices."""
    if isinstance(value, str | None) and value in choices:
        return value
    refuse(name, "one of " + ", ".join(repr(choice) for choice in choices), value)


def known(name: str, value: Any, names: Collection[str]) -> str:
    """One of many names; an unknown one is refused with the nearest.

    >>> known("kind", "Treshold", ["Threshold", "Value"])
    Traceback (most recent call last):
    breakeven.errors.InvalidInput: kind: expected a known name, perhaps 'Threshold', got 'Treshold'
    """
    if isinstance(value, str) and value in names:
        return value
    from difflib import get_close_matches  # rarely needed

    near = get_close_matches(value, names, n=1, cutoff=0.5) if isinstance(value, str) else []
    hint = f"perhaps {near[0]!r}" if near else "one of " + ", ".join(sorted(names))
    refuse(name, f"a known name, {hint}", value)


def vector(name: str, value: Any, dim: int | None = None) -> Vector:
    """A row of finite numbers, of length `dim` when that is known; the caller owns the copy."""
    if (
        type(value) is np.ndarray
        and value.dtype == np.float64
        and value.shape == (dim,)
        and hypot(*value.tolist()) <= LARGEST  # false for NaN
    ):
        return value.copy()
    if type(value) in (list, tuple) and (dim is None or len(value) == dim) and _all_floats(value):
        return np.array(value, dtype=np.float64)
    wanted = "finite numbers" if dim is None else f"{dim} finite number{'s' if dim != 1 else ''}"
    array = numbers(name, value, f"a row of {wanted}")
    if array.ndim == 0 and dim in (None, 1):
        array = array.reshape(1)
    if array.ndim != 1 or (dim is not None and array.shape[0] != dim):
        refuse(name, f"a row of {wanted}", value)
    if not (np.abs(array) <= LARGEST).all():
        refuse(name, f"a row of {wanted}{_size_words(array)}", value)
    return array


def _all_floats(values: Sequence[Any]) -> bool:
    """Whether all are plain floats in reach; false for NaN, and of other numbers nothing is said."""
    return all(type(one) is float and -LARGEST <= one <= LARGEST for one in values)


def column(name: str, value: Any, points: int) -> Vector:
    """One finite number for each of this many points."""
    numbers = vector(name, value)
    if len(numbers) != points:
        refuse(name, f"{points} numbers, one for each point", len(numbers))
    return numbers


def matrix(name: str, value: Any, dim: int) -> Vector:
    """Rows of `dim` finite numbers each; a bad row is named. Empty input gives zero rows."""
    if isinstance(value, list | tuple):
        lengths = {i: len(row) for i, row in enumerate(value) if isinstance(row, list | tuple)}
        if len(set(lengths.values())) > 1:  # NumPy would not say which
            i = next(i for i, length in lengths.items() if length != dim)
            refuse(f"{name}[{i}]", f"{dim} numbers", value[i])
    array = numbers(name, value, f"rows of {dim} finite numbers each")
    if array.ndim and len(array) == 0:
        return np.empty((0, dim))
    if array.ndim == 1 and dim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2 or array.shape[1] != dim:
        refuse(name, f"rows of {dim} numbers each", f"an array of shape {array.shape}", described=True)
    bad = np.flatnonzero(~(np.abs(array) <= LARGEST).all(axis=1))
    if bad.size:
        row = array[bad[0]]
        wanted = f"{dim} finite number{'s' if dim != 1 else ''}{_size_words(row)}"
        refuse(f"{name}[{bad[0]}]", wanted, row.tolist())
    return array


def _size_words(row: Array) -> str:
    """How large numbers may be, where all of them are finite and some are too large."""
    return f" of size {LARGEST:g} at most" if np.isfinite(row).all() else ""


def numbers(name: str, value: Any, expected: str) -> Vector:
    """Convert to a float64 array of our own; text, objects, truth values and complex numbers are refused."""
    if np.ma.is_masked(value) or (
        isinstance(value, list | tuple) and any(np.ma.is_masked(one) for one in value)
    ):
        refuse(name, expected, "an array with a mask; fill or drop what is missing", described=True)
    if isinstance(value, list | tuple) and _holds_truth(value):
        refuse(name, expected, value)
    try:
        array = np.asarray(value)
        if array.dtype.kind in "iuf" or array.size == 0:
            return np.array(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    refuse(name, expected, value)


def _holds_truth(value: list[Any] | tuple[Any, ...]) -> bool:
    """Whether a truth value is among numbers, or among rows of them: NumPy would make it 0 or 1."""
    return any(
        isinstance(one, bool | np.bool_) or (isinstance(one, list | tuple) and _holds_truth(one))
        for one in value
    )
