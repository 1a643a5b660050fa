"""Runs of Algorithm 2 on Branin under other arrivals, in the library's own settings."""

from breakeven.datasets import BRANIN, Arrivals, smooth_stream
from breakeven.experiments.runs.curve import Curve, run
from breakeven.experiments.runs.job import Job
from breakeven.experiments.runs.smooth_run import ALGORITHM_2
from breakeven.learner import algorithm2


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
