"""Streams to plan by, drawn anew for every trial.

Types: means even over [0, 1], all types equally likely. Numbers: arrivals even over the unit cube, and f a
draw of the process, of variance 1 everywhere.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs.gp import Kernel
from breakeven.datasets import Stream
from breakeven.planning.setting import Setting

Array = NDArray[np.float64]

WAVES = 1_000  # that a function is the sum of
AT_ONCE = 1_000  # points


def stream_of(setting: Setting, trial: int) -> Stream:
    """The stream of this trial."""
    random = np.random.default_rng([setting.seed, trial])
    points, truth = _types(setting, random) if setting.dim is None else _numbers(setting, random)
    labels = truth + setting.noise_std * random.standard_normal(setting.rounds)
    return Stream(points, labels, truth, setting.noise_std, "a plan")


def _types(setting: Setting, random: np.random.Generator) -> tuple[NDArray[Any], Array]:
    assert setting.types is not None
    points = random.integers(setting.types, size=setting.rounds)
    return points, random.random(setting.types)[points]


def _numbers(setting: Setting, random: np.random.Generator) -> tuple[NDArray[Any], Array]:
    assert setting.dim is not None
    points = random.random((setting.rounds, setting.dim))
    return points, function_values(setting.function_kernel, points, random)


def function_values(kernel: Kernel, points: Array, random: np.random.Generator) -> Array:
    """A draw of the process at these points: waves of frequencies from its spectrum, heights normal."""
    waves = kernel.frequencies(WAVES, points.shape[1], random).T
    even, odd = np.sqrt(kernel.amplitude / WAVES) * random.standard_normal((2, WAVES))
    values = np.empty(len(points))
    for low in range(0, len(points), AT_ONCE):
        phase = points[low : low + AT_ONCE] @ waves
        values[low : low + AT_ONCE] = np.cos(phase) @ even + np.sin(phase) @ odd
    return values
