"""Algorithm 2 where Theorem 3 speaks: a function of known norm, bounded noise, and the true kernel.

The function is f = Σ aᵢ k(·, cᵢ) on the unit cube. Its norm in the kernel's space is √(aᵀKa), so scaling the
weights sets it. Noise is uniform on [−σ, σ].
"""

import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs.gp import Kernel
from breakeven.datasets import Stream
from breakeven.datasets.draws import generator
from breakeven.experiments.runs.curve import Curve, run
from breakeven.experiments.runs.job import Job
from breakeven.learner import algorithm2

Array = NDArray[np.float64]

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
