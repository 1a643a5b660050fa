"""Algorithm 1 on a stream of types, by the rule of the paper's text."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from breakeven.datasets import Arrivals, Stream, discrete_stream
from breakeven.experiments.runs.curve import Curve, curve_of
from breakeven.experiments.runs.job import Job
from breakeven.learner import algorithm1
from breakeven.simulate import simulate

Sweep = Literal["T", "K", "B"]
ALGORITHM_1 = "Algorithm 1"
CLIPPED = "Algorithm 1, predictions clipped"


class TypesRun(Job, frozen=True, kw_only=True):
    """One run of Algorithm 1, threshold scale 1; its errors also with predictions clipped to [0, 1].

    >>> sorted(TypesRun(types=3, label_cost=10.0, rounds=50, seed=1).run())
    ['Algorithm 1', 'Algorithm 1, predictions clipped']
    """

    types: int
    label_cost: float
    rounds: int
    seed: int
    means_seed: int = 0
    arrivals: Arrivals = "uniform"
    noise_std: float = 0.1
    delta: float = 0.01

    @property
    def title(self) -> str:
        """What a progress bar calls it."""
        return f"{self.types} types, {self.arrivals.replace('_', ' ')}, {self.rounds} rounds"

    @property
    def effort(self) -> float:
        """About how many seconds it takes."""
        return 7e-6 * self.rounds

    def stream(self) -> Stream:
        """What arrives."""
        return discrete_stream(
            self.types,
            self.rounds,
            seed=self.seed,
            means_seed=self.means_seed,
            arrivals=self.arrivals,
            noise_std=self.noise_std,
        )

    def arrivals_until(self, rounds: list[int]) -> NDArray[np.int64]:
        """How many of each type had come by each of these rounds, a row for each round.

        >>> problem = TypesRun(types=3, label_cost=10.0, rounds=50, seed=1)
        >>> problem.arrivals_until([1, 50]).sum(axis=1).tolist()
        [1, 50]
        """
        points = self.stream().points
        return np.array([np.bincount(points[:t], minlength=self.types) for t in rounds])

    def run(self) -> dict[str, Curve]:
        """The curve as it was, and as it would be with clipped predictions: labels do not depend on them."""
        stream = self.stream()
        learner = algorithm1(label_cost=self.label_cost, noise_std=self.noise_std, delta=self.delta)
        trace = simulate(learner, stream.points, stream.labels, stream.truth)
        clipped = np.clip(trace.prediction, 0.0, 1.0)
        return {
            ALGORITHM_1: curve_of(trace.wants_label, np.abs(stream.truth - trace.prediction)),
            CLIPPED: curve_of(trace.wants_label, np.abs(stream.truth - clipped)),
        }


class TypesRate(TypesRun, frozen=True, kw_only=True):
    """A run of Algorithm 1 for the exponent in one of T, K and B."""

    sweep: Sweep
