"""Every method on one stream: the work behind the panels of a problem."""

from breakeven.experiments.runs.curve import Curve
from breakeven.experiments.runs.job import Job
from breakeven.experiments.runs.methods import learners
from breakeven.experiments.runs.optima import watched_run
from breakeven.experiments.runs.problem import Recipe
from breakeven.experiments.runs.problems import problem_named


class PanelJob(Job, frozen=True):
    """All methods, at all prices, on one trial of a problem.

    >>> PanelJob(problem="branin", recipe="text", trial=0).title
    'Branin, uniform arrivals · text'
    """

    problem: str
    recipe: Recipe
    trial: int
    rounds: int | None = None  # the first so many only

    @property
    def title(self) -> str:
        """The problem and the recipe."""
        return f"{problem_named(self.problem).title} · {self.recipe}"

    @property
    def effort(self) -> float:
        """Fits at every label take long, and the more dimensions the longer."""
        return max(2.0, problem_named(self.problem).warmup) if self.recipe == "figures" else 2.0

    def run(self) -> dict[str, Curve]:
        """A curve for each method."""
        problem = problem_named(self.problem)
        stream = problem.stream(self.recipe, self.trial).first(self.rounds)
        return {
            name: watched_run(learner, stream) for name, learner in learners(problem, self.recipe, self.trial)
        }
