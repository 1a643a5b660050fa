"""A short labelled stream that suits a belief."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from breakeven.learner import Learner

LENGTH = 40
FITTED_LENGTH = 14  # a fit after every label is slow


class Stream(msgspec.Struct, frozen=True):
    """Points and their labels; bring your own where a belief takes unusual points."""

    points: Sequence[Any]
    labels: Sequence[float]

    @staticmethod
    def of(learner: Learner, seed: int = 0) -> "Stream":
        """Points of a belief over types, a box, or numbers."""
        random = np.random.default_rng(seed)
        fitted = getattr(learner.belief, "fit_schedule", None) is not None
        length = max(FITTED_LENGTH, learner.warmup + 6) if fitted else LENGTH
        dim = getattr(learner.belief, "dim", None)
        if dim is None:
            kinds = ["flu", 7, b"\x00\xff", ("clinic", 3), "Grippe é"]
            chosen = random.integers(len(kinds), size=length)
            return Stream([kinds[k] for k in chosen], _noisy(np.sqrt(chosen + 1.0), random))
        low, high = getattr(learner.belief, "low", 0.0), getattr(learner.belief, "high", 1.0)
        X = random.uniform(low, high, size=(length, dim))
        return Stream([row.tolist() for row in X], _noisy(np.sin(4.0 * X).sum(axis=1), random))


def _noisy(values: Any, random: np.random.Generator) -> list[float]:
    noisy: list[float] = (values + 0.1 * random.standard_normal(len(values))).tolist()
    return noisy
