"""Runs that the theorems are about: types, functions of known norm, and Branin under other arrivals.

`SmoothRun` is Algorithm 2 where Theorem 3 speaks: f = Σ aᵢ k(·, cᵢ) on the unit cube, whose norm in the
kernel's space is √(aᵀKa), so scaling the weights sets it; noise is uniform on [−σ, σ], and the kernel the
true one.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs.gp import Kernel
from breakeven.learner import algorithm1, algorithm2
from breakeven.trace import simulate
from breakeven_research.datasets import BRANIN, Arrivals, Stream, discrete_stream, smooth_stream
from breakeven_research.datasets.synthetic import generator
from breakeven_research.experiments.runs.trials import Curve, Job, curve_of, run

Array = NDArray[np.float64]

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


# -- functions of known norm ---------------------------------------------------------------------------------


ALGORITHM_2 = "Algorithm 2"
CENTRES = 20


class SmoothRun(Job, frozen=True, kw_only=True):
    """One run of Algorithm 2 that knows the kernel: no warm-up, nothing fitted.

    >>> from breakeven import SquaredExponential
    >>> problem = SmoothRun(kernel=SquaredExponential(0.5), dim=2, label_cost=1.0, rounds=50, seed=1)
    >>> problem.run()["Algorithm 2"].rounds[-1]
    50
    """

    kernel: Kernel
    dim: int
    label_cost: float
    rounds: int
    seed: int
    noise_std: float = 0.5
    rkhs_norm: float = 1.0

    @property
    def title(self) -> str:
        """What a progress bar calls it."""
        return f"{type(self.kernel).__name__} function, {self.dim}-D, {self.rounds} rounds"

    @property
    def effort(self) -> float:
        """About how many seconds it takes."""
        return 4e-5 * self.rounds

    def function(self) -> tuple[Array, Array]:
        """The centres of f and their weights."""
        random = generator("means", self.seed)
        centres, weights = random.random((CENTRES, self.dim)), random.standard_normal(CENTRES)
        norm = np.sqrt(weights @ self.kernel(centres, centres) @ weights)
        return centres, weights * (self.rkhs_norm / norm)

    def stream(self) -> Stream:
        """Points spread evenly over the unit cube."""
        points = generator("points", self.seed).random((self.rounds, self.dim))
        noise = generator("noise", self.seed).uniform(-self.noise_std, self.noise_std, self.rounds)
        centres, weights = self.function()
        truth = self.kernel(points, centres) @ weights
        return Stream(points, truth + noise, truth, self.noise_std, self.title)

    def run(self) -> dict[str, Curve]:
        """The curve of the run."""
        learner = algorithm2(
            self.dim,
            label_cost=self.label_cost,
            noise_std=self.noise_std,
            kernel=self.kernel,
            warmup=0,
            fit=None,
        )
        return {ALGORITHM_2: run(learner, self.stream())}


# -- Branin --------------------------------------------------------------------------------------------------


class BraninRun(Job, frozen=True, kw_only=True):
    """One run of Algorithm 2 on Branin, its kernel fitted after the warm-up."""

    arrivals: Arrivals
    rounds: int
    seed: int
    label_cost: float = 10.0
    noise_std: float = 5.0

    @property
    def title(self) -> str:
        """What a progress bar calls it."""
        return f"Branin, {self.arrivals.replace('_', ' ')}, {self.rounds} rounds"

    @property
    def effort(self) -> float:
        """About how many seconds it takes."""
        return 6e-5 * self.rounds

    def run(self) -> dict[str, Curve]:
        """The curve of the run."""
        stream = smooth_stream(
            BRANIN, self.rounds, noise_std=self.noise_std, seed=self.seed, arrivals=self.arrivals
        )
        learner = algorithm2(BRANIN.dim, label_cost=self.label_cost, noise_std=self.noise_std, seed=self.seed)
        return {ALGORITHM_2: run(learner, stream)}
