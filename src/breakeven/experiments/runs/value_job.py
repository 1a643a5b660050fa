"""`Value` on the paper's streams: the same set-up everywhere, knowing the horizon and not."""

from breakeven.experiments.runs.curve import Curve, run
from breakeven.experiments.runs.job import Job
from breakeven.experiments.runs.problem import Recipe
from breakeven.experiments.runs.problems import problem_named
from breakeven.learner import Learner
from breakeven.rules import Value


class ValueJob(Job, frozen=True):
    """`Value` at all prices of a problem, on one trial of it, with its horizon and without.

    >>> ValueJob(problem="branin", recipe="text", trial=0).title
    'Value: Branin, uniform arrivals · text'
    """

    problem: str
    recipe: Recipe
    trial: int
    rounds: int | None = None  # the first so many only

    @property
    def title(self) -> str:
        """The problem and the recipe."""
        return f"Value: {problem_named(self.problem).title} · {self.recipe}"

    def run(self) -> dict[str, Curve]:
        """A curve for each price and horizon."""
        problem = problem_named(self.problem)
        stream = problem.stream(self.recipe, self.trial).first(self.rounds)
        return {
            f"{horizon}-{price.tag}": run(
                Learner(problem.value_belief(), Value(rounds), label_cost=price.label_cost, seed=self.trial),
                stream,
            )
            for price in problem.prices
            for horizon, rounds in (("known", len(stream)), ("unknown", None))
        }
