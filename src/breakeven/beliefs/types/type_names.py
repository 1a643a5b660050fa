"""What may name a type: a str, an int, bytes, or a tuple of these.

NumPy scalars count as the Python value they hold, so a type read from an array is the type itself.
"""

from collections.abc import Container, Iterable
from typing import Any

import numpy as np

from breakeven.errors import InvalidInput, expect

PLAIN_NAMES = {str, int, bytes}

A_TYPE = "a type: a str, an int of at most 64 bits, bytes, or a tuple of these"
DEEPEST_TUPLE = 20  # tuples in tuples


def type_name(x: Any, name: str = "x", depth: int = 0) -> Any:
    """Check a type and bring it into plain Python.

    >>> import numpy as np
    >>> type_name(np.int64(3)), type_name(("clinic", np.str_("B")))
    (3, ('clinic', 'B'))
    """
    if isinstance(x, np.generic) and not isinstance(x, np.datetime64 | np.timedelta64):
        x = x.item()
    match x:
        case bool():
            expect.refuse(name, A_TYPE, x)
        case int() if -(2**63) <= x < 2**63:
            return int(x)
        case bytes():
            return bytes(x)
        case str() if expect.encodable(x):
            return str.__str__(x)
        case tuple() if depth < DEEPEST_TUPLE:
            return tuple(type_name(part, f"{name}[{i}]", depth + 1) for i, part in enumerate(x))
    expect.refuse(name, A_TYPE, x)


def type_names(X: Any, known: Container[Any]) -> list[Any]:
    """Check a batch of types; a flat array counts as its elements. Types in `known` were checked before.

    >>> type_names(np.array([3, 4]), known={3})
    [3, 4]
    """
    plain = isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "iuUS"
    rows: list[Any] = X.tolist() if plain else expect.rows("X", X)
    if PLAIN_NAMES.issuperset(map(type, rows)) and _sound(x for x in set(rows) if x not in known):
        return rows
    return [type_name(x, f"X[{i}]") for i, x in enumerate(rows)]


def _sound(names: Iterable[Any]) -> bool:
    """Whether all of these are types; the row of one that is not is found later."""
    try:
        for x in names:
            type_name(x)
    except InvalidInput:
        return False
    return True


def stored_type_name(x: Any) -> Any:
    """Read a type back from plain storage, where tuples became lists."""
    return tuple(stored_type_name(part) for part in x) if isinstance(x, list) else x
