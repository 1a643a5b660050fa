"""The stream of types that all of Algorithm 1's benchmarks run on, and plain Python on it."""

from math import inf, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from breakeven.learner import Learner, algorithm1

TYPES, NOISE, DELTA, PRICE = 100, 0.1, 0.05, 10.0


class TypeStream(NamedTuple):
    """Types with equal chances, as integers, and their noisy labels."""

    xs: NDArray[np.int64]
    ys: NDArray[np.float64]


def type_stream(rounds: int) -> TypeStream:
    """So many rounds; the same for the same number."""
    random = np.random.default_rng(0)
    means, xs = random.random(TYPES), random.integers(TYPES, size=rounds)
    ys = random.standard_normal(rounds)
    ys *= NOISE
    ys += means[xs]
    return TypeStream(xs, ys)


def learner(price: float = PRICE) -> Learner:
    """A new one, that has seen nothing."""
    return algorithm1(label_cost=price, noise_std=NOISE, delta=DELTA)


def one_by_one(xs: list[int], ys: list[float]) -> None:
    """Algorithm 1 through the verbs that everyone uses."""
    ours = learner()
    for x, y in zip(xs, ys, strict=True):
        decision = ours.decide(x)
        if decision.wants_label:
            ours.tell(decision.id, y)


def plain_python(xs: list[int], ys: list[float]) -> None:
    """The lines of the textbook, which check and remember nothing else."""
    labels = 0
    arrivals: dict[int, int] = {}
    labelled: dict[int, int] = {}
    sums: dict[int, float] = {}
    asked, predictions, radii, thresholds = [], [], [], []
    for x, y in zip(xs, ys, strict=True):
        m = arrivals[x] = arrivals.get(x, 0) + 1
        n = labelled.get(x, 0)
        radius = sqrt(2 * NOISE**2 * log(2 * labels**3 / DELTA) / n) if n else inf
        threshold = (PRICE / m) ** (1 / 3)
        wanted = radius > threshold
        if wanted:
            labels += 1
            labelled[x] = n + 1
            sums[x] = sums.get(x, 0.0) + y
        asked.append(wanted)
        predictions.append(sums[x] / labelled[x])
        radii.append(radius)
        thresholds.append(threshold)
