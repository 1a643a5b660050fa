"""The lines of the textbook as numba compiles them; imported only where numba is there, like the loops."""

from math import inf, log, sqrt

import numpy as np
from numpy.typing import NDArray

from breakeven.learner.bulk.loops import compiled
from breakeven_research.bench.type_stream import DELTA, NOISE, TYPES

Array = NDArray[np.float64]


def plain_compiled(xs: NDArray[np.int64], ys: Array, price: float) -> None:
    """Write the columns that a trace holds."""
    columns = [np.empty(len(xs)) for _ in range(3)]
    _loop(xs, ys, price, np.empty(len(xs), dtype=np.bool_), *columns)


@compiled
def _loop(
    xs: NDArray[np.int64], ys: Array, price: float, wants_label: NDArray[np.bool_],
    prediction: Array, uncertainty: Array, threshold: Array,
) -> None:  # fmt: skip
    labels = 0
    arrivals, labelled, sums = np.zeros(TYPES, np.int64), np.zeros(TYPES, np.int64), np.zeros(TYPES)
    for i in range(len(xs)):
        k = xs[i]
        arrivals[k] += 1
        uncertainty[i] = inf
        if labelled[k] > 0:
            uncertainty[i] = sqrt(2 * NOISE**2 * log(2 * float(labels) ** 3 / DELTA) / labelled[k])
        threshold[i] = (price / arrivals[k]) ** (1 / 3)
        wants_label[i] = uncertainty[i] > threshold[i]
        if wants_label[i]:
            labels += 1
            labelled[k] += 1
            sums[k] += ys[i]
        prediction[i] = ys[i] if wants_label[i] else sums[k] / labelled[k]
