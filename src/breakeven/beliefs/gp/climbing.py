"""Minimising a smooth function of a dozen variables inside a box: BFGS with a backtracking line search.

With so few variables and so cheap a function, a general optimiser spends more time on its wrapping than on
the function. Where a bound holds, the variable rests on it until the gradient points inwards again.
"""

from collections.abc import Callable
from math import sqrt

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Function = Callable[[Array], tuple[float, Array]]

ENOUGH = 1e-4  # share of the promised descent that a step must bring
SHORTEST = 1e-10
FIRST_STEP = 1.0  # length of the first step, before any curvature is known


def minimise(
    function: Function, start: Array, bounds: Array, *, steps: int = 500, tolerance: float = 1e-9
) -> tuple[float, Array]:
    """The lowest value found from `start`, and where.

    `bounds` has a row (low, high) per variable. Stops when a step gains less than `tolerance`, relative to
    the value, or after `steps`.

    >>> bowl = lambda x: (float(((x - 3.0) ** 2).sum()), 2.0 * (x - 3.0))
    >>> value, x = minimise(bowl, np.zeros(2), np.array([[-9.0, 9.0], [-9.0, 1.0]]))
    >>> x.round(6).tolist()
    [3.0, 1.0]
    """
    low, high = bounds.T
    x = np.clip(start, low, high)
    value, gradient = function(x)
    inverse = _fresh(gradient)
    for _ in range(steps):
        held = ((x <= low) & (gradient > 0)) | ((x >= high) & (gradient < 0))
        direction = -_without(inverse, held).dot(gradient)
        if gradient.dot(direction) > -1e-14 * abs(value):
            return value, x
        found = _line_search(function, x, value, gradient, direction, low, high)
        if found is None:
            return value, x
        new_x, new_value, new_gradient = found
        inverse = _updated(inverse, new_x - x, new_gradient - gradient)
        gained = value - new_value
        x, value, gradient = new_x, new_value, new_gradient
        if gained <= tolerance * max(abs(value), 1.0):
            return value, x
    return value, x


def _fresh(gradient: Array) -> Array:
    """A first inverse Hessian: it makes the first step of unit length."""
    length = sqrt(float(gradient.dot(gradient)))
    return np.eye(len(gradient)) * (FIRST_STEP / length if length > 0 else 1.0)


def _without(inverse: Array, held: NDArray[np.bool_]) -> Array:
    """The inverse Hessian for the variables that may move."""
    if not held.any():
        return inverse
    freed = inverse.copy()
    freed[held] = 0.0
    freed[:, held] = 0.0
    return freed


def _line_search(
    function: Function, x: Array, value: float, gradient: Array, direction: Array, low: Array, high: Array
) -> tuple[Array, float, Array] | None:
    """Halve the step, or better where a parabola says so, until it brings enough."""
    step = 1.0
    while step > SHORTEST:
        new_x = np.minimum(np.maximum(x + step * direction, low), high)
        promised = float(gradient.dot(new_x - x))
        new_value, new_gradient = function(new_x)
        if new_value <= value + ENOUGH * promised:
            return new_x, new_value, new_gradient
        parabola = -0.5 * promised / (new_value - value - promised)
        step *= min(max(parabola, 0.1), 0.5)
    return None


def _updated(inverse: Array, moved: Array, change: Array) -> Array:
    """The BFGS update; skipped where the curvature is not positive."""
    curvature = float(moved.dot(change))
    if curvature <= 1e-12 * sqrt(float(moved.dot(moved)) * float(change.dot(change))):
        return inverse
    along = inverse.dot(change)
    scale = 1.0 + float(change.dot(along)) / curvature
    cross = moved[:, None] * along
    return np.asarray(inverse + ((scale * moved)[:, None] * moved - cross - cross.T) / curvature)
