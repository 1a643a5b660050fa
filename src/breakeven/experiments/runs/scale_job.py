"""The scale λ of the paper's threshold: runs over a grid of scales, and the best one on held-out streams.

The paper says that λ was tuned on held-out data. Here it is: the streams tuned on are never reported on.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np

from breakeven.datasets import Stream
from breakeven.errors import expect
from breakeven.experiments.runs.curve import Curve, run
from breakeven.experiments.runs.job import Job
from breakeven.experiments.runs.methods import algorithm
from breakeven.experiments.runs.problem import HELD_OUT, Price, Problem, Recipe
from breakeven.experiments.runs.problems import problem_named
from breakeven.experiments.runs.published_process import Fits
from breakeven.learner import Learner

GRID = tuple(2.0**power for power in range(-6, 7))
HELD_OUT_TRIALS = 5


class Tuning(msgspec.Struct, frozen=True):
    """The mean loss a round at each scale, and the scale where it is least (of equals the largest)."""

    losses: dict[float, float]

    @property
    def best(self) -> float:
        """The scale of least loss; the largest of equals, as it labels least.

        >>> Tuning({0.5: 3.0, 1.0: 2.0, 2.0: 2.0}).best
        2.0
        """
        return min(self.losses, key=lambda scale: (self.losses[scale], -scale))


def tune_threshold_scale(
    learner_for: Callable[[float], Learner], streams: Iterable[Stream], scales: Sequence[float] = GRID
) -> Tuning:
    """Run every stream at every scale; `learner_for` makes a new learner for a scale.

    Give it streams that you will not report on.

    >>> from breakeven import algorithm1
    >>> from breakeven.datasets import discrete_stream
    >>> held_out = [discrete_stream(10, 500, seed=seed) for seed in (101, 102)]
    >>> tuning = tune_threshold_scale(
    ...     lambda scale: algorithm1(label_cost=10.0, noise_std=0.1, threshold_scale=scale), held_out
    ... )
    >>> tuning.best in tuning.losses
    True
    """
    given = expect.rows("streams", streams)
    wanted = [expect.positive(f"scales[{i}]", scale) for i, scale in enumerate(expect.rows("scales", scales))]
    if not given or not wanted:
        expect.refuse(
            "streams and scales", "one of each at least", f"{len(given)} and {len(wanted)}", described=True
        )
    return Tuning({scale: _mean_loss(learner_for, scale, given) for scale in wanted})


def _mean_loss(learner_for: Callable[[float], Learner], scale: float, streams: list[Stream]) -> float:
    losses = []
    for stream in streams:
        learner = learner_for(scale)
        losses.append(run(learner, stream).total_loss(learner.label_cost) / len(stream))
    return float(np.mean(losses))


class ScaleJob(Job, frozen=True):
    """Algorithm 1 or 2 at several scales on one trial of a problem.

    >>> ScaleJob(problem="branin", recipe="text", label_cost=10.0, trial=0, scales=(0.5, 1.0)).title
    'λ: Branin, uniform arrivals, B=10 · text'
    """

    problem: str
    recipe: Recipe
    label_cost: float
    trial: int
    scales: tuple[float, ...]
    rounds: int | None = None  # the first so many only

    @property
    def title(self) -> str:
        """Problem, price and recipe; held-out trials apart."""
        held_out = " · held out" if self.trial >= HELD_OUT else ""
        return f"λ: {problem_named(self.problem).title}, B={self.label_cost:g} · {self.recipe}{held_out}"

    @property
    def effort(self) -> float:
        """Fits at every label take long."""
        return 20.0 if self.recipe == "figures" and problem_named(self.problem).warmup else 2.0

    def run(self) -> dict[str, Curve]:
        """A curve for each scale, by its number."""
        problem = problem_named(self.problem)
        price = problem.price(self.label_cost)
        stream, fits = problem.stream(self.recipe, self.trial).first(self.rounds), Fits()
        return {
            repr(scale): run(algorithm(problem, self.recipe, price, scale, self.trial, fits), stream)
            for scale in self.scales
        }


def grid_of(price: Price) -> tuple[float, ...]:
    """The scales tried: powers of two, and the published one.

    >>> len(grid_of(Price(10.0, 0.75))), len(grid_of(Price(10.0, 0.5)))
    (14, 13)
    """
    return tuple(sorted({*GRID, price.scale}))


def grid_jobs(problem: Problem, price: Price, recipe: Recipe, trials: int) -> list[Job]:
    """The reported trials, and the held-out ones."""
    numbers = [*range(trials), *range(HELD_OUT, HELD_OUT + HELD_OUT_TRIALS)]
    return [
        ScaleJob(problem.name, recipe, price.label_cost, trial, scales=grid_of(price)) for trial in numbers
    ]
