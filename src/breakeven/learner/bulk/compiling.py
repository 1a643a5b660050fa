"""Loops are compiled where numba is installed; elsewhere they run as they are written, slowly, same bits.

Nothing else imports numba, and nothing imports this before the first long stream or the first fleet.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

try:
    import numba
except ImportError:
    numba = None  # type: ignore[assignment]

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile on the first call, and keep the result on disk where there is a place for it."""
    if numba is None:
        return cast(F, np.errstate(all="ignore")(function))  # numbers overflow as compiled ones do
    try:
        return cast(F, numba.njit(cache=True, error_model="numpy")(function))
    except RuntimeError:  # no directory can be written to
        return cast(F, numba.njit(error_model="numpy")(function))
