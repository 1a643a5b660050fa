"""What a run cost, as it went on: labels and errors so far, at a few hundred of its rounds.

Labels are counted, not priced: a run whose rule never looks at the price is priced afterwards, at any price.
"""

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from breakeven.datasets import Stream
from breakeven.learner import Learner
from breakeven.simulate import simulate

Array = NDArray[np.float64]

EVENLY, BY_FACTORS = 200, 60  # rounds kept of a long run


class Curve(msgspec.Struct, frozen=True):
    """Labels bought and errors made, summed up to each of some rounds.

    >>> Curve([1, 2], [1, 1], [0.0, 0.5]).average_loss(label_cost=10.0).tolist()
    [10.0, 5.25]
    """

    rounds: list[int]
    labels: list[int]
    errors: list[float]
    marks: dict[str, float] = {}  # whatever else was counted on the way

    def average_error(self) -> Array:
        """The error a round, up to each of the rounds."""
        return np.divide(self.errors, self.rounds)

    def total_losses(self, label_cost: float) -> Array:
        """The paper's L_t: labels at this price plus errors, up to each of the rounds.

        >>> Curve([1, 2], [1, 1], [0.0, 0.5]).total_losses(label_cost=10.0).tolist()
        [10.0, 10.5]
        """
        losses: Array = label_cost * np.array(self.labels) + np.array(self.errors)
        return losses

    def average_loss(self, label_cost: float) -> Array:
        """The loss a round, up to each of the rounds."""
        return np.divide(self.total_losses(label_cost), self.rounds)

    def total_loss(self, label_cost: float) -> float:
        """The paper's L_T."""
        return float(self.total_losses(label_cost)[-1])


def run(learner: Learner, stream: Stream) -> Curve:
    """Run a stream through a learner, scored against the truth.

    >>> from breakeven import Always, TypeMeans
    >>> stream = Stream([0, 0], [1.2, 0.8], [1.0, 1.0], noise_std=0.1, name="one type")
    >>> curve = run(Learner(TypeMeans(0.1), Always(), label_cost=1.0), stream)
    >>> curve.labels, [round(error, 6) for error in curve.errors]
    ([1, 2], [0.2, 0.2])
    """
    trace = simulate(learner, stream.points, stream.labels, stream.truth)
    return curve_of(trace.wants_label, np.abs(stream.truth - trace.prediction))


def curve_of(labelled: NDArray[np.bool_], errors: Any) -> Curve:
    """The curve of a run from what each round bought and missed."""
    kept = kept_rounds(len(labelled))
    at = np.array(kept) - 1
    return Curve(kept, np.cumsum(labelled)[at].tolist(), np.cumsum(errors)[at].tolist())


def kept_rounds(rounds: int) -> list[int]:
    """Every round of a short stream; of a long one some spaced evenly and some by factors, always the last.

    >>> kept_rounds(3), len(kept_rounds(10_000)) < 260, kept_rounds(10_000)[-1]
    ([1, 2, 3], True, 10000)
    """
    if rounds <= EVENLY + BY_FACTORS:
        return list(range(1, rounds + 1))
    spaced = [np.linspace(1, rounds, EVENLY), np.geomspace(1, rounds, BY_FACTORS)]
    kept: list[int] = np.unique(np.rint(np.concatenate(spaced)).astype(np.int64)).tolist()
    return kept
