"""One trial of a problem in one recipe: what many jobs are about."""

from breakeven.datasets import Stream
from breakeven.experiments.runs.job import Job
from breakeven.experiments.runs.problem import Problem, Recipe
from breakeven.experiments.runs.problems import problem_named


class TrialJob(Job, frozen=True):
    """A job on the stream of one trial, or on the beginning of it; it runs in kinds of its own."""

    problem: str
    recipe: Recipe
    trial: int
    rounds: int | None = None  # the first so many only

    @property
    def title(self) -> str:
        """The problem and the recipe."""
        return f"{self.about.title} · {self.recipe}"

    @property
    def about(self) -> Problem:
        """The problem itself."""
        return problem_named(self.problem)

    @property
    def stream(self) -> Stream:
        """What arrives."""
        return self.about.stream(self.recipe, self.trial).first(self.rounds)
