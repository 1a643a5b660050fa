"""`Value` on the paper's streams: the same set-up everywhere, knowing the horizon and not."""

from breakeven.experiments.runs.curve import Curve, run
from breakeven.experiments.runs.trial_job import TrialJob
from breakeven.learner import Learner
from breakeven.rules import Value


class ValueJob(TrialJob, frozen=True):
    """`Value` at all prices of a problem, on one trial of it, with its horizon and without.

    >>> ValueJob(problem="branin", recipe="text", trial=0).title
    'Value: Branin, uniform arrivals · text'
    """

    @property
    def title(self) -> str:
        """The problem and the recipe."""
        return f"Value: {super().title}"

    def run(self) -> dict[str, Curve]:
        """A curve for each price and horizon."""
        problem, stream = self.about, self.stream
        return {
            f"{horizon}-{price.tag}": run(
                Learner(problem.value_belief(), Value(rounds), label_cost=price.label_cost, seed=self.trial),
                stream,
            )
            for price in problem.prices
            for horizon, rounds in (("known", len(stream)), ("unknown", None))
        }
